"""Edits of files of the largest size: bounded in memory, and given up with the call that asked for them."""

import asyncio
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.domain.value import CallId
from pilothouse.sandbox.workspace import MAX_READ_BYTES, Workspace
from pilothouse.tools.base import ToolContext
from pilothouse.tools.builtin import byte_edits
from pilothouse.tools.builtin.byte_edits import Replacement, apply_edits
from pilothouse.tools.builtin.edit_file import Edit, EditFile, EditFileArguments, WriteFile, WriteFileArguments, diff
from pilothouse.tools.text_encoding import UTF_8, Encoding
from tests.support.scale import HANG_SECONDS

MAX_GROWTH_BYTES = 300_000_000
"""About thirty copies of the largest file: texts are decoded, and hold up to four bytes a character."""
# The memory of the child is limited, so that a failure harms nobody else.
PREPARE = """
import asyncio, json, resource, sys
from pathlib import Path
import pilothouse.tools.builtin
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import parse_arguments
from pilothouse.domain.errors import ToolError

folder, name = sys.argv[1:]
tool = next(tool for tool in pilothouse.tools.builtin.builtin_tools() if tool.name == name)
resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
arguments = parse_arguments(name, tool.parameters, json.load(sys.stdin))
try:
    code = asyncio.run(tool.prepare(arguments, Workspace(Path(folder)))).effect
except ToolError as error:
    code = error.reason.code.value
print(code, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""
ONE_LINE = b"a" * MAX_READ_BYTES
SHORT_LINES = b"\n" * MAX_READ_BYTES
FULL_WIDTH = "表".encode("cp932") * (MAX_READ_BYTES // 2)
UTF_16 = "\ufeff".encode("utf-16-le") + "a".encode("utf-16-le") * (MAX_READ_BYTES // 2 - 1)
ISO_2022 = "日本\n".encode("iso2022_jp") * (MAX_READ_BYTES // 22)


def replaces(old: str, new: str, **more: Any) -> dict[str, Any]:
    return {"path": "file", "edits": [{"old_text": old, "new_text": new, "replace_all": True}], **more}


CASES: list[tuple[str, bytes, dict[str, Any], str]] = [
    ("edit_file", ONE_LINE, replaces("a", "b"), "mutating"),
    ("edit_file", ONE_LINE, replaces("a", "bb"), "file_too_large"),
    ("edit_file", SHORT_LINES, replaces("\n", "x"), "mutating"),
    ("edit_file", FULL_WIDTH, replaces("表", "示", encoding="cp932"), "too_many_matches"),
    ("edit_file", FULL_WIDTH, replaces("表", "x"), "encoding_uncertain"),
    ("edit_file", UTF_16, replaces("a", "b"), "too_many_matches"),
    ("edit_file", ISO_2022, replaces("日本", "x", encoding="iso2022_jp"), "mutating"),
    ("write_file", SHORT_LINES, {"path": "file", "content": "x"}, "mutating"),
    ("write_file", SHORT_LINES, {"path": "file", "content": ""}, "mutating"),
    ("write_file", b"", {"path": "file", "content": "\n" * 90_000}, "mutating"),
]


@pytest.mark.seconds(300)
@pytest.mark.parametrize(("tool", "content", "arguments", "outcome"), CASES, ids=[str(n) for n in range(len(CASES))])
def test_the_preview_of_a_change_of_the_largest_file_is_bounded_in_memory(
    tmp_path: Path, tool: str, content: bytes, arguments: dict[str, Any], outcome: str
) -> None:
    (tmp_path / "file").write_bytes(content)
    child = subprocess.run(
        [sys.executable, "-c", PREPARE, str(tmp_path), tool],
        input=json.dumps(arguments),
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stderr[-2000:]
    code, growth = child.stdout.split()
    assert code == outcome
    assert int(growth) < MAX_GROWTH_BYTES


class PausedReplacement:
    """Replaces nothing before it may go on; counts how often it was called."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls = 0
        self.has_begun, self.may_go_on, self.has_ended = threading.Event(), threading.Event(), threading.Event()
        replace, apply = byte_edits._replace_plain, byte_edits._Editor.apply

        def paused(*arguments: Any) -> bytes:
            self.calls += 1
            self.has_begun.set()
            assert self.may_go_on.wait(HANG_SECONDS)
            return replace(*arguments)

        def ending(*arguments: Any) -> bytes:
            try:
                return apply(*arguments)
            finally:
                self.has_ended.set()

        monkeypatch.setattr(byte_edits, "_replace_plain", paused)
        monkeypatch.setattr(byte_edits._Editor, "apply", ending)

    async def cancel(self, call: "asyncio.Task[Any]") -> None:
        assert await asyncio.to_thread(self.has_begun.wait, HANG_SECONDS)
        call.cancel()
        await asyncio.wait({call})
        self.may_go_on.set()
        assert await asyncio.to_thread(self.has_ended.wait, HANG_SECONDS)


@pytest.mark.parametrize("is_started", [False, True])
async def test_a_cancelled_edit_stops_its_thread_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_started: bool
) -> None:
    (tmp_path / "file").write_bytes(ONE_LINE[:200_000])
    edits = [Edit(old_text="ab"[n % 2], new_text="ba"[n % 2], replace_all=True) for n in range(50)]
    arguments, workspace = EditFileArguments(path="file", edits=edits), Workspace(tmp_path)
    paused = PausedReplacement(monkeypatch)
    context = ToolContext(CallId("call"), workspace)
    work = EditFile().run(arguments, context) if is_started else EditFile().prepare(arguments, workspace)
    await paused.cancel(asyncio.create_task(work))
    assert paused.calls == 1
    assert (tmp_path / "file").read_bytes() == ONE_LINE[:200_000]


async def test_a_cancelled_write_that_has_not_begun_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, has_begun, may_go_on = Workspace.read, threading.Event(), threading.Event()

    def paused(workspace: Workspace, path: str, *limit: int) -> bytes:
        has_begun.set()
        assert may_go_on.wait(HANG_SECONDS)
        return read(workspace, path, *limit)

    monkeypatch.setattr(Workspace, "read", paused)
    context = ToolContext(CallId("call"), Workspace(tmp_path))
    call = asyncio.create_task(WriteFile().run(WriteFileArguments(path="file", content="x"), context))
    assert await asyncio.to_thread(has_begun.wait, HANG_SECONDS)
    call.cancel()
    await asyncio.wait({call})
    may_go_on.set()
    await asyncio.get_running_loop().shutdown_default_executor()
    assert not (tmp_path / "file").exists()


def test_the_matches_of_all_edits_of_a_call_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_edits, "MAX_MATCHES", 5)
    monkeypatch.setattr(byte_edits, "MAX_LOCATED_MATCHES", 5)
    edits = [Replacement("a", "b", True), Replacement("b", "c", True)]
    utf_16 = Encoding("utf-16-le")
    assert apply_edits(b"aa-", UTF_8, edits, "file") == b"cc-"
    assert apply_edits("aa-".encode("utf-16-le"), utf_16, edits, "file") == "cc-".encode("utf-16-le")
    for text, encoding in (("aaa", UTF_8), ("aaa", utf_16)):
        with pytest.raises(ToolError) as refused:
            apply_edits(text.encode(encoding.name), encoding, edits, "file")
        assert refused.value.reason.code is Code.TOO_MANY_MATCHES
        assert refused.value.reason.params["number"] == 2


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13])
def test_a_replacement_in_pieces_is_that_of_the_whole(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(byte_edits, "_PIECE_BYTES", size)
    for body in (b"", b"a", b"aaaaaaaaaaa", b"abababaabbabaab", b"xxaxxaaxxaaaxxab" * 3, b"baab" * 10):
        for pattern in (b"a", b"aa", b"aaa", b"ab", b"aab", b"abab", b"xx"):
            for new in (b"", b"a", b"-", b"long"):
                expected = body.replace(pattern, new)
                assert byte_edits._replace_plain(body, pattern, new, lambda: None) == expected


def test_a_diff_of_too_many_lines_shows_the_new_text_with_its_ends() -> None:
    many = "a\n" * 300_000
    assert diff("f", many, "x\ny\n")[0] == "f: 300,000 lines become 2, too many to compare. They will be:\nx\ny"
    assert diff("f", many, "x")[0].endswith("They will be:\nx\n\\ No newline at end of file")
    assert diff("f", many, "\n")[0].endswith("They will be:\n")
    assert diff("f", many, "") == ("f: 300,000 lines become 0, too many to compare. They will be:", True)
    assert diff("f", "", many, "cp1251")[0].startswith("encoding: cp1251\nf: 0 lines become 300,000")
