"""Tracking of refused writes, for the log and the server's health."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pilothouse.domain.errors import StaleWrite, StoreError, StoreReadOnly
from pilothouse.domain.store_health import Refusal
from pilothouse.i18n import translate

_LOG = logging.getLogger("pilothouse.storage")


class WriteWatch:
    """Logs once when writes begin to fail and once when they succeed again, not with every write.

    A refusal by the disk concerns all writes, and ends with the next successful write of any context. A context that is
    read-only after a failed sync concerns that context alone.
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
    def watch(self, context_id: str | None = None) -> Iterator[None]:
        """Track the outcome of one write, which the block makes."""
        try:
            yield
        except StaleWrite:  # no failure of the disk
            raise
        except StoreError as error:
            self.record_refusal(error, context_id)
            raise
        self._record_success(context_id)

    def record_refusal(self, error: StoreError, context_id: str | None = None) -> None:
        refusal = Refusal(since=self._now(), reason=error.reason)
        if isinstance(error, StoreReadOnly) and context_id is not None:
            if context_id not in self._read_only:
                _LOG.error("the context %s is read-only: %s", context_id, translate(error.reason))
                self._read_only[context_id] = refusal
        elif self._disk is None:
            _LOG.error("the store refuses writes: %s", translate(error.reason))
            self._disk = refusal
        else:
            self._disk = Refusal(since=self._disk.since, reason=error.reason)

    def forget(self, context_id: str) -> None:
        """Drop the state of a deleted context."""
        self._read_only.pop(context_id, None)

    def _record_success(self, context_id: str | None) -> None:
        if context_id is not None and (refusal := self._read_only.pop(context_id, None)) is not None:
            _LOG.warning("the context %s takes writes again; it was read-only since %s", context_id, refusal.since)
        if self._disk is not None:
            _LOG.warning("the store takes writes again; it refused them since %s", self._disk.since)
            self._disk = None
