"""Marks for a call whose text may deceive the eye of whoever approves it. By rule, not by a list of known tricks."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from typing import Any

from pilothouse.domain.hidden_characters import is_hidden, is_in_place, is_odd_blank
from pilothouse.domain.lookalikes import LOOKALIKES, UNCOMMON

IsKnown = Callable[[str], bool]
"""Says whether an ASCII name is one of a program or of an existing path."""

MAX_CHUNK_CHARACTERS = 32_768
"""No single step over a text is longer, so that other threads get their turn."""
MAX_NAMES_ASKED = 100
MAX_WORDS_COMPARED = 20_000
"""A text with more words that could be taken for ASCII ones, or for more names, is marked without looking further."""
PADDING = re.compile(r"(?<![^\S\n])[^\S\n]{80,}|\n(?:[^\S\n]*\n){19,}")
_WORD = re.compile(r"[^\W\d_]+")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]{2,}")
_TOKEN_EDGES = frozenset(" \t\n'\"=:,;|&<>()")
_MAX_TOKEN_CHARACTERS = 200
_CONTENTS = frozenset({"content", "new_text", "old_text", "source"})  # shown as texts, in a diff
_MAX_EXACT_INTEGER = 2**53 - 1  # a browser shows other digits for what is larger
_RESOLVED = (  # UTS 39, "highly restrictive": the scripts that one language writes in one word
    frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA"}),
    frozenset({"LATIN", "CJK", "BOPOMOFO"}),
    frozenset({"LATIN", "CJK", "HANGUL"}),
)
_EAST_ASIAN = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"})
# Signs of ordinary prose: quotation marks, dashes, ellipsis, multiplication, primes, raised letters of ordinals.
_PROSE = frozenset(
    "\u2018\u2019\u201a\u201b\u201c\u201d\u2010\u2011\u2012\u2013\u2026\u2039\u203a\u00d7\u00b4\u00b8\u2032\u2033\u2212\u00aa\u00ba"
)
_NAME_SIGNS = frozenset("/\\.~|&<>$`-")  # signs that divide paths and commands
_VARIANTS = (("l", "I"), ("l", "1"), ("O", "0"), ("rn", "m"))  # one skeleton stands for each of both


def deceptions(arguments: Any, is_known: IsKnown = lambda _: False) -> tuple[str, ...]:
    """The marks of a call's arguments: parts out of sight, characters that show nothing or look like others.

    The work is linear in the length of the texts. Where it is not quick, run it in a thread.
    """
    found: set[str] = set()
    for text, is_content in _texts(arguments):
        found |= _Text(text, is_content=is_content, is_known=is_known).marks()
    if any(abs(number) > _MAX_EXACT_INTEGER for number in _integers(arguments)):
        found.add("long numbers")
    order = ("padding", "unusual blanks", "invisible characters", "look-alike letters", "long numbers")
    return tuple(mark for mark in order if mark in found)


def is_quick(arguments: Any) -> bool:
    """Whether `deceptions` takes so little time that the event loop can wait for it: for words that look like others it
    asks the file system."""
    left = MAX_CHUNK_CHARACTERS
    for text, _ in _texts(arguments):
        left -= len(text) + 10
        if left < 0 or not text.isascii():
            return False
    return True


class _Text:
    """One text of a call. The content of a file is prose or code of any kind: blanks and wide forms are usual there."""

    def __init__(self, text: str, *, is_content: bool, is_known: IsKnown) -> None:
        self._text = text
        self._is_content = is_content
        self._is_known = is_known
        self._names_asked: set[str] = set()
        self._words_compared = 0
        self._distinct = frozenset(text) if not text.isascii() or not text.isprintable() else frozenset()
        self._native_scripts = {script_of(each) for each in self._distinct if each not in LOOKALIKES}
        """Scripts with a letter in this text that cannot be taken for ASCII: their words are written on purpose."""

    @cached_property
    def _ascii_words(self) -> frozenset[str]:
        return frozenset(_ASCII_WORD.findall(self._text[:MAX_CHUNK_CHARACTERS]))

    def marks(self) -> set[str]:
        found = set()
        if not self._is_content:
            if any(PADDING.search(chunk) for chunk in self._chunks()):
                found.add("padding")
            if self._has(is_odd_blank, self._is_deceptive_blank):
                found.add("unusual blanks")
        if self._has(is_hidden, self._is_deceptively_hidden):
            found.add("invisible characters")
        if self._has_deceptive_words() or (not self._is_content and self._has(_is_sign, self._is_deceptive_sign)):
            found.add("look-alike letters")
        return found

    def _has(self, is_such: Callable[[str], bool], is_deceptive: Callable[[int], bool | None]) -> bool:
        """Whether a character of a kind stands where it deceives. `is_deceptive` is asked once for the same neighbours,
        unless it answers None: no, because of the line."""
        such = [each for each in self._distinct if is_such(each)]
        if not such:
            return False
        innocent = set()
        for at in re.finditer("[" + "".join(map(re.escape, such)) + "]", self._text):
            place = at.start()
            around = (self._text[place - 1] if place else "\n") + self._text[place : place + 2]
            if around in innocent:
                continue
            answer = is_deceptive(place)
            if answer:
                return True
            if answer is False:
                innocent.add(around)
        return False

    def _chunks(self) -> Iterator[str]:
        """Pieces of the text that end between words and overlap by more than any padding that counts."""
        overlap = 2_000
        for start in range(0, max(1, len(self._text)), MAX_CHUNK_CHARACTERS):
            yield self._text[max(0, start - overlap) : start + MAX_CHUNK_CHARACTERS]

    def _beside(self, place: int) -> tuple[str, str]:
        return self._text[max(0, place - 1) : place], self._text[place + 1 : place + 2]

    def _is_deceptively_hidden(self, place: int) -> bool:
        character = self._text[place]
        if self._is_content:  # byte order mark, line ends, page breaks: files hold them
            is_usual = character == "\f" or (character == "\r" and self._text[place + 1 : place + 2] == "\n")
            if is_usual or (place == 0 and character == "\ufeff"):
                return False
        return not is_in_place(self._text, place)

    def _is_deceptive_blank(self, place: int) -> bool:
        """An ideographic space between ideographs is how Chinese and Japanese are written."""
        is_usual = self._text[place] == "\u3000" and all(map(_is_east_asian, self._beside(place)))
        return not is_usual

    def _is_deceptive_sign(self, place: int) -> bool | None:
        sign = self._text[place]
        before, after = self._beside(place)
        target = _looks_like(sign)
        if target == "-" and after.isalnum() and (not before or before.isspace()):
            return True  # it begins an option
        if sign in _PROSE or (before.isdigit() and after.isdigit()):
            return False
        is_among_letters = _is_foreign_letter(before) or _is_foreign_letter(after)
        if target in _NAME_SIGNS:
            return not is_among_letters or _is_ascii_letter(before) or _is_ascii_letter(after)
        if is_among_letters:
            return False
        if target.isalnum() and len(target) > 1:
            return False  # a symbol such as the sign of a trade mark
        return None if self._is_east_asian_line(place) else True

    def _is_east_asian_line(self, place: int) -> bool:
        if not self._native_scripts & _EAST_ASIAN:
            return False
        start, end = self._text.rfind("\n", 0, place) + 1, self._text.find("\n", place)
        line = self._text[max(start, place - 200) : min(end if end >= 0 else len(self._text), place + 200)]
        return any(map(_is_east_asian, line))

    def _has_deceptive_words(self) -> bool:
        letters = {each for each in self._distinct if not each.isascii() and each.isalpha()}
        scripts = {script_of(each) for each in letters} | {"LATIN"}
        is_plain = _is_resolved(scripts) and not any(each in LOOKALIKES or _folds_to_ascii(each) for each in letters)
        if is_plain:
            return False
        for start in range(0, len(self._text), MAX_CHUNK_CHARACTERS):
            begin = max(0, start - 50)  # a word on the edge is seen whole in one of the two
            chunk = self._text[begin : start + MAX_CHUNK_CHARACTERS]
            for at in _WORD.finditer(chunk):
                if not at[0].isascii() and self._is_deceptive_word(at[0], begin + at.start()):
                    return True
        return False

    def _is_deceptive_word(self, word: str, place: int) -> bool:
        is_mixed, is_folded, reduced = _qualities(word)
        if is_mixed or (is_folded and not self._is_content):
            return True
        return reduced is not None and self._is_taken_for_ascii(word, place, {script_of(each) for each in word} - {""})

    def _is_taken_for_ascii(self, word: str, place: int, scripts: set[str]) -> bool:
        """Whether a word of which every letter looks like ASCII should be pointed out."""
        self._words_compared += 1
        if self._words_compared > MAX_WORDS_COMPARED:
            return True
        if scripts <= {"LATIN"}:  # Danish, Turkish and others write such words: only against a name that is there
            return any(each in UNCOMMON for each in word) or self._is_name(word, place)
        if "LATIN" in scripts:
            return True
        if self._text[place - 1 : place] == "-" or self._is_name(word, place):
            return True
        token = self._token(place, len(word))
        is_written_on_purpose = any(script_of(each) in scripts and each not in LOOKALIKES for each in token)
        if is_written_on_purpose or len(word) == 1 or self._is_content:
            return False
        has_ascii = any(each.isascii() and each.isalpha() for each in token)
        return has_ascii or not scripts & self._native_scripts

    def _is_name(self, word: str, place: int) -> bool:
        """Whether it looks like a program, an existing path, or an ASCII word that stands in the same text."""
        if self._is_content:
            return False
        for name in (word, self._token(place, len(word))):
            if name in self._names_asked:
                continue
            self._names_asked.add(name)
            reduced = _reduced(name)
            if reduced is None:
                continue
            forms = {reduced, *(reduced.replace(old, new) for old, new in _VARIANTS)}
            is_name = forms & self._ascii_words or any(self._is_known(form) for form in forms)
            if is_name or len(self._names_asked) > MAX_NAMES_ASKED:
                return True
        return False

    def _token(self, place: int, length: int) -> str:
        """What stands around a word up to the next blank or sign of the shell."""
        start, end = place, place + length
        first, last = max(0, start - _MAX_TOKEN_CHARACTERS), min(len(self._text), end + _MAX_TOKEN_CHARACTERS)
        while start > first and self._text[start - 1] not in _TOKEN_EDGES:
            start -= 1
        while end < last and self._text[end] not in _TOKEN_EDGES:
            end += 1
        return self._text[start:end]


@lru_cache(maxsize=8192)
def script_of(character: str) -> str:
    """The first word of a letter's name, which is its script; nothing for signs, digits and marks."""
    if not character.isalpha():
        return ""
    folded = unicodedata.normalize("NFKC", character)[:1]
    name = unicodedata.name(folded if folded.isalpha() else character, "")
    first = name.partition(" ")[0].partition("-")[0]
    return {"IDEOGRAPHIC": "CJK", "MODIFIER": ""}.get(first, first)


@lru_cache(maxsize=4096)
def _looks_like(character: str) -> str:
    """The ASCII text that a character looks like; empty where it looks like none."""
    folded = unicodedata.normalize("NFKC", character)
    return LOOKALIKES.get(character) or (folded if folded != character and folded.isascii() else "")


@lru_cache(maxsize=4096)
def _folds_to_ascii(character: str) -> bool:
    """Whether NFKC turns a letter into ASCII: wide, mathematical, circled and raised letters, ligatures."""
    if character.isascii() or not character.isalpha() or character in _PROSE:
        return False
    folded = unicodedata.normalize("NFKC", character)
    return folded != character and folded.isascii()


@lru_cache(maxsize=4096)
def _is_sign(character: str) -> bool:
    """Whether a sign or digit of its own looks like ASCII. Raised and circled numbers look like no other."""
    if character.isascii() or character.isalpha() or is_odd_blank(character) or is_hidden(character):
        return False
    category = unicodedata.category(character)
    if category == "Nd":  # every script has digits of its own
        return unicodedata.normalize("NFKC", character) != character
    return category not in ("No", "Mn", "Mc") and _looks_like(character).strip() != ""


@lru_cache(maxsize=4096)
def _is_east_asian(character: str) -> bool:
    return script_of(character) in _EAST_ASIAN


def _is_foreign_letter(character: str) -> bool:
    """A letter or mark of another script than Latin."""
    if not character or character.isascii():
        return False
    return unicodedata.category(character)[0] in "LM" and script_of(character) != "LATIN"


def _is_ascii_letter(character: str) -> bool:
    return character.isascii() and character.isalpha()


@lru_cache(maxsize=16_384)
def _qualities(word: str) -> tuple[bool, bool, str | None]:
    """Whether a word mixes scripts that no language mixes, whether NFKC makes its letters ASCII, what it looks like."""
    letters = frozenset(word)
    scripts = {script_of(each) for each in letters} - {""}
    is_mixed = not _is_resolved(scripts) and not _is_formula(letters, scripts)
    return is_mixed, any(map(_folds_to_ascii, letters)), _reduced(word)


def _is_resolved(scripts: set[str]) -> bool:
    return len(scripts) <= 1 or any(scripts <= each for each in _RESOLVED)


def _is_formula(letters: frozenset[str], scripts: set[str]) -> bool:
    """Units and variables put Greek letters beside Latin ones; only those that look like no Latin letter are usual."""
    return scripts == {"LATIN", "GREEK"} and not any(
        each in LOOKALIKES for each in letters if script_of(each) == "GREEK"
    )


def _reduced(word: str) -> str | None:
    """The ASCII text that the whole word looks like, or None where a part of it looks like none."""
    letters = [each for each in frozenset(word) if not each.isascii()]
    if not letters or len(word) > _MAX_TOKEN_CHARACTERS * 2:
        return None
    if any(_is_right_to_left(each) or not _looks_like(each) for each in letters):
        return None
    return "".join(each if each.isascii() else _looks_like(each) for each in word)


def _is_right_to_left(character: str) -> bool:
    return unicodedata.bidirectional(character) in ("R", "AL")


def _texts(data: Any, *, is_content: bool = False) -> Iterator[tuple[str, bool]]:
    """Every text of the arguments, names included, and whether it is the content of a file."""
    match data:
        case str():
            yield data, is_content
        case dict():
            for key, value in data.items():
                yield str(key), False
                yield from _texts(value, is_content=key in _CONTENTS)
        case list() | tuple():
            for value in data:
                yield from _texts(value, is_content=is_content)


def _integers(data: Any) -> Iterator[int]:
    match data:
        case int():
            yield data
        case dict():
            for value in data.values():
                yield from _integers(value)
        case list() | tuple():
            for value in data:
                yield from _integers(value)
