"""A JSON file whose errors and warnings name file, line and key. Comments and trailing commas are allowed."""

import json
from typing import Any, NoReturn

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import invalid_file
from pilothouse.domain.jsonc import plain_json

KeyPath = tuple[str, ...]


class JsonDocument:
    """A JSON file: its data, and the warnings about it."""

    def __init__(self, text: str, file: str) -> None:
        """Raises: InvalidInput for invalid JSON, and for a key repeated in one object."""
        self.file = file
        self.warnings: list[Reason] = []
        self._text = plain_json(text)
        self._duplicate_key: str | None = None
        try:
            self.data = json.loads(self._text, object_pairs_hook=self._object, parse_constant=_refuse)
        except json.JSONDecodeError as error:
            self._raise(error.lineno, "-", f"{error.msg} (column {error.colno}).", "JSON")
        except (ValueError, RecursionError) as error:
            self._raise(1, "-", f"{error}.", "JSON")
        if self._duplicate_key is not None:
            self.fail((self._duplicate_key,), "The key is there twice.", "each key once")

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Detect repeated keys: JSON parsers silently keep the last value."""
        data = dict(pairs)
        if len(data) != len(pairs) and self._duplicate_key is None:
            names = [name for name, _ in pairs]
            self._duplicate_key = next(name for name in names if names.count(name) > 1)
        return data

    def fail(self, key_path: KeyPath, detail: str, allowed: str) -> NoReturn:
        """Raises: InvalidInput about a key."""
        self._raise(self._line_of(key_path), ".".join(key_path) or "-", detail, allowed)

    def warn(self, code: Code, key_path: KeyPath, **params: Any) -> None:
        location = {"file": self.file, "line": self._line_of(key_path), "key": ".".join(key_path)}
        self.warnings.append(Reason(code, {**location, **params}))

    def checked(self, data: Any, kind: type, key_path: KeyPath, allowed: str) -> Any:
        """The data, checked to be of this type. A text must be valid Unicode without NUL, so that it can be stored and
        passed on."""
        if not isinstance(data, kind):
            self.fail(key_path, f"The value is {type_name(data)}.", allowed)
        if isinstance(data, str):
            if "\0" in data:
                self.fail(key_path, "The text has a NUL character.", "text without NUL")
            if any("\ud800" <= character <= "\udfff" for character in data):
                self.fail(key_path, "The text has half of a surrogate pair.", "valid Unicode")
        return data

    def text(self, data: Any, key_path: KeyPath) -> str:
        """A text that is not blank."""
        text: str = self.checked(data, str, key_path, "text")
        if not text.strip():
            self.fail(key_path, "The text is empty.", "text")
        return text

    def _line_of(self, key_path: KeyPath) -> int:
        position = 0
        for part in key_path:
            match = self._text.find(json.dumps(part, ensure_ascii=False), position)
            position = match if match >= 0 else position
        return self._text.count("\n", 0, position) + 1

    def _raise(self, line: int, key: str, detail: str, allowed: str) -> NoReturn:
        raise invalid_file(self.file, detail, allowed, line=line, key=key) from None


def type_name(data: Any) -> str:
    """The JSON type of a value in plain words."""
    names = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "an object"}
    return names.get(type(data), "null")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} isn't valid JSON")
