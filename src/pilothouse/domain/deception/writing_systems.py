"""Scripts: the script of a character, and the scripts that one language mixes."""

import unicodedata
from functools import lru_cache

from pilothouse.domain.deception.hidden_characters import is_hidden

EAST_ASIAN = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"})
_RESOLVED = (  # UTS 39, "highly restrictive": the scripts that one language mixes in a word
    frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA"}),
    frozenset({"LATIN", "CJK", "BOPOMOFO"}),
    frozenset({"LATIN", "CJK", "HANGUL"}),
)


@lru_cache(maxsize=8192)
def script_of(character: str) -> str:
    """The script of a letter, which is the first word of its Unicode name; empty for signs, digits and marks."""
    if not character.isalpha():
        return ""
    folded = unicodedata.normalize("NFKC", character)[:1]
    name = unicodedata.name(folded if folded.isalpha() else character, "")
    first = name.partition(" ")[0].partition("-")[0]
    return {"IDEOGRAPHIC": "CJK", "MODIFIER": ""}.get(first, first)


def script_of_digit(digit: str) -> str:
    name = unicodedata.name(digit, "").removeprefix("EXTENDED ")
    return {"ARABIC-INDIC": "ARABIC"}.get(name.partition(" ")[0], name.partition(" ")[0])


@lru_cache(maxsize=4096)
def is_east_asian(character: str) -> bool:
    return script_of(character) in EAST_ASIAN


def is_foreign_letter(character: str) -> bool:
    """Whether a character is a letter or mark of a script other than Latin."""
    if not character or character.isascii():
        return False
    return unicodedata.category(character)[0] in "LM" and script_of(character) != "LATIN"


def is_native_mark(character: str) -> bool:
    """Whether a mark belongs to one script, such as a vowel sign."""
    return unicodedata.category(character)[0] == "M" and not unicodedata.name(character, "").startswith("COMBINING")


@lru_cache(maxsize=4096)
def is_mark(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Me") and not is_hidden(character)


def is_ascii_letter(character: str) -> bool:
    return character.isascii() and character.isalpha()


def is_resolved(scripts: set[str]) -> bool:
    """Whether one language writes a word with these scripts."""
    return len(scripts) <= 1 or any(scripts <= mixture for mixture in _RESOLVED)


def is_right_to_left(character: str) -> bool:
    return unicodedata.bidirectional(character) in ("R", "AL")
