"""A provider that records the bytes of requests, and the part of each request with which the next one begins."""

from itertools import pairwise

from pilothouse.llm.script import Answer, Script
from pilothouse.testing.provider import FakeProvider


class RecordingProvider(FakeProvider):
    """Records the bytes of the accepted requests."""

    def __init__(self, *answers: Answer) -> None:
        super().__init__(Script(turn=answers))
        self.bodies: list[bytes] = []

    def next_answer(self, body: bytes) -> Answer:
        self.bodies.append(body)
        return super().next_answer(body)

    def shares(self) -> list[float]:
        """The part of each request with which the next one begins."""
        return [shared_bytes(first, second) / len(first) for first, second in pairwise(self.bodies)]


def shared_bytes(first: bytes, second: bytes) -> int:
    """The number of bytes that two requests share at their beginning."""
    length = min(len(first), len(second))
    return next((at for at in range(length) if first[at] != second[at]), length)
