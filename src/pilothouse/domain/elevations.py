"""Elevation: a person's leave, in a mode that offers it, to run more than one changing call. It always has an end."""

from typing import Literal

import msgspec

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.values import Timestamp, TurnId, Value

CALLS_AT_MOST = 100
MINUTES_AT_MOST = 24 * 60
End = Literal["used_up", "turn_ended", "time_up", "ended_by_person", "mode_switched", "restarted", "replaced"]


class Elevation(Value, kw_only=True):
    """Exactly one of `calls_left`, `turn` and `until` is its end. It holds only for the process (`runtime`) that gave
    it; `deadline` is on that process's own clock, which nobody can turn back."""

    by: str
    at: Timestamp
    runtime: str
    calls_left: int | None = None
    turn: TurnId | None = None
    until: Timestamp | None = None
    deadline: float | None = None

    def ended(self, *, runtime: str, turn: TurnId | None, clock: float) -> End | None:
        """Why it no longer holds, or None while it does."""
        if runtime != self.runtime:
            return "restarted"
        if self.calls_left is not None and self.calls_left <= 0:
            return "used_up"
        if self.turn is not None and self.turn != turn:
            return "turn_ended"
        if self.deadline is not None and clock >= self.deadline:
            return "time_up"
        return None

    def used(self) -> "Elevation":
        """After one more call has started by it."""
        if self.calls_left is None:
            return self
        return msgspec.structs.replace(self, calls_left=self.calls_left - 1)


def check_end(calls: int | None, turn: bool, minutes: float | None) -> None:
    """Raises: InvalidInput unless exactly one end is given, within its bounds."""
    given = (calls is not None) + turn + (minutes is not None)
    if given != 1:
        raise InvalidInput(Code.ELEVATION_END)
    if calls is not None and not 1 <= calls <= CALLS_AT_MOST:
        raise InvalidInput(Code.ELEVATION_CALLS, limit=CALLS_AT_MOST)
    if minutes is not None and not 0 < minutes <= MINUTES_AT_MOST:
        raise InvalidInput(Code.ELEVATION_MINUTES, limit=MINUTES_AT_MOST)
