"""What running calls print meanwhile: in memory only, its end is enough, and told no more often than one can read."""

import asyncio

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.signals import MessageChanged
from pilothouse.runtime.live import Live

_SPACING = 0.1
_TAIL = 4000


class Printed:
    """`total` is how much there was, `tail` the end of it."""

    def __init__(self, live: Live, call: CallRecord) -> None:
        self.total = 0
        self.tail = ""
        self._live = live
        self._call = call
        self._due: asyncio.TimerHandle | None = None

    def add(self, text: str) -> None:
        self.total += len(text)
        self.tail = (self.tail + text)[-_TAIL:]
        if self._due is None:
            self._due = asyncio.get_running_loop().call_later(_SPACING, self._tell)

    def after(self, position: int) -> str:
        """What came after so many characters, as far as it is still there."""
        return self.tail[-(self.total - position) :] if self.total > position else ""

    def close(self) -> None:
        if self._due is not None:
            self._due.cancel()

    def _tell(self) -> None:
        self._due = None
        hub, live = self._live.parts.hub, self._live
        if hub.has_listeners(live.id):
            about = MessageChanged(context_id=live.id, version=live.version, message_id=self._call.message_id)
            hub.publish(about)
