"""Exact replacements in the bytes of a text file. Only the bytes of a match change.

A match begins and ends at a character. In encodings with shift sequences (ISO-2022) the bytes of a character
depend on those before it: there the lines that hold a match are written anew, provided that every line of the file can
be written back byte for byte.
"""

import codecs
import io
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.workspace import READ_LIMIT
from pilothouse.tools.text_encoding import MULTI_BYTE, Encoding, candidates, sample_lines

MAX_SEARCHED_BYTES = 500_000_000
"""How much all edits of one call may look through: each reads the whole file."""
_MAX_CANDIDATES_SHOWN = 6
_MAX_LINES_SHOWN = 3
_MAX_LINE_CHARACTERS = 100
_MAX_CONTEXT_BYTES = 400
_UNIT_BYTES = {"utf-16-le": 2, "utf-16-be": 2, "utf-32-le": 4, "utf-32-be": 4}
_MANY_BYTES = frozenset(
    {
        *MULTI_BYTE,
        *("shift_jis", "shift_jis_2004", "shift_jisx0213", "euc_jis_2004", "euc_jisx0213", "euc_kr", "johab"),
        *("gb2312", "gbk", "big5"),
    }
)
Spans = list[tuple[int, int]]


class Replacement(NamedTuple):
    old: str
    new: str
    everywhere: bool


def has_windows_ends(text: str) -> bool:
    return text.count("\r\n") * 2 > text.count("\n")


def with_windows_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def replaced(data: bytes, encoding: Encoding, edits: Sequence[Replacement], path: str) -> bytes:
    """The file after all edits, one after the other. Raises: ToolError; then nothing is to be changed."""
    body = data[len(encoding.bom) :]
    windows = has_windows_ends(encoding.decode(data))
    others = [] if encoding.is_certain else candidates(data, encoding.name)
    replace = _replace_lines if _has_shifts(encoding.name) else _replace_bytes
    searched = 0
    for number, edit in enumerate(edits, start=1):
        searched += len(body)
        if searched > MAX_SEARCHED_BYTES:
            raise ToolError(Code.TOO_MANY_EDITS, path=path, count=len(edits), size=len(body), limit=number - 1)
        old, new = _with_line_ends(body, edit, encoding.name, windows)
        spans = find(body, old, encoding.name)
        if others:
            _refuse_uncertain(body, spans, old, new, encoding, others, path)
        if not spans:
            raise ToolError(Code.TEXT_NOT_FOUND, number=number, path=path)
        if len(spans) > 1 and not edit.everywhere:
            raise ToolError(Code.TEXT_NOT_UNIQUE, number=number, path=path, count=len(spans))
        size = len(body) + len(spans) * (len(encoding.encode(new, path)) - spans[0][1] + spans[0][0])
        if size > READ_LIMIT:
            raise ToolError(Code.FILE_TOO_LARGE, path=path, size=size, limit=READ_LIMIT)
        body = replace(body, spans, old, new, encoding, path)
    return encoding.bom + body


def _with_line_ends(body: bytes, edit: Replacement, name: str, windows: bool) -> tuple[str, str]:
    """The model sees and writes plain line ends; the file keeps its own."""
    if not find(body, edit.old, name, most=1):
        return with_windows_ends(edit.old), with_windows_ends(edit.new)
    return edit.old, with_windows_ends(edit.new) if windows and "\n" not in edit.old else edit.new


def _replace_bytes(body: bytes, spans: Spans, _old: str, new: str, encoding: Encoding, path: str) -> bytes:
    replacement, at, parts = encoding.encode(new, path), 0, []
    for start, end in spans:
        parts += [body[at:start], replacement]
        at = end
    return b"".join([*parts, body[at:]])


def _replace_lines(body: bytes, _spans: Spans, old: str, new: str, encoding: Encoding, path: str) -> bytes:
    try:
        text = body.decode(encoding.name)
        known = _lines_encoded(text, encoding, path) == body
    except UnicodeDecodeError:
        known = False
    if not known:
        raise ToolError(Code.ENCODING_STATEFUL, path=path, encoding=encoding.name)
    return _lines_encoded(text.replace(old, new), encoding, path)


def _lines_encoded(text: str, encoding: Encoding, path: str) -> bytes:
    """Each line begins and ends unshifted."""
    return b"".join(encoding.encode(line, path) for line in io.StringIO(text, newline="\n"))


# where a text stands


def find(body: bytes, text: str, name: str, most: int | None = None) -> Spans:
    """The places where a text stands, without overlaps; of encodings with shifts, the places in the decoded text."""
    if _has_shifts(name):
        return _find_characters(body.decode(name, "replace"), text, most)
    try:
        wanted = text.encode(name)
    except UnicodeEncodeError:
        return []
    spans: Spans = []
    is_boundary, at = _boundaries(body, name), body.find(wanted) if wanted else -1
    while at >= 0 and (most is None or len(spans) < most):
        fits = is_boundary(at)
        if fits:
            spans.append((at, at + len(wanted)))
        at = body.find(wanted, at + (len(wanted) if fits else 1))
    return spans


def _find_characters(text: str, wanted: str, most: int | None) -> Spans:
    spans: Spans = []
    at = text.find(wanted) if wanted else -1
    while at >= 0 and (most is None or len(spans) < most):
        spans.append((at, at + len(wanted)))
        at = text.find(wanted, at + len(wanted))
    return spans


def _has_shifts(name: str) -> bool:
    return name.startswith("iso2022")


def _boundaries(body: bytes, name: str) -> Callable[[int], bool]:
    """Tells whether a character begins at a place. The places asked for must not go back."""
    if (unit := _UNIT_BYTES.get(name)) is not None:
        return lambda at: at % unit == 0
    if name not in _MANY_BYTES:
        return lambda _: True
    return _Reader(body, name).begins_at


class _Reader:
    """Reads a body in an encoding of several bytes a character. A line feed is never part of one, so reading can begin
    at any line."""

    def __init__(self, body: bytes, name: str) -> None:
        self._body, self._at = body, 0
        self._decoder = codecs.getincrementaldecoder(name)("surrogateescape")

    def begins_at(self, at: int) -> bool:
        line = self._body.rfind(b"\n", self._at, at) + 1
        if line > self._at:
            self._decoder.reset()
            self._at = line
        self._decoder.decode(self._body[self._at : at])
        self._at = at
        return not self._decoder.getstate()[0]


# what is not certain


def _refuse_uncertain(
    body: bytes, spans: Spans, old: str, new: str, encoding: Encoding, others: Sequence[str], path: str
) -> None:
    """A change in a guessed encoding must be the same change in every other one that fits: in ASCII, at the same
    place, and not inside of a character. Raises: ToolError."""
    if new.isascii() and not any(_differs(body, spans, old, name) for name in others if name != encoding.name):
        return
    places = spans or next(filter(None, (find(body, old, name, most=1) for name in others)), [])
    if not places:
        return
    shown = shown_candidates(body, others, places[0][0] if places and not _has_shifts(encoding.name) else 0)
    raise ToolError(Code.ENCODING_UNCERTAIN, path=path, candidates=shown)


def _differs(body: bytes, spans: Spans, old: str, name: str) -> bool:
    if old.isascii() and name not in _MANY_BYTES | _UNIT_BYTES.keys() and not _has_shifts(name):
        return False  # the same bytes at the same places
    found = find(body, old, name)
    if found and found != spans:
        return True
    is_boundary = _boundaries(body, name)
    return not all(is_boundary(edge) for span in spans for edge in span)


def shown_candidates(data: bytes, names: Sequence[str], at: int = 0) -> str:
    """How the lines at a place read in each encoding, those that read alike together."""
    if any(name in _UNIT_BYTES for name in names):
        near = data[at // 4 * 4 : at // 4 * 4 + _MAX_CONTEXT_BYTES]
    else:
        begin = data.rfind(b"\n", 0, at) + 1
        near = (
            sample_lines(data, begin, _MAX_CONTEXT_BYTES) or sample_lines(data, 0, _MAX_CONTEXT_BYTES) or data[begin:]
        )
    readings: dict[str, list[str]] = {}
    for name in names:
        lines = near[:_MAX_CONTEXT_BYTES].decode(name, "replace").splitlines()[:_MAX_LINES_SHOWN]
        reading = "".join(f"\n  | {line[:_MAX_LINE_CHARACTERS]}" for line in lines)
        readings.setdefault(reading, []).append(name)
    shown = list(readings.items())[:_MAX_CANDIDATES_SHOWN]
    return "\n".join(f"{', '.join(names[:4])}:{reading}" for reading, names in shown)
