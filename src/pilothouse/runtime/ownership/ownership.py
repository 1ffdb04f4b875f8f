"""`Ownership`: gives out leases to drive contexts."""

from collections.abc import Callable
from typing import Protocol

from pilothouse.domain.value import ContextId, Value
from pilothouse.storage.base import FENCE


class Lease(Value):
    """The right to drive a context: to commit changes, recover it, start its calls and end its processes."""

    context_id: ContextId
    fence: int
    """The fencing token. The store accepts only commits with the token of the newest lease of their context."""


class Ownership(Protocol):
    """Gives each context to one owner at a time.

    Reading a context needs no lease. A runtime acquires one before the first command on a context, opens the context
    after that, and holds the lease as long as the context is in memory.
    """

    async def acquire(self, context_id: ContextId, on_lost: Callable[[], None]) -> Lease:
        """Become the owner of a context. From now on, the store refuses the commits of earlier owners.

        `on_lost` is called in the event loop if the lease ends without `release`, as when another process has taken the
        context over.

        Raises: Conflict while another owner holds the context, StoreError.
        """

    async def release(self, lease: Lease) -> None:
        """Give a context back. Everything is committed by now. Does nothing for a lost lease."""


class SoleProcess:
    """The ownership of a process that has the store to itself: every lease is granted, none is lost.

    The file store locks its data directory and the memory store lies in the process, so no other owner can exist and
    the fence is constant.
    """

    async def acquire(self, context_id: ContextId, on_lost: Callable[[], None]) -> Lease:  # noqa: ARG002
        return Lease(context_id, FENCE)

    async def release(self, lease: Lease) -> None:
        pass
