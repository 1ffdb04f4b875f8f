"""Token counters that work offline: the tokenizers of two families of models, and an estimate."""

import importlib
from functools import cache
from typing import Any, Protocol

_VOCABULARIES = {"o200k": "o200k_base", "cl100k": "cl100k_base"}
"""The names of tokenizers in the model catalog, and in the package of the extra `tokens`."""
_MAX_COUNTED_CHARACTERS = 1 << 15
"""The package holds the interpreter lock while it counts: between parts of this length other threads run. A cut adds a
token or two."""

# The weight of a character in hundredths of a token, by its first byte in UTF-8. Fitted to o200k, rather high than low.
_CAPITAL_WEIGHT = 38
_SMALL_WEIGHT = 24
_WEIGHTS_OF_RANGES = (
    (0x00, 0x7F, 50),  # marks
    (0x09, 0x0D, 60),  # tabs and ends of lines
    (0x20, 0x20, 18),
    (0x30, 0x39, 80),
    (0x41, 0x5A, _CAPITAL_WEIGHT),
    (0x61, 0x7A, _SMALL_WEIGHT),
    (0xC2, 0xCB, 104),  # Latin letters with accents
    (0xCC, 0xDF, 39),  # Greek, Cyrillic, Hebrew, Arabic
    (0xE0, 0xE0, 42),  # Indian scripts, Thai
    (0xE1, 0xEF, 93),  # Chinese, Japanese, Korean
    (0xF0, 0xF4, 200),
)
# A capital behind a small letter begins a word: now and then in camelCase, all the time in base64.
_CASE_CHANGE = bytes((_SMALL_WEIGHT, _CAPITAL_WEIGHT))
_CASE_CHANGE_WEIGHT = 175


class Counter(Protocol):
    """Counts the tokens of texts."""

    name: str
    is_estimate: bool
    """Whether the counter does not know the tokenizer of the model."""

    def count(self, text: str) -> int: ...


class Estimate:
    """About four characters of English or code a token, one of Chinese, one and a half of base64."""

    name = "estimate"
    is_estimate = True

    def count(self, text: str) -> int:
        weights = text.encode("utf-8", "replace").translate(_WEIGHTS)
        return (sum(weights) + _CASE_CHANGE_WEIGHT * weights.count(_CASE_CHANGE) + 99) // 100


class Vocabulary:
    """The tokenizer of a family of models. Its special tokens count as plain text."""

    is_estimate = False

    def __init__(self, name: str, package: Any) -> None:
        self.name = name
        self._load = getattr(package, _VOCABULARIES[name])

    def count(self, text: str) -> int:
        total, last, tokens = 0, "", 0
        for start in range(0, len(text), _MAX_COUNTED_CHARACTERS):
            part = text[start : start + _MAX_COUNTED_CHARACTERS]
            if part != last:  # a long run of one character is slow to count: equal parts are counted once
                last, tokens = part, self._tokens(part)
            total += tokens
        return total

    def _tokens(self, text: str) -> int:
        tokenizer = self._load()  # slow once; the package caches the tokenizer
        try:
            return int(tokenizer.count(text))
        except UnicodeEncodeError:  # half of a surrogate pair
            return int(tokenizer.count(text.encode("utf-8", "replace").decode()))


@cache
def counter_for(tokenizer: str | None) -> Counter:
    """The counter of a tokenizer; the estimate for one that is unknown or not installed."""
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
