"""read_file: a text file or some of its lines, decoded and bounded."""

import hashlib
import io
import os
from io import BufferedReader
from typing import Annotated

from msgspec import Meta

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.workspace import MAX_READ_BYTES, Workspace
from pilothouse.tools.base import Arguments, CallPreview, Category, PathText, ToolContext
from pilothouse.tools.builtin.editorconfig import charset_of
from pilothouse.tools.builtin.grep.scanner import MAX_SEARCHED_BYTES
from pilothouse.tools.text_encoding import Encoding, detect, named_encoding
from pilothouse.tools.threads import in_thread

EncodingName = Annotated[str, Meta(max_length=100)]

_MAX_CHARACTERS = 40_000
_HEAD_BYTES = 1024 * 1024
_IMAGE_SIGNATURES = ((b"\x89PNG\r\n", "PNG"), (b"\xff\xd8\xff", "JPEG"), (b"GIF8", "GIF"), (b"BM", "BMP"))
_BEYOND_LIMIT_NOTE = (
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

    async def prepare(self, arguments: ReadFileArguments, workspace: Workspace) -> CallPreview:
        return await prepare_reading(arguments.path, workspace)

    async def run(self, arguments: ReadFileArguments, context: ToolContext) -> str:
        lines = (arguments.start_line, arguments.end_line)
        text: str = await in_thread(read_lines, context.workspace, arguments.path, *lines, arguments.encoding)
        return text


async def prepare_reading(path: str, workspace: Workspace) -> CallPreview:
    """The preview of a call that reads a path. Raises: ToolError."""
    preview: CallPreview = await in_thread(_prepare_reading, path, workspace)
    return preview


def _prepare_reading(path: str, workspace: Workspace) -> CallPreview:
    violation = workspace.violation(path)
    return CallPreview(
        effect="read_only", touches=None if violation else workspace.touched_paths(path), violation=violation
    )


def encoding_of(workspace: Workspace, path: str, data: bytes, *, is_cut: bool = False) -> Encoding | None:
    """The encoding of a file with this content, None for a file that is no text. Every tool uses this function."""
    return detect(data, charset_of(workspace, path), is_cut=is_cut)


def encoding_of_open(workspace: Workspace, path: str, file: BufferedReader) -> Encoding | None:
    """The encoding of an open file; only the head of a large file is read."""
    is_cut = os.fstat(file.fileno()).st_size > MAX_READ_BYTES
    return encoding_of(workspace, path, file.read(_HEAD_BYTES if is_cut else MAX_READ_BYTES + 1), is_cut=is_cut)


def read_lines(
    workspace: Workspace, path: str, start: int | None, end: int | None, encoding_name: str | None = None
) -> str:
    """A text file or some of its lines, bounded. Raises: ToolError."""
    if workspace.status(path).st_size > MAX_READ_BYTES:
        return _read_large_file(workspace, path, start or 1, end, encoding_name)
    data = workspace.read(path)
    kind = image_kind(data)
    if kind is not None:
        return f"[{path} is an image ({kind}, {len(data):,} bytes): it has no text to show]"
    encoding = _encoding_for(workspace, path, data, encoding_name)
    text = encoding.decode(data)
    workspace.read_digests[workspace.touched_paths(path)[-1]] = hashlib.sha256(data).hexdigest()
    return _heading(encoding, encoding_name, text) + _select_lines(text, path, start, end)


def _encoding_for(workspace: Workspace, path: str, data: bytes, name: str | None, *, is_cut: bool = False) -> Encoding:
    """The encoding of that name, or the detected one. Raises: ToolError for a file that is no text."""
    encoding = named_encoding(name, data) if name else encoding_of(workspace, path, data, is_cut=is_cut)
    if encoding is None:
        raise ToolError(Code.FILE_NOT_TEXT, path=path)
    return encoding


def _heading(encoding: Encoding, name: str | None, text: str) -> str:
    """A line about the encoding, where the reader must know it."""
    if encoding.name == "utf-8" and encoding.is_certain and name is None:
        return ""
    verb = "read as" if name is not None else "this file is in"
    guess_note = "" if encoding.is_certain else "; that is a guess, and encoding= reads it otherwise"
    invalid_note = "; bytes that mean nothing in it are shown as \ufffd" if "\ufffd" in text else ""
    return f"[{verb} {encoding.name}{guess_note}{invalid_note}]\n"


def _select_lines(text: str, path: str, start: int | None, end: int | None) -> str:
    if start is None and end is None and len(text) <= _MAX_CHARACTERS:
        return text
    lines = list(io.StringIO(text, newline="\n"))  # split at line feeds only, as editors count
    first, last = start or 1, min(end or len(lines), len(lines))
    if first > max(last, 1):
        raise ToolError(Code.BAD_LINE_RANGE, path=path, start=start, end=end, lines=len(lines))
    selection = "".join(lines[first - 1 : last])
    if len(selection) <= _MAX_CHARACTERS:
        return selection
    return _truncate(selection, first, f" of {len(lines)}")


def _truncate(text: str, first: int, total: str) -> str:
    """The first characters of a text, cut after a whole line where one fits, so that the next call continues exactly
    there."""
    prefix = text[:_MAX_CHARACTERS]
    whole_lines = prefix[: prefix.rfind("\n") + 1]
    if not whole_lines:
        return (
            f"{prefix}\n[cut: this is the beginning of line {first}{total}, which is longer than {_MAX_CHARACTERS:,} "
            f"characters; grep shows the text around a match; continue with start_line={first + 1}]"
        )
    next_line = first + whole_lines.count("\n")
    return (
        f"{whole_lines}[cut: lines {first} to {next_line - 1}{total} are shown; continue with start_line={next_line}]"
    )


def _read_large_file(workspace: Workspace, path: str, first: int, end: int | None, name: str | None) -> str:
    """Lines of a large file, without reading or holding more than the result needs."""
    with workspace.open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        encoding = _encoding_for(workspace, path, file.read(_HEAD_BYTES), name, is_cut=True)
        file.seek(len(encoding.bom))
        reader = io.TextIOWrapper(file, encoding=encoding.name, errors="replace", newline="\n")
        try:
            text, line_count, is_over_limit = _collect_lines(reader, file, first, end)
        finally:
            reader.detach()
    if not text:
        if is_over_limit:
            return _BEYOND_LIMIT_NOTE
        raise ToolError(Code.BAD_LINE_RANGE, path=path, start=first, end=end, lines=line_count)
    body = _truncate(text, first, "") if len(text) > _MAX_CHARACTERS else text
    notes = [f"[{path} has {size:,} bytes; grep finds the lines to read]", *([_BEYOND_LIMIT_NOTE] * is_over_limit)]
    end_of_line = "" if body.endswith("\n") else "\n"
    return _heading(encoding, name, body) + body + end_of_line + "\n".join(notes)


def _collect_lines(
    reader: io.TextIOWrapper, file: BufferedReader, first: int, end: int | None
) -> tuple[str, int, bool]:
    """The lines (at most one character more than can be shown), the number of lines passed, and whether the byte limit
    ended the reading."""
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
    return next((name for start, name in _IMAGE_SIGNATURES if data.startswith(start)), None)
