"""`CommandGroup`: the base of the classes that hold the commands of one noun."""

from pilothouse.runtime.pool import ContextPool


class CommandGroup:
    """The commands of one noun. They reach contexts through the pool only."""

    def __init__(self, pool: ContextPool) -> None:
        self._pool = pool
