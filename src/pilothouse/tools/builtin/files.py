"""Reading: read_file and list_directory."""

import io
import os
from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import Arguments, Category, Job, Prepared, in_thread

_CHARACTERS = 100_000
_ENTRIES = 1000


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


def read_text(workspace: Workspace, path: str) -> str:
    """Raises: ToolError."""
    try:
        return workspace.read(path).decode()
    except UnicodeDecodeError as error:
        raise ToolError(Code.FILE_NOT_TEXT, path=path) from error


def read_lines(workspace: Workspace, path: str, start: int | None, end: int | None) -> str:
    """A text file or some of its lines, bounded. Raises: ToolError."""
    text = read_text(workspace, path)
    if start is None and end is None and len(text) <= _CHARACTERS:
        return text
    lines = list(io.StringIO(text))  # by line feeds alone, as editors count
    first, last = start or 1, min(end or len(lines), len(lines))
    if first > max(last, 1):
        raise ToolError(Code.BAD_LINE_RANGE, path=path, start=start, end=end, lines=len(lines))
    wanted = "".join(lines[first - 1 : last])
    if len(wanted) <= _CHARACTERS:
        return wanted
    shown = wanted[:_CHARACTERS]
    return f"{shown}\n[cut: this holds lines {first} to {first + shown.count(chr(10))} of {len(lines)}]"


class ListDirectoryArguments(Arguments):
    path: str = "."
    depth: Annotated[int, Meta(ge=1, le=5)] = 1


class ListDirectory:
    name = "list_directory"
    description = "List a folder of the workspace. Folders end in '/', links in '@'. depth goes from 1 to 5."
    category: Category = "file_system"
    effect: Effect = "read_only"
    parameters = ListDirectoryArguments

    async def prepare(self, arguments: ListDirectoryArguments, workspace: Workspace) -> Prepared:
        return reading(arguments.path, workspace)

    async def run(self, arguments: ListDirectoryArguments, job: Job) -> str:
        text: str = await in_thread(_listing, job.workspace, arguments.path, arguments.depth)
        return text


def _listing(workspace: Workspace, path: str, depth: int) -> str:
    lines: list[str] = []
    base = os.path.realpath(workspace.root / path)
    with workspace.directory(path) as fd:
        for line in _entries(fd, "", depth):
            if workspace.is_private(os.path.join(base, line.rstrip("/@"))):
                continue
            if len(lines) == _ENTRIES:
                lines.append(f"[cut: only the first {_ENTRIES} entries are shown]")
                break
            lines.append(line)
    return "\n".join(lines) or "[empty]"


def _entries(dir_fd: int, prefix: str, depth: int) -> Iterator[str]:
    with os.scandir(dir_fd) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        shown = prefix + os.fsencode(entry.name).decode(errors="backslashreplace")
        if entry.is_symlink():
            yield shown + "@"
        elif entry.is_dir(follow_symlinks=False):
            yield shown + "/"
            if depth > 1 and entry.name != ".git":
                yield from _inside(dir_fd, entry.name, shown, depth - 1)
        else:
            yield shown


def _inside(dir_fd: int, name: str, shown: str, depth: int) -> Iterator[str]:
    try:
        fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=dir_fd)
    except OSError:
        return
    try:
        yield from _entries(fd, shown + "/", depth)
    finally:
        os.close(fd)
