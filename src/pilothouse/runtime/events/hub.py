"""The hub: the signal bus of one process. Each subscriber gets the newest signal of each kind, in bounded memory."""

import asyncio
from collections.abc import Iterable
from types import TracebackType

from pilothouse.domain.signals import DELETED, ContextChanged, ContextSignal, SessionChanged, Signal

MAX_UNSENT_SIGNALS = 64
"""Per topic and subscription. More unsent signals collapse into one that says that everything changed."""


class HubSubscription:
    """A `Subscription` to a hub."""

    def __init__(self, hub: "Hub", topics: frozenset[str]) -> None:
        self._hub = hub
        self.topics = topics
        self._unsent: dict[tuple[object, ...], Signal] = {}
        """By the signals' keys: a newer signal replaces an older one with the same key."""
        self._counts: dict[str, int] = {}
        """By topic: the number of unsent signals."""
        self._ready = asyncio.Event()
        self._closed = False

    def put(self, signal: Signal) -> None:
        """Add a signal, conflated with an unsent one of the same key."""
        key = signal.key
        older = self._unsent.pop(key, None)
        if older is None:
            self._counts[signal.topic] = self._counts.get(signal.topic, 0) + 1
        elif isinstance(signal, ContextChanged) and isinstance(older, ContextChanged):
            fields = tuple(dict.fromkeys((*older.fields, *signal.fields)))
            signal = ContextChanged(context_id=signal.context_id, version=signal.version, fields=fields)
        self._unsent[key] = signal
        if self._counts[signal.topic] > MAX_UNSENT_SIGNALS and not isinstance(signal, SessionChanged):
            self._collapse(signal)
        self._ready.set()

    def _collapse(self, newest: ContextSignal) -> None:
        """Replace all unsent signals of a context by one that says that everything changed."""
        context_id = newest.context_id
        self._unsent = {key: signal for key, signal in self._unsent.items() if signal.topic != context_id}
        everything = ContextChanged(context_id=context_id, version=newest.version, fields=("*",))
        self._unsent[everything.key] = everything
        self._counts[context_id] = 1

    def __aiter__(self) -> "HubSubscription":
        return self

    async def __anext__(self) -> Signal:
        while not self._unsent:
            if self._closed:
                raise StopAsyncIteration
            self._ready.clear()
            await self._ready.wait()
        signal = self._unsent.pop(next(iter(self._unsent)))
        self._counts[signal.topic] -= 1
        return signal

    async def batch(self) -> list[Signal]:
        while not self._unsent and not self._closed:
            self._ready.clear()
            await self._ready.wait()
        signals = list(self._unsent.values())
        self._unsent.clear()
        self._counts.clear()
        return signals

    @property
    def unsent(self) -> int:
        return len(self._unsent)

    def close(self) -> None:
        self._closed = True
        self._hub.drop(self)
        self._ready.set()

    def __enter__(self) -> "HubSubscription":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Hub:
    """A `SignalBus` in memory."""

    def __init__(self) -> None:
        self._subscriptions: dict[str, set[HubSubscription]] = {}

    def subscribe(self, topics: Iterable[str]) -> HubSubscription:
        subscription = HubSubscription(self, frozenset(topics))
        for topic in subscription.topics:
            self._subscriptions.setdefault(topic, set()).add(subscription)
        return subscription

    def drop(self, subscription: HubSubscription) -> None:
        for topic in subscription.topics:
            subscriptions = self._subscriptions.get(topic, set())
            subscriptions.discard(subscription)
            if not subscriptions:
                self._subscriptions.pop(topic, None)

    def has_listeners(self, topic: str) -> bool:
        return topic in self._subscriptions

    def publish(self, signal: Signal) -> None:
        for subscription in self._subscriptions.get(signal.topic, ()):
            subscription.put(signal)
        if isinstance(signal, ContextChanged) and DELETED in signal.fields:
            self._subscriptions.pop(signal.topic, None)  # a later context may get the same id
