"""JSON with comments and trailing commas, as editors write their settings, turned into plain JSON."""

import re
from collections.abc import Iterator

# Strings are matched first: what looks like a comment inside of one is text.
_PART = re.compile(r'"(?:[^"\\]|\\.)*+"?|//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?|\s+|.', re.DOTALL)
_NOT_A_LINE_END = re.compile(r"[^\n]")


def plain_json(text: str) -> str:
    """The same text with comments and trailing commas blanked out: every line and column stays where it was."""
    parts: list[str] = []
    comma = None
    for part in _parts(text):
        if _is_comment(part):
            parts.append(_NOT_A_LINE_END.sub(" ", part))
            continue
        if part in ("]", "}") and comma is not None:
            parts[comma] = " "
        if not part.isspace():
            comma = len(parts) if part == "," else None
        parts.append(part)
    return "".join(parts)


def has_comments(text: str) -> bool:
    return any(map(_is_comment, _parts(text)))


def _parts(text: str) -> Iterator[str]:
    return (found[0] for found in _PART.finditer(text))


def _is_comment(part: str) -> bool:
    return part.startswith(("//", "/*"))
