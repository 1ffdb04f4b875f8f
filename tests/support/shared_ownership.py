"""Several owners of the contexts in one memory store: the newest lease wins."""

from collections.abc import Callable

from pilothouse.domain.value import ContextId
from pilothouse.runtime.ownership.ownership import Lease
from pilothouse.storage.memory import MemoryStore


class SharedOwnership:
    """Takes a context from its owner whenever another one asks. With `informs`, the former owner learns of that."""

    def __init__(self, store: MemoryStore, *, informs: bool = False) -> None:
        self._store = store
        self._informs = informs
        self._on_lost: dict[ContextId, Callable[[], None]] = {}
        self.held: dict[ContextId, Lease] = {}

    async def acquire(self, context_id: ContextId, on_lost: Callable[[], None]) -> Lease:
        former = self._on_lost.get(context_id)
        lease = self.held[context_id] = Lease(context_id, self._store.raise_fence(context_id))
        self._on_lost[context_id] = on_lost
        if former is not None and self._informs:
            former()
        return lease

    async def release(self, lease: Lease) -> None:
        if self.held.get(lease.context_id) is lease:
            del self.held[lease.context_id], self._on_lost[lease.context_id]
