"""The histories that are kept encoded, so that a round costs what is new and not the whole conversation."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from pilothouse.domain.branches import Branch
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import NotFound
from pilothouse.domain.messages import Message
from pilothouse.window.history import History
from pilothouse.window.telling import counted
from pilothouse.window.tokens import Counter

if TYPE_CHECKING:
    from pilothouse.runtime.live import Live

_AT_ONCE = 500
_TEXTS_KEPT = 64
_HISTORIES_KEPT = 4

Loading = Callable[[int, int], Awaitable[None]]


class Windows:
    """One history for each branch and each way of telling calls and images. A branch only grows; a new list has a
    new key. `count` remembers the texts of the prompt, which are the same round after round."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, bool, str, bool], History] = {}
        self._counts: dict[tuple[str, str], int] = {}

    async def history(self, live: "Live", name: str, *, with_tools: bool, loading: Loading | None = None) -> History:
        """A branch's history, encoded and counted. `loading` is told how far it is, after each stretch but the last.

        Several may read the same one at a time, and a compression may put another list in its place meanwhile.
        Raises: NotFound, StoreError.
        """
        store, start = live.parts.store, None
        while (branch := live.branches.get(name)) is not None:
            history = self._history(live, branch, with_tools=with_tools)
            at = history.length
            if at >= branch.length:
                return history
            start = at if start is None else min(start, at)
            stop = min(branch.length, at + _AT_ONCE)
            read = await store.messages(live.id, await store.branch_ids(live.id, name, at, stop))
            messages = await _counted(read, live.counter)
            if history.length != at or history not in self._kept.values():
                continue  # somebody else was faster, or it is not this list any more
            history.extend(messages)
            if stop < branch.length and loading is not None:
                await loading(stop - start, branch.length - start)
        raise NotFound(Code.UNKNOWN_BRANCH, branch=name, allowed=", ".join(live.branches))

    def _history(self, live: "Live", branch: Branch, *, with_tools: bool) -> History:
        counter, sees = live.counter, live.facts.vision
        key = (branch.key, with_tools, counter.name, sees)
        history = self._kept.get(key)
        if history is None:
            while len(self._kept) >= _HISTORIES_KEPT:  # those of other branches, modes and models
                del self._kept[next(iter(self._kept))]
            history = self._kept[key] = History(live.parts.adapter.encode, counter, with_tools=with_tools, sees=sees)
        return history

    def grow(self, branch: Branch, messages: Sequence[Message]) -> None:
        """New messages stand behind the end of `branch` as it was: what is kept up to there need not read them."""
        for key, history in self._kept.items():
            if key[0] == branch.key and history.length == branch.length:
                history.extend(messages)

    def count(self, text: str, counter: Counter) -> int:
        found = self._counts.get((counter.name, text))
        if found is None:
            if len(self._counts) >= _TEXTS_KEPT:
                self._counts.clear()
            found = self._counts[(counter.name, text)] = counter.count(text)
        return found

    def forget(self) -> None:
        self._kept.clear()

    def forget_branch(self, branch: Branch) -> None:
        for key in [key for key in self._kept if key[0] == branch.key]:
            del self._kept[key]


async def _counted(messages: Sequence[Message], counter: Counter) -> Sequence[Message]:
    """After a change of the model all of them may have to be counted anew: that must not hold up other turns."""
    if all(message.metadata.counter == counter.name for message in messages):
        return messages
    return await asyncio.to_thread(lambda: [counted(message, counter) for message in messages])


def token_ratio(live: "Live") -> float:
    """What the provider counts for one token that we do, as far as that is known of the model that holds now."""
    return live.core.token_ratio if live.core.token_ratio_of == live.model else 1.0
