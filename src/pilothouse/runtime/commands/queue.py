"""Commands about the queue: messages that wait for the end of a turn, durable and not on the branch yet."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import Queued
from pilothouse.domain.errors import NotFound, PilothouseError, StoreDamaged
from pilothouse.domain.messages import ErrorMessage, Message
from pilothouse.domain.payloads import ClientMetadata, MessageAttachments, Payload
from pilothouse.domain.states import Idle, ProcessingUserMessage
from pilothouse.domain.value import MessageId, Value
from pilothouse.runtime.commands.command_group import CommandGroup
from pilothouse.runtime.commands.modes import redecide_subagents
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.notices import publish_error
from pilothouse.runtime.pool import ContextPool
from pilothouse.runtime.turn.turn import Turn
from pilothouse.runtime.turn.user_input import make_messages, open_turn_with_messages, parse_user_input


class QueuedMessage(Value, kw_only=True):
    item: Queued
    messages: tuple[Message, ...]
    """A message for each payload."""


class QueueCommands(CommandGroup):
    """Messages that wait for the end of the open turn."""

    async def read(self, context_id: str) -> list[QueuedMessage]:
        """The queued messages, oldest first. Raises: NotFound, StoreError."""
        live = await self._pool.find(context_id)
        result = []
        for item in live.core.queue:
            messages = await live.storage.messages(item.message_ids)
            result.append(QueuedMessage(item=item, messages=tuple(messages)))
        return result

    async def edit(
        self,
        context_id: str,
        message_id: str,
        payloads: Sequence[Payload | dict[str, Any]] | str,
        *,
        mode: str | None = None,
        client_metadata: ClientMetadata | None = None,
        attached: MessageAttachments | None = None,
        by: str = "local",
    ) -> None:
        """Replace a queued message in its place. Raises: InvalidInput, NotFound (its turn has begun), StoreError."""
        user_input = parse_user_input(self._pool, payloads, mode, client_metadata, by, attached)
        async with self._pool.locked(context_id) as live:
            item = _item(live, message_id)
            first_message, *other_messages = make_messages(live, user_input)
            messages = [msgspec.structs.replace(first_message, id=item.id), *other_messages]
            draft = live.draft()
            draft.messages += messages
            new_item = msgspec.structs.replace(
                item, message_ids=tuple(message.id for message in messages), mode=user_input.mode or item.mode, by=by
            )
            _set_queue(draft, [new_item if queue_item.id == item.id else queue_item for queue_item in live.core.queue])
            await live.commit(draft)

    async def delete(self, context_id: str, message_id: str) -> None:
        """Delete a queued message. Raises: NotFound (its turn has begun), StoreError."""
        async with self._pool.locked(context_id) as live:
            item = _item(live, message_id)
            draft = live.draft()
            _set_queue(draft, [queue_item for queue_item in live.core.queue if queue_item.id != item.id])
            await live.commit(draft)


async def take_queued(pool: ContextPool, live: LiveContext) -> bool:
    """Begin the turn of the next queued message, if the last turn completed. After any other end of a turn, the queue
    is held until the person continues."""
    was_paused = live.turn is not None and live.turn.paused_by is not None
    if not live.core.queue or was_paused:
        return False
    async with live.lock:
        if not isinstance(live.state, Idle) or live.core.last_turn != "complete" or not live.core.queue:
            return False
        try:
            has_switched_mode = await _take_first(pool, live, live.take_turn)
        except PilothouseError as error:  # the message stays queued, and the person sees the error
            publish_error(live, error.reason)
            return False
    if has_switched_mode:
        await redecide_subagents(pool, live, live.core.owner)
    return True


async def take_first_held(pool: ContextPool, live: LiveContext) -> None:
    """Begin the turn of the first held message when the person continues. The caller holds the lock.

    Raises: InvalidInput, StoreError.
    """
    await _take_first(pool, live, lambda turn: pool.drive(live, turn))


async def _take_first(pool: ContextPool, live: LiveContext, begin: Callable[[Turn], None]) -> bool:
    """Begin the turn of the first queued message. Returns whether that message switched the mode."""
    item, *rest = live.core.queue
    mode = pool.dependencies.modes.named(item.mode).name if item.mode is not None else None
    messages = await live.storage.messages(item.message_ids)
    for message in messages:
        if isinstance(message, ErrorMessage):  # unreadable: the turn must not overwrite the damaged message
            raise StoreDamaged(message.reason.code, **message.reason.params)
    draft = live.draft()
    turn, _ = open_turn_with_messages(live, draft, messages, mode=mode, by=item.by)
    _set_queue(draft, rest)
    await live.commit(draft, ProcessingUserMessage(), then=lambda: begin(turn))
    return "mode" in draft.core


def _set_queue(draft: Draft, queue: Sequence[Queued]) -> None:
    draft.core["queue"] = tuple(queue)


def _item(live: LiveContext, message_id: str) -> Queued:
    matches = [item for item in live.core.queue if item.id == MessageId(message_id)]
    if not matches:
        raise NotFound(Code.UNKNOWN_QUEUED, message_id=message_id)
    return matches[0]
