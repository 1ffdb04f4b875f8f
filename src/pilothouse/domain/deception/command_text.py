"""Divide a shell command into code, quoted text, and the content of here-documents.

The checks for deceptive text are stricter in code. Where the division is in doubt (an open quotation, code inside a
quotation), the part counts as code.
"""

import re
from collections.abc import Iterator
from enum import Enum, auto
from itertools import islice, pairwise
from typing import NamedTuple

from pilothouse.domain.deception.inert_commands import runs_no_content


class Form(Enum):
    """How the program that gets a text interprets it."""

    CODE = auto()
    """The shell divides and interprets it."""
    TEXT = auto()
    """A value: a quoted word, a path, a message."""
    CONTENT = auto()
    """The content of a file, which is displayed as a diff or as lines."""


class CommandPart(NamedTuple):
    start: int
    end: int
    form: Form


MAX_PARTS = 10_000
"""A command with more parts counts as code as a whole."""
_MAX_HERE_DOCUMENTS = 20
_MAX_NESTING = 50
_MAX_DEPTH = 5
_CODE_SIGN = re.compile(
    r"""\\.|\$?'|"|\$\(|[()`\n]|(?<![^\s;&|(])\#|(?<!<)<<-?[ \t]*(?P<quote>['"\\]?)(?P<word>\w+)['"]?""", re.S
)
_QUOTED_SIGN = re.compile(r"""\\.|"|\$\(|`""", re.S)
_END_OF_SINGLE = re.compile("[^']*+'")
_END_OF_ESCAPED = re.compile(r"(?:[^'\\]|\\.)*+'", re.S)
_END_OF_DOUBLE = re.compile(r'(?:[^"\\]|\\.)*+"', re.S)
_END_OF_LINE = re.compile(r"[^\n]*+")
_SUBSTITUTION = re.compile(r"\$\(|`")
_CASE = re.compile(r"\bcase\b")  # the brackets of its patterns close nothing
# Quoted text behind bash -c, eval, ssh HOST and the like is code.
_TAKES_CODE = re.compile(
    r"\b(?:\w*sh|python[\d.]*|perl|ruby|node|php|su)\b[^;|&\n]{0,60}?\s-\w*[ce]\s*\Z|\beval\s*\Z|\bssh\s[^;|&\n]{0,90}\Z"
)
_MAX_LOOK_BACK_CHARACTERS = 100
_DELIMITER = re.compile(r"\A\t*\w+")  # at the end of a here-document
_WRITES_CONTENT = re.compile(r"\s*(?>(?:(?:sudo|then|else|do|\{)\s++)*)(?:cat|tee)\b[^|]*\Z")


def parts_of(command: str) -> list[CommandPart]:
    """The parts of a command, in order and without gaps."""
    if _CASE.search(command) and _SUBSTITUTION.search(command):
        return [CommandPart(0, len(command), Form.CODE)]
    parts = _scanned_parts(command, has_content=True)
    if any(part.form is Form.CONTENT for part in parts) and not _runs_no_content(command, parts):
        parts = _scanned_parts(command, has_content=False)
    return parts if len(parts) <= MAX_PARTS else [CommandPart(0, len(command), Form.CODE)]


def _scanned_parts(command: str, *, has_content: bool) -> list[CommandPart]:
    return list(islice(_join_parts(_Scanner(command, has_content=has_content).parts()), MAX_PARTS + 1))


def _runs_no_content(command: str, parts: list[CommandPart]) -> bool:
    """Whether no command of the line runs a document that `cat` or `tee` writes."""
    code: list[str] = []
    for before, part in pairwise((CommandPart(0, 0, Form.CODE), *parts)):
        text = command[part.start : part.end]
        if part.form is Form.TEXT:
            code.append("_")
        elif part.form is Form.CODE:
            code.append(text if before.form is not Form.CONTENT else _DELIMITER.sub("", text))
    return runs_no_content("".join(code), sum(part.form is Form.CONTENT for part in parts))


class _Scanner:
    """A single pass over a command, with a stack of open quotations and substitutions."""

    def __init__(self, text: str, depth: int = 0, *, has_content: bool) -> None:
        """`has_content` is False where here-documents may run, whatever program writes them."""
        self._text = text
        self._depth = depth
        self._has_content = has_content
        self._index = 0
        self._open: list[str] = []
        self._here_documents: list[tuple[str, bool, int]] = []
        """Here-documents announced in the present line: the delimiter, whether it is quoted, and the position."""
        self._here_documents_left = _MAX_HERE_DOCUMENTS

    def parts(self) -> Iterator[CommandPart]:
        while self._index < len(self._text):
            is_quoted = bool(self._open) and self._open[-1] == '"'
            sign = (_QUOTED_SIGN if is_quoted else _CODE_SIGN).search(self._text, self._index)
            form = Form.TEXT if is_quoted else Form.CODE
            if sign is None or len(self._open) > _MAX_NESTING:
                yield CommandPart(self._index, len(self._text), Form.CODE)
                return
            yield CommandPart(self._index, sign.start(), form)
            self._index = sign.end()
            yield CommandPart(sign.start(), sign.end(), form if sign[0].startswith("\\") else Form.CODE)
            yield from self._within_quotation(sign) if is_quoted else self._within_code(sign)

    def _within_quotation(self, sign: re.Match[str]) -> Iterator[CommandPart]:
        match sign[0]:
            case '"':
                self._open.pop()
            case "$(" | "`" as opening:
                self._open.append(opening)
        yield from ()

    def _within_code(self, sign: re.Match[str]) -> Iterator[CommandPart]:
        match sign[0]:
            case "'":
                yield from self._until(_END_OF_SINGLE, sign.start())
            case "$'":
                yield from self._until(_END_OF_ESCAPED, sign.start())
            case "#":
                yield from self._until(_END_OF_LINE, sign.start())
            case '"' if self._takes_code(sign.start()):
                yield from self._until(_END_OF_DOUBLE, sign.start())
            case '"' | "`" as opening:
                self._open = self._open[:-1] if self._open[-1:] == [opening] else [*self._open, opening]
            case "(" | "$(":
                self._open.append("(")
            case ")" if self._open and self._open[-1] in ("(", "$("):
                self._open.pop()
            case "\n":
                yield from self._bodies()
            case _ if sign["word"] and self._open[-2:] != ["(", "("]:  # within (( )) it is a shift
                self._here_documents.append((sign["word"], bool(sign["quote"]), sign.start()))

    def _until(self, end_pattern: re.Pattern[str], opening: int) -> Iterator[CommandPart]:
        """A quotation or comment without substitutions, or with code for another shell."""
        end = end_pattern.match(self._text, self._index)
        inner = self._text[self._index : end.end()] if end is not None else ""
        if end is None or (end_pattern is _END_OF_DOUBLE and _SUBSTITUTION.search(inner)):
            yield CommandPart(self._index, len(self._text), Form.CODE)
            self._index = len(self._text)
            return
        if self._takes_code(opening):
            yield from self._inner(inner[:-1])
        else:
            yield CommandPart(self._index, end.end(), Form.TEXT)
        self._index = end.end()

    def _inner(self, code: str) -> Iterator[CommandPart]:
        """The parts of `code`, which begins at the present place and whose end is known."""
        if self._depth > _MAX_DEPTH:
            yield CommandPart(self._index, self._index + len(code), Form.CODE)
            return
        for part in _Scanner(code, self._depth + 1, has_content=self._has_content).parts():
            yield CommandPart(self._index + part.start, self._index + part.end, part.form)

    def _takes_code(self, opening: int) -> bool:
        return _TAKES_CODE.search(self._text[max(0, opening - _MAX_LOOK_BACK_CHARACTERS) : opening]) is not None

    def _bodies(self) -> Iterator[CommandPart]:
        """The here-documents that the previous line has announced."""
        announced, self._here_documents = self._here_documents, []
        for word, is_quoted, operator in announced:
            self._here_documents_left -= 1
            end = re.compile(rf"^\t*{re.escape(word)}$", re.M).search(self._text, self._index)
            if end is None or self._here_documents_left < 0:
                yield CommandPart(self._index, len(self._text), Form.CODE)
                self._index = len(self._text)
                return
            body = self._text[self._index : end.start()]
            if self._has_content and self._is_content(operator, body, is_quoted):
                yield CommandPart(self._index, end.start(), Form.CONTENT)
            else:
                yield from self._inner(body)
            yield CommandPart(end.start(), end.end(), Form.CODE)
            self._index = end.end()

    def _is_content(self, operator: int, body: str, is_quoted: bool) -> bool:
        """Whether `cat` or `tee` writes the document, so that it is no code for another program."""
        if not is_quoted and ("$(" in body or "`" in body):
            return False
        before = self._text[max(0, operator - 300) : operator]
        after = self._text[operator : self._text.find("\n", operator)]
        command = re.split(r"[;&|(`\n]", before)[-1]
        return _WRITES_CONTENT.match(command) is not None and "|" not in after


def _join_parts(parts: Iterator[CommandPart]) -> Iterator[CommandPart]:
    """Join adjacent parts of the same form."""
    last: CommandPart | None = None
    for part in parts:
        if part.start == part.end:
            continue
        if last is not None and last.form is part.form:
            last = CommandPart(last.start, part.end, part.form)
            continue
        if last is not None:
            yield last
        last = part
    if last is not None:
        yield last
