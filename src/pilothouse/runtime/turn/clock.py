"""`TurnClock`: the time that a turn has used, and its limit. Time in which the turn waits for a person, or in which a
sub-agent works, does not count."""

import asyncio

from pilothouse.domain.states import Cancelling, SavingMessage
from pilothouse.runtime.context.live_context import LiveContext


class TurnClock:
    def __init__(self, live: LiveContext) -> None:
        self._live = live
        self._now = live.dependencies.ambient.monotonic
        self._earlier_seconds = 0.0
        """Time of earlier drives."""
        self._driven_since = self._now()
        self._delegating_since: float | None = None
        self._timeout: asyncio.Timeout | None = None

    def start(self) -> None:
        """Start to count: a driver works on the turn."""
        self._driven_since = self._now()

    def stop(self) -> None:
        self._earlier_seconds += self._now() - self._driven_since

    def limit_step(self) -> asyncio.Timeout:
        """The timeout of the next step."""
        self._timeout = asyncio.timeout(self._seconds_left())
        return self._timeout

    def update_delegation(self) -> None:
        """Stop or restart the clock. Called whenever a delegating call may have started or ended."""
        if self._is_delegating == (self._delegating_since is not None):
            return
        now = self._now()
        if self._delegating_since is None:
            self._delegating_since = now
        else:
            self._driven_since += now - self._delegating_since
            self._delegating_since = None
        seconds = self._seconds_left()
        if self._timeout is not None:
            self._timeout.reschedule(None if seconds is None else asyncio.get_running_loop().time() + seconds)

    @property
    def _is_delegating(self) -> bool:
        return any(call.status == "executing" and call.effect == "delegating" for call in self._live.calls.values())

    def _seconds_left(self) -> float | None:
        """The time left to the turn; None for no limit. The steps that end a turn have no limit. While a sub-agent
        works, the limit applies to the sub-agent's own turn, which may wait for the person."""
        limit = self._live.dependencies.limits.turn_seconds
        if limit is None or isinstance(self._live.state, SavingMessage | Cancelling) or self._is_delegating:
            return None
        return max(0.0, limit - self._earlier_seconds - (self._now() - self._driven_since))
