"""Elevations: a person's permission, in a mode that offers it, for several mutating calls. Every elevation ends."""

from typing import Literal

import msgspec

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.value import Timestamp, TurnId, Value

MAX_ELEVATION_CALLS = 100
MAX_ELEVATION_MINUTES = 24 * 60
ElevationEnd = Literal["used_up", "turn_ended", "time_up", "ended_by_person", "mode_switched", "restarted", "replaced"]


class Elevation(Value, kw_only=True):
    """An active elevation. Exactly one of `calls_left`, `turn` and `until` is set and ends it."""

    by: str
    at: Timestamp
    runtime: str
    """The process in which the elevation was given. No elevation outlives its process."""
    calls_left: int | None = None
    """How many more mutating calls may start."""
    turn: TurnId | None = None
    """The turn with which the elevation ends."""
    until: Timestamp | None = None
    """The time at which the elevation ends."""
    deadline: float | None = None
    """`until` on the monotonic clock of the process, which nobody can turn back."""

    def end_reason(self, *, runtime: str, turn: TurnId | None, clock: float) -> ElevationEnd | None:
        """Why the elevation has ended; None while it is active."""
        if runtime != self.runtime:
            return "restarted"
        if self.calls_left is not None and self.calls_left <= 0:
            return "used_up"
        if self.turn is not None and self.turn != turn:
            return "turn_ended"
        if self.deadline is not None and clock >= self.deadline:
            return "time_up"
        return None

    def after_call(self) -> "Elevation":
        """The elevation after one more call."""
        if self.calls_left is None:
            return self
        return msgspec.structs.replace(self, calls_left=self.calls_left - 1)


def check_end(calls: int | None, turn: bool, minutes: float | None) -> None:
    """Raises: InvalidInput unless exactly one end is given, within its bounds."""
    ends = (calls is not None) + turn + (minutes is not None)
    if ends != 1:
        raise InvalidInput(Code.ELEVATION_END)
    if calls is not None and not 1 <= calls <= MAX_ELEVATION_CALLS:
        raise InvalidInput(Code.ELEVATION_CALLS, limit=MAX_ELEVATION_CALLS)
    if minutes is not None and not 0 < minutes <= MAX_ELEVATION_MINUTES:
        raise InvalidInput(Code.ELEVATION_MINUTES, limit=MAX_ELEVATION_MINUTES)
