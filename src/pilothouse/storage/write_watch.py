"""Whether the store takes writes: noted with each of them, told to the log and to the server's health."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pilothouse.domain.codes import say
from pilothouse.domain.errors import StaleWrite, StoreError, StoreReadOnly
from pilothouse.domain.store_health import Refusal

_LOG = logging.getLogger("pilothouse.storage")


class WriteWatch:
    """Logs once when writes begin to be refused and once when they are taken again, not with every write.

    A disk that refuses concerns all writes: the next one that succeeds, wherever, ends it. A context that is read-only
    after a failed sync concerns that context alone.
    """

    def __init__(self, now: Callable[[], str]) -> None:
        self._now = now
        self._disk: Refusal | None = None
        self._read_only: dict[str, Refusal] = {}

    @property
    def refusal(self) -> Refusal | None:
        """Why some writes are refused now; the disk's reason comes first."""
        return self._disk or next(iter(self._read_only.values()), None)

    @contextmanager
    def watched(self, context_id: str | None = None) -> Iterator[None]:
        """Around each write."""
        try:
            yield
        except StaleWrite:  # the disk has nothing to do with it
            raise
        except StoreError as error:
            self.refused(error, context_id)
            raise
        self._accepted(context_id)

    def refused(self, error: StoreError, context_id: str | None = None) -> None:
        refusal = Refusal(since=self._now(), reason=error.reason)
        if isinstance(error, StoreReadOnly) and context_id is not None:
            if context_id not in self._read_only:
                _LOG.error("the context %s is read-only: %s", context_id, say(error.reason))
                self._read_only[context_id] = refusal
        elif self._disk is None:
            _LOG.error("the store refuses writes: %s", say(error.reason))
            self._disk = refusal
        else:
            self._disk = Refusal(since=self._disk.since, reason=error.reason)

    def forget(self, context_id: str) -> None:
        """The context is deleted."""
        self._read_only.pop(context_id, None)

    def _accepted(self, context_id: str | None) -> None:
        if context_id is not None and (ended := self._read_only.pop(context_id, None)) is not None:
            _LOG.warning("the context %s takes writes again; it was read-only since %s", context_id, ended.since)
        if self._disk is not None:
            _LOG.warning("the store takes writes again; it refused them since %s", self._disk.since)
            self._disk = None
