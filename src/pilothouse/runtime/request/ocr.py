"""Text recognition in images by the installed program tesseract, confined so that a malicious image gains nothing."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Sequence

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox import confinement, processes

OCR_TIMEOUT_SECONDS = 30.0
MAX_OCR_CHARACTERS = 40_000
_MAX_OUTPUT_BYTES = 4 * MAX_OCR_CHARACTERS
_LANGUAGES = "eng+chi_sim"  # tesseract skips a language that is not installed
# Warnings on standard error must not mix with the text, and a small file can decompress into an image that fills the
# memory.
_QUIET_AND_BOUNDED = 'ulimit -v 2000000 && exec "$0" "$@" 2>/dev/null'


async def read_text(
    data: bytes,
    *,
    call_id: str,
    workspace: str | None,
    private: Sequence[str] = (),
    seconds: float = OCR_TIMEOUT_SECONDS,
) -> str:
    """The text in an image. A tesseract inside the workspace is never run in place of the system's. `private` are the
    runtime's own folders.

    Raises: ToolError.
    """
    path = confinement.path_outside_workspace(os.environ.get("PATH", os.defpath), workspace or os.devnull)
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
    return text if len(text) <= MAX_OCR_CHARACTERS else f"{text[:MAX_OCR_CHARACTERS]}\n[cut: there is more text]"


async def _run(program: str, file: str, path: str, call_id: str, private: Sequence[str]) -> bytes:
    """Run tesseract and return its output. No process of it is left afterwards. Raises: ToolError."""
    argv = ["/bin/sh", "-c", _QUIET_AND_BOUNDED, program, file, "stdout", "-l", _LANGUAGES]
    environment = {"PATH": path, "LC_ALL": "C.UTF-8", "OMP_THREAD_LIMIT": "1"}
    sandbox = await asyncio.to_thread(confinement.read_only_confinement, [file], environment, private)
    try:
        running = await processes.start(argv, cwd="/", call_id=call_id, environment=environment, confinement=sandbox)
    except OSError as error:
        raise ToolError(Code.OCR_FAILED, detail=error.strerror) from error
    output = b""
    try:
        while len(output) <= _MAX_OUTPUT_BYTES:
            chunk = await running.output.read(65536)
            if not chunk:
                break
            output += chunk
        else:
            return output
        status = await running.process.wait()
    finally:
        await asyncio.shield(running.end())
    if status != 0:
        raise ToolError(Code.OCR_FAILED, detail=f"exit status {status}")
    return output
