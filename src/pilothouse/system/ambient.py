"""Clocks, randomness and ids. No other module takes them from the system: each gets an `Ambient`."""

import asyncio
import os
import random
import secrets
import time
from datetime import UTC, datetime
from typing import Protocol

from pilothouse.domain.value import Timestamp

_MAX_DOUBLINGS = 60


class Ambient(Protocol):
    """The source of time, randomness and ids."""

    def now(self) -> float:
        """Return the wall clock, in seconds since 1970. For display only: order never comes from the clock."""

    def monotonic(self) -> float:
        """Return the clock for durations and deadlines, in seconds."""

    async def sleep(self, seconds: float) -> None: ...

    async def background_sleep(self, seconds: float) -> None:
        """Sleep between two attempts of background work. The clock of a test does not advance for this sleep."""

    def new_id(self) -> str:
        """Return a UUIDv7 as text. The ids of a process are increasing."""

    def fraction(self) -> float:
        """Return a random number from 0 to 1."""

    def new_secret(self) -> str:
        """Return a random secret, as text for a header or an address."""


class SystemAmbient:
    def __init__(self) -> None:
        self._last = 0

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def background_sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def fraction(self) -> float:
        return random.random()  # noqa: S311 (spreads retries, without relevance to security)

    def new_secret(self) -> str:
        return secrets.token_urlsafe(32)

    def new_id(self) -> str:
        # 48 bits of milliseconds and 12 bits of counter: the ids of a process sort in the order of their creation,
        # even if the clock stands still or is set back.
        self._last = max(self._last + 1, int(self.now() * 1000) << 12)
        milliseconds, counter = self._last >> 12, self._last & 0xFFF
        tail = int.from_bytes(os.urandom(8)) & ((1 << 62) - 1) | (0b10 << 62)
        digits = f"{milliseconds:012x}7{counter:03x}{tail:016x}"
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def timestamp(seconds: float) -> Timestamp:
    """Format seconds since 1970 as RFC 3339 in UTC, with milliseconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def backoff_seconds(ambient: Ambient, attempt: int, *, first: float, max_seconds: float) -> float:
    """Return the delay after the n-th failed attempt: doubled each time up to `max_seconds`, with jitter over the upper
    half, so that clients that failed together do not retry together."""
    doubled = first * 2.0 ** min(attempt - 1, _MAX_DOUBLINGS)
    return min(doubled, max_seconds) * (0.5 + ambient.fraction() / 2)
