"""Whether the store takes writes: noted with each of them, told to the log and to the server's health."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pilothouse.domain.codes import say
from pilothouse.domain.errors import StaleWrite, StoreError
from pilothouse.domain.store_health import Refusal

_LOG = logging.getLogger("pilothouse.storage")


class WriteWatch:
    """Logs once when the store begins to refuse writes and once when it takes them again, not with every write."""

    def __init__(self, now: Callable[[], str]) -> None:
        self._now = now
        self.refusal: Refusal | None = None

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Around each write."""
        try:
            yield
        except StaleWrite:  # the disk has nothing to do with it
            raise
        except StoreError as error:
            self.refused(error)
            raise
        self.accepted()

    def refused(self, error: StoreError) -> None:
        if self.refusal is None:
            _LOG.error("the store refuses writes: %s", say(error.reason))
            self.refusal = Refusal(since=self._now(), reason=error.reason)
        else:
            self.refusal = Refusal(since=self.refusal.since, reason=error.reason)

    def accepted(self) -> None:
        if self.refusal is not None:
            _LOG.warning("the store takes writes again; it refused them since %s", self.refusal.since)
            self.refusal = None
