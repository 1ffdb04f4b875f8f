"""`CompressionRequest`: a compression that a person has requested between turns."""

from pilothouse.domain.errors import StoreError
from pilothouse.runtime.compression.branch import Compression
from pilothouse.window.compression import CompressionPlan


class CompressionRequest:
    """A requested compression, and its outcome once the driver has run it."""

    def __init__(self, branch: str, plan: CompressionPlan, total: int, *, by: str, focus: str | None) -> None:
        self.branch = branch
        self.plan = plan
        self.total = total
        """Tokens that the window counts before the compression."""
        self.by = by
        self.focus = focus
        self.result: Compression | None = None
        self.error: StoreError | None = None

    def complete(self, result: Compression) -> None:
        self.result = result
