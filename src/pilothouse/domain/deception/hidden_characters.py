"""Hidden characters: invisible ones and those that reorder the text around them. Detects them and writes them out."""

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
# Invisible letters and symbols that Unicode classifies neither as blanks nor as ignorable: a braille cell without dots,
# a note without head, blanks of hieroglyphs, the filler of Khitan.
_BLANK_SYMBOLS = frozenset("\u2800\U0001d159\U00013441\U00013442\U00016fe4")
_ZWNJ = "\u200c"
_ZWJ = "\u200d"
_PRESENTATION_SELECTORS = frozenset("\ufe0e\ufe0f")
_KEYCAP = "\u20e3"
_SKIN_TONES = re.compile("[\U0001f3fb-\U0001f3ff]")
_SYMBOL_CATEGORIES = frozenset({"So", "Sm"})
_SYMBOLS_AMONG_PUNCTUATION = frozenset("\u203c\u2049\u3030\u303d")
_VIRAMA_CLASS = 9
ZERO_WIDTH_SPACE = "\u200b"
# Scripts without spaces between words: a zero width space marks where a line may break.
_WITHOUT_SPACES = ("KHMER", "THAI", "LAO", "MYANMAR")
_IDEOGRAPH_SELECTORS = re.compile("[\U000e0100-\U000e01ef]")
_TAGS = re.compile("[\U000e0061-\U000e007f]")
_BLACK_FLAG = "\U0001f3f4"
_MAX_FLAG_CHARACTERS = 7
_FLAGS = frozenset(  # the only flags that are written with tags: England, Scotland, Wales
    _BLACK_FLAG + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)
_SPACES_AT_END = re.compile(r"\A +|(?<! ) +\Z")
MAX_ESCAPED_RUN = 8
"""A longer run of one hidden character is written once, with its length."""


def visible(text: str, start: int = 0, end: int | None = None) -> str:
    """The text with control, format and other hidden characters written out as `⟨U+202E⟩`. Emoji stay whole.

    With `start` and `end` only that part of the text is returned; the rest is context.
    """
    return _escape_characters(text, frozenset(filter(is_hidden, _distinct(text))), start, end)


def visible_line(text: str) -> str:
    """Like `visible`, on one line: for a name within a text of the runtime."""
    return visible(text).replace("\n", "\\n").replace("\t", " ")


def exact(text: str) -> str:
    """Like `visible`, with unusual blanks written out as well: for text that a person approves."""
    return _escape_characters(
        text, frozenset(character for character in _distinct(text) if is_hidden(character) or is_odd_blank(character))
    )


def with_codes(text: str, characters: str) -> str:
    """The text with the code point behind each of the characters: `с⟨U+0441⟩`."""
    if not characters:
        return text
    return _class_of(frozenset(characters)).sub(lambda at: f"{at[0]}⟨U+{ord(at[0]):04X}⟩", text)


def exact_line(text: str) -> str:
    """Like `exact`, with line ends, tabs, and spaces at both ends written out as well: for a path or another value of
    one line."""
    line = exact(text).replace("\n", "⟨U+000A⟩").replace("\t", "⟨U+0009⟩")
    return _SPACES_AT_END.sub(lambda at: _code_of(" ", len(at[0])), line)


def without_hidden(text: str) -> str:
    """The text without hidden non-ASCII characters: text that nobody can see must not reach the model."""
    hidden = frozenset(character for character in _distinct(text) if not character.isascii() and is_hidden(character))
    return _class_of(hidden).sub(lambda at: at[0] if is_in_place(text, at.start()) else "", text) if hidden else text


@lru_cache(maxsize=4096)
def is_hidden(character: str) -> bool:
    """Whether a character is invisible, or controls the terminal or the order of the text around it."""
    if character.isascii():
        return not character.isprintable() and character not in _LINE_ENDS_AND_TABS
    category = unicodedata.category(character)
    return category in _HIDING_CATEGORIES or is_ignorable(character) or character in _BLANK_SYMBOLS


def is_ignorable(character: str) -> bool:
    return _DEFAULT_IGNORABLE.match(character) is not None


@lru_cache(maxsize=256)
def is_odd_blank(character: str) -> bool:
    """Whether a character is a blank other than the space: the shell does not divide words there."""
    return unicodedata.category(character) == "Zs" and character != " "


def is_in_place(text: str, index: int) -> bool:
    """Whether a hidden character is properly used at a place: to join or vary emoji, select a form of an ideograph,
    shape Persian or Indic words, or divide words of a script without spaces."""
    character = text[index]
    if index == 0:
        return False
    before, after = text[index - 1], text[index + 1 : index + 2]
    if character in _PRESENTATION_SELECTORS:
        return _is_symbol(before) or (after == _KEYCAP and before in "0123456789#*")
    if character == _ZWJ and after and _is_symbol(after):
        return _is_symbol(before) or before == "\ufe0f" or _SKIN_TONES.match(before) is not None
    if character in (_ZWJ, _ZWNJ):
        return _is_indic_joiner(text, index) or _is_arabic_joiner(character, before, after)
    if character == ZERO_WIDTH_SPACE:
        return _is_of(before, _WITHOUT_SPACES) and _is_of(after, _WITHOUT_SPACES)
    if _IDEOGRAPH_SELECTORS.match(character):
        return _is_of(before, ("CJK",))
    return _TAGS.match(character) is not None and _is_in_flag(text, index)


def _is_indic_joiner(text: str, index: int) -> bool:
    """Whether a joiner is beside a virama, which follows a letter of its own script."""
    before, after = text[index - 1], text[index + 1 : index + 2]
    if unicodedata.combining(before) == _VIRAMA_CLASS:
        before = text[index - 2 : index - 1]
    elif not after or unicodedata.combining(after) != _VIRAMA_CLASS:
        return False
    return bool(before) and not before.isascii() and unicodedata.category(before)[0] in "LM"


def _is_arabic_joiner(character: str, before: str, after: str) -> bool:
    """Whether a joiner has an effect: a non-joiner divides letters that would be joined, a joiner between letters that
    are joined anyway is invisible."""
    if not _is_of(before, ("ARABIC",)):
        return False
    return _is_of(after, ("ARABIC",)) if character == _ZWNJ else after.isspace()


def _is_in_flag(text: str, index: int) -> bool:
    start = text.rfind(_BLACK_FLAG, max(0, index - _MAX_FLAG_CHARACTERS), index)
    return start >= 0 and text[start : start + _MAX_FLAG_CHARACTERS] in _FLAGS


def _distinct(text: str) -> frozenset[str]:
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return frozenset()
    return frozenset(text)


def _escape_characters(text: str, hidden: frozenset[str], start: int = 0, end: int | None = None) -> str:
    """The text between two places with `hidden` characters written out. The text around it is context."""
    end = len(text) if end is None else end
    if not hidden:
        return text[start:end]

    def written_out(at: re.Match[str]) -> str:
        length = at.end() - at.start()
        if length == 1 and is_in_place(text, at.start()):
            return at[0]
        return _code_of(at[0][0], length)

    parts, at = [], start
    for run in re.compile(rf"({_class_of(hidden).pattern})\1*").finditer(text, start, end):
        parts += [text[at : run.start()], written_out(run)]
        at = run.end()
    return "".join((*parts, text[at:end]))


def _code_of(character: str, length: int) -> str:
    """The code point of a character in place of a run of it."""
    code = f"U+{ord(character):04X}"
    return f"⟨{code}⟩" * length if length <= MAX_ESCAPED_RUN else f"⟨{code} ×{length}⟩"


def _class_of(characters: frozenset[str]) -> re.Pattern[str]:
    return re.compile("[" + "".join(re.escape(character) for character in sorted(characters)) + "]")


def _is_symbol(character: str) -> bool:
    """Whether a character may be drawn as an emoji. ASCII symbols, such as shell operators, never are."""
    if character.isascii():
        return False
    return unicodedata.category(character) in _SYMBOL_CATEGORIES or character in _SYMBOLS_AMONG_PUNCTUATION


def _is_of(character: str, scripts: tuple[str, ...]) -> bool:
    """Whether a letter or mark belongs to one of the scripts."""
    return (
        character != ""
        and unicodedata.category(character)[0] in "LM"
        and unicodedata.name(character, "").startswith(scripts)
    )
