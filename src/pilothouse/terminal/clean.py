"""Text from models and tools, made safe to print: no control sequence reaches the terminal, nothing is hidden."""

import unicodedata

_KEPT = "\n\t"
_HIDING = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def visible(text: str) -> str:
    """Control, format and bidirectional characters are shown as what they are."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    if character in _KEPT or unicodedata.category(character) not in _HIDING:
        return character
    if character == "\u200d":
        return character  # joins emoji; it moves nothing
    return f"\\u{{{ord(character):x}}}"
