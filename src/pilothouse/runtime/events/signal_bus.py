"""`SignalBus`: how a runtime publishes signals and clients subscribe to them. `Hub` is the bus of one process."""

from collections.abc import Iterable
from types import TracebackType
from typing import Protocol

from pilothouse.domain.signals import Signal


class Subscription(Protocol):
    """An async iterator over signals. End it with `close`, or use it as a context manager.

    A newer signal may replace an unsent one of the same kind, and many unsent signals of a topic may collapse into one
    that says that everything changed: the memory of a subscriber that does not read stays bounded.
    """

    def __aiter__(self) -> "Subscription": ...

    async def __anext__(self) -> Signal: ...

    async def batch(self) -> list[Signal]:
        """All unsent signals, oldest first, as soon as there are any. Empty after the subscription was closed."""

    def close(self) -> None: ...

    def __enter__(self) -> "Subscription": ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class SignalBus(Protocol):
    """Publishes signals to the subscriptions of their topics. No method waits: a turn never waits for a reader."""

    def subscribe(self, topics: Iterable[str]) -> Subscription:
        """Subscribe to topics. Signals that are published from now on arrive."""

    def has_listeners(self, topic: str) -> bool:
        """Whether a signal of a topic would reach anybody. A bus that cannot know returns True."""

    def publish(self, signal: Signal) -> None: ...
