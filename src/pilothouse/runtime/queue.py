"""The queue: messages that wait for the end of a turn. Durable, off the branch, taken one by one."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import Queued
from pilothouse.domain.errors import NotFound, PilothouseError, StoreDamaged
from pilothouse.domain.messages import ErrorMessage, Message
from pilothouse.domain.payloads import Attached, ClientMetadata, Payload
from pilothouse.domain.signals import ErrorRaised
from pilothouse.domain.states import Idle, ProcessingUserMessage
from pilothouse.domain.values import MessageId, Value
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.draft import Draft
from pilothouse.runtime.live import Live
from pilothouse.runtime.modes import follow_children
from pilothouse.runtime.opening import make_messages, read_letter, take_messages
from pilothouse.runtime.turn import Turn


class QueuedMessage(Value, kw_only=True):
    """A queued message with its parts."""

    item: Queued
    messages: tuple[Message, ...]


async def queued(contexts: Contexts, context_id: str) -> list[QueuedMessage]:
    """In the order in which they will be taken. Raises: NotFound, StoreError."""
    live = await contexts.find(context_id)
    found = []
    for item in live.core.queue:
        parts = await contexts.parts.store.messages(live.id, item.message_ids)
        found.append(QueuedMessage(item=item, messages=tuple(parts)))
    return found


async def edit_queued(
    contexts: Contexts,
    context_id: str,
    message_id: str,
    payloads: Sequence[Payload | dict[str, Any]] | str,
    *,
    mode: str | None = None,
    client_metadata: ClientMetadata | None = None,
    attached: Attached | None = None,
    by: str = "local",
) -> None:
    """Say it otherwise, in the same place. Raises: InvalidInput, NotFound (taken meanwhile), StoreError."""
    letter = read_letter(contexts, payloads, mode, client_metadata, by, attached)
    async with contexts.locked(context_id) as live:
        item = _item(live, message_id)
        first, *others = make_messages(live, letter)
        messages = [msgspec.structs.replace(first, id=item.id), *others]
        draft = live.draft()
        draft.messages += messages
        changed = msgspec.structs.replace(
            item, message_ids=tuple(message.id for message in messages), mode=letter.mode or item.mode, by=by
        )
        _put(draft, [changed if each.id == item.id else each for each in live.core.queue])
        await live.commit(draft)


async def delete_queued(contexts: Contexts, context_id: str, message_id: str) -> None:
    """Raises: NotFound (taken meanwhile), StoreError."""
    async with contexts.locked(context_id) as live:
        item = _item(live, message_id)
        draft = live.draft()
        _put(draft, [each for each in live.core.queue if each.id != item.id])
        await live.commit(draft)


async def take_queued(contexts: Contexts, live: Live) -> bool:
    """Begin the turn of the next message, after one that was completed. After anything else they are held."""
    was_paused = live.turn is not None and live.turn.paused_by is not None
    if not live.core.queue or was_paused:
        return False
    async with live.lock:
        if not isinstance(live.state, Idle) or live.core.last_turn != "complete" or not live.core.queue:
            return False
        try:
            switched = await _take_first(contexts, live, live.take_turn)
        except PilothouseError as error:  # it stays queued; the person sees why
            contexts.parts.hub.publish(ErrorRaised(context_id=live.id, version=live.version, reason=error.reason))
            return False
    if switched:
        await follow_children(contexts, live, live.core.owner)
    return True


async def take_held(contexts: Contexts, live: Live) -> None:
    """The person says go on: the first that was held. The caller holds the lock. Raises: InvalidInput, StoreError."""
    await _take_first(contexts, live, lambda turn: contexts.drive(live, turn))


async def _take_first(contexts: Contexts, live: Live, begin: Callable[[Turn], None]) -> bool:
    """Gives whether its mode is another one."""
    item, *rest = live.core.queue
    mode = contexts.parts.modes.named(item.mode).name if item.mode is not None else None
    messages = await contexts.parts.store.messages(live.id, item.message_ids)
    for message in messages:
        if isinstance(message, ErrorMessage):  # it cannot be read: what is left of it is not written over
            raise StoreDamaged(message.reason.code, **message.reason.params)
    draft = live.draft()
    turn, _ = take_messages(live, draft, messages, mode=mode, by=item.by)
    _put(draft, rest)
    await live.commit(draft, ProcessingUserMessage(), then=lambda: begin(turn))
    return "mode" in draft.core


def _put(draft: Draft, queue: Sequence[Queued]) -> None:
    draft.core["queue"] = tuple(queue)


def _item(live: Live, message_id: str) -> Queued:
    found = [item for item in live.core.queue if item.id == MessageId(message_id)]
    if not found:
        raise NotFound(Code.UNKNOWN_QUEUED, message_id=message_id)
    return found[0]
