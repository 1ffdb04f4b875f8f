"""Counting tokens, offline: by the tokenizer of a family of models, or by an estimate that says that it is one."""

import importlib
from functools import cache
from typing import Any, Protocol

# The names of ours, and those of the package of the extra `tokens`.
_VOCABULARIES = {"o200k": "o200k_base", "cl100k": "cl100k_base"}

# The package holds the interpreter while it counts: in pieces, others get their turn. A cut adds a token or two.
_PIECE = 1 << 15

# What a character adds, in hundredths of a token, by its first byte in UTF-8. Fitted to o200k, rather high than low.
_CAPITAL, _SMALL = 38, 24
_WEIGHTS_OF_RANGES = (
    (0x00, 0x7F, 50),  # marks
    (0x09, 0x0D, 60),  # tabs and ends of lines
    (0x20, 0x20, 18),
    (0x30, 0x39, 80),
    (0x41, 0x5A, _CAPITAL),
    (0x61, 0x7A, _SMALL),
    (0xC2, 0xCB, 104),  # Latin letters with accents
    (0xCC, 0xDF, 39),  # Greek, Cyrillic, Hebrew, Arabic
    (0xE0, 0xE0, 42),  # Indian scripts, Thai
    (0xE1, 0xEF, 93),  # Chinese, Japanese, Korean
    (0xF0, 0xF4, 200),
)
# A capital behind a small letter begins a word: in camelCase now and then, in base64 all the time.
_TURN, _TURN_ADDS = bytes((_SMALL, _CAPITAL)), 175


class Counter(Protocol):
    """`is_estimate` says that it does not know the model's own tokens."""

    name: str
    is_estimate: bool

    def count(self, text: str) -> int: ...


class Estimate:
    """About four characters of English or of code to a token, one of Chinese, one and a half of base64."""

    name = "estimate"
    is_estimate = True

    def count(self, text: str) -> int:
        weights = text.encode("utf-8", "replace").translate(_WEIGHTS)
        return (sum(weights) + _TURN_ADDS * weights.count(_TURN) + 99) // 100


class Vocabulary:
    """A family's own tokenizer. Words that are special to it count as the plain text that they are here."""

    is_estimate = False

    def __init__(self, name: str, package: Any) -> None:
        self.name = name
        self._load = getattr(package, _VOCABULARIES[name])

    def count(self, text: str) -> int:
        total, last, tokens = 0, "", 0
        for start in range(0, len(text), _PIECE):
            piece = text[start : start + _PIECE]
            if piece != last:  # a long run of one character is slow: counted once
                last, tokens = piece, self._tokens(piece)
            total += tokens
        return total

    def _tokens(self, piece: str) -> int:
        tokenizer = self._load()  # takes its time once; the package keeps it
        try:
            return int(tokenizer.count(piece))
        except UnicodeEncodeError:  # half of a surrogate pair
            return int(tokenizer.count(piece.encode("utf-8", "replace").decode()))


@cache
def counter_for(tokenizer: str | None) -> Counter:
    """The counter of a tokenizer, or the estimate where it is unknown or not installed."""
    if tokenizer not in _VOCABULARIES:
        return Estimate()
    try:
        return Vocabulary(tokenizer, importlib.import_module("rs_bpe.bpe").openai)
    except ImportError:
        return Estimate()


def _weights() -> bytes:
    table = bytearray(256)
    for first, last, weight in _WEIGHTS_OF_RANGES:
        table[first : last + 1] = bytes([weight]) * (last + 1 - first)
    return bytes(table)


_WEIGHTS = _weights()
