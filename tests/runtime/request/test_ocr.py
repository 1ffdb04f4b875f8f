"""Reading text in images: with the real tesseract, and with stand-ins that misbehave on request."""

import os
import socket
from pathlib import Path

import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.runtime.request.ocr import MAX_OCR_CHARACTERS, read_text
from pilothouse.sandbox.processes import kill_marked
from tests.support.pngs import SIGNATURE, picture


async def read(data: bytes, workspace: Path | None = None, seconds: float = 30) -> str:
    call_id = f"ocr-test-{os.getpid()}"
    try:
        return await read_text(data, call_id=call_id, workspace=str(workspace) if workspace else None, seconds=seconds)
    finally:
        assert kill_marked([call_id]) == 0


async def refused(data: bytes, seconds: float = 30) -> ToolError:
    with pytest.raises(ToolError) as caught:
        await read(data, seconds=seconds)
    return caught.value


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a stand-in for tesseract, first on the PATH; tests write its script."""
    folder = tmp_path / "programs" / "bin"
    folder.mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    program = folder / "tesseract"
    program.touch(0o755)
    return program


async def test_text_in_an_image_is_read() -> None:
    assert await read(picture()) == "HELLO 42"


async def test_an_image_without_text_is_reported() -> None:
    assert (await refused(picture(""))).reason.code is Code.OCR_EMPTY


@pytest.mark.parametrize("data", [picture()[:60], SIGNATURE, SIGNATURE + b"x" * 1000])
async def test_an_image_that_is_broken_fails_with_its_status(data: bytes) -> None:
    error = await refused(data)
    assert error.reason.code is Code.OCR_FAILED
    assert error.reason.params == {"detail": "exit status 1"}


async def test_without_tesseract_the_tool_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    error = await refused(picture())
    assert error.reason.code is Code.OCR_MISSING
    assert "apt install tesseract-ocr" in str(error)


async def test_a_program_of_the_workspace_is_not_used_as_tesseract(stand_in: Path, tmp_path: Path) -> None:
    stand_in.write_text("#!/bin/sh\necho mine\n")
    assert await read(picture(), tmp_path) == "HELLO 42"
    assert await read(picture(), tmp_path / "elsewhere") == "mine"


async def test_tesseract_is_ended_at_its_time_limit(stand_in: Path) -> None:
    stand_in.write_text("#!/bin/sh\nsleep 3141 &\nsleep 3141\n")
    error = await refused(picture(), seconds=0.5)
    assert error.reason.code is Code.OCR_TIMED_OUT


async def test_tesseract_that_prints_for_ever_is_cut_and_ended(stand_in: Path) -> None:
    stand_in.write_text("#!/bin/sh\nwhile :; do echo 'all work and no play'; done\n")
    text = await read(picture())
    assert text.endswith("[cut: there is more text]")
    assert len(text) < MAX_OCR_CHARACTERS + 100


async def test_warnings_and_output_of_a_failed_tesseract_are_not_text(stand_in: Path) -> None:
    stand_in.write_text("#!/bin/sh\necho a remark >&2\necho text\n")
    assert await read(picture()) == "text"
    stand_in.write_text("#!/bin/sh\necho text\nkill -SEGV $$\n")
    assert (await refused(picture())).reason.params == {"detail": "exit status 139"}


async def test_tesseract_can_neither_write_nor_connect(stand_in: Path, tmp_path: Path) -> None:
    (tmp_path / "private").write_text("of the person")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        stand_in.write_text(
            "#!/bin/bash\n"
            f"echo x > {tmp_path}/written && echo WROTE\n"
            f'echo x > "$1" && echo OVERWROTE\n'
            f"cat {tmp_path}/private && echo READ\n"
            f"(exec 3<>/dev/tcp/127.0.0.1/{port}) && echo CALLED\n"
            'head -c 4 "$1" | tail -c 3\n'
        )
        assert await read(picture()) == "PNG"
    assert not (tmp_path / "written").exists()
