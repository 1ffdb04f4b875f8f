"""JSON with comments and trailing commas (JSONC), as editors write their settings, converted to plain JSON."""

import re
from collections.abc import Iterator

# Strings match first: inside a string, `//` and `/*` are text.
_LEXEME = re.compile(r'"(?:[^"\\]|\\.)*+"?|//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?|\s+|.', re.DOTALL)
_NOT_A_LINE_END = re.compile(r"[^\n]")


def plain_json(text: str) -> str:
    """The text with blanks in place of comments and trailing commas: lines and columns do not move."""
    output: list[str] = []
    comma = None
    for lexeme in _lexemes(text):
        if _is_comment(lexeme):
            output.append(_NOT_A_LINE_END.sub(" ", lexeme))
            continue
        if lexeme in ("]", "}") and comma is not None:
            output[comma] = " "
        if not lexeme.isspace():
            comma = len(output) if lexeme == "," else None
        output.append(lexeme)
    return "".join(output)


def has_comments(text: str) -> bool:
    return any(map(_is_comment, _lexemes(text)))


def _lexemes(text: str) -> Iterator[str]:
    return (match[0] for match in _LEXEME.finditer(text))


def _is_comment(lexeme: str) -> bool:
    return lexeme.startswith(("//", "/*"))
