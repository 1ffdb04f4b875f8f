"""Exact replacements in the bytes of a text file. Only the bytes of a match change.

A match begins and ends at a character boundary. In encodings with shift sequences (ISO-2022) the bytes of a character
depend on the bytes before it: there the lines with a match are encoded again, provided that every line of the file
survives decoding and encoding byte for byte.
"""

import codecs
import io
from array import array
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.workspace import MAX_READ_BYTES
from pilothouse.tools.text_encoding import MULTI_BYTE, Encoding, candidates, sample_lines
from pilothouse.tools.threads import IsStopped, Stopped

MAX_SEARCHED_BYTES = 500_000_000
"""The total that all edits of one call may search: each edit reads the whole file."""
MAX_MATCHES = MAX_READ_BYTES
"""The total that all edits of one call may replace: one edit of the largest file may match every byte."""
MAX_LOCATED_MATCHES = 1_000_000
"""The same for encodings in which each match is tested for character boundaries."""
_PIECE_BYTES = 64 * 1024
_MATCHES_PER_CHECK = 1024
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


class Matches(NamedTuple):
    """The places of a text in a body, without overlaps."""

    offsets: "array[int]"
    length: int
    """Of each match. In encodings with shift sequences, offsets and length count characters of the decoded text."""


def apply_edits(
    data: bytes,
    encoding: Encoding,
    edits: Sequence[Replacement],
    path: str,
    is_stopped: IsStopped = lambda: False,
) -> bytes:
    """The file's bytes after all edits, applied in order. `is_stopped` is polled, also within an edit.

    Raises: ToolError, Stopped; the file must then stay unchanged.
    """
    return _Editor(data, encoding, path, is_stopped).apply(edits)


class _Editor:
    """The edits of one call. Memory grows with the size of the file, not with the number of matches: a single edit may
    match every byte."""

    def __init__(self, data: bytes, encoding: Encoding, path: str, is_stopped: IsStopped) -> None:
        self._body = data[len(encoding.bom) :]
        self._encoding = encoding
        self._path = path
        self._is_stopped = is_stopped
        self._has_windows_line_ends = has_windows_ends(encoding.decode(data))
        self._other_encodings = [] if encoding.is_certain else candidates(data, encoding.name)
        # The offsets of the matches are needed to test them, one by one.
        self._is_plain = not self._other_encodings and _is_plain(encoding.name)
        self._matches_left = MAX_MATCHES if self._is_plain else MAX_LOCATED_MATCHES

    def apply(self, edits: Sequence[Replacement]) -> bytes:
        searched_bytes = 0
        for number, edit in enumerate(edits, start=1):
            self._check()
            size = len(self._body)
            searched_bytes += size
            if searched_bytes > MAX_SEARCHED_BYTES:
                raise ToolError(Code.TOO_MANY_EDITS, path=self._path, count=len(edits), size=size, limit=number - 1)
            self._apply_edit(number, edit)
        return self._encoding.bom + self._body

    def _apply_edit(self, number: int, edit: Replacement) -> None:
        body, encoding, path = self._body, self._encoding, self._path
        old, new = _with_line_ends(body, edit, encoding.name, self._has_windows_line_ends)
        pattern = _encoded(old, encoding.name) if self._is_plain else b""
        if self._is_plain:
            matches, count, length = None, body.count(pattern) if pattern else 0, len(pattern)
        else:
            matches = find(body, old, encoding.name, self._matches_left + 1, self._check)
            count, length = len(matches.offsets), matches.length
        self._count_matches(number, count)
        if matches is not None and self._other_encodings:
            _refuse_uncertain(body, matches, old, new, encoding, self._other_encodings, path, self._check)
        if not count:
            raise ToolError(Code.TEXT_NOT_FOUND, number=number, path=path)
        if count > 1 and not edit.everywhere:
            raise ToolError(Code.TEXT_NOT_UNIQUE, number=number, path=path, count=count)
        replacement = encoding.encode(new, path)
        size = len(body) + count * (len(replacement) - length)
        if size > MAX_READ_BYTES:
            raise ToolError(Code.FILE_TOO_LARGE, path=path, size=size, limit=MAX_READ_BYTES)
        if _has_shifts(encoding.name):
            self._body = _replace_lines(body, old, new, encoding, path, self._check)
        elif matches is None:
            self._body = _replace_plain(body, pattern, replacement, self._check)
        else:
            self._body = _replace_located(body, matches, replacement, self._check)

    def _count_matches(self, number: int, count: int) -> None:
        if count > self._matches_left:
            limit = MAX_MATCHES if self._is_plain else MAX_LOCATED_MATCHES
            raise ToolError(Code.TOO_MANY_MATCHES, number=number, path=self._path, limit=limit)
        self._matches_left -= count

    def _check(self) -> None:
        if self._is_stopped():
            raise Stopped


def _with_line_ends(body: bytes, edit: Replacement, name: str, has_windows_line_ends: bool) -> tuple[str, str]:
    """The old and the new text with the line ends of the file: the model reads and writes plain line feeds."""
    if not find(body, edit.old, name, max_matches=1).offsets:
        return with_windows_ends(edit.old), with_windows_ends(edit.new)
    return edit.old, with_windows_ends(edit.new) if has_windows_line_ends and "\n" not in edit.old else edit.new


def _replace_plain(body: bytes, pattern: bytes, replacement: bytes, check: Callable[[], None]) -> bytes:
    """Replace every occurrence. `bytes.replace` would not let go of the interpreter for half a second."""
    size = max(_PIECE_BYTES, 4 * len(pattern))
    changed, offset = bytearray(), 0
    while offset < len(body):
        check()
        piece = body[offset : offset + size]
        *parts, rest = piece.split(pattern)
        for part in parts:
            changed += part
            changed += replacement
        # A match may begin in the last bytes of the piece.
        is_last = offset + len(piece) == len(body)
        whole = len(rest) if is_last else max(0, len(rest) - len(pattern) + 1)
        changed += rest[:whole]
        offset += len(piece) - len(rest) + whole
    return bytes(changed)


def _replace_located(body: bytes, matches: Matches, replacement: bytes, check: Callable[[], None]) -> bytes:
    changed, end = bytearray(), 0
    for number, offset in enumerate(matches.offsets):
        if number % _MATCHES_PER_CHECK == 0:
            check()
        changed += body[end:offset]
        changed += replacement
        end = offset + matches.length
    return bytes(changed + body[end:])


def _replace_lines(body: bytes, old: str, new: str, encoding: Encoding, path: str, check: Callable[[], None]) -> bytes:
    try:
        text = body.decode(encoding.name)
        is_reversible = _lines_encoded(text, encoding, path, check) == body
    except UnicodeDecodeError:
        is_reversible = False
    if not is_reversible:
        raise ToolError(Code.ENCODING_STATEFUL, path=path, encoding=encoding.name)
    return _lines_encoded(text.replace(old, new), encoding, path, check)


def _lines_encoded(text: str, encoding: Encoding, path: str, check: Callable[[], None]) -> bytes:
    """Encode line by line, so that each line begins and ends in the unshifted state."""
    encoded = bytearray()
    for number, line in enumerate(io.StringIO(text, newline="\n")):
        if number % _MATCHES_PER_CHECK == 0:
            check()
        encoded += encoding.encode(line, path)
    return bytes(encoded)


# searching


def find(
    body: bytes, text: str, name: str, max_matches: int | None = None, check: Callable[[], None] = lambda: None
) -> Matches:
    """The matches of a text in the body; for encodings with shift sequences, matches in the decoded text."""
    if _has_shifts(name):
        return _find_all(body.decode(name, "replace").find, text, lambda _: True, max_matches, check)
    return _find_all(body.find, _encoded(text, name), _boundaries(body, name), max_matches, check)


def _encoded(text: str, name: str) -> bytes:
    """The bytes to look for; empty where the encoding lacks a character of the text."""
    try:
        return text.encode(name)
    except UnicodeEncodeError:
        return b""


def _find_all(
    search: Callable[[Any, int], int],
    pattern: str | bytes,
    is_boundary: Callable[[int], bool],
    max_matches: int | None,
    check: Callable[[], None],
) -> Matches:
    offsets = array("q")
    offset, searches = search(pattern, 0) if pattern else -1, 0
    while offset >= 0 and (max_matches is None or len(offsets) < max_matches):
        if searches % _MATCHES_PER_CHECK == 0:
            check()
        searches += 1
        is_match = is_boundary(offset)
        if is_match:
            offsets.append(offset)
        offset = search(pattern, offset + (len(pattern) if is_match else 1))
    return Matches(offsets, len(pattern))


def _is_plain(name: str) -> bool:
    """Whether every occurrence of a character's bytes is that character."""
    return name not in _MULTI_BYTE_ENCODINGS and name not in _CODE_UNIT_BYTES and not _has_shifts(name)


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
    body: bytes,
    matches: Matches,
    old: str,
    new: str,
    encoding: Encoding,
    other_encodings: Sequence[str],
    path: str,
    check: Callable[[], None],
) -> None:
    """Refuse an edit in a guessed encoding unless it is the same edit in every other plausible encoding: in ASCII, at
    the same place, and not inside a character. Raises: ToolError."""
    others = [name for name in other_encodings if name != encoding.name]
    if new.isascii() and not any(_differs(body, matches, old, name, check) for name in others):
        return
    others_offsets = (find(body, old, name, 1, check).offsets for name in other_encodings)
    nearby = matches.offsets or next(filter(None, others_offsets), array("q"))
    if not nearby:
        return
    readings = describe_candidates(body, other_encodings, 0 if _has_shifts(encoding.name) else nearby[0])
    raise ToolError(Code.ENCODING_UNCERTAIN, path=path, candidates=readings)


def _differs(body: bytes, matches: Matches, old: str, name: str, check: Callable[[], None]) -> bool:
    if old.isascii() and _is_plain(name):
        return False  # the same bytes at the same places
    others = find(body, old, name, len(matches.offsets) + 1, check)
    if others.offsets and others != matches:
        return True
    is_boundary = _boundaries(body, name)
    for number, offset in enumerate(matches.offsets):
        if number % _MATCHES_PER_CHECK == 0:
            check()
        if not (is_boundary(offset) and is_boundary(offset + matches.length)):
            return True
    return False


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
