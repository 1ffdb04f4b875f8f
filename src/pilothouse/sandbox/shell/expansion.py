"""Static expansion of the words of a shell text: quotes, braces, and variables that the text itself sets.

A word has several readings where the text alone does not determine its value. Active (unquoted) special characters are
represented by private characters until a word is finished.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

MAX_READINGS = 20_000
"""The number of readings of all words of a command together, including those of the lines inside it."""
MAX_NAMES = 60_000
"""The number of words and parts of words of a command that are considered as file names."""
MAX_PATTERNS = 1_000
MAX_PATTERN_CHARACTERS = 100_000
"""The length of all patterns of a command together: each is compiled."""
MAX_EXPANDED_CHARACTERS = 4_000_000
"""The number of characters that the expansion of a command's words may produce."""
_MAX_RANGE_DIGITS = 9
_MAX_VARIABLE_DEPTH = 12
"""How many levels of variables inside the values of variables are resolved."""

_PRIVATE = re.compile("[\ue000-\ue00f]")
_STAR = "\ue000"
_ANY_SIGN = "\ue001"
_OPEN_SET = "\ue002"
_CLOSE_SET = "\ue003"
_OPEN_BRACE = "\ue004"
_CLOSE_BRACE = "\ue005"
_COMMA = "\ue006"
_UNKNOWN = "\ue007"
_VARIABLE = "\ue008"
_VARIABLE_END = "\ue009"
_ACTIVE = str.maketrans("*?[]{},", _STAR + _ANY_SIGN + _OPEN_SET + _CLOSE_SET + _OPEN_BRACE + _CLOSE_BRACE + _COMMA)
_INACTIVE = str.maketrans({value: chr(key) for key, value in _ACTIVE.items()})
_PATTERN_SIGNS = re.compile(f"[{_STAR}{_ANY_SIGN}{_OPEN_SET}]")
_TOKEN = re.compile(
    r"""
    (?P<gap>[\s;|&<>()`]+)
    | '(?P<raw>[^']*)'?
    | \$'(?P<ansi>(?:[^'\\]|\\.)*)'?
    | \$?"(?P<quoted>(?:[^"\\]|\\.)*)"?
    | \\(?P<escaped>.?)
    | \$\{(?P<braced>[^}]*)\}?
    | \$(?P<name>[A-Za-z_]\w*)
    | (?P<expansion>\$[\d@*#?$!-]|\$(?=\())
    | (?P<plain>[^\s;|&<>()`'"\\$]+)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_IN_QUOTES = re.compile(
    r"\\(?P<escaped>[$`\"\\\n])|\$\{(?P<braced>[^}]*)\}?|\$(?P<name>[A-Za-z_]\w*)|(?P<command>\$\(|`)|(?P<plain>.)",
    re.DOTALL,
)
_ANSI = re.compile(
    r"\\(?:x\{(?P<braced>[0-9A-Fa-f]{1,8})\}?|x(?P<hex>[0-9A-Fa-f]{1,2})|u(?P<short>[0-9A-Fa-f]{1,4})"
    r"|U(?P<long>[0-9A-Fa-f]{1,8})|(?P<octal>[0-7]{1,3})|(?P<sign>.))"
)
_ANSI_SIGNS = {"n": "\n", "t": "\t", "r": "\r"}
_PARAMETER = re.compile(r"[!#]?(?P<name>[A-Za-z_]\w*)?(?P<operator>:?[-=+?])?(?P<rest>.*)", re.DOTALL)
_ASSIGNED = re.compile(r"(?P<name>[A-Za-z_]\w*)(?P<more>\+?)=(?P<value>.*)", re.DOTALL)
_BRACE_SIGN = re.compile(f"([{_OPEN_BRACE}{_CLOSE_BRACE}{_COMMA}])")
_RANGE = re.compile(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.-?\d+)?")
_REFERENCE = re.compile(f"{_VARIABLE}([^{_VARIABLE}{_VARIABLE_END}]*+){_VARIABLE_END}")
_PREDEFINED_VARIABLES: Mapping[str, str] = {"PWD": ".", "HOME": "~"}


class Expanded(NamedTuple):
    """A reading of a word."""

    text: str
    """The word without its unknown parts; a pattern is in the notation of `fnmatch`."""
    is_pattern: bool
    pieces: tuple[str, ...]
    """The known parts between the unknown ones."""


class TooManyReadings(Exception):
    """The words of a text have too many readings."""


class ExpansionBudget:
    """The budget of all lines of one command together. Exceeding the budget raises TooManyReadings."""

    def __init__(self) -> None:
        self._remaining_readings = MAX_READINGS
        self._remaining_names = MAX_NAMES
        self._remaining_patterns = MAX_PATTERNS
        self._remaining_pattern_characters = MAX_PATTERN_CHARACTERS
        self._remaining_characters = MAX_EXPANDED_CHARACTERS

    def spend_characters(self, count: int) -> None:
        self._remaining_characters -= count
        if self._remaining_characters < 0:
            raise TooManyReadings

    def spend_readings(self, count: int) -> None:
        self._remaining_readings -= count
        if self._remaining_readings < 0:
            raise TooManyReadings

    def distinct_names(self, names: Iterable[str]) -> tuple[str, ...]:
        distinct: dict[str, None] = {}
        for name in names:
            distinct[name] = None
            self._remaining_names -= 1
            if self._remaining_names < 0:
                raise TooManyReadings
            self.spend_characters(len(name))
        return tuple(distinct)

    def distinct_patterns(self, patterns: Iterable[str]) -> tuple[str, ...]:
        distinct = self.distinct_names(patterns)
        self._remaining_patterns -= len(distinct)
        self._remaining_pattern_characters -= sum(map(len, distinct))
        if self._remaining_patterns < 0 or self._remaining_pattern_characters < 0:
            raise TooManyReadings
        return distinct


def expand(text: str, budget: ExpansionBudget) -> list[Expanded]:
    """The readings of the words of a text. Raises: TooManyReadings."""
    words = list(_words(_PRIVATE.sub("\ufffd", text), budget))
    expansion = _Expansion(budget)
    expansion.note_variables(words)
    expanded: list[Expanded] = []
    for word in dict.fromkeys(words):  # equal words have the same readings
        if word is not None:
            readings = expansion.readings(word)
            budget.spend_readings(len(readings))
            expanded += map(_finish, readings)
    return expanded


def _words(text: str, budget: ExpansionBudget) -> Iterator[str | None]:
    """Words with their active characters, also of texts inside words; None where a command may end.

    Raises: TooManyReadings.
    """
    texts = [text]
    for inner in texts:  # the list grows during the loop
        budget.spend_characters(len(inner))
        yield from _words_of(inner, texts)
        yield None


def _words_of(text: str, texts: list[str]) -> Iterator[str | None]:
    """The words of one text; the texts inside them are added to `texts`."""
    word: list[str] = []
    for token in _TOKEN.finditer(text):
        kind, value = token.lastgroup, token[token.lastgroup or 0]
        if kind == "gap":
            if word:
                yield "".join(word)
                word = []
            if not value.isspace() or "\n" in value:
                yield None
        else:
            word.append(_part(kind, value))
            texts += _texts_in(kind, value)
    if word:
        yield "".join(word)


def _part(kind: str | None, value: str) -> str:
    if kind == "braced":
        return _braced(value)
    if kind == "ansi":
        return _ANSI.sub(_ansi_sign, value)
    if kind == "quoted":
        return "".join(_quoted_part(match) for match in _IN_QUOTES.finditer(value))
    if kind == "escaped":
        return "" if value == "\n" else value
    if kind == "name":
        return _reference(value)
    if kind == "expansion":
        return _UNKNOWN
    return value.translate(_ACTIVE) if kind == "plain" else value


def _texts_in(kind: str | None, value: str) -> Iterator[str]:
    """The texts inside a part of a word that are expanded separately: `${name:-text}`, `"$(text)"`."""
    if kind == "braced":
        yield _default(value)
    elif kind == "quoted" and ("$" in value or "`" in value):
        matches = list(_IN_QUOTES.finditer(value))
        yield from (_default(match["braced"]) for match in matches if match.lastgroup == "braced")
        yield from [value[match.end() :] for match in matches if match.lastgroup == "command"][:1]


def _quoted_part(match: re.Match[str]) -> str:
    if match.lastgroup == "braced":
        return _braced(match["braced"])
    if match.lastgroup == "name":
        return _reference(match["name"])
    if match.lastgroup == "command":
        return _UNKNOWN
    return "" if match["escaped"] == "\n" else match[match.lastgroup or 0]


def _ansi_sign(match: re.Match[str]) -> str:
    if match["sign"] is not None:
        return _ANSI_SIGNS.get(match["sign"], match["sign"])
    digits = match[match.lastgroup or 0]
    number = int(digits, 8 if match.lastgroup == "octal" else 16)
    return chr(number) if 0 < number < 0x110000 and not 0xE000 <= number <= 0xE00F else "\ufffd"


def _braced(parameter: str) -> str:
    name = (_PARAMETER.match(parameter) or {"name": None})["name"]
    return _reference(name) if name else _UNKNOWN


def _reference(name: str) -> str:
    return f"{_VARIABLE}{name}{_VARIABLE_END}"


def _default(parameter: str) -> str:
    """The default value in `${name:-value}`."""
    match = _PARAMETER.match(parameter)
    return match["rest"] if match is not None and match["operator"] else ""


class _Expansion:
    """Expands the words of one text. Raises: TooManyReadings."""

    def __init__(self, budget: ExpansionBudget) -> None:
        self._budget = budget
        self._variables: dict[str, dict[str, None]] = {
            name: {value: None} for name, value in _PREDEFINED_VARIABLES.items()
        }
        """The values that the text assigns to variables. They may contain references to other variables."""

    def note_variables(self, words: Sequence[str | None]) -> None:
        """Record the values of variables that the text sets by assignments and by `for`."""
        loop: str | None = None
        for index, word in enumerate(words):
            if word is None:
                loop = None
                continue
            if index > 2 and words[index - 1] == "in" and words[index - 3] == "for":
                loop = words[index - 2]
            if loop is not None:
                self._note(loop, self._without_braces(word))
            match = _ASSIGNED.fullmatch(word)
            if match is not None:
                former = _reference(match["name"]) if match["more"] and match["name"] in self._variables else ""
                self._note(match["name"], [match["value"], former + match["value"]])

    def _note(self, name: str, values: Iterable[str]) -> None:
        """Record values with the present values of other variables, and, for loops, with their later values."""
        for value in list(values):
            names = _REFERENCE.findall(value)
            now = self._with_values(value) if names and all(map(self._variables.__contains__, names)) else []
            self._variables.setdefault(name, {}).update(dict.fromkeys((value, *now)))

    def readings(self, word: str) -> list[str]:
        return self._distinct(
            reading for variant in self._without_braces(word) for reading in self._with_values(variant)
        )

    def _distinct(self, readings: Iterable[str]) -> list[str]:
        distinct: dict[str, None] = {}
        for reading in readings:
            distinct[reading] = None
            self._budget.spend_characters(len(reading) + 1)
            if len(distinct) > MAX_READINGS:
                raise TooManyReadings
        return list(distinct)

    def _joined(self, *parts: Sequence[str]) -> list[str]:
        """Every reading of the first part, followed by every reading of the second, and so on."""
        readings: list[str] = [""]
        for part in parts:
            readings = self._distinct(reading + continuation for reading in readings for continuation in part)
        return readings

    def _with_values(self, word: str, resolving: tuple[str, ...] = ()) -> list[str]:
        """The readings of a word with each value of its variables; `resolving` are the variables being resolved."""
        readings = [word]
        for name in dict.fromkeys(_REFERENCE.findall(word)):
            values = self._values(name, resolving)
            parts = (reading.split(_reference(name)) for reading in readings)
            readings = self._distinct(value.join(part) for part in parts for value in values)
        return readings

    def _values(self, name: str, resolving: tuple[str, ...]) -> list[str]:
        if name in resolving or name not in self._variables:  # a value from before the text is unknown
            return [_UNKNOWN]
        if len(resolving) == _MAX_VARIABLE_DEPTH:
            raise TooManyReadings
        values = list(self._variables[name])
        return self._distinct(reading for value in values for reading in self._with_values(value, (*resolving, name)))

    def _without_braces(self, word: str) -> list[str]:
        """The readings of a word with each part of its braces."""
        if _OPEN_BRACE not in word:
            return [word]
        open_braces: list[_Brace] = [_Brace()]
        for piece in _BRACE_SIGN.split(word):
            brace = open_braces[-1]
            if piece == _OPEN_BRACE:
                open_braces.append(_Brace())
            elif piece == _CLOSE_BRACE and len(open_braces) > 1:
                open_braces.pop()
                open_braces[-1].last = self._joined(open_braces[-1].last, self._alternatives(brace))
            elif piece == _COMMA and len(open_braces) > 1:
                brace.parts.append([""])
            elif piece:
                brace.last = self._joined(brace.last, [piece])
        readings = open_braces[0].last
        for brace in open_braces[1:]:  # unclosed braces
            readings = self._joined(readings, ["{"], self._plain(brace))
        return readings

    def _alternatives(self, brace: "_Brace") -> list[str]:
        if len(brace.parts) > 1:
            return self._distinct(reading for part in brace.parts for reading in part)
        values = _range(brace.last[0]) if len(brace.last) == 1 else None
        return self._distinct(values) if values is not None else self._joined(["{"], self._plain(brace), ["}"])

    def _plain(self, brace: "_Brace") -> list[str]:
        """The content of braces that are literal characters."""
        return self._joined(brace.parts[0], *(part for more in brace.parts[1:] for part in ([","], more)))


class _Brace:
    """An open brace: the readings of each of its parts."""

    def __init__(self) -> None:
        self.parts: list[list[str]] = [[""]]

    @property
    def last(self) -> list[str]:
        return self.parts[-1]

    @last.setter
    def last(self, readings: list[str]) -> None:
        self.parts[-1] = readings


def _range(inside: str) -> Iterable[str] | None:
    """The values of `{a..f}` and `{1..20}`; None for anything but a range."""
    match = _RANGE.fullmatch(inside)
    if match is None:
        return None
    first, last = match[1], match[2]
    if first.isalpha() and last.isalpha():
        low, high = sorted((ord(first), ord(last)))
        return map(chr, range(low, high + 1))
    if first.isalpha() or last.isalpha():
        return None
    if max(len(first), len(last)) > _MAX_RANGE_DIGITS:
        raise TooManyReadings
    low, high = sorted((int(first), int(last)))
    return map(str, range(low, high + 1))


def _finish(reading: str) -> Expanded:
    pieces = tuple(piece.translate(_INACTIVE) for piece in reading.split(_UNKNOWN) if piece)
    text = _without_sets(reading.replace(_UNKNOWN, ""))
    if not _PATTERN_SIGNS.search(text):
        return Expanded(text.translate(_INACTIVE), False, pieces)
    return Expanded("".join(f"[{sign}]" if sign in "*?[" else sign for sign in text).translate(_INACTIVE), True, pieces)


def _without_sets(pattern: str) -> str:
    """A pattern with each set replaced by the wildcard for any character: shells and `fnmatch` disagree about the
    meaning of `[^a]` and `[[:alpha:]]`."""
    parts, position = [], 0
    while (start := pattern.find(_OPEN_SET, position)) >= 0 and (end := _set_end(pattern, start)) >= 0:
        parts += [pattern[position:start], _ANY_SIGN]
        position = end
    return "".join(parts) + pattern[position:]


def _set_end(pattern: str, start: int) -> int:
    """The end of a set; -1 for an unclosed set."""
    first = start + 2 + (pattern[start + 1 : start + 2] in ("!", "^"))  # a bracket that comes first closes nothing
    end = pattern.find(_CLOSE_SET, first)
    while end > 0 and pattern[end - 1] in ":.=" and (closed := pattern.find(_CLOSE_SET, end + 1)) > 0:  # `[:alpha:]`
        end = closed
    return end + 1 if end >= 0 else -1
