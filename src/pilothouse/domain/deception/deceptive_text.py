"""Mark calls whose text may deceive the person who approves them: by rules, not by a list of known tricks.

The rules depend on the form of a text (`Form`). Shell code is marked for every sign that looks like another one. Values
and prose are marked only for words or signs that can be taken for meaningful ASCII ones, the content of a file only for
characters that a diff cannot show.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Set
from functools import lru_cache
from typing import Any

from pilothouse.domain.deception.argument_texts import texts_of
from pilothouse.domain.deception.ascii_shapes import (
    PROSE_SIGNS,
    ascii_form,
    folds_to_ascii,
    is_lookalike,
    is_operator,
    is_sign,
    is_sign_in_code,
    is_small_capital,
    looks_like,
    operator_shape,
    sign_shape,
)
from pilothouse.domain.deception.command_text import CommandPart, Form, parts_of
from pilothouse.domain.deception.deceptive_names import IsKnown, has_deceptive_command, has_deceptive_host
from pilothouse.domain.deception.hidden_characters import ZERO_WIDTH_SPACE, is_hidden, is_in_place, is_odd_blank
from pilothouse.domain.deception.lookalikes import LOOKALIKES, UNCOMMON
from pilothouse.domain.deception.padding import has_padding
from pilothouse.domain.deception.value_marks import LOOKALIKE_LETTERS, has_mixed_digits, value_marks
from pilothouse.domain.deception.word_scan import MAX_CHUNK_CHARACTERS, words_of
from pilothouse.domain.deception.writing_systems import (
    EAST_ASIAN,
    is_ascii_letter,
    is_east_asian,
    is_foreign_letter,
    is_mark,
    is_resolved,
    script_of,
    script_of_digit,
)

MAX_NAMES_LOOKED_UP = 100
MAX_WORDS_COMPARED = 20_000
"""An argument with more names to look up, or more words to compare, is marked without further checks."""
MAX_SHORT_WORD_LETTERS = 3
"""Words of another script with at most so many letters are too short to deceive in a quotation or in prose."""
MAX_MARKS_ON_LETTER = 3
_MAX_TOKEN_CHARACTERS = 200
_MAX_CACHED_CHARACTERS = 64
"""Longer words are rare, and a cache of many such words could take a gigabyte."""
_MAX_EXACT_INTEGER = 2**53 - 1  # a browser displays larger numbers with other digits
_ASCII_WORD = re.compile(r"[A-Za-z0-9]{2,}")
_TOKEN_EDGES = frozenset(" \t\n'\"=:,;|&<>()")
_COMMAND_EDGES = re.compile(r"[;|&\n#]")
_BEFORE_NAME = re.compile(r"(?:\$\{?|(?:^|\s)--?)\Z")  # an option or a variable
_TYPOGRAPHIC_BLANKS = frozenset("\u00a0\u202f\u2009\u2007")  # before punctuation and units, inside numbers
_ELLIPSES = frozenset("\u2025\u2026")
_NAME_SIGNS = frozenset("/\\.~|&<>$`-")  # signs that divide paths and commands
_DIVIDERS = frozenset({";", "|", "&", "<", ">", "$", "`", "#", "||", "&&", "<<", ">>"})
_MAX_OPERATOR_SIGNS = 3
_ASCII_NAME = re.compile(r"[A-Za-z][\w.-]{0,50}", re.ASCII)
_SHELL_SIGNS = frozenset(";|&<>$`()\n")
_BESIDE_COMMANDS = frozenset("-/~|&<>$`")  # characters without typographic blanks before them
_VARIANTS = (("l", "I"), ("l", "1"), ("O", "0"), ("rn", "m"))  # pairs with the same skeleton in UTS 39
_FULLWIDTH = re.compile("[\uff01-\uff5e]")
_LAST_LETTER_OF_LANGUAGES = "\u024f"  # letters up to here belong to alphabets, letters behind it to phonetic notation
_SOFT_DOTTED = frozenset("ij")
_OVERLAY_CLASS = 1


def deception_marks(
    arguments: Any, is_known: IsKnown = lambda _: False, contents: Set[str] = frozenset()
) -> tuple[str, ...]:
    """The marks of a call's arguments: text out of sight, invisible characters, characters that look like others.

    `contents` are the names of the arguments that are displayed as the content of a file. The run time is linear in the
    length of the texts. Unless `is_quick`, call it in a thread.
    """
    marks: set[str] = set()
    for text, form, role in texts_of(arguments, contents):
        marks |= _marks(text, form, is_known) | value_marks(text, role)
    if any(abs(number) > _MAX_EXACT_INTEGER for number in _integers(arguments)):
        marks.add("long numbers")
    order = ("padding", "unusual blanks", "invisible characters", LOOKALIKE_LETTERS, "long numbers")
    return tuple(mark for mark in order if mark in marks)


def lookalike_characters(arguments: Any) -> str:
    """The characters to highlight in a call with the mark of look-alike letters: characters in the code of commands
    that can be taken for ASCII, or, if there are none, those in all texts."""
    texts = list(texts_of(arguments))
    commands = [text for text, form, _ in texts if form is Form.CODE and not text.isascii()]
    code = [text[part.start : part.end] for text in commands for part in parts_of(text) if part.form is Form.CODE]
    for group in (code, [each.text for each in texts]):
        characters = sorted(filter(is_lookalike, frozenset().union(*group)))
        if characters:
            break
    return "".join(characters)


def is_quick(arguments: Any) -> bool:
    """Whether `deception_marks` is fast enough for the event loop. Words that look like others make it query the file
    system."""
    remaining = MAX_CHUNK_CHARACTERS
    for each in texts_of(arguments):
        remaining -= len(each.text) + 10
        if remaining < 0 or not each.text.isascii():
            return False
    return True


def _marks(text: str, form: Form, is_known: IsKnown) -> set[str]:
    marks = set()
    if form is not Form.CONTENT and has_padding(text):
        marks.add("padding")
    if text.isascii() and text.isprintable():
        return marks
    names = _NameCheck(text, is_known)
    parts = parts_of(text) if form is Form.CODE else [CommandPart(0, len(text), form)]
    for part in parts:
        marks |= _TextCheck(text[part.start : part.end], part.form, names).marks()
    if LOOKALIKE_LETTERS not in marks and form is not Form.CONTENT and not text.isascii():
        is_command = form is Form.CODE and has_deceptive_command(text, parts, names.is_known)
        if is_command or has_deceptive_host(text, parts) or has_mixed_digits(text):
            marks.add(LOOKALIKE_LETTERS)
    return marks


class _NameCheck:
    """Looks up the ASCII names that words of one argument look like, a bounded number of times."""

    def __init__(self, text: str, is_known: IsKnown) -> None:
        self._ascii_words = frozenset(_ASCII_WORD.findall(text[:MAX_CHUNK_CHARACTERS]))
        self._is_known = is_known
        self._looked_up: set[str] = set()
        self._words_compared = 0

    def is_spent(self) -> bool:
        """Count a comparison. Whether the bound is exceeded, so that the argument is marked without further checks."""
        self._words_compared += 1
        return self._words_compared > MAX_WORDS_COMPARED

    def has_look_of(self, name: str) -> bool:
        """Whether a name looks like a program, an existing path, or an ASCII word in the same argument."""
        if name in self._looked_up:
            return False
        self._looked_up.add(name)
        reduced = ascii_form(name)
        if reduced is None:
            return False
        forms = {reduced, *(reduced.replace(old, new) for old, new in _VARIANTS)}
        return bool(forms & self._ascii_words) or any(map(self.is_known, forms))

    def is_known(self, name: str) -> bool:
        self._looked_up.add(name)
        return len(self._looked_up) > MAX_NAMES_LOOKED_UP * (len(_VARIANTS) + 2) or self._is_known(name)


class _TextCheck:
    """Checks one part of an argument, all of one form."""

    def __init__(self, text: str, form: Form, names: _NameCheck) -> None:
        self._text = text
        self._form = form
        self._names = names
        self._distinct = frozenset(text) if not text.isascii() or not text.isprintable() else frozenset()
        self._native_scripts = {script_of(character) for character in self._distinct if character not in LOOKALIKES}
        """Scripts of which this part has a letter that cannot be taken for ASCII: words in them are intentional."""
        self._has_east_asian = bool(self._native_scripts & EAST_ASIAN)

    def marks(self) -> set[str]:
        marks: set[str] = set()
        if not self._distinct:
            return marks
        is_content = self._form is Form.CONTENT
        if not is_content and self._has(is_odd_blank, self._is_deceptive_blank):
            marks.add("unusual blanks")
        if self._has(is_hidden, self._is_deceptively_hidden):
            marks.add("invisible characters")
        if self._has_deceptive_words() or (not is_content and self._has_deceptive_signs()):
            marks.add(LOOKALIKE_LETTERS)
        return marks

    def _has(self, is_such: Callable[[str], bool], is_deceptive: Callable[[int], bool | None]) -> bool:
        """Whether a character of a kind is in a deceptive position. `is_deceptive` returns False where the neighbours
        alone make the position harmless, and is then not called again for the same neighbours; None where a wider
        context does."""
        characters = frozenset(filter(is_such, self._distinct))
        if not characters:
            return False
        innocent = set()
        for index, character in enumerate(self._text):
            if character not in characters:
                continue
            around = (self._text[max(0, index - 2) : index] or "\n") + self._text[index : index + 2]
            if around in innocent:
                continue
            answer = is_deceptive(index)
            if answer:
                return True
            if answer is False:
                innocent.add(around)
        return False

    def _neighbours(self, index: int) -> tuple[str, str]:
        return self._text[max(0, index - 1) : index], self._text[index + 1 : index + 2]

    def _is_deceptively_hidden(self, index: int) -> bool | None:
        character = self._text[index]
        if self._form is Form.CONTENT:  # byte order mark, line ends, page breaks: files hold them
            is_usual = character == "\f" or (character == "\r" and self._text[index + 1 : index + 2] == "\n")
            if is_usual or (index == 0 and character == "\ufeff"):
                return False
        if self._form is Form.CODE and character == ZERO_WIDTH_SPACE:  # separates words of a text, but not of a command
            return True
        return None if is_in_place(self._text, index) else True

    def _is_deceptive_blank(self, index: int) -> bool:
        """Whether a blank other than a space deceives. In code every one does, since the shell does not divide words
        there. In prose, typography uses some of them, one at a time."""
        before, after = self._neighbours(index)
        if self._form is Form.CODE or is_odd_blank(before or "x") or is_odd_blank(after or "x"):
            return True
        if self._text[index] == "\u3000":
            return not (self._has_east_asian or _FULLWIDTH.match(before) or _FULLWIDTH.match(after))
        return self._text[index] not in _TYPOGRAPHIC_BLANKS or after in _BESIDE_COMMANDS - {""}

    # signs

    def _has_deceptive_signs(self) -> bool:
        if self._form is Form.CODE:
            return (
                self._has(is_operator, self._is_deceptive_operator)
                or self._has(is_sign_in_code, self._is_deceptive_in_code)
                or self._has(is_mark, self._is_deceptive_mark)
                or self._has_false_quotation()
            )
        return self._has(is_sign, self._is_deceptive_sign) or self._has(is_mark, self._is_deceptive_mark)

    def _is_deceptive_operator(self, index: int) -> bool | None:
        """Whether a sign or letter looks like an operator between commands or words. Inside a word of its own script it
        is ordinary."""
        start, end = index, index + 1
        while start > 0 and index - start < _MAX_OPERATOR_SIGNS and is_operator(self._text[start - 1]):
            start -= 1
        while end - index < _MAX_OPERATOR_SIGNS and is_operator(self._text[end : end + 1]):
            end += 1
        before, after = self._text[max(0, start - 1) : start], self._text[end : end + 1]
        is_at_start, is_at_end = before in _TOKEN_EDGES or not before, after in _TOKEN_EDGES or not after
        if is_at_start and is_at_end:
            return True
        rest = self._text[end : end + _MAX_TOKEN_CHARACTERS]
        is_divider = operator_shape(self._text[index]) in _DIVIDERS
        if not (is_at_start or is_at_end):
            word = _ASCII_NAME.match(rest)
            return None if word is None or not is_divider else self._names.is_known(word[0]) or None
        if is_at_end and not rest.partition("\n")[0].strip():
            return None  # punctuation at the end of a sentence
        neighbour = after if is_at_start else before
        return True if is_divider or not is_foreign_letter(neighbour) else None

    def _is_deceptive_in_code(self, index: int) -> bool | None:
        sign, shape = self._text[index], sign_shape(self._text[index])
        before, after = self._neighbours(index)
        is_at_start = before in _TOKEN_EDGES or not before
        if sign.isdigit():
            return self._is_deceptive_digit(index)
        if shape == "'":
            return not (before.isalpha() and after.isalpha())
        if shape == "-":
            is_option = (is_at_start or before == "-") and after.strip() != "" and not is_east_asian(after)
            return is_option or (is_ascii_letter(before) and is_ascii_letter(after))
        if sign in _ELLIPSES:
            return "/" in (before, after)
        if before.isdigit() and after.isdigit() and sign in PROSE_SIGNS | {"\u2044", "\u2215"}:
            return False
        if sign == "\u00b7" and before in ("l", "L") and after in ("l", "L"):  # Catalan
            return False
        return self._is_deceptive_shape(index, shape)

    def _is_deceptive_digit(self, index: int) -> bool | None:
        """Whether a digit of another script deceives: only outside text in that script."""
        if self._names.is_spent():
            return True
        if _FULLWIDTH.match(self._text[index]):
            return None if any(map(is_east_asian, self._token(index, 1))) else True
        return None if script_of_digit(self._text[index]) in self._native_scripts else True

    def _has_false_quotation(self) -> bool:
        """Whether signs that look like quotation marks seem to quote a sign of the shell."""
        is_open = has_sign = False
        if not any(sign_shape(character) == "'" for character in self._distinct):
            return False
        for character in self._text:
            if sign_shape(character) == "'":
                if is_open and has_sign:
                    return True
                is_open, has_sign = True, False
            elif character in _SHELL_SIGNS:
                has_sign = True
        return False

    def _is_deceptive_sign(self, index: int) -> bool | None:
        sign, shape = self._text[index], looks_like(self._text[index])
        before, after = self._neighbours(index)
        if shape == "-" and sign != "\u2212" and is_ascii_letter(after) and (not before or before.isspace()):
            return True  # the sign begins an option
        if sign in PROSE_SIGNS or (before.isdigit() and after.isdigit()):
            return False
        if self._has_east_asian and _FULLWIDTH.match(sign):
            return None
        if shape.isalnum():
            if _is_circled_letter(sign) and _is_circled_letter(after or " "):
                return True  # a word of them
            return False if not _FULLWIDTH.match(sign) else self._names.has_look_of(self._token(index, 1))
        return self._is_deceptive_shape(index, shape)

    def _is_deceptive_shape(self, index: int, shape: str) -> bool | None:
        before, after = self._neighbours(index)
        is_among_letters = is_foreign_letter(before) or is_foreign_letter(after)
        if shape in _NAME_SIGNS:
            return not is_among_letters or is_ascii_letter(before) or is_ascii_letter(after)
        if is_among_letters or (shape.isalnum() and len(shape) > 1):
            return False  # the latter are symbols such as the trade mark sign
        return None if self._is_east_asian_line(index) else True

    def _is_deceptive_mark(self, index: int) -> bool | None:
        """Whether a mark is over or through an ASCII character with which it forms no letter of any language."""
        start = index
        while start > 0 and index - start <= MAX_MARKS_ON_LETTER and is_mark(self._text[start]):
            start -= 1
        base, mark = self._text[start], self._text[index]
        if index - start > MAX_MARKS_ON_LETTER:
            return True
        if is_mark(base):
            base = ""
        if not base.isascii() or (base and len(unicodedata.normalize("NFC", base + mark)) == 1):
            return None
        if mark == "\u20e3" and base in tuple("0123456789#*"):
            return None
        is_drawn_over = unicodedata.combining(mark) == _OVERLAY_CLASS or unicodedata.category(mark) == "Me"
        is_lost = mark == "\u0307" and base in _SOFT_DOTTED
        return self._form is Form.CODE or is_drawn_over or is_lost or not base.isalnum()

    def _is_east_asian_line(self, index: int) -> bool:
        if not self._has_east_asian:
            return False
        before = self._text[max(0, index - _MAX_TOKEN_CHARACTERS) : index].rpartition("\n")[2]
        after = self._text[index : index + _MAX_TOKEN_CHARACTERS].partition("\n")[0]
        return not self._names.is_spent() and any(map(is_east_asian, before + after))

    # words

    def _has_deceptive_words(self) -> bool:
        letters = {character for character in self._distinct if not character.isascii() and character.isalpha()}
        scripts = {script_of(character) for character in letters} | {"LATIN"}
        is_plain = is_resolved(scripts) and not any(
            looks_like(character) or is_small_capital(character) for character in letters
        )
        if is_plain:
            return False
        return any(not word.isascii() and self._is_deceptive_word(word, index) for index, word in words_of(self._text))

    def _is_deceptive_word(self, word: str, index: int) -> bool:
        is_mixed, reduced = (_cached_qualities if len(word) <= _MAX_CACHED_CHARACTERS else _qualities)(word)
        if is_mixed or (self._form is not Form.CONTENT and self._is_folded(word, index)):
            return True
        return reduced is not None and self._is_taken_for_ascii(
            word, index, {script_of(character) for character in word} - {""}
        )

    def _is_folded(self, word: str, index: int) -> bool:
        """Whether a word has letters that NFKC converts to ASCII. Wide letters in East Asian text, raised letters
        behind a digit and letters of alphabets are ordinary in prose."""
        folded = [character for character in word if folds_to_ascii(character)]
        if not folded:
            return False
        if all(map(_FULLWIDTH.match, folded)):
            if self._form is not Form.CODE or self._names.is_spent():
                return not self._has_east_asian
            return not any(map(is_east_asian, self._token(index, len(word))))
        if self._form is Form.CODE:
            return True
        is_raised = all(unicodedata.category(character) == "Lm" for character in folded)
        is_ordinal = is_raised and self._text[index - 1 : index].isdigit()
        return not is_ordinal and not all(character <= _LAST_LETTER_OF_LANGUAGES for character in folded)

    def _is_taken_for_ascii(self, word: str, index: int, scripts: set[str]) -> bool:
        """Whether to mark a word of which every letter looks like ASCII."""
        if self._names.is_spent():
            return True
        if scripts <= {"LATIN"}:
            return self._is_deceptive_latin(word, index)
        if _BEFORE_NAME.search(self._text[max(0, index - 3) : index]):
            return True
        is_short = len(word) <= MAX_SHORT_WORD_LETTERS
        if self._form is Form.CODE:
            return self._is_name(word, index) or not self._is_among_its_script(word, index, scripts)
        is_prose = is_short and scripts & self._native_scripts
        if not is_prose and self._is_name(word, index):
            return True
        is_abbreviation = word.isupper()
        if is_short or is_abbreviation or self._form is Form.CONTENT:
            return False
        return not scripts & self._native_scripts

    def _is_deceptive_latin(self, word: str, index: int) -> bool:
        """Whether to mark a word of Latin letters. Danish, Turkish and other languages have such words."""
        if self._is_name(word, index):
            return True
        odd = [character for character in word if character in UNCOMMON or is_small_capital(character)]
        if self._form is not Form.CODE:
            return len(odd) > 0 and len(word) > MAX_SHORT_WORD_LETTERS
        has_alphabet = any(
            character > "\x7f" and not looks_like(character)
            for character in self._distinct
            if script_of(character) == "LATIN"
        )
        return len(odd) > 0 or (
            not has_alphabet and all(len(looks_like(character)) == 1 for character in word if character > "\x7f")
        )

    def _is_among_its_script(self, word: str, index: int, scripts: set[str]) -> bool:
        """Whether the same command has letters of the script that cannot be taken for ASCII: the word is then meant in
        that language."""
        before = self._text[max(0, index - _MAX_TOKEN_CHARACTERS) : index]
        after = self._text[index + len(word) : index + len(word) + _MAX_TOKEN_CHARACTERS]
        command = _COMMAND_EDGES.split(before)[-1] + _COMMAND_EDGES.split(after)[0]
        return any(script_of(character) in scripts and character not in LOOKALIKES for character in command)

    def _is_name(self, word: str, index: int) -> bool:
        if self._form is Form.CONTENT:
            return False
        return self._names.has_look_of(word) or self._names.has_look_of(self._token(index, len(word)))

    def _token(self, index: int, length: int) -> str:
        """The text around a word up to the next blank or shell operator."""
        start, end = index, index + length
        first, last = max(0, start - _MAX_TOKEN_CHARACTERS), min(len(self._text), end + _MAX_TOKEN_CHARACTERS)
        while start > first and self._text[start - 1] not in _TOKEN_EDGES:
            start -= 1
        while end < last and self._text[end] not in _TOKEN_EDGES:
            end += 1
        return self._text[start:end]


def _qualities(word: str) -> tuple[bool, str | None]:
    """Whether a word mixes scripts that no language mixes, and the ASCII text it looks like."""
    letters = frozenset(word)
    scripts = {script_of(character) for character in letters} - {""}
    return not is_resolved(scripts) and not _is_formula(letters, scripts), ascii_form(word)


_cached_qualities = lru_cache(maxsize=16_384)(_qualities)


def _is_formula(letters: frozenset[str], scripts: set[str]) -> bool:
    """Whether a word is a unit or variable: Greek letters that look like no Latin ones beside Latin letters."""
    return scripts == {"LATIN", "GREEK"} and not any(
        character in LOOKALIKES for character in letters if script_of(character) == "GREEK"
    )


def _is_circled_letter(character: str) -> bool:
    return unicodedata.category(character) == "So" and len(looks_like(character)) == 1


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
