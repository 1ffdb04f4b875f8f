"""Characters that show nothing or move what stands around them, and texts in which they are written out."""

import re
import unicodedata
from functools import lru_cache

_LINE_ENDS_AND_TABS = frozenset("\n\t")
_HIDING_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Unicode's Default_Ignorable_Code_Point, places that are still unassigned included.
_DEFAULT_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_BLANK_BRAILLE = "\u2800"
_ZWNJ, _ZWJ = "\u200c", "\u200d"
_PRESENTATION_SELECTORS = frozenset("\ufe0e\ufe0f")
_KEYCAP = "\u20e3"
_SKIN_TONES = re.compile("[\U0001f3fb-\U0001f3ff]")
_SYMBOL_CATEGORIES = frozenset({"So", "Sm"})
_SYMBOLS_AMONG_PUNCTUATION = frozenset("\u203c\u2049\u3030\u303d")
_VIRAMA_CLASS = 9
MAX_RUN_WRITTEN_OUT = 8
"""A longer run of one hidden character is written once, with its length."""


def visible(text: str) -> str:
    """The text with control, format and other hidden characters written out. Emoji and joined letters stay whole."""
    return _with_written_out(text, frozenset(filter(is_hidden, _distinct(text))))


def visible_line(text: str) -> str:
    """Like `visible`, on one line: for a name between words of ours."""
    return visible(text).replace("\n", "\\n").replace("\t", " ")


def exact(text: str) -> str:
    """Like `visible`, with every blank but space, tab and line end written out as well: for text that is approved."""
    return _with_written_out(text, frozenset(each for each in _distinct(text) if is_hidden(each) or is_odd_blank(each)))


def without_hidden(text: str) -> str:
    """The text without its hidden characters over ASCII: what nobody can read must not reach the model."""
    hidden = frozenset(each for each in _distinct(text) if not each.isascii() and is_hidden(each))
    return _class_of(hidden).sub(lambda at: at[0] if is_in_place(text, at.start()) else "", text) if hidden else text


@lru_cache(maxsize=4096)
def is_hidden(character: str) -> bool:
    """Whether a character shows nothing by itself, or controls the terminal or the order of what is around it."""
    if character.isascii():
        return not character.isprintable() and character not in _LINE_ENDS_AND_TABS
    category = unicodedata.category(character)
    return category in _HIDING_CATEGORIES or is_ignorable(character) or character == _BLANK_BRAILLE


def is_ignorable(character: str) -> bool:
    return _DEFAULT_IGNORABLE.match(character) is not None


@lru_cache(maxsize=256)
def is_odd_blank(character: str) -> bool:
    """Whether a character looks like a space and is none: the shell does not divide words there."""
    return unicodedata.category(character) == "Zs" and character != " "


def is_in_place(text: str, place: int) -> bool:
    """Whether a hidden character has its proper use there: it joins emoji, or shapes Persian or Indic words."""
    character = text[place]
    if place == 0:
        return False
    before, after = text[place - 1], text[place + 1 : place + 2]
    if character in _PRESENTATION_SELECTORS:
        return _is_symbol(before) or after == _KEYCAP
    if character == _ZWJ and after and _is_symbol(after):
        return _is_symbol(before) or before == "\ufe0f" or _SKIN_TONES.match(before) is not None
    if character in (_ZWJ, _ZWNJ) and after:
        is_indic = _VIRAMA_CLASS in (unicodedata.combining(before), unicodedata.combining(after))
        return is_indic or (_is_arabic(before) and _is_arabic(after))
    return False


def _distinct(text: str) -> frozenset[str]:
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return frozenset()
    return frozenset(text)


def _with_written_out(text: str, hidden: frozenset[str]) -> str:
    if not hidden:
        return text

    def written_out(at: re.Match[str]) -> str:
        length = at.end() - at.start()
        if length == 1 and is_in_place(text, at.start()):
            return at[0]
        sign = f"\\u{{{ord(at[0][0]):x}}}"
        return sign * length if length <= MAX_RUN_WRITTEN_OUT else f"{sign}×{length:,}"

    return re.sub(rf"({_class_of(hidden).pattern})\1*", written_out, text)


def _class_of(characters: frozenset[str]) -> re.Pattern[str]:
    return re.compile("[" + "".join(re.escape(each) for each in sorted(characters)) + "]")


def _is_symbol(character: str) -> bool:
    """Whether a character may be drawn as an emoji. Signs of the shell are symbols, too, but never that."""
    if character.isascii():
        return False
    return unicodedata.category(character) in _SYMBOL_CATEGORIES or character in _SYMBOLS_AMONG_PUNCTUATION


def _is_arabic(character: str) -> bool:
    return unicodedata.category(character)[0] in "LM" and unicodedata.name(character, "").startswith("ARABIC")
