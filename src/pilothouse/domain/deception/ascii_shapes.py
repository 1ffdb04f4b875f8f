"""The ASCII text that a character looks like: by NFKC, by the confusables of UTS 39, and by its category and name."""

import re
import unicodedata
from functools import lru_cache

from pilothouse.domain.deception.hidden_characters import is_hidden, is_odd_blank
from pilothouse.domain.deception.lookalikes import LOOKALIKES
from pilothouse.domain.deception.writing_systems import is_right_to_left

MAX_FORM_CHARACTERS = 400
"""Longer words are not compared: no program or file has such a name."""
# Signs of ordinary prose: quotation marks, dashes, ellipsis, multiplication, primes, raised letters of ordinals.
PROSE_SIGNS = frozenset(
    "\u2018\u2019\u201a\u201b\u201c\u201d\u2010\u2011\u2012\u2013\u2026\u2039\u203a\u00d7\u00b4\u00b8\u2032\u2033\u2212\u00aa\u00ba"
)

# The shape of a sign by its Unicode name. UTS 39 omits signs that no identifier may contain.
_SHAPES_BY_NAME = tuple(
    (re.compile(pattern), shape)
    for pattern, shape in (
        (r"REVERSE SOLIDUS|BACKSLASH", "\\"),
        (r"SOLIDUS|\bSLASH", "/"),
        (r"ASTERIS", "*"),
        (r"QUOTATION MARK|APOSTROPHE|\bPRIME\b|GERESH|GRAVE|ACUTE|GUILLEMET", "'"),
        (r"SEMICOLON", ";"),
        (r"FULL STOP|MIDDLE DOT|DOT OPERATOR|HYPHENATION POINT|DOT LEADER|RAISED DOT|DOT PUNCTUATION", "."),
        (r"\bTILDE\b|\bWAVE\b", "~"),
        (r"\bVERTICAL (?:LINE|BAR)|BOX DRAWINGS (?:LIGHT|HEAVY|DOUBLE) (?:\w+ DASH )?VERTICAL$|BROKEN BAR", "|"),
        (r"\bEXTENSION$|VERTICAL (?:LOW LINE|ONE EIGHTH)|(?:LEFT|RIGHT) ONE EIGHTH|\bDANDA$", "|"),
        (r"\bHYPHEN|MINUS SIGN$|HORIZONTAL LINE", "-"),
        (r"BOX DRAWINGS (?:LIGHT|HEAVY) (?:\w+ DASH )?(?:HORIZONTAL|LEFT|RIGHT)$", "-"),
    )
)
_VERTICAL_DASH = re.compile("PRESENTATION FORM FOR VERTICAL E[MN] DASH")
_BASE_LETTER = re.compile(
    r"LATIN (?:(?P<case>SMALL|CAPITAL) LETTER|LETTER SMALL CAPITAL)(?: DOTLESS| SCRIPT| LONG)? "
    r"(?P<letter>[A-Z])(?: WITH .*)?"
)
# Letters and numerals that are one vertical stroke although neither their name nor UTS 39 compares them with |.
_STROKES_LIKE_BARS = frozenset("\u3163\u1175\uffdc\u4e28\u2f01\u3021\u31d1")
_LIKE_BARS = frozenset({"l", "I", "|"})  # UTS 39 maps the bar itself to the letter l
_OPERATORS = frozenset(";|&<>()$`#*?~/=")
_STROKES_LIKE_DASHES = frozenset("\u30fc\u4e00\u1173\u3161\u31d0\u2f00")  # letters that are one horizontal stroke


@lru_cache(maxsize=4096)
def looks_like(character: str) -> str:
    """The ASCII text that a character looks like by NFKC or UTS 39; empty where it looks like none."""
    folded = unicodedata.normalize("NFKC", character)
    return LOOKALIKES.get(character) or (folded if folded != character and folded.isascii() else "")


@lru_cache(maxsize=4096)
def sign_shape(character: str) -> str:
    """Like `looks_like`, for signs: quotation marks are "'", dashes of any length and script "-"."""
    if character.isascii():
        return ""
    category = unicodedata.category(character)
    if category in ("Pi", "Pf") or looks_like(character) in ("''", "'''", "''''", "`"):
        return "'"
    if category == "Pd" and looks_like(character) not in ("=", "~"):
        return "-"
    if looks_like(character):
        return looks_like(character)
    if character in _STROKES_LIKE_DASHES:
        return "-"
    name = unicodedata.name(character, "")
    if category[0] in "PS" or category == "Lm":
        return next((shape for pattern, shape in _SHAPES_BY_NAME if pattern.search(name)), "")
    return "." if "MIDDLE DOT" in name else ""


@lru_cache(maxsize=4096)
def operator_shape(character: str) -> str:
    """The sign of the shell, other than a dash or quotation mark, that a character looks like where it stands alone."""
    if character.isascii() or character.isdigit() or unicodedata.category(character)[0] in "MC":
        return ""
    name = unicodedata.name(character, "")
    if character in _STROKES_LIKE_BARS or looks_like(character) in _LIKE_BARS or _VERTICAL_DASH.match(name):
        return "|"
    shape = sign_shape(character)
    return shape if shape and _OPERATORS.issuperset(shape) else ""


def is_operator(character: str) -> bool:
    return operator_shape(character) != ""


@lru_cache(maxsize=4096)
def base_letter(character: str) -> str:
    """The ASCII letter that a Latin letter is drawn from: without accents, stroke, hook or small capitals."""
    if character.isascii():
        return character
    base = unicodedata.normalize("NFD", character)[0]
    if base.isascii():
        return base
    name = _BASE_LETTER.fullmatch(unicodedata.name(base, ""))
    if name is not None:
        return name["letter"] if name["case"] == "CAPITAL" else name["letter"].lower()
    other = looks_like(character.swapcase())  # a letter without data of its own, by its other case
    return looks_like(character) or (other.lower() if character.islower() else other.upper())


@lru_cache(maxsize=4096)
def is_lookalike(character: str) -> bool:
    """Whether a letter or sign can be taken for ASCII, or a mark beside an ASCII letter be overlooked."""
    if character.isascii() or is_odd_blank(character) or is_hidden(character):
        return False
    if unicodedata.category(character)[0] == "M":
        return unicodedata.name(character, "").startswith("COMBINING")
    is_latin = unicodedata.name(character, "").startswith("LATIN")
    return looks_like(character) != "" or sign_shape(character) != "" or is_operator(character) or is_latin


def is_small_capital(character: str) -> bool:
    """Whether a letter is a small capital, which reads as the ordinary letter."""
    return not character.isascii() and "LETTER SMALL CAPITAL" in unicodedata.name(character, "")


def without_accents(text: str) -> str | None:
    """The word without accents as ASCII text; None if a letter has no ASCII base."""
    letters = [base_letter(character) for character in text if not unicodedata.combining(character)]
    return "".join(letters) if all(letters) else None


@lru_cache(maxsize=4096)
def folds_to_ascii(character: str) -> bool:
    """Whether NFKC turns a letter into ASCII: wide, mathematical, circled and raised letters, ligatures."""
    if character.isascii() or not character.isalpha() or character in PROSE_SIGNS:
        return False
    folded = unicodedata.normalize("NFKC", character)
    return folded != character and folded.isascii()


@lru_cache(maxsize=4096)
def is_sign(character: str) -> bool:
    """Whether a sign or digit, by itself, looks like ASCII. Raised and circled numbers do not."""
    if character.isascii() or character.isalpha() or is_odd_blank(character) or is_hidden(character):
        return False
    category = unicodedata.category(character)
    if category == "Nd":  # every script has digits of its own
        return unicodedata.normalize("NFKC", character) != character
    return category not in ("No", "Mn", "Mc", "Me") and looks_like(character).strip() != ""


@lru_cache(maxsize=4096)
def is_sign_in_code(character: str) -> bool:
    """Whether a sign, or a letter that is drawn like one, looks like a sign or digit of ASCII."""
    if character.isascii() or is_odd_blank(character) or is_hidden(character):
        return False
    category = unicodedata.category(character)
    if category[0] == "M" or category == "No":
        return False
    return (
        category == "Nd"
        or (sign_shape(character).strip() != "" and not sign_shape(character).isalnum())
        or is_sign(character)
    )


def ascii_form(word: str) -> str | None:
    """The ASCII text that a whole word looks like; None if a part of it looks like none."""
    letters = [character for character in frozenset(word) if not character.isascii()]
    if not letters or len(word) > MAX_FORM_CHARACTERS:
        return None
    if any(is_right_to_left(character) or not _letter_shape(character) for character in letters):
        return None
    return "".join(character if character.isascii() else _letter_shape(character) for character in word)


def _letter_shape(character: str) -> str:
    if is_small_capital(character):
        return without_accents(character) or ""
    return looks_like(character) or sign_shape(character)
