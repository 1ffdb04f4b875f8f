"""How the store is: what its clients and the server's health are told."""

from pilothouse.domain.codes import Reason
from pilothouse.domain.values import Timestamp, Value

MIN_FREE_BYTES = 100 * 1024 * 1024
"""Less than this on the data directory's disk is worth a warning."""


class Refusal(Value, kw_only=True):
    """Why writes are refused, and since when."""

    since: Timestamp
    reason: Reason


class StoreHealth(Value, kw_only=True):
    refusal: Refusal | None = None
    """Set from the first write that was refused until the next one that succeeds."""
    free_bytes: int | None = None
    """What is free on the disk; None where the store has none, or it cannot be asked."""
    path: str = ""
    """The data directory."""
