"""Exact replacements in the bytes of a text file. Only the bytes of a match change.

A match begins and ends at a character boundary. In encodings with shift sequences (ISO-2022) the bytes of a character
depend on the bytes before it: there the lines with a match are encoded again, provided that every line of the file
survives decoding and encoding byte for byte.
"""

import codecs
import io
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.workspace import MAX_READ_BYTES
from pilothouse.tools.text_encoding import MULTI_BYTE, Encoding, candidates, sample_lines

MAX_SEARCHED_BYTES = 500_000_000
"""The total that all edits of one call may search: each edit reads the whole file."""
_MAX_CANDIDATES_SHOWN = 6
_MAX_LINES_SHOWN = 3
_MAX_SHOWN_LINE_CHARACTERS = 100
_MAX_CONTEXT_BYTES = 400
_CODE_UNIT_BYTES = {"utf-16-le": 2, "utf-16-be": 2, "utf-32-le": 4, "utf-32-be": 4}
_MULTI_BYTE_ENCODINGS = frozenset(
    {
        *MULTI_BYTE,
        *("shift_jis", "shift_jis_2004", "shift_jisx0213", "euc_jis_2004", "euc_jisx0213", "euc_kr", "johab"),
        *("gb2312", "gbk", "big5"),
    }
)
Spans = list[tuple[int, int]]


class Replacement(NamedTuple):
    """An exact replacement of one text by another."""

    old: str
    new: str
    everywhere: bool
    """Whether every occurrence is replaced. Otherwise `old` must occur exactly once."""


def has_windows_ends(text: str) -> bool:
    """Whether most lines end with CR LF."""
    return text.count("\r\n") * 2 > text.count("\n")


def with_windows_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def apply_edits(data: bytes, encoding: Encoding, edits: Sequence[Replacement], path: str) -> bytes:
    """The file's bytes after all edits, applied in order. Raises: ToolError; the file must then stay unchanged."""
    body = data[len(encoding.bom) :]
    has_windows_line_ends = has_windows_ends(encoding.decode(data))
    other_encodings = [] if encoding.is_certain else candidates(data, encoding.name)
    replace = _replace_lines if _has_shifts(encoding.name) else _replace_bytes
    searched_bytes = 0
    for number, edit in enumerate(edits, start=1):
        searched_bytes += len(body)
        if searched_bytes > MAX_SEARCHED_BYTES:
            raise ToolError(Code.TOO_MANY_EDITS, path=path, count=len(edits), size=len(body), limit=number - 1)
        old, new = _with_line_ends(body, edit, encoding.name, has_windows_line_ends)
        spans = find(body, old, encoding.name)
        if other_encodings:
            _refuse_uncertain(body, spans, old, new, encoding, other_encodings, path)
        if not spans:
            raise ToolError(Code.TEXT_NOT_FOUND, number=number, path=path)
        if len(spans) > 1 and not edit.everywhere:
            raise ToolError(Code.TEXT_NOT_UNIQUE, number=number, path=path, count=len(spans))
        size = len(body) + len(spans) * (len(encoding.encode(new, path)) - spans[0][1] + spans[0][0])
        if size > MAX_READ_BYTES:
            raise ToolError(Code.FILE_TOO_LARGE, path=path, size=size, limit=MAX_READ_BYTES)
        body = replace(body, spans, old, new, encoding, path)
    return encoding.bom + body


def _with_line_ends(body: bytes, edit: Replacement, name: str, has_windows_line_ends: bool) -> tuple[str, str]:
    """The old and the new text with the line ends of the file: the model reads and writes plain line feeds."""
    if not find(body, edit.old, name, max_spans=1):
        return with_windows_ends(edit.old), with_windows_ends(edit.new)
    return edit.old, with_windows_ends(edit.new) if has_windows_line_ends and "\n" not in edit.old else edit.new


def _replace_bytes(body: bytes, spans: Spans, _old: str, new: str, encoding: Encoding, path: str) -> bytes:
    replacement, offset, parts = encoding.encode(new, path), 0, []
    for start, end in spans:
        parts += [body[offset:start], replacement]
        offset = end
    return b"".join([*parts, body[offset:]])


def _replace_lines(body: bytes, _spans: Spans, old: str, new: str, encoding: Encoding, path: str) -> bytes:
    try:
        text = body.decode(encoding.name)
        is_reversible = _lines_encoded(text, encoding, path) == body
    except UnicodeDecodeError:
        is_reversible = False
    if not is_reversible:
        raise ToolError(Code.ENCODING_STATEFUL, path=path, encoding=encoding.name)
    return _lines_encoded(text.replace(old, new), encoding, path)


def _lines_encoded(text: str, encoding: Encoding, path: str) -> bytes:
    """Encode line by line, so that each line begins and ends in the unshifted state."""
    return b"".join(encoding.encode(line, path) for line in io.StringIO(text, newline="\n"))


# searching


def find(body: bytes, text: str, name: str, max_spans: int | None = None) -> Spans:
    """The spans of a text in the body, without overlaps; for encodings with shift sequences, spans of the decoded
    text."""
    if _has_shifts(name):
        return _find_characters(body.decode(name, "replace"), text, max_spans)
    try:
        pattern = text.encode(name)
    except UnicodeEncodeError:
        return []
    spans: Spans = []
    is_boundary, offset = _boundaries(body, name), body.find(pattern) if pattern else -1
    while offset >= 0 and (max_spans is None or len(spans) < max_spans):
        is_match = is_boundary(offset)
        if is_match:
            spans.append((offset, offset + len(pattern)))
        offset = body.find(pattern, offset + (len(pattern) if is_match else 1))
    return spans


def _find_characters(text: str, pattern: str, max_spans: int | None) -> Spans:
    spans: Spans = []
    offset = text.find(pattern) if pattern else -1
    while offset >= 0 and (max_spans is None or len(spans) < max_spans):
        spans.append((offset, offset + len(pattern)))
        offset = text.find(pattern, offset + len(pattern))
    return spans


def _has_shifts(name: str) -> bool:
    return name.startswith("iso2022")


def _boundaries(body: bytes, name: str) -> Callable[[int], bool]:
    """A test for whether a character begins at an offset. Offsets must be tested in ascending order."""
    if (unit := _CODE_UNIT_BYTES.get(name)) is not None:
        return lambda offset: offset % unit == 0
    if name not in _MULTI_BYTE_ENCODINGS:
        return lambda _: True
    return _BoundaryReader(body, name).begins_at


class _BoundaryReader:
    """Decodes a body in a multi-byte encoding. A line feed is never part of another character, so decoding can start at
    any line."""

    def __init__(self, body: bytes, name: str) -> None:
        self._body, self._offset = body, 0
        self._decoder = codecs.getincrementaldecoder(name)("surrogateescape")

    def begins_at(self, offset: int) -> bool:
        line = self._body.rfind(b"\n", self._offset, offset) + 1
        if line > self._offset:
            self._decoder.reset()
            self._offset = line
        self._decoder.decode(self._body[self._offset : offset])
        self._offset = offset
        return not self._decoder.getstate()[0]


# uncertain encodings


def _refuse_uncertain(
    body: bytes, spans: Spans, old: str, new: str, encoding: Encoding, other_encodings: Sequence[str], path: str
) -> None:
    """Refuse an edit in a guessed encoding unless it is the same edit in every other plausible encoding: in ASCII, at
    the same place, and not inside a character. Raises: ToolError."""
    if new.isascii() and not any(_differs(body, spans, old, name) for name in other_encodings if name != encoding.name):
        return
    nearby_spans = spans or next(filter(None, (find(body, old, name, max_spans=1) for name in other_encodings)), [])
    if not nearby_spans:
        return
    readings = describe_candidates(
        body, other_encodings, nearby_spans[0][0] if nearby_spans and not _has_shifts(encoding.name) else 0
    )
    raise ToolError(Code.ENCODING_UNCERTAIN, path=path, candidates=readings)


def _differs(body: bytes, spans: Spans, old: str, name: str) -> bool:
    if old.isascii() and name not in _MULTI_BYTE_ENCODINGS | _CODE_UNIT_BYTES.keys() and not _has_shifts(name):
        return False  # the same bytes at the same places
    other_spans = find(body, old, name)
    if other_spans and other_spans != spans:
        return True
    is_boundary = _boundaries(body, name)
    return not all(is_boundary(edge) for span in spans for edge in span)


def describe_candidates(data: bytes, names: Sequence[str], offset: int = 0) -> str:
    """The lines at an offset as each encoding reads them; encodings that read alike share one entry."""
    if any(name in _CODE_UNIT_BYTES for name in names):
        sample = data[offset // 4 * 4 : offset // 4 * 4 + _MAX_CONTEXT_BYTES]
    else:
        line_start = data.rfind(b"\n", 0, offset) + 1
        sample = (
            sample_lines(data, line_start, _MAX_CONTEXT_BYTES)
            or sample_lines(data, 0, _MAX_CONTEXT_BYTES)
            or data[line_start:]
        )
    readings: dict[str, list[str]] = {}
    for name in names:
        lines = sample[:_MAX_CONTEXT_BYTES].decode(name, "replace").splitlines()[:_MAX_LINES_SHOWN]
        reading = "".join(f"\n  | {line[:_MAX_SHOWN_LINE_CHARACTERS]}" for line in lines)
        readings.setdefault(reading, []).append(name)
    entries = list(readings.items())[:_MAX_CANDIDATES_SHOWN]
    return "\n".join(f"{', '.join(names[:4])}:{reading}" for reading, names in entries)
