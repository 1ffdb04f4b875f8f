"""Reading: read_file."""

import hashlib
import io
import os
from io import BufferedReader
from typing import Annotated

from msgspec import Meta

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.workspace import READ_LIMIT, Workspace
from pilothouse.tools.base import Arguments, Category, Job, PathText, Prepared
from pilothouse.tools.builtin.editorconfig import charset_of
from pilothouse.tools.builtin.scan import MAX_SEARCHED_BYTES
from pilothouse.tools.text_encoding import Encoding, detect, named_encoding
from pilothouse.tools.threads import in_thread

EncodingName = Annotated[str, Meta(max_length=100)]

_MAX_CHARACTERS = 40_000
_HEAD_BYTES = 1024 * 1024
_IMAGES = ((b"\x89PNG\r\n", "PNG"), (b"\xff\xd8\xff", "JPEG"), (b"GIF8", "GIF"), (b"BM", "BMP"))
_BEYOND = (
    f"[only the first {MAX_SEARCHED_BYTES >> 20} MB of a file can be read and searched here; a command "
    "(sed -n, tail, grep) reaches the rest]"
)


class ReadFileArguments(Arguments):
    path: PathText
    start_line: Annotated[int, Meta(ge=1)] | None = None
    end_line: Annotated[int, Meta(ge=1)] | None = None
    encoding: EncodingName | None = None


class ReadFile:
    name = "read_file"
    description = (
        "Read a text file of the workspace, whole or from start_line to end_line (counted from 1, both included). "
        "Long files are cut: the result says which lines it holds. The result names an encoding other than UTF-8; "
        "encoding (such as cp1251) reads the file as you say."
    )
    category: Category = "file_system"
    effect: Effect = "read_only"
    parameters = ReadFileArguments

    async def prepare(self, arguments: ReadFileArguments, workspace: Workspace) -> Prepared:
        return await prepare_reading(arguments.path, workspace)

    async def run(self, arguments: ReadFileArguments, job: Job) -> str:
        lines = (arguments.start_line, arguments.end_line)
        text: str = await in_thread(read_lines, job.workspace, arguments.path, *lines, arguments.encoding)
        return text


async def prepare_reading(path: str, workspace: Workspace) -> Prepared:
    """Raises: ToolError."""
    prepared: Prepared = await in_thread(_prepare_reading, path, workspace)
    return prepared


def _prepare_reading(path: str, workspace: Workspace) -> Prepared:
    limit = workspace.limit(path)
    return Prepared(effect="read_only", touches=None if limit else workspace.touched(path), limit=limit)


def encoding_of(workspace: Workspace, path: str, data: bytes, *, is_cut: bool = False) -> Encoding | None:
    """The encoding of a file that holds `data`, None where it is no text. Every tool asks this one function."""
    return detect(data, charset_of(workspace, path), is_cut=is_cut)


def encoding_of_open(workspace: Workspace, path: str, file: BufferedReader) -> Encoding | None:
    """The same for an open file: a large one is known by its head."""
    is_cut = os.fstat(file.fileno()).st_size > READ_LIMIT
    return encoding_of(workspace, path, file.read(_HEAD_BYTES if is_cut else READ_LIMIT + 1), is_cut=is_cut)


def read_lines(
    workspace: Workspace, path: str, start: int | None, end: int | None, encoding_name: str | None = None
) -> str:
    """A text file or some of its lines, bounded. Raises: ToolError."""
    if workspace.status(path).st_size > READ_LIMIT:
        return _lines_of_large_file(workspace, path, start or 1, end, encoding_name)
    data = workspace.read(path)
    kind = image_kind(data)
    if kind is not None:
        return f"[{path} is an image ({kind}, {len(data):,} bytes): it has no text to show]"
    encoding = _named_or_found(workspace, path, data, encoding_name)
    text = encoding.decode(data)
    workspace.seen[workspace.touched(path)[-1]] = hashlib.sha256(data).hexdigest()
    return _heading(encoding, encoding_name, text) + _some_lines(text, path, start, end)


def _named_or_found(
    workspace: Workspace, path: str, data: bytes, name: str | None, *, is_cut: bool = False
) -> Encoding:
    """Raises: ToolError for what is no text."""
    encoding = named_encoding(name, data) if name else encoding_of(workspace, path, data, is_cut=is_cut)
    if encoding is None:
        raise ToolError(Code.FILE_NOT_TEXT, path=path)
    return encoding


def _heading(encoding: Encoding, name: str | None, text: str) -> str:
    """What the reader must know beside the text."""
    if encoding.name == "utf-8" and encoding.is_certain and name is None:
        return ""
    how = "read as" if name is not None else "this file is in"
    sure = "" if encoding.is_certain else "; that is a guess, and encoding= reads it otherwise"
    invalid = "; bytes that mean nothing in it are shown as \ufffd" if "\ufffd" in text else ""
    return f"[{how} {encoding.name}{sure}{invalid}]\n"


def _some_lines(text: str, path: str, start: int | None, end: int | None) -> str:
    if start is None and end is None and len(text) <= _MAX_CHARACTERS:
        return text
    lines = list(io.StringIO(text, newline="\n"))  # by line feeds alone, as editors count
    first, last = start or 1, min(end or len(lines), len(lines))
    if first > max(last, 1):
        raise ToolError(Code.BAD_LINE_RANGE, path=path, start=start, end=end, lines=len(lines))
    wanted = "".join(lines[first - 1 : last])
    if len(wanted) <= _MAX_CHARACTERS:
        return wanted
    return _cut(wanted, first, f" of {len(lines)}")


def _cut(text: str, first: int, of: str) -> str:
    """Whole lines where at least one fits: the next call goes on exactly there."""
    shown = text[:_MAX_CHARACTERS]
    whole = shown[: shown.rfind("\n") + 1]
    if not whole:
        return (
            f"{shown}\n[cut: this is the beginning of line {first}{of}, which is longer than {_MAX_CHARACTERS:,} "
            f"characters; grep shows the text around a match; go on with start_line={first + 1}]"
        )
    following = first + whole.count("\n")
    return f"{whole}[cut: this holds lines {first} to {following - 1}{of}; go on with start_line={following}]"


def _lines_of_large_file(workspace: Workspace, path: str, first: int, end: int | None, name: str | None) -> str:
    """Looks through no more than it must, and holds no more than it shows."""
    with workspace.opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        encoding = _named_or_found(workspace, path, file.read(_HEAD_BYTES), name, is_cut=True)
        file.seek(len(encoding.bom))
        reader = io.TextIOWrapper(file, encoding=encoding.name, errors="replace", newline="\n")
        try:
            text, number, is_beyond = _collected(reader, file, first, end)
        finally:
            reader.detach()
    if not text:
        if is_beyond:
            return _BEYOND
        raise ToolError(Code.BAD_LINE_RANGE, path=path, start=first, end=end, lines=number)
    shown = _cut(text, first, "") if len(text) > _MAX_CHARACTERS else text
    notes = [f"[{path} has {size:,} bytes; grep finds the lines to read]", *([_BEYOND] * is_beyond)]
    end_of_line = "" if shown.endswith("\n") else "\n"
    return _heading(encoding, name, shown) + shown + end_of_line + "\n".join(notes)


def _collected(reader: io.TextIOWrapper, file: BufferedReader, first: int, end: int | None) -> tuple[str, int, bool]:
    """The lines, one character more than can be shown at most; the number of lines passed; whether the bound on bytes
    ended it."""
    parts: list[str] = []
    size = number = 0
    while (end is None or number < end) and size <= _MAX_CHARACTERS:
        if file.tell() >= MAX_SEARCHED_BYTES:
            return "".join(parts), number, True
        part = reader.readline(_MAX_CHARACTERS)
        if not part:
            break
        if number + 1 >= first:
            parts.append(part[: _MAX_CHARACTERS + 1 - size])
            size += len(parts[-1])
        number += part.endswith("\n")
    return "".join(parts), number, False


def image_kind(data: bytes) -> str | None:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WebP"
    return next((name for start, name in _IMAGES if data.startswith(start)), None)
