"""Parses and validates TOML files. Every error names the file, the line, the key and the allowed values."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NoReturn, TypeVar, get_args, get_origin

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import InvalidInput, invalid_file
from pilothouse.domain.spelling import suggest_key
from pilothouse.system.regular_file import open_regular_file

MAX_FILE_BYTES = 256 * 1024
T = TypeVar("T")
KeyPath = tuple[str, ...]

_MISSING = re.compile(r"Object missing required field `(?P<name>.*?)`")
_ERROR_PATH = re.compile(r" - at `\$(?P<path>[^`]*+)`$")
_PATH_PART = re.compile(r"""\.([A-Za-z0-9_]+)|\[(\d+|\.\.\.)\]""")
_KEY_PATTERN = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
# A string does not start after a backslash: otherwise each of many \" would start a match that never ends.
_SINGLE_LINE_STRING = re.compile(r"""(?<!["\\])"(?!"")(?:[^"\\]|\\.)*+"(?!"")|(?<!')'(?!'')[^']*+'(?!'')""")
_KEY_PATH_PATTERN = rf"{_KEY_PATTERN}(?>(?:\s*+\.\s*+{_KEY_PATTERN})*)"
_HEADER = re.compile(rf"^\s*(\[\[?)\s*({_KEY_PATH_PATTERN})\s*\]\]?")
_ASSIGNMENT = re.compile(rf"^\s*({_KEY_PATH_PATTERN})\s*=")


class TomlTable(msgspec.Struct, frozen=True):
    """The schema of a table. Unknown keys are ignored with a warning, unless that could lift a restriction."""

    closed: ClassVar[bool] = False
    """Whether every unknown key is an error, because the table contains restrictions."""
    restrictions: ClassVar[frozenset[str]] = frozenset()
    """Short keys that are protected from misspellings with two errors, because they restrict."""
    misplaced: ClassVar[Mapping[str, str]] = {}
    """Keys that belong in another place, with that place."""


class TomlDocument:
    """A TOML file: its data, the lines of its keys, and the keys that are ignored."""

    def __init__(self, path: Path, text: str) -> None:
        """Raises: InvalidInput for invalid TOML."""
        self.path = path
        self._lines = text.split("\n")
        self._ignored: dict[KeyPath, Reason] = {}
        try:
            self.data = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # ValueError also for a number that is too long
            match = re.search(r"at line (\d+)", str(error))
            line = int(match[1]) if match else len(self._lines)
            raise invalid_file(path, f"{error}.", "TOML", line=line) from error

    @property
    def warnings(self) -> Sequence[Reason]:
        """The ignored keys, with their lines, of the tables that have been checked."""
        return tuple(self._ignored.values())

    def validate(self, data: Any, schema: type[T], at: KeyPath = (), *, closed: bool = False) -> T:
        """Convert data of this file to a value. With `closed`, every unknown key is an error. Raises: InvalidInput."""
        try:
            return msgspec.convert(self._without_unknown_keys(data, schema, at, closed=closed), schema)
        except msgspec.ValidationError as error:
            self._explain(str(error), schema, at)

    def _without_unknown_keys(self, data: Any, schema: Any, at: KeyPath, *, closed: bool) -> Any:
        """Remove unknown keys and warn about them. Raises: InvalidInput for a key that may not be ignored."""
        if not isinstance(data, dict) or not isinstance(schema, type) or not issubclass(schema, TomlTable):
            return data
        fields = {field.name: _without_none(field.type) for field in msgspec.structs.fields(schema)}
        for name in (name for name in data if name not in fields):
            self._check_unknown((*at, name), schema, list(fields), closed=closed or schema.closed)
        return {
            name: self._without_unknown_keys(data[name], inner, (*at, name), closed=False)
            for name, inner in fields.items()
            if name in data
        }

    def _check_unknown(self, at: KeyPath, schema: type[TomlTable], allowed_keys: list[str], *, closed: bool) -> None:
        suggestion = suggest_key(at[-1], allowed_keys, schema.restrictions)
        if at[-1] in schema.misplaced:
            self.fail(at, "This key belongs elsewhere.", f"in {schema.misplaced[at[-1]]}")
        if suggestion is not None:
            self.fail(at, f"Unknown key. Did you mean {suggestion!r}?", ", ".join(allowed_keys))
        if closed:
            self.fail(at, "Unknown key.", ", ".join(allowed_keys))
        self.ignore(at)

    def ignore(self, at: KeyPath) -> None:
        """Add a warning about a key that is unknown and has no effect."""
        params = {"file": str(self.path), "line": self.line_of(at), "key": ".".join(at)}
        self._ignored[at] = Reason(Code.IGNORED_KEY, params)

    def fail(self, at: KeyPath, detail: str, allowed: str) -> NoReturn:
        """Raises: InvalidInput about a key."""
        raise invalid_file(self.path, detail, allowed, line=self.line_of(at), key=".".join(at) or "-")

    def origin(self, at: KeyPath) -> str:
        """Return the file and the line of a key, as text."""
        return f"{self.path}, line {self.line_of(at)}"

    def _explain(self, message: str, schema: type[Any], at: KeyPath) -> NoReturn:
        path_match = _ERROR_PATH.search(message)
        parts = _PATH_PART.finditer(path_match["path"]) if path_match else ()
        inner = tuple(part[1] or part[2] for part in parts)
        detail = _ERROR_PATH.sub("", message)
        missing = _MISSING.search(detail)
        if missing is not None:
            fields = _fields(_schema_at(schema, inner))
            self.fail((*at, *inner, missing["name"]), "A required key is missing.", ", ".join(fields))
        self.fail((*at, *inner), f"{detail}.", _allowed(_schema_at(schema, inner)))

    def line_of(self, at: KeyPath) -> int:
        """Return the line of a key; for a missing key, the line of the nearest table around it."""
        for length in range(len(at), 0, -1):
            line = self._line_of.get(at[:length])
            if line is not None:
                return line
        return 1

    @cached_property
    def _line_of(self) -> dict[KeyPath, int]:
        """The first line of every key, and of every table around one."""
        lines: dict[KeyPath, int] = {}
        for number, path in self._keys():
            for length in range(1, len(path) + 1):
                lines.setdefault(path[:length], number)
        return lines

    def _keys(self) -> Iterator[tuple[int, KeyPath]]:
        """Yield every key and table header with its line."""
        table: KeyPath = ()
        counts: dict[KeyPath, int] = {}
        quote: str | None = None
        for number, line in enumerate(self._lines, start=1):
            if quote is not None:  # inside a multi-line string
                quote = None if quote in line else quote
                continue
            line_without_strings = _SINGLE_LINE_STRING.sub("", line).partition("#")[0]
            quote = next((mark for mark in ('"""', "'''") if line_without_strings.count(mark) % 2), None)
            header, assignment = _HEADER.match(line), _ASSIGNMENT.match(line)
            if header is not None:
                table = _split_key_path(header[2])
                if header[1] == "[[":
                    counts[table] = counts.get(table, -1) + 1
                table = _with_indexes(table, counts)
                yield number, table
            elif assignment is not None:
                yield number, (*table, *_split_key_path(assignment[1]))


def _with_indexes(table: KeyPath, counts: Mapping[KeyPath, int]) -> KeyPath:
    """Insert the current index of every array of tables into the path of a table."""
    path: KeyPath = ()
    for length in range(1, len(table) + 1):
        path = (*path, table[length - 1])
        if table[:length] in counts:
            path = (*path, str(counts[table[:length]]))
    return path


def read_document(path: Path) -> TomlDocument | None:
    """Parse a file; None if it does not exist. Raises: InvalidInput for a file that cannot be read."""
    text = read_text(path)
    return TomlDocument(path, text) if text is not None else None


def read_text(path: Path) -> str | None:
    """Read a text file; None if it does not exist. Raises: InvalidInput for a file that cannot be read."""
    data = _read(path)
    if data is None:
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise file_error(path, f"The file isn't UTF-8 ({error.reason} at byte {error.start}).") from error


def _read(path: Path) -> bytes | None:
    """Read a file; None if it does not exist. Raises: InvalidInput for a file that cannot be read."""
    try:
        with open_regular_file(path, follow_links=True) as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise file_error(path, f"{getattr(error, 'strerror', None) or error}.") from error
    if len(data) > MAX_FILE_BYTES:
        raise file_error(path, f"The file is larger than {MAX_FILE_BYTES} bytes.")
    return data


def file_error(path: Path, detail: str, allowed: str = "a text file in UTF-8") -> InvalidInput:
    """Make an error about a whole file or folder."""
    return invalid_file(path, detail, allowed)


def _split_key_path(keys: str) -> KeyPath:
    return tuple(_unquote(part) for part in re.findall(_KEY_PATTERN, keys))


def _unquote(part: str) -> str:
    if part[0] == '"':
        return str(tomllib.loads(f"x = {part}")["x"])
    return part[1:-1] if part[0] == "'" else part


def _schema_at(schema: Any, path: KeyPath) -> Any:
    """Return the type at a path inside another type."""
    for part in path:
        schema = _without_none(schema)
        if isinstance(schema, type) and issubclass(schema, msgspec.Struct):
            schema = {field.name: field.type for field in msgspec.structs.fields(schema)}.get(part)
        else:
            schema = get_args(schema)[0] if get_args(schema) else None
    return _without_none(schema)


def _without_none(schema: Any) -> Any:
    arguments = [argument for argument in get_args(schema) if argument is not type(None)]
    is_optional = len(arguments) == 1 and len(get_args(schema)) == 2 and type(None) in get_args(schema)
    return arguments[0] if is_optional else schema


def _fields(schema: Any) -> list[str]:
    return [field.name for field in msgspec.structs.fields(schema)] if isinstance(schema, type) else []


def _allowed(schema: Any) -> str:
    """Describe the values of a type."""
    arguments = get_args(schema)
    if arguments and all(isinstance(argument, str) for argument in arguments):
        return ", ".join(arguments)
    if isinstance(schema, type) and issubclass(schema, msgspec.Struct):
        return f"a table with {', '.join(_fields(schema))}"
    if hasattr(schema, "__metadata__"):
        bounds = [f"{name} {value}" for name, value in _bounds(schema.__metadata__[0])]
        return " ".join([_allowed(get_args(schema)[0]), *bounds])
    base = get_origin(schema) or schema
    names = {str: "text", int: "a whole number", float: "a number", bool: "true, false"}
    if base is tuple:
        return f"a list of {_allowed(arguments[0])}" if arguments else "a list"
    return names.get(base, "a table" if base is dict else str(getattr(base, "__name__", base)))


def _bounds(meta: msgspec.Meta) -> list[tuple[str, float]]:
    bounds = {"from": meta.ge, "above": meta.gt, "up to": meta.le, "below": meta.lt}
    return [(name, value) for name, value in bounds.items() if value is not None]
