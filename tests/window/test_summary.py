"""Telling messages in short without a model."""

from pilothouse.domain.messages import Text
from pilothouse.domain.value import MessageId
from pilothouse.window.summary import mechanical_summary
from pilothouse.window.tokens import Estimate


class CountingEstimate(Estimate):
    """Adds up the characters it counts."""

    def __init__(self) -> None:
        self.characters = 0

    def count(self, text: str) -> int:
        self.characters += len(text)
        return super().count(text)


def test_a_mechanical_summary_counts_each_of_many_short_messages_once() -> None:
    messages = [Text(id=MessageId(""), timestamp="", role="user", content=f"do {number}") for number in range(3000)]
    counter = CountingEstimate()
    summary = mechanical_summary(messages, counter, 4000)
    assert summary.endswith("- do 2999")
    assert counter.count(summary) <= 4000
    assert counter.characters < 10 * len(summary), "the event loop waits for this"
