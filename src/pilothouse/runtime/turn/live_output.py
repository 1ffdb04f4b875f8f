"""The output of a running call for people who watch: the last characters, in memory only, signalled at most ten times
a second."""

import asyncio

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.signals import MessageChanged
from pilothouse.runtime.context.live_context import LiveContext

_SIGNAL_INTERVAL_SECONDS = 0.1
_MAX_TAIL_CHARACTERS = 4000


class LiveOutput:
    """The output of one running call."""

    def __init__(self, live: LiveContext, call: CallRecord) -> None:
        self.total = 0
        """Characters that the call has printed so far."""
        self.tail = ""
        """The last of these characters."""
        self._live = live
        self._call = call
        self._timer: asyncio.TimerHandle | None = None

    def add(self, text: str) -> None:
        self.total += len(text)
        self.tail = (self.tail + text)[-_MAX_TAIL_CHARACTERS:]
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_SIGNAL_INTERVAL_SECONDS, self._publish)

    def after(self, position: int) -> str:
        """The output behind the first `position` characters, as far as `tail` still holds it."""
        return self.tail[-(self.total - position) :] if self.total > position else ""

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _publish(self) -> None:
        self._timer = None
        hub, live = self._live.dependencies.hub, self._live
        if hub.has_listeners(live.id):
            hub.publish(MessageChanged(context_id=live.id, version=live.version, message_id=self._call.message_id))
