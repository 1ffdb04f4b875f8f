"""Reading a TOML file so that every error names the file, the line, the key and what is allowed there."""

import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any, NoReturn, TypeVar, get_args, get_origin

import msgspec

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput

SIZE_AT_MOST = 256 * 1024
T = TypeVar("T")
KeyPath = tuple[str, ...]

_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*?)`")
_MISSING = re.compile(r"Object missing required field `(?P<name>.*?)`")
_WHERE = re.compile(r" - at `\$(?P<path>.*?)`$")
_PART = re.compile(r"""\.([A-Za-z0-9_]+)|\[(\d+|\.\.\.)\]""")
_KEY = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_KEYS = rf"{_KEY}(?:\s*\.\s*{_KEY})*"
_HEADER = re.compile(rf"^\s*(\[\[?)\s*({_KEYS})\s*\]\]?")
_ASSIGNMENT = re.compile(rf"^\s*({_KEYS})\s*=")


class Document:
    """One file: its data, and where its keys stand."""

    def __init__(self, path: Path, text: str) -> None:
        """Raises: InvalidInput for what is no TOML."""
        self.path = path
        self._lines = text.split("\n")
        try:
            self.data = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            found = re.search(r"at line (\d+)", str(error))
            raise self._error(int(found[1]) if found else len(self._lines), "-", f"{error}.", "TOML") from error

    def checked(self, data: Any, shape: type[T], at: KeyPath = ()) -> T:
        """Data of this file as a value. Raises: InvalidInput."""
        try:
            return msgspec.convert(data, shape)
        except msgspec.ValidationError as error:
            self._explain(str(error), shape, at)

    def fail(self, at: KeyPath, detail: str, allowed: str) -> NoReturn:
        """Raises: InvalidInput about a key."""
        raise self._error(self.line_of(at), ".".join(at) or "-", detail, allowed)

    def origin(self, at: KeyPath) -> str:
        """Where a key stands, for people."""
        return f"{self.path}, line {self.line_of(at)}"

    def _error(self, line: int, key: str, detail: str, allowed: str) -> InvalidInput:
        return InvalidInput(
            Code.INVALID_CONFIG, file=str(self.path), line=line, key=key, detail=detail, allowed=allowed
        )

    def _explain(self, message: str, shape: type[Any], at: KeyPath) -> NoReturn:
        where = _WHERE.search(message)
        inner = tuple(found[1] or found[2] for found in _PART.finditer(where["path"])) if where else ()
        detail = _WHERE.sub("", message)
        for pattern in (_UNKNOWN, _MISSING):
            named = pattern.search(detail)
            if named is not None:
                fields = _fields(_shape_at(shape, inner))
                words = "There is no such key." if pattern is _UNKNOWN else "It is missing."
                self.fail((*at, *inner, named["name"]), words, ", ".join(fields))
        self.fail((*at, *inner), f"{detail}.", _allowed(_shape_at(shape, inner)))

    def line_of(self, at: KeyPath) -> int:
        """The line on which a key stands; that of the nearest thing around it where it is not there."""
        best, depth = 1, 0
        for number, path in self._keys():
            common = 0
            while common < min(len(path), len(at)) and path[common] == at[common]:
                common += 1
            if common > depth:
                best, depth = number, common
        return best

    def _keys(self) -> list[tuple[int, KeyPath]]:
        found: list[tuple[int, KeyPath]] = []
        table: KeyPath = ()
        counts: dict[KeyPath, int] = {}
        quote: str | None = None
        for number, line in enumerate(self._lines, start=1):
            if quote is not None:  # inside a text of several lines
                quote = None if quote in line else quote
                continue
            header, assignment = _HEADER.match(line), _ASSIGNMENT.match(line)
            if header is not None:
                table = _split(header[2])
                if header[1] == "[[":
                    counts[table] = counts.get(table, -1) + 1
                    table = (*table, str(counts[table]))
                found.append((number, table))
            elif assignment is not None:
                found.append((number, (*table, *_split(assignment[1]))))
            quote = next((mark for mark in ('"""', "'''") if line.count(mark) % 2), None)
        return found


def read_document(path: Path) -> Document | None:
    """The file, or None where there is none. Raises: InvalidInput for one that cannot be read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    with open(fd, "rb") as file:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise _unreadable(path, "it is not a regular file")
        data = file.read(SIZE_AT_MOST + 1)
    if len(data) > SIZE_AT_MOST:
        raise _unreadable(path, f"it is larger than {SIZE_AT_MOST} bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise _unreadable(path, f"it is not UTF-8 ({error.reason} at byte {error.start})") from error
    return Document(path, text)


def _unreadable(path: Path, detail: str) -> InvalidInput:
    allowed = "a text file in TOML"
    return InvalidInput(Code.INVALID_CONFIG, file=str(path), line=1, key="-", detail=f"{detail}.", allowed=allowed)


def _split(keys: str) -> KeyPath:
    return tuple(part[1:-1] if part[0] in "\"'" else part for part in re.findall(_KEY, keys))


def _shape_at(shape: Any, path: KeyPath) -> Any:
    """The type that stands at a path inside another one."""
    for part in path:
        shape = _without_none(shape)
        if isinstance(shape, type) and issubclass(shape, msgspec.Struct):
            shape = {field.name: field.type for field in msgspec.structs.fields(shape)}.get(part)
        else:
            shape = get_args(shape)[0] if get_args(shape) else None
    return _without_none(shape)


def _without_none(shape: Any) -> Any:
    arguments = [argument for argument in get_args(shape) if argument is not type(None)]
    is_optional = len(arguments) == 1 and len(get_args(shape)) == 2 and type(None) in get_args(shape)
    return arguments[0] if is_optional else shape


def _fields(shape: Any) -> list[str]:
    return [field.name for field in msgspec.structs.fields(shape)] if isinstance(shape, type) else []


def _allowed(shape: Any) -> str:
    """What may stand somewhere, in words."""
    arguments = get_args(shape)
    if arguments and all(isinstance(argument, str) for argument in arguments):
        return ", ".join(arguments)
    if isinstance(shape, type) and issubclass(shape, msgspec.Struct):
        return f"a table with {', '.join(_fields(shape))}"
    if hasattr(shape, "__metadata__"):
        bounds = [f"{name} {value}" for name, value in _bounds(shape.__metadata__[0])]
        return " ".join([_allowed(get_args(shape)[0]), *bounds])
    plain = get_origin(shape) or shape
    names = {str: "text", int: "a whole number", float: "a number", bool: "true, false"}
    if plain is tuple:
        return f"a list of {_allowed(arguments[0])}" if arguments else "a list"
    return names.get(plain, "a table" if plain is dict else str(getattr(plain, "__name__", plain)))


def _bounds(meta: msgspec.Meta) -> list[tuple[str, float]]:
    known = {"from": meta.ge, "above": meta.gt, "up to": meta.le, "below": meta.lt}
    return [(name, value) for name, value in known.items() if value is not None]
