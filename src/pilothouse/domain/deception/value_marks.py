"""Mark values that stand for one path, host or name, and numbers with digits of several scripts."""

import re
from itertools import pairwise

from pilothouse.domain.deception.argument_texts import Role
from pilothouse.domain.deception.deceptive_names import is_deceptive_host
from pilothouse.domain.deception.hidden_characters import is_odd_blank
from pilothouse.domain.deception.writing_systems import script_of_digit

LOOKALIKE_LETTERS = "look-alike letters"
UNUSUAL_BLANKS = "unusual blanks"
_NUMBER = re.compile(r"\d{2,}")
_FULLWIDTH_DIGITS = re.compile("[\uff10-\uff19]")  # ordinary in East Asian text, and not taken for ASCII


def value_marks(text: str, role: Role) -> set[str]:
    """The marks of a value that stands for one path, host or name."""
    marks: set[str] = set()
    if role is Role.NONE:
        return marks
    if text != text.strip() or "\n" in text or "\t" in text or _has_blank_at_part(text):
        marks.add(UNUSUAL_BLANKS)
    if role is Role.HOST and is_deceptive_host(text):
        marks.add(LOOKALIKE_LETTERS)
    return marks


def _has_blank_at_part(text: str) -> bool:
    """Whether a part of a path begins or ends with a blank that is no space."""
    return not text.isascii() and any("/" in pair and any(map(is_odd_blank, pair)) for pair in pairwise(text))


def has_mixed_digits(text: str) -> bool:
    """Whether a number has digits of several scripts."""
    return any(
        len({script_of_digit(digit) for digit in number[0] if not _FULLWIDTH_DIGITS.match(digit)}) > 1
        for number in _NUMBER.finditer(text)
        if not number[0].isascii()
    )
