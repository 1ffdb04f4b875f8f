"""The health of a store, as clients and the server's health endpoint report it."""

from pilothouse.domain.codes import Reason
from pilothouse.domain.value import Timestamp, Value

MIN_FREE_BYTES = 100 * 1024 * 1024
"""Less free space on the disk of the data directory causes a warning."""


class Refusal(Value, kw_only=True):
    """The reason and the beginning of a time in which writes fail."""

    since: Timestamp
    reason: Reason


class StoreHealth(Value, kw_only=True):
    refusal: Refusal | None = None
    """Set from the first failed write until the next successful one."""
    free_bytes: int | None = None
    """The free space on the disk; None for a store without a disk, or an unknown size."""
    path: str = ""
    """The data directory."""
