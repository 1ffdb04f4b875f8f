"""A JSON file whose errors and warnings name the file, the line and the key. Comments and trailing commas are fine."""

import json
from typing import Any, NoReturn

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.jsonc import plain_json

KeyPath = tuple[str, ...]


class Document:
    """One file: its data, and what is wrong or ignored in it."""

    def __init__(self, text: str, file: str) -> None:
        """Raises: InvalidInput for what is no JSON, and for a key that stands twice in one object."""
        self.file = file
        self.warnings: list[Reason] = []
        self._text = plain_json(text)
        self._twice: str | None = None
        try:
            self.data = json.loads(self._text, object_pairs_hook=self._object, parse_constant=_refuse)
        except json.JSONDecodeError as error:
            self._raise(error.lineno, "-", f"{error.msg} (column {error.colno}).", "JSON")
        except (ValueError, RecursionError) as error:
            self._raise(1, "-", f"{error}.", "JSON")
        if self._twice is not None:
            self.fail((self._twice,), "It stands there twice.", "each key once")

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """JSON would let the last of two win, silently."""
        data = dict(pairs)
        if len(data) != len(pairs) and self._twice is None:
            names = [name for name, _ in pairs]
            self._twice = next(name for name in names if names.count(name) > 1)
        return data

    def fail(self, at: KeyPath, detail: str, allowed: str) -> NoReturn:
        """Raises: InvalidInput about a key."""
        self._raise(self._line_of(at), ".".join(at) or "-", detail, allowed)

    def warn(self, code: Code, at: KeyPath, **params: Any) -> None:
        where = {"file": self.file, "line": self._line_of(at), "key": ".".join(at)}
        self.warnings.append(Reason(code, {**where, **params}))

    def typed(self, data: Any, kind: type, at: KeyPath, allowed: str) -> Any:
        """The data, when it is of this kind. A text must be one that can be stored and passed on."""
        if not isinstance(data, kind):
            self.fail(at, f"It is {word_for(data)}.", allowed)
        if isinstance(data, str):
            if "\0" in data:
                self.fail(at, "It holds a NUL character.", "text without NUL")
            if any("\ud800" <= letter <= "\udfff" for letter in data):
                self.fail(at, "It holds half a character.", "text in Unicode")
        return data

    def word(self, data: Any, at: KeyPath) -> str:
        """A text that is not empty."""
        word: str = self.typed(data, str, at, "text")
        if not word.strip():
            self.fail(at, "It is empty.", "text")
        return word

    def _line_of(self, at: KeyPath) -> int:
        position = 0
        for part in at:
            found = self._text.find(json.dumps(part, ensure_ascii=False), position)
            position = found if found >= 0 else position
        return self._text.count("\n", 0, position) + 1

    def _raise(self, line: int, key: str, detail: str, allowed: str) -> NoReturn:
        shown = {"file": self.file, "line": line, "key": key, "detail": detail, "allowed": allowed}
        raise InvalidInput(Code.INVALID_CONFIG, **shown) from None


def word_for(data: Any) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "an object"}
    return names.get(type(data), "null")


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")
