"""`HistoryCache`: a context's branches as far as they were read: encoded and counted histories, the messages that
every round reads, and the forks, so that a round's cost depends on new messages only."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from pilothouse.domain.branches import Branch
from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import Change, prompt_overview
from pilothouse.domain.errors import NotFound
from pilothouse.domain.forks import BranchFork, fork_between
from pilothouse.domain.messages import Message
from pilothouse.domain.value import MessageId
from pilothouse.llm.base import WireFormat
from pilothouse.runtime.dependencies import ModelChoice
from pilothouse.storage.base import READ_BATCH_MESSAGES
from pilothouse.window.history import History
from pilothouse.window.model_messages import with_token_count
from pilothouse.window.tokens import Counter

if TYPE_CHECKING:
    from pilothouse.runtime.context.live_context import LiveContext

_MAX_TEXT_COUNTS = 64
_MAX_HISTORIES = 4
_MAX_MESSAGES = 4

LoadProgress = Callable[[int, int], Awaitable[None]]
"""Called with the number of loaded messages and the number to load."""


class HistoryCache:
    """Cached histories by branch key, wire format, tokenizer, representation of calls and images, and the position from
    which overviews are sent. The list under a branch key only grows, so a cached history is extended, never rebuilt."""

    def __init__(self) -> None:
        self._histories: dict[tuple[str, str, bool, str, bool, int], History] = {}
        self._counts: dict[tuple[str, str], int] = {}
        """Token counts of the prompt's texts, which repeat in every round."""
        self._messages: dict[MessageId, Message] = {}
        """Messages that every round reads: the one that opened the turn, and the overview in the prompt."""
        self._forks: dict[tuple[str, str], BranchFork | int] = {}
        """By the keys of two branches: their fork; or the length of the second branch when it was compared and either
        branch was the beginning of the other."""

    async def history(
        self,
        live: "LiveContext",
        name: str,
        model: ModelChoice,
        *,
        with_tools: bool,
        wire_format: WireFormat | None = None,
        on_progress: LoadProgress | None = None,
    ) -> History:
        """A branch's history, encoded and counted for a model, by default in the format of the present adapter.
        `on_progress` is called after each batch but the last.

        Several callers may extend the same history concurrently, while a compression replaces the list.
        Raises: NotFound, StoreError.
        """
        start = None
        wire_format = wire_format or live.dependencies.adapter.format
        while (branch := live.branches.get(name)) is not None:
            history = self._history(live, branch, wire_format, model, with_tools=with_tools)
            position = history.length
            if position >= branch.length:
                return history
            start = position if start is None else min(start, position)
            stop = min(branch.length, position + READ_BATCH_MESSAGES)
            batch = await live.storage.messages(await live.storage.branch_ids(name, position, stop))
            messages = await _counted(batch, model.counter)
            if history.length != position or history not in self._histories.values():
                continue  # another caller was faster, or the list was replaced
            history.extend(messages)
            if stop < branch.length and on_progress is not None:
                await on_progress(stop - start, branch.length - start)
        raise NotFound(Code.UNKNOWN_BRANCH, branch=name, allowed=", ".join(live.branches))

    def _history(
        self, live: "LiveContext", branch: Branch, wire_format: WireFormat, model: ModelChoice, *, with_tools: bool
    ) -> History:
        counter, vision = model.counter, model.facts.vision
        overview = prompt_overview(live.core, branch)
        overviews_from = overview.length if overview is not None else 0
        key = (branch.key, wire_format.name, with_tools, counter.name, vision, overviews_from)
        history = self._histories.get(key)
        if history is None:
            while len(self._histories) >= _MAX_HISTORIES:  # the oldest belong to other branches, modes or models
                del self._histories[next(iter(self._histories))]
            history = self._histories[key] = History(
                wire_format, counter, with_tools=with_tools, vision=vision, overviews_from=overviews_from
            )
        return history

    def grow(self, branch: Branch, messages: Sequence[Message]) -> None:
        """Extend the complete histories of a branch by new messages. `branch` is the branch before the append."""
        for (branch_key, *_), history in self._histories.items():
            if branch_key == branch.key and history.length == branch.length:
                history.extend(messages)

    def count_tokens(self, text: str, counter: Counter) -> int:
        tokens = self._counts.get((counter.name, text))
        if tokens is None:
            if len(self._counts) >= _MAX_TEXT_COUNTS:
                self._counts.clear()
            tokens = self._counts[(counter.name, text)] = counter.count(text)
        return tokens

    def add_messages(self, change: Change) -> None:
        """Cache the messages of a commit that every round reads: the one that opens the turn, and the overview."""
        turn, overview = change.core.turn, change.core.overview
        ids = {turn.message_id if turn is not None else None, overview.message_id if overview is not None else None}
        for message in change.messages:
            if message.id in ids:
                self._add_message(message)

    async def message(self, live: "LiveContext", message_id: MessageId) -> Message:
        """A message that every round reads. Raises: NotFound, StoreError."""
        message = self._messages.get(message_id)
        if message is None:
            (message,) = await live.storage.messages([message_id])
            self._add_message(message)
        return message

    def _add_message(self, message: Message) -> None:
        if message.metadata.held is None:  # otherwise a commit will replace the message
            while len(self._messages) >= _MAX_MESSAGES:
                del self._messages[next(iter(self._messages))]
            self._messages[message.id] = message

    async def forks(self, live: "LiveContext") -> dict[str, BranchFork]:
        """The forks by the names of the branches: the positions at which branches depart from the active branch.

        The list under a branch's key only grows: a fork keeps its position, and a branch that is the beginning of the
        active one stays so until the branch itself grows. Each pair is therefore compared once, however long the active
        branch becomes.
        """
        branches = dict(live.branches)
        active = branches[live.core.active_branch]
        others = [branch for branch in branches.values() if branch.original_of is None and branch is not active]
        forks: dict[str, BranchFork] = {}
        active_ids: list[MessageId] | None = None
        for branch in others:
            keys = (active.key, branch.key)
            cached = self._forks.get(keys)
            if cached is None or (isinstance(cached, int) and cached != branch.length):
                active_ids = await _read_ids(live, active) if active_ids is None else active_ids
                is_compressed = active.compressed is not None or branch.compressed is not None
                other_ids = await _read_ids(live, branch)
                fork = fork_between(active_ids, other_ids, is_compressed=is_compressed)
                is_beginning = fork is None and not is_compressed and branch.length == len(other_ids) <= len(active_ids)
                cached = fork or (branch.length if is_beginning else None)
                if cached is not None:
                    self._forks[keys] = cached
            if isinstance(cached, BranchFork):
                forks[branch.name] = cached
        return forks

    def forget_messages(self) -> None:
        """Forget everything that was read of messages, one of which was replaced in place."""
        self._histories.clear()
        self._messages.clear()

    def forget(self) -> None:
        self.forget_messages()
        self._forks.clear()

    def forget_branch(self, branch: Branch) -> None:
        for key in [key for key in self._histories if key[0] == branch.key]:
            del self._histories[key]


async def _read_ids(live: "LiveContext", branch: Branch) -> list[MessageId]:
    """The ids of a branch; empty where the branch was deleted or compressed since, which a signal announces."""
    try:
        ids = await live.storage.branch_ids(branch.name, 0, branch.length)
    except NotFound:
        return []
    present = live.branches.get(branch.name)
    return ids if present is not None and present.key == branch.key else []


async def _counted(messages: Sequence[Message], counter: Counter) -> Sequence[Message]:
    """The messages with counts of this tokenizer. After a change of the model all may need a new count, which runs in a
    thread so that other turns do not wait."""
    if all(message.metadata.counter == counter.name for message in messages):
        return messages
    return await asyncio.to_thread(lambda: [with_token_count(message, counter) for message in messages])
