"""Reading a TOML file so that every error names the file, the line, the key and what is allowed there."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NoReturn, TypeVar, get_args, get_origin

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.spelling import misspelt
from pilothouse.regular_file import open_regular_file

SIZE_AT_MOST = 256 * 1024
T = TypeVar("T")
KeyPath = tuple[str, ...]

_MISSING = re.compile(r"Object missing required field `(?P<name>.*?)`")
_WHERE = re.compile(r" - at `\$(?P<path>[^`]*+)`$")
_PART = re.compile(r"""\.([A-Za-z0-9_]+)|\[(\d+|\.\.\.)\]""")
_KEY = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
# No text begins behind a backslash: without that, each of many \" could be the beginning of one that never ends.
_PLAIN_TEXT = re.compile(r"""(?<!["\\])"(?!"")(?:[^"\\]|\\.)*+"(?!"")|(?<!')'(?!'')[^']*+'(?!'')""")
_KEYS = rf"{_KEY}(?:\s*+\.\s*+{_KEY})*+"
_HEADER = re.compile(rf"^\s*(\[\[?)\s*({_KEYS})\s*\]\]?")
_ASSIGNMENT = re.compile(rf"^\s*({_KEYS})\s*=")


class Table(msgspec.Struct, frozen=True):
    """What may stand in a table. Unknown keys are left out with a warning, unless that could lift a restriction."""

    closed: ClassVar[bool] = False
    """Every unknown key is an error: the table holds restrictions."""
    restrictions: ClassVar[frozenset[str]] = frozenset()
    """Keys that are protected from two typing errors, however short they are."""
    misplaced: ClassVar[Mapping[str, str]] = {}
    """Keys that belong in another file, and in which."""


class Document:
    """One file: its data, where its keys stand, and which of them are ignored."""

    def __init__(self, path: Path, text: str) -> None:
        """Raises: InvalidInput for what is no TOML."""
        self.path = path
        self._lines = text.split("\n")
        self._ignored: dict[KeyPath, Reason] = {}
        try:
            self.data = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # also a number that is too long
            found = re.search(r"at line (\d+)", str(error))
            raise self._error(int(found[1]) if found else len(self._lines), "-", f"{error}.", "TOML") from error

    @property
    def warnings(self) -> Sequence[Reason]:
        """Unknown keys, with their lines, as far as the data has been checked."""
        return tuple(self._ignored.values())

    def checked(self, data: Any, shape: type[T], at: KeyPath = (), *, closed: bool = False) -> T:
        """Data of this file as a value. `closed` refuses every unknown key. Raises: InvalidInput."""
        try:
            return msgspec.convert(self._known_part(data, shape, at, closed=closed), shape)
        except msgspec.ValidationError as error:
            self._explain(str(error), shape, at)

    def _known_part(self, data: Any, shape: Any, at: KeyPath, *, closed: bool) -> Any:
        """The data without unknown keys, which become warnings. Raises: InvalidInput for one that must be right."""
        if not isinstance(data, dict) or not isinstance(shape, type) or not issubclass(shape, Table):
            return data
        fields = {field.name: _without_none(field.type) for field in msgspec.structs.fields(shape)}
        for name in (name for name in data if name not in fields):
            self._check_unknown((*at, name), shape, list(fields), closed=closed or shape.closed)
        return {
            name: self._known_part(data[name], inner, (*at, name), closed=False)
            for name, inner in fields.items()
            if name in data
        }

    def _check_unknown(self, at: KeyPath, shape: type[Table], known: list[str], *, closed: bool) -> None:
        meant = misspelt(at[-1], known, shape.restrictions)
        if at[-1] in shape.misplaced:
            self.fail(at, "This key is not read here.", f"in {shape.misplaced[at[-1]]}")
        if meant is not None:
            self.fail(at, f"There is no such key. Did you mean {meant!r}?", ", ".join(known))
        if closed:
            self.fail(at, "There is no such key.", ", ".join(known))
        self.ignore(at)

    def ignore(self, at: KeyPath) -> None:
        """Warn that a key is not known and has no effect."""
        where = {"file": str(self.path), "line": self.line_of(at), "key": ".".join(at)}
        self._ignored[at] = Reason(Code.IGNORED_KEY, where)

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
        missing = _MISSING.search(detail)
        if missing is not None:
            fields = _fields(_shape_at(shape, inner))
            self.fail((*at, *inner, missing["name"]), "It is missing.", ", ".join(fields))
        self.fail((*at, *inner), f"{detail}.", _allowed(_shape_at(shape, inner)))

    def line_of(self, at: KeyPath) -> int:
        """The line on which a key stands; that of the nearest thing around it where it is not there."""
        for length in range(len(at), 0, -1):
            line = self._line_of.get(at[:length])
            if line is not None:
                return line
        return 1

    @cached_property
    def _line_of(self) -> dict[KeyPath, int]:
        """Every key, and everything that holds one, with the line on which it first stands."""
        found: dict[KeyPath, int] = {}
        for number, path in self._keys():
            for length in range(1, len(path) + 1):
                found.setdefault(path[:length], number)
        return found

    def _keys(self) -> Iterator[tuple[int, KeyPath]]:
        table: KeyPath = ()
        counts: dict[KeyPath, int] = {}
        quote: str | None = None
        for number, line in enumerate(self._lines, start=1):
            if quote is not None:  # inside a text of several lines
                quote = None if quote in line else quote
                continue
            plain = _PLAIN_TEXT.sub("", line).partition("#")[0]
            quote = next((mark for mark in ('"""', "'''") if plain.count(mark) % 2), None)
            header, assignment = _HEADER.match(line), _ASSIGNMENT.match(line)
            if header is not None:
                table = _split(header[2])
                if header[1] == "[[":
                    counts[table] = counts.get(table, -1) + 1
                table = _numbered(table, counts)
                yield number, table
            elif assignment is not None:
                yield number, (*table, *_split(assignment[1]))


def _numbered(table: KeyPath, counts: Mapping[KeyPath, int]) -> KeyPath:
    """The path of a table with the number of each list that it stands in."""
    path: KeyPath = ()
    for length in range(1, len(table) + 1):
        path = (*path, table[length - 1])
        if table[:length] in counts:
            path = (*path, str(counts[table[:length]]))
    return path


def read_document(path: Path) -> Document | None:
    """The file, or None where there is none. Raises: InvalidInput for one that cannot be read."""
    text = read_text(path)
    return Document(path, text) if text is not None else None


def read_text(path: Path) -> str | None:
    """Raises: InvalidInput for a file that cannot be read."""
    data = _read(path)
    if data is None:
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise refused(path, f"it is not UTF-8 ({error.reason} at byte {error.start}).") from error


def _read(path: Path) -> bytes | None:
    """What a file holds, or None where there is none. Raises: InvalidInput for one that cannot be read."""
    try:
        with open_regular_file(path, follow_links=True) as file:
            data = file.read(SIZE_AT_MOST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise refused(path, f"{getattr(error, 'strerror', None) or error}.") from error
    if len(data) > SIZE_AT_MOST:
        raise refused(path, f"it is larger than {SIZE_AT_MOST} bytes.")
    return data


def refused(path: Path, detail: str, allowed: str = "a text file in UTF-8") -> InvalidInput:
    """An error about a whole file or folder."""
    return InvalidInput(Code.INVALID_CONFIG, file=str(path), line=1, key="-", detail=detail, allowed=allowed)


def _split(keys: str) -> KeyPath:
    return tuple(_unquoted(part) for part in re.findall(_KEY, keys))


def _unquoted(part: str) -> str:
    if part[0] == '"':
        return str(tomllib.loads(f"x = {part}")["x"])
    return part[1:-1] if part[0] == "'" else part


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
