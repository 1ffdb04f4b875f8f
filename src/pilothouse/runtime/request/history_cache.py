"""`HistoryCache`: encoded and counted histories, so that a round's cost depends on new messages only."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from pilothouse.domain.branches import Branch
from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import prompt_overview
from pilothouse.domain.errors import NotFound
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

LoadProgress = Callable[[int, int], Awaitable[None]]
"""Called with the number of loaded messages and the number to load."""


class HistoryCache:
    """Cached histories by branch key, wire format, tokenizer, representation of calls and images, and the position from
    which overviews are sent. The list under a branch key only grows, so a cached history is extended, never rebuilt."""

    def __init__(self) -> None:
        self._histories: dict[tuple[str, str, bool, str, bool, int], History] = {}
        self._counts: dict[tuple[str, str], int] = {}
        """Token counts of the prompt's texts, which repeat in every round."""
        self._opening_message: Message | None = None
        """The message that opened the turn, which every round reads."""

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

    async def opening_message(self, live: "LiveContext", message_id: MessageId) -> Message:
        """The message that opened the turn. Raises: NotFound, StoreError."""
        if self._opening_message is not None and self._opening_message.id == message_id:
            return self._opening_message
        (message,) = await live.storage.messages([message_id])
        if message.metadata.held is None:  # no commit replaces its metadata any more
            self._opening_message = message
        return message

    def forget(self) -> None:
        self._histories.clear()

    def forget_branch(self, branch: Branch) -> None:
        for key in [key for key in self._histories if key[0] == branch.key]:
            del self._histories[key]


async def _counted(messages: Sequence[Message], counter: Counter) -> Sequence[Message]:
    """The messages with counts of this tokenizer. After a change of the model all may need a new count, which runs in a
    thread so that other turns do not wait."""
    if all(message.metadata.counter == counter.name for message in messages):
        return messages
    return await asyncio.to_thread(lambda: [with_token_count(message, counter) for message in messages])
