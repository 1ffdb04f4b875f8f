"""The histories that are kept encoded, so that a round costs what is new and not the whole conversation."""

from collections.abc import Awaitable, Callable, Sequence

from pilothouse.domain.branches import Branch
from pilothouse.domain.messages import Message
from pilothouse.domain.values import ContextId
from pilothouse.llm.base import Adapter
from pilothouse.storage.base import Store
from pilothouse.window.history import History

_AT_ONCE = 500


class _Kept:
    def __init__(self, history: History) -> None:
        self.history = history
        self.position = 0


class Windows:
    """One history for each branch and each way of telling calls. A branch only grows; a new list has a new key."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, bool], _Kept] = {}

    async def fragments(
        self,
        store: Store,
        adapter: Adapter,
        context_id: ContextId,
        branch: Branch,
        *,
        with_tools: bool,
        loading: Callable[[int, int], Awaitable[None]],
    ) -> Sequence[bytes]:
        """The branch's history, encoded. `loading` is told how far it is, after each stretch but the last."""
        kept = self._kept.setdefault((branch.key, with_tools), _Kept(History(adapter.encode, with_tools=with_tools)))
        start = kept.position
        while kept.position < branch.length:
            stop = min(branch.length, kept.position + _AT_ONCE)
            ids = await store.branch_ids(context_id, branch.name, kept.position, stop)
            kept.history.extend(await store.messages(context_id, ids))
            kept.position = stop
            if stop < branch.length:
                await loading(stop - start, branch.length - start)
        return kept.history.fragments()

    def grow(self, branch: Branch, messages: Sequence[Message]) -> None:
        """New messages stand behind the end of `branch` as it was: what is kept up to there need not read them."""
        for with_tools in (True, False):
            kept = self._kept.get((branch.key, with_tools))
            if kept is not None and kept.position == branch.length:
                kept.position += len(messages)
                kept.history.extend(messages)

    def forget(self) -> None:
        self._kept.clear()
