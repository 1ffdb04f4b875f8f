"""Reading text in images. The program tesseract does it, where the person has installed it; shut in, so that an image
that is made to break it gains nothing."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Sequence

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox import confinement, processes

SECONDS = 30.0
CHARACTERS_AT_MOST = 40_000
_BYTES_AT_MOST = 4 * CHARACTERS_AT_MOST
_LANGUAGES = "eng+chi_sim"  # one that is not installed is passed over
# What it remarks must not stand in the text; and a small file can be an image that fills the memory.
_QUIET_AND_BOUNDED = 'ulimit -v 2000000 && exec "$0" "$@" 2>/dev/null'


async def read_text(
    data: bytes, *, call_id: str, workspace: str | None, private: Sequence[str] = (), seconds: float = SECONDS
) -> str:
    """The text in an image. A program that lies in the workspace is not taken for the one of the system. `private` are
    the runtime's own folders.

    Raises: ToolError.
    """
    path = confinement.path_outside(os.environ.get("PATH", os.defpath), workspace or os.devnull)
    program = shutil.which("tesseract", path=path)
    if program is None:
        raise ToolError(Code.OCR_MISSING)
    with tempfile.NamedTemporaryFile(prefix="pilothouse-") as file:
        file.write(data)
        file.flush()
        try:
            async with asyncio.timeout(seconds):
                output = await _run(program, os.path.realpath(file.name), path, call_id, private)
        except TimeoutError as error:
            raise ToolError(Code.OCR_TIMED_OUT, seconds=round(seconds)) from error
    text = output.decode(errors="replace").strip()
    if not text:
        raise ToolError(Code.OCR_EMPTY)
    return text if len(text) <= CHARACTERS_AT_MOST else f"{text[:CHARACTERS_AT_MOST]}\n[cut: there is more text]"


async def _run(program: str, file: str, path: str, call_id: str, private: Sequence[str]) -> bytes:
    """Nothing of it is left when this returns. Raises: ToolError."""
    argv = ["/bin/sh", "-c", _QUIET_AND_BOUNDED, program, file, "stdout", "-l", _LANGUAGES]
    environment = {"PATH": path, "LC_ALL": "C.UTF-8", "OMP_THREAD_LIMIT": "1"}
    confined = await asyncio.to_thread(confinement.only_reading, [file], environment, private)
    try:
        running = await processes.start(argv, cwd="/", call_id=call_id, environment=environment, confinement=confined)
    except OSError as error:
        raise ToolError(Code.OCR_FAILED, detail=error.strerror) from error
    output = b""
    try:
        while len(output) <= _BYTES_AT_MOST:
            part = await running.output.read(65536)
            if not part:
                break
            output += part
        else:
            return output
        status = await running.process.wait()
    finally:
        await asyncio.shield(running.end())
    if status != 0:
        raise ToolError(Code.OCR_FAILED, detail=f"exit status {status}")
    return output
