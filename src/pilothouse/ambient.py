"""Time, chance and ids: the only place that asks the system for them. Everything else gets an Ambient."""

import asyncio
import os
import random
import secrets
import time
from datetime import UTC, datetime
from typing import Protocol

from pilothouse.domain.values import Timestamp


class Ambient(Protocol):
    def now(self) -> float:
        """Wall clock, seconds since 1970. For showing only: order never comes from it."""

    def monotonic(self) -> float:
        """For measuring durations and deadlines."""

    async def sleep(self, seconds: float) -> None: ...

    async def background_sleep(self, seconds: float) -> None:
        """Between two attempts of work that nobody waits for. A test's clock does not move by itself for it."""

    def new_id(self) -> str:
        """A UUIDv7 as text, growing within a process."""

    def fraction(self) -> float:
        """A random number from 0 to 1."""

    def new_secret(self) -> str:
        """What nobody can guess, as text for a header or an address."""


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
        return random.random()  # noqa: S311 (it spreads retries, nothing hangs on it)

    def new_secret(self) -> str:
        return secrets.token_urlsafe(32)

    def new_id(self) -> str:
        # 48 bits of milliseconds and 12 bits of counter: ids made in one process sort as they were
        # made, also when the clock stands still or goes back.
        self._last = max(self._last + 1, int(self.now() * 1000) << 12)
        milliseconds, counter = self._last >> 12, self._last & 0xFFF
        tail = int.from_bytes(os.urandom(8)) & ((1 << 62) - 1) | (0b10 << 62)
        digits = f"{milliseconds:012x}7{counter:03x}{tail:016x}"
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def timestamp(seconds: float) -> Timestamp:
    """RFC 3339 in UTC, with milliseconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
