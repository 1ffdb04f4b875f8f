"""The regular expressions of grep: one dialect, read once here and written anew for each engine.

A line is searched, never more. Letters, digits, spaces and word boundaries are the ASCII ones; a line's end may be
CRLF. Whatever an engine has for itself (look-around, backreferences, Unicode classes) is refused with its name.
What is read here becomes sets of characters, repetitions and three assertions, so both engines are told the same.
"""

from collections.abc import Iterable
from typing import Any

LONGEST = 1000
_COUNT_AT_MOST = 1000
_NODES_AT_MOST = 5000
_DEEPEST = 40
_CASES_AT_MOST = 70_000

Range = tuple[int, int]
Set = tuple[Range, ...]
# A tree of ("set", ranges), ("is", "^" | "$" | "b"), ("seq", parts), ("alt", parts), ("rep", part, low, high or None).
Tree = tuple[Any, ...]

_LAST = 0x10FFFF
_NEVER: Set = ((0x0A, 0x0A), (0x0D, 0x0D), (0xD800, 0xDFFF))  # line ends, and what stands for broken UTF-8
_DIGITS: Set = ((0x30, 0x39),)
_WORD: Set = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_SPACE: Set = ((0x09, 0x09), (0x0B, 0x0C), (0x20, 0x20))
_SIGNS = {"t": 0x09, "f": 0x0C, "v": 0x0B, "r": 0x0D}
_BORDERS = "'\\b' is the only word boundary; there is no '\\B', '\\<' or '\\>'"
_REFUSED = {
    "n": "a line is searched at a time, so there is no '\\n'",
    "A": "use '^' for the start of a line",
    "Z": "use '$' for the end of a line",
    "z": "use '$' for the end of a line",
    "B": _BORDERS,
    "<": _BORDERS,
    ">": _BORDERS,
    "p": "there are no Unicode classes; write the characters in '[...]'",
    "P": "there are no Unicode classes; write the characters in '[...]'",
}
_GROUPS = {
    "=": "there is no look-around",
    "!": "there is no look-around",
    "<=": "there is no look-around",
    "<!": "there is no look-around",
    ">": "there are no atomic groups",
    "#": "there are no comments",
    "(": "there are no conditions",
}


class BadRegex(Exception):
    """The text says what cannot be used, and what to write instead."""


def read_regex(text: str, *, ignore_case: bool) -> Tree:
    """Raises: BadRegex."""
    if text.startswith("(?i)"):
        text, ignore_case = text[4:], True
    tree = _Reader(text, ignore_case).read()
    if _size(tree) > _NODES_AT_MOST:
        raise BadRegex("its repetitions make it too large")
    return tree


def _size(tree: Tree) -> int:
    if tree[0] in ("seq", "alt"):
        return sum(1 + _size(part) for part in tree[1])
    if tree[0] == "rep":
        _, part, low, high = tree
        return int((1 + _size(part)) * max(high or low + 1, 1))
    return 1


class _Reader:
    def __init__(self, text: str, ignore_case: bool) -> None:
        if len(text) > LONGEST:
            raise BadRegex(f"it is longer than {LONGEST} characters")
        if "\0" in text or "\n" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
            raise BadRegex("it holds a character that no line can hold")
        self._text, self._at, self._ignore_case, self._depth = text, 0, ignore_case, 0

    def read(self) -> Tree:
        tree = self._alternatives()
        if self._at < len(self._text):
            raise BadRegex("a ')' closes nothing")
        return tree

    def _next(self, size: int = 1) -> str:
        return self._text[self._at : self._at + size]

    def _take(self) -> str:
        if self._at >= len(self._text):
            raise BadRegex("it ends too early")
        self._at += 1
        return self._text[self._at - 1]

    def _alternatives(self) -> Tree:
        parts = [self._sequence()]
        while self._next() == "|":
            self._at += 1
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else ("alt", parts)

    def _sequence(self) -> Tree:
        parts: list[Tree] = []
        while self._next() not in ("", "|", ")"):
            parts.append(self._repeated(self._atom()))
        return ("seq", parts)

    def _repeated(self, atom: Tree) -> Tree:
        bounds = self._bounds()
        if bounds is None:
            return atom
        if atom[0] == "is" or atom in (_START, _END):
            raise BadRegex("'^', '$' and '\\b' cannot be repeated")
        if self._next() == "?":  # a lazy repetition finds the same lines
            self._at += 1
        if self._bounds() is not None:
            raise BadRegex("a repetition cannot be repeated, and there are no possessive ones; use a group")
        return ("rep", atom, *bounds)

    def _bounds(self) -> tuple[int, int | None] | None:
        sign = self._next()
        if sign and sign in "*+?":
            self._at += 1
            return int(sign == "+"), 1 if sign == "?" else None
        if sign != "{" or not self._next(2)[1:].isdecimal():
            return None
        inside, closed, _ = self._text[self._at + 1 :].partition("}")
        low, comma, high = inside.partition(",")
        if not closed or not all(part.isascii() and part.isdecimal() for part in (low, high or "0")):
            raise BadRegex("a '{' is no repetition like '{2}', '{2,}' or '{2,3}'; write '\\{' for a brace")
        bounds = int(low), (int(high) if high else None) if comma else int(low)
        if max(bounds[0], bounds[1] or 0) > _COUNT_AT_MOST or (bounds[1] is not None and bounds[1] < bounds[0]):
            raise BadRegex(f"a repetition goes from less to more, up to {_COUNT_AT_MOST}")
        self._at += len(inside) + 2
        return bounds

    def _atom(self) -> Tree:
        sign = self._take()
        if sign == "(":
            return self._group()
        if sign == "[":
            return ("set", self._class())
        if sign == "\\":
            return self._escape()
        if sign in "*+?" or (sign == "{" and (self._next().isdecimal() or self._next() == ",")):
            raise BadRegex(f"there is nothing to repeat before '{sign}'; write '\\{sign}' for the character")
        return _ATOMS.get(sign) or ("set", self._cases([(ord(sign), ord(sign))]))

    def _group(self) -> Tree:
        if self._next() == "?":
            self._at += 1
            self._group_kind()
        self._depth += 1
        if self._depth > _DEEPEST:
            raise BadRegex(f"its groups are nested more than {_DEEPEST} times")
        tree = self._alternatives()
        if self._next() != ")":
            raise BadRegex("a '(' is not closed")
        self._at += 1
        self._depth -= 1
        return tree

    def _group_kind(self) -> None:
        for size in (2, 1):
            if self._next(size) in _GROUPS:
                raise BadRegex(_GROUPS[self._next(size)])
        if self._next() == ":":
            self._at += 1
        elif self._next(2) == "P<" and self._text[self._at + 2 :].partition(">")[0].isidentifier():
            self._at = self._text.index(">", self._at) + 1
        else:
            raise BadRegex("after '(?' only ':' and 'P<name>' are known, and '(?i)' at the very beginning")

    def _escape(self) -> Tree:
        if self._next() == "b":
            self._at += 1
            return ("is", "b")
        found = self._escaped()
        return ("set", found if isinstance(found, tuple) else self._cases([(found, found)]))

    def _escaped(self) -> Set | int:
        """What a backslash stands for: a set, or one character."""
        sign = self._take()
        if sign in _SETS:
            return _SETS[sign]
        if sign in _SIGNS:
            return _SIGNS[sign]
        if sign in "xuU":
            return self._number(sign)
        if sign in _REFUSED:
            raise BadRegex(_REFUSED[sign])
        if sign.isdigit() or sign in "kg":
            raise BadRegex("there are no backreferences")
        if not sign.isascii() or sign.isalnum():
            raise BadRegex(f"'\\{sign}' is not known")
        return ord(sign)

    def _number(self, sign: str) -> int:
        size = {"x": 2, "u": 4, "U": 8}[sign]
        digits = self._next(size)
        if len(digits) != size or not all(digit in "0123456789abcdefABCDEF" for digit in digits):
            raise BadRegex(f"'\\{sign}' is followed by {size} hexadecimal digits")
        self._at += size
        number = int(digits, 16)
        if number > _LAST or number == 0x0A or 0xD800 <= number <= 0xDFFF:
            raise BadRegex(f"'\\{sign}{digits}' is no character of a line")
        return number

    def _class(self) -> Set:
        negated = self._next() == "^"
        self._at += negated
        start = self._at
        found: list[Range] = []
        while self._at == start or self._next() != "]":
            if self._next(2) in ("&&", "--", "~~", "||"):
                raise BadRegex(f"'{self._next(2)}' in '[...]' is not known; write a backslash before each")
            low = self._class_sign()
            if isinstance(low, tuple):
                found += low
                if self._next() == "-" and self._next(2) != "-]":
                    raise BadRegex("a class cannot begin a range in '[...]'; write '\\-' for the character")
            else:
                found.append((low, self._class_end(low)))
        self._at += 1
        cases = self._cases(found)
        ranges = _without(cases) if negated else cases
        if not ranges:
            raise BadRegex("a '[...]' matches nothing")
        return ranges

    def _class_end(self, low: int) -> int:
        if self._next() != "-" or self._next(2) in ("-]", "-"):
            return low
        self._at += 1
        high = self._class_sign()
        if isinstance(high, tuple) or high < low:
            raise BadRegex("a range in '[...]' goes from one character to a later one")
        return high

    def _class_sign(self) -> Set | int:
        if self._at >= len(self._text):
            raise BadRegex("a '[' is not closed")
        sign = self._take()
        if sign == "[":
            raise BadRegex("a '[' in '[...]' is written '\\['; there are no classes in it by name")
        if sign == "\\":
            if self._next() == "b":
                raise BadRegex("'\\b' means nothing in '[...]'")
            return self._escaped()
        return ord(sign)

    def _cases(self, ranges: Iterable[Range]) -> Set:
        """The characters, and without regard to case those that differ by it alone, one for one."""
        ranges = list(ranges)
        if self._ignore_case:
            if sum(high - low for low, high in ranges) > _CASES_AT_MOST:
                raise BadRegex("a range is too long to be searched without regard to case")
            signs = [chr(code) for low, high in ranges for code in range(low, high + 1)]
            ranges += [(ord(c), ord(c)) for sign in signs for c in (sign.lower(), sign.upper()) if len(c) == 1]
        return _joined(ranges)


def _joined(ranges: Iterable[Range]) -> Set:
    """In order, without overlaps, and without what stands for broken text."""
    done: list[Range] = []
    for low, high in sorted(ranges):
        if done and low <= done[-1][1] + 1:
            done[-1] = (done[-1][0], max(done[-1][1], high))
        else:
            done.append((low, high))
    parts = [((low, min(high, 0xD7FF)), (max(low, 0xE000), high)) for low, high in done]
    split = [part for pair in parts for part in pair if part[0] <= part[1]]
    lines = [((low, min(high, 9)), (max(low, 11), high)) for low, high in split]
    return tuple(part for pair in lines for part in pair if part[0] <= part[1])


def _without(ranges: Set) -> Set:
    """Every other character of a line."""
    taken = sorted([*ranges, *_NEVER])
    found, at = [], 0
    for low, high in taken:
        if at < low:
            found.append((at, low - 1))
        at = max(at, high + 1)
    return tuple([*found, (at, _LAST)] if at <= _LAST else found)


_SETS: dict[str, Set] = {"d": _DIGITS, "w": _WORD, "s": _SPACE}
_SETS |= {name.upper(): _without(ranges) for name, ranges in _SETS.items()}
# A mark of byte order may begin a file, a carriage return may end a line: neither is the person's concern.
_START: Tree = ("seq", [("is", "^"), ("rep", ("set", ((0xFEFF, 0xFEFF),)), 0, 1)])
_END: Tree = ("seq", [("rep", ("set", ((0x0D, 0x0D),)), 0, 1), ("is", "$")])
_ATOMS: dict[str, Tree] = {".": ("set", _without(())), "^": _START, "$": _END}
