"""Upper bounds for the columns of characters on a terminal, whichever version of Unicode the terminal knows."""

import locale
import unicodedata
from functools import lru_cache

_ONE_COLUMN_BLOCKS = (
    *((0x0020, 0x10FF), (0x1200, 0x1FFF)),  # the alphabets; Hangul Jamo lies between
    (0x2C00, 0x2DFF),  # Glagolitic to Cyrillic Extended-A
    *((0xA4D0, 0xA95F), (0xA980, 0xABFF)),  # Lisu to Kayah Li, Javanese to Meetei Mayek
    *((0xFB00, 0xFDFF), (0xFE20, 0xFE2F), (0xFE70, 0xFEFF)),  # presentation forms of alphabets
    (0xFF61, 0xFFDF),  # halfwidth forms
)
"""Blocks of scripts that every version of Unicode draws in one column. All other blocks and all higher planes hold
ideographs, symbols and emoji, which become wide from one version to the next, or places that are still unassigned."""
_EAST_ASIAN_LANGUAGES = ("zh", "ja", "ko")
_EMOJI_SELECTOR = "\ufe0f"  # makes the symbol before it wide


@lru_cache(maxsize=4096)
def max_columns(character: str) -> int:
    """Return the largest width of a character on any terminal. A combined character is no wider than the sum of its
    parts."""
    if " " <= character <= "~":
        return 1
    if _is_mark_known_everywhere(character):
        return 0
    if character == _EMOJI_SELECTOR:
        return 1
    width = unicodedata.east_asian_width(character)
    is_wide = width in "WF" or (width == "A" and _may_be_wide(character)) or not _is_in_one_column_block(ord(character))
    return 2 if is_wide else 1


def _may_be_wide(ambiguous: str) -> bool:
    """Terminals set up for East Asian text draw ambiguous characters wide. Elsewhere Cyrillic and Greek letters take
    one column: counting two would break every line of such a text in the middle."""
    return not ambiguous.isalpha() or (locale.getlocale()[0] or "").startswith(_EAST_ASIAN_LANGUAGES)


def text_columns(text: str) -> int:
    """Return the largest width of a text without line ends."""
    return sum(map(max_columns, text))


def _is_mark_known_everywhere(character: str) -> bool:
    """Whether every terminal combines a mark with the letter before it: terminals draw marks that are new to them in a
    column of their own."""
    is_mark = unicodedata.category(character) in ("Mn", "Me") and character != _EMOJI_SELECTOR
    is_old = unicodedata.ucd_3_2_0.category(character) != "Cn"
    return is_mark and is_old and unicodedata.east_asian_width(character) not in "WF"


def _is_in_one_column_block(code: int) -> bool:
    return any(first <= code <= last for first, last in _ONE_COLUMN_BLOCKS)
