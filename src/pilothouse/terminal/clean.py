"""Text from models and tools, made safe to print: no control sequence reaches the terminal, nothing is hidden."""

import re
import unicodedata

# Letters and marks that show nothing: fillers, variation selectors, the blank braille pattern.
_IS_BLANK = re.compile("[\u115f\u1160\u2800\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_KEPT = "\n\t"
_HIDING = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def visible(text: str) -> str:
    """Control, format and bidirectional characters are shown as what they are."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    shown = []
    behind_emoji = False  # what joins or colours an emoji stays where it follows one
    for character in text:
        if behind_emoji and character in "\u200d\ufe0f":
            shown.append(character)
            continue
        shown.append(_shown(character))
        behind_emoji = unicodedata.category(character) == "So"
    return "".join(shown)


def _shown(character: str) -> str:
    hides = unicodedata.category(character) in _HIDING or _IS_BLANK.match(character)
    if character in _KEPT or not hides:
        return character
    return f"\\u{{{ord(character):x}}}"
