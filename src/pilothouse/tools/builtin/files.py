"""Reading: read_file."""

import hashlib
import io
import os
from typing import Annotated

from msgspec import Meta

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.workspace import READ_LIMIT, Workspace
from pilothouse.tools.base import Arguments, Category, Job, Prepared, in_thread
from pilothouse.tools.builtin.texts import Encoding, decode, image_kind

_CHARACTERS = 40_000
_LOOKED_THROUGH = 512 * 1024 * 1024


class ReadFileArguments(Arguments):
    path: str
    start_line: Annotated[int, Meta(ge=1)] | None = None
    end_line: Annotated[int, Meta(ge=1)] | None = None


class ReadFile:
    name = "read_file"
    description = (
        "Read a text file of the workspace, whole or from start_line to end_line (counted from 1, both included). "
        "Long files are cut: the result says which lines it holds."
    )
    category: Category = "file_system"
    effect: Effect = "read_only"
    parameters = ReadFileArguments

    async def prepare(self, arguments: ReadFileArguments, workspace: Workspace) -> Prepared:
        return reading(arguments.path, workspace)

    async def run(self, arguments: ReadFileArguments, job: Job) -> str:
        text: str = await in_thread(read_lines, job.workspace, arguments.path, arguments.start_line, arguments.end_line)
        return text


def reading(path: str, workspace: Workspace) -> Prepared:
    limit = workspace.limit(path)
    return Prepared(effect="read_only", touches=None if limit else workspace.touched(path), limit=limit)


def read_text(workspace: Workspace, path: str) -> tuple[str, Encoding]:
    """Raises: ToolError."""
    return decode(workspace.read(path), path)


def read_lines(workspace: Workspace, path: str, start: int | None, end: int | None) -> str:
    """A text file or some of its lines, bounded. Raises: ToolError."""
    if workspace.status(path).st_size > READ_LIMIT:
        return _lines_of_a_large_file(workspace, path, start or 1, end)
    data = workspace.read(path)
    kind = image_kind(data)
    if kind is not None:
        return f"[{path} is an image ({kind}, {len(data):,} bytes): it has no text to show]"
    text, encoding = decode(data, path)
    workspace.seen[workspace.touched(path)[-1]] = hashlib.sha256(data).hexdigest()
    told = f"[this file is in {encoding.name}]\n" if encoding.name not in ("utf-8", "ascii") else ""
    return told + _some_lines(text, path, start, end)


def _some_lines(text: str, path: str, start: int | None, end: int | None) -> str:
    if start is None and end is None and len(text) <= _CHARACTERS:
        return text
    lines = list(io.StringIO(text, newline="\n"))  # by line feeds alone, as editors count
    first, last = start or 1, min(end or len(lines), len(lines))
    if first > max(last, 1):
        raise ToolError(Code.BAD_LINE_RANGE, path=path, start=start, end=end, lines=len(lines))
    wanted = "".join(lines[first - 1 : last])
    if len(wanted) <= _CHARACTERS:
        return wanted
    shown = wanted[:_CHARACTERS]
    after = first + shown.count("\n")
    return f"{shown}\n[cut: this holds lines {first} to {after} of {len(lines)}; go on with start_line={after}]"


def _lines_of_a_large_file(workspace: Workspace, path: str, first: int, end: int | None) -> str:
    """Looks through no more than it must, and holds no more than it shows."""
    shown: list[str] = []
    size, number, looked_at = 0, 0, 0
    with workspace.opened(path) as file:
        whole = os.fstat(file.fileno()).st_size
        if b"\0" in file.peek(8192)[:8192]:
            raise ToolError(Code.FILE_NOT_TEXT, path=path)
        while (end is None or number < end) and size < _CHARACTERS and looked_at < _LOOKED_THROUGH:
            part = file.readline(_CHARACTERS)
            if not part:
                break
            looked_at += len(part)
            if number + 1 >= first:
                shown.append(part.decode(errors="replace")[: _CHARACTERS - size])
                size += len(shown[-1])
            number += part.endswith(b"\n")
    if not shown:
        raise ToolError(Code.BAD_LINE_RANGE, path=path, start=first, end=end, lines=f"{number} or more")
    text = "".join(shown)
    return f"{text}\n[{path} has {whole:,} bytes; this holds lines {first} to {number}. grep finds more]"
