"""An independent scan of a line's quoting, compared with the parse tree."""

# The grammar does not show every substitution as a node: in `"$ $(rm x)"` it treats `$ ` as a variable, and in
# `[[ a<(./x) ]]` a process substitution as a comparison. The scan knows quotes, comments and substitutions only. Each
# quotation, comment and substitution that the scan finds must be a node of the same kind and extent. Otherwise, or
# where the scan cannot follow the text, the parse tree is not trusted.

import re
from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Literal, NamedTuple

from tree_sitter import Node

_MAX_DEPTH = 100
_BLANKS = frozenset(b" \t\n")
_PLAIN = re.compile(rb"[^ \t\n\\'\"$`<>()#;&|]++")
_PLAIN_IN_QUOTES = re.compile(rb"[^\\\"$`]++")
_ANSI = re.compile(rb"\$'(?:[^'\\]|\\.)*+'", re.DOTALL)
# Without quotations and substitutions inside; lines with other parameters are not trusted.
_PARAMETER = re.compile(rb"\$\{[^}$`'\"\\\n<>]*+\}")
_HEREDOC = re.compile(rb"<<-?[ \t]*+")
_SUBSTITUTIONS = ("command_substitution", "arithmetic_expansion")
_HEREDOC_PARTS = frozenset({"heredoc_start", "heredoc_body", "heredoc_end"})
_TOKENS = frozenset(
    {
        *("string", "raw_string", "ansi_c_string", "comment", "expansion", "process_substitution"),
        *_SUBSTITUTIONS,
        *_HEREDOC_PARTS,
    }
)

Kind = Literal["quotes", "parentheses", "substitution", "process", "backticks"]


class _Open(NamedTuple):
    """An open quotation, substitution or parenthesis."""

    kind: Kind
    start: int


class _Disagreement(Exception):
    def __init__(self, quoting: "Quoting") -> None:
        super().__init__(quoting)
        self.quoting = quoting


class Quoting(Enum):
    """How the parse tree of a text compares with the scan."""

    SAME = auto()
    """Every quotation, comment and substitution is a node."""
    UNCLEAR = auto()
    """The scan cannot follow the text, or finds different ends."""
    UNSEEN = auto()
    """A quotation, comment or substitution is no node: the grammar has omitted a part of the text."""


def compare_quoting(source: bytes, root: Node) -> Quoting:
    try:
        _Scan(source, _nodes(source, root)).run()
    except _Disagreement as error:
        return error.quoting
    return Quoting.SAME


def _nodes(source: bytes, root: Node) -> Mapping[tuple[str, int], int]:
    """The ends of nodes by kind and start, without the blanks with which the grammar begins some nodes."""
    ends: dict[tuple[str, int], int] = {}
    pending = [root]
    while pending:
        node = pending.pop()
        if node.type in _TOKENS:
            start, end = node.start_byte, node.end_byte
            while node.type not in _HEREDOC_PARTS and start < end and source[start] in _BLANKS:
                start += 1
            if start < end:
                ends[node.type, start] = end
        pending += node.children
    return ends


class _Scan:
    def __init__(self, source: bytes, nodes: Mapping[tuple[str, int], int]) -> None:
        self._source = source
        self._nodes = nodes
        self._texts = {start: end for (kind, start), end in nodes.items() if kind in ("heredoc_body", "heredoc_end")}
        self._at = 0
        self._is_word_start = True
        """Whether a `#` would begin a comment here."""
        self._open: list[_Open] = []

    def run(self) -> None:
        """Raises: _Disagreement."""
        while self._at < len(self._source):
            if self._is_in("quotes"):
                self._step_in_quotes()
            elif self._at in self._texts:  # the lines of a here-document have their own checks
                self._at, self._is_word_start = self._texts[self._at], True
            else:
                self._step()
        if self._open:
            raise _Disagreement(Quoting.UNCLEAR)

    def _is_in(self, kind: Kind) -> bool:
        return bool(self._open) and self._open[-1].kind == kind

    def _next(self, length: int = 1) -> bytes:
        """The bytes behind the present one."""
        return self._source[self._at + 1 : self._at + 1 + length]

    def _enter(self, kind: Kind, length: int) -> None:
        if len(self._open) > _MAX_DEPTH:
            raise _Disagreement(Quoting.UNCLEAR)
        self._open.append(_Open(kind, self._at))
        self._at += length
        self._is_word_start = True

    def _take(self, end: int, *kinds: str, start: int | None = None) -> None:
        """Continue behind a node, which must be of one of these kinds."""
        node_start = self._at if start is None else start
        ends = [self._nodes.get((kind, node_start)) for kind in kinds]
        if end not in ends:
            raise _Disagreement(Quoting.UNSEEN if set(ends) == {None} else Quoting.UNCLEAR)
        self._at, self._is_word_start = end, False

    def _step(self) -> None:
        """Outside of double quotes."""
        plain = _PLAIN.match(self._source, self._at)
        if plain is not None:
            self._at, self._is_word_start = plain.end(), False
            return
        action = _ACTIONS.get(self._source[self._at : self._at + 1])
        if action is not None:
            action(self)
            return
        self._at += 1
        self._is_word_start = True

    def _backslash(self) -> None:
        self._is_word_start = self._is_word_start and self._next() == b"\n"
        self._at += 2

    def _raw_string(self) -> None:
        self._refuse_quotes_in_backticks()
        end = self._source.find(b"'", self._at + 1)
        if end < 0:
            raise _Disagreement(Quoting.UNCLEAR)
        self._take(end + 1, "raw_string")

    def _quotes(self) -> None:
        self._refuse_quotes_in_backticks()
        self._enter("quotes", 1)

    def _parenthesis(self) -> None:
        self._enter("parentheses", 1)

    def _step_in_quotes(self) -> None:
        plain = _PLAIN_IN_QUOTES.match(self._source, self._at)
        if plain is not None:
            self._at = plain.end()
            return
        match self._source[self._at : self._at + 1]:
            case b"\\":
                self._at += 2
            case b'"':
                self._take(self._at + 1, "string", start=self._open.pop().start)
            case b"$":
                self._dollar()
            case _:
                self._backtick()

    def _refuse_quotes_in_backticks(self) -> None:
        """Refuse quotations inside backticks inside quotes, about which shells disagree."""
        kinds = [opening.kind for opening in self._open]
        if "backticks" in kinds and "quotes" in kinds[: kinds.index("backticks")]:
            raise _Disagreement(Quoting.UNCLEAR)

    def _dollar(self) -> None:
        following, is_quoted = self._next(), self._is_in("quotes")
        if following == b"(":
            self._enter("substitution", 2)
        elif following == b"{":
            self._take_match(_PARAMETER, "expansion")
        elif following == b"'" and not is_quoted:
            self._refuse_quotes_in_backticks()
            self._take_match(_ANSI, "ansi_c_string")
        elif following == b'"' and not is_quoted:
            self._at += 1  # the dollar is no part of the node
            self._quotes()
        elif following == b"[" or self._next(2) in (b"$(", b"${", b"$[", b"$`"):
            raise _Disagreement(Quoting.UNCLEAR)
        else:
            self._at += 2 if following == b"$" else 1
            self._is_word_start = False

    def _take_match(self, pattern: re.Pattern[bytes], kind: str) -> None:
        match = pattern.match(self._source, self._at)
        if match is None:
            raise _Disagreement(Quoting.UNCLEAR)
        self._take(match.end(), kind)

    def _backtick(self) -> None:
        """The next backtick ends the command, in any context."""
        if self._is_in("backticks"):
            self._take(self._at + 1, "command_substitution", start=self._open.pop().start)
        elif any(opening.kind == "backticks" for opening in self._open):
            raise _Disagreement(Quoting.UNCLEAR)
        else:
            self._enter("backticks", 1)

    def _angle(self) -> None:
        if self._next() == b"(":
            self._enter("process", 2)
            return
        if self._source.startswith(b"<<<", self._at):
            self._at += 3
        elif self._source.startswith(b"<<", self._at):
            self._heredoc()
            return
        else:
            self._at += 1
        if self._source[self._at : self._at + 1] == b"#":
            raise _Disagreement(Quoting.UNCLEAR)
        self._is_word_start = True

    def _heredoc(self) -> None:
        operator = _HEREDOC.match(self._source, self._at)
        start = operator.end() if operator is not None else self._at
        end = self._nodes.get(("heredoc_start", start))
        if end is None:
            raise _Disagreement(Quoting.UNSEEN)
        self._at, self._is_word_start = end, False

    def _close_parenthesis(self) -> None:
        if self._is_in("substitution"):
            self._take(self._at + 1, *_SUBSTITUTIONS, start=self._open.pop().start)
        elif self._is_in("process"):
            self._take(self._at + 1, "process_substitution", start=self._open.pop().start)
        else:
            if self._is_in("parentheses"):
                self._open.pop()
            self._at += 1  # without an open parenthesis: the pattern of a `case`
            self._is_word_start = True

    def _hash(self) -> None:
        if not self._is_word_start:
            self._at += 1
            return
        if any(opening.kind == "backticks" for opening in self._open):
            raise _Disagreement(Quoting.UNCLEAR)
        end = self._source.find(b"\n", self._at)
        self._take(end if end >= 0 else len(self._source), "comment")


_ACTIONS: Mapping[bytes, Callable[[_Scan], None]] = {
    b"\\": _Scan._backslash,
    b"'": _Scan._raw_string,
    b'"': _Scan._quotes,
    b"$": _Scan._dollar,
    b"`": _Scan._backtick,
    b"<": _Scan._angle,
    b">": _Scan._angle,
    b"(": _Scan._parenthesis,
    b")": _Scan._close_parenthesis,
    b"#": _Scan._hash,
}
"""The actions for special characters outside of double quotes; all others only separate words."""
