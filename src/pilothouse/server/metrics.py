"""The server's counters and the open streams, rendered in the Prometheus text format."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from typing import Literal

_BUCKET_SECONDS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0)
Labels = tuple[tuple[str, str], ...]
StreamKind = Literal["signals", "chat"]


class Metrics:
    """Counters kept as plain numbers; `text` renders them when they are requested."""

    def __init__(self) -> None:
        self._slots: set[StreamSlot] = set()
        self.signals_sent = 0
        self.refused: Counter[str] = Counter()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._seconds: Counter[float] = Counter()
        self._seconds_sum = 0.0

    @property
    def streams_open(self) -> int:
        return sum(slot.kind == "signals" for slot in self._slots)

    @property
    def chats_open(self) -> int:
        return sum(slot.kind == "chat" for slot in self._slots)

    def streams_of(self, user: str) -> int:
        return sum(slot.user == user for slot in self._slots)

    def open_stream(self, kind: StreamKind, user: str) -> "StreamSlot":
        return StreamSlot(kind, user, self._slots)

    def check_users(self) -> None:
        """Make every open stream check its user's token, after a change of the token file."""
        for slot in self._slots:
            slot.must_check_user.set()

    def record_response(self, method: str, path: str, status: int, seconds: float) -> None:
        """Count a response. `path` is the route's template, not the requested path, so that the number of labels is
        bounded."""
        self._requests[method, path, status] += 1
        self._seconds_sum += seconds
        bucket = next((bound for bound in _BUCKET_SECONDS if seconds <= bound), float("inf"))
        self._seconds[bucket] += 1

    def text(self, *, contexts: int, turns: int) -> str:
        return "\n".join([*self._lines(contexts, turns), ""])

    def _lines(self, contexts: int, turns: int) -> Iterator[str]:
        yield from _metric("pilothouse_contexts_in_memory", "gauge", "Contexts held in memory.", {(): contexts})
        yield from _metric("pilothouse_turns_open", "gauge", "Turns that are being worked on.", {(): turns})
        yield from _metric("pilothouse_streams_open", "gauge", "Open signal streams.", {(): self.streams_open})
        yield from _metric("pilothouse_chats_open", "gauge", "Open chat streams.", {(): self.chats_open})
        yield from _metric("pilothouse_signals_total", "counter", "Signals sent to clients.", {(): self.signals_sent})
        refused: dict[Labels, float] = {(("code", code),): count for code, count in self.refused.items()}
        yield from _metric("pilothouse_refused_total", "counter", "Requests refused before a handler.", refused)
        requests: dict[Labels, float] = {
            (("method", method), ("path", path), ("status", str(status))): count
            for (method, path, status), count in self._requests.items()
        }
        yield from _metric("pilothouse_requests_total", "counter", "Requests answered.", requests)
        yield from self._histogram()

    def _histogram(self) -> Iterator[str]:
        name = "pilothouse_request_seconds"
        yield f"# HELP {name} Time to answer, streams left out."
        yield f"# TYPE {name} histogram"
        total = 0
        for bound in (*_BUCKET_SECONDS, float("inf")):
            total += self._seconds[bound]
            label = "+Inf" if bound == float("inf") else str(bound)
            yield f'{name}_bucket{{le="{label}"}} {total}'
        yield f"{name}_sum {self._seconds_sum}"
        yield f"{name}_count {total}"


class StreamSlot:
    """A stream as the limit counts it, from its admission to its last byte."""

    def __init__(self, kind: StreamKind, user: str, slots: "set[StreamSlot]") -> None:
        self.kind = kind
        self.user = user
        self._slots = slots
        self.is_handed_over = False
        """Whether a response owns the slot, and releases it at its end."""
        self.must_check_user = asyncio.Event()
        """Set when the token file changed: the stream ends at once if its user's token is no longer valid."""
        slots.add(self)

    def release(self) -> None:
        """Stop counting the stream. Idempotent."""
        self._slots.discard(self)


def _metric(name: str, kind: str, help_text: str, values: dict[Labels, float]) -> Iterator[str]:
    yield f"# HELP {name} {help_text}"
    yield f"# TYPE {name} {kind}"
    for labels, value in values.items():
        label_list = ",".join(f'{label}="{_escape(text)}"' for label, text in labels)
        yield f"{name}{{{label_list}}} {value}" if label_list else f"{name} {value}"


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
