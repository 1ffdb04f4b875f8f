"""Pauses between attempts grow, stay bounded, and are spread."""

from pilothouse.system.ambient import SystemAmbient, backoff_seconds


class FixedRandomness(SystemAmbient):
    def __init__(self, fraction: float) -> None:
        super().__init__()
        self._fraction = fraction

    def fraction(self) -> float:
        return self._fraction


def test_a_pause_doubles_with_each_attempt_up_to_the_longest() -> None:
    pauses = [backoff_seconds(FixedRandomness(1.0), attempt, first=0.5, max_seconds=120) for attempt in range(1, 11)]
    assert pauses == [0.5, 1, 2, 4, 8, 16, 32, 64, 120, 120]
    assert backoff_seconds(FixedRandomness(1.0), 10_000_000, first=0.05, max_seconds=2.0) == 2.0


def test_a_pause_is_spread_over_its_upper_half() -> None:
    assert backoff_seconds(FixedRandomness(0.0), 1, first=1, max_seconds=2) == 0.5
    assert backoff_seconds(FixedRandomness(0.5), 1, first=1, max_seconds=2) == 0.75
