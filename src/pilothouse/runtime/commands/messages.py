"""Commands about messages: send, queue, edit and resend, read."""

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from pilothouse.domain.branches import (
    Branch,
    check_name,
    compression_within,
    merged_blocks_within,
    next_name,
    overview_within,
)
from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import MAX_QUEUED_MESSAGES, Queued, SentKey
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound
from pilothouse.domain.messages import ErrorMessage, Message, content_chunks, reasoning_chunks
from pilothouse.domain.modes import is_looser, strictness
from pilothouse.domain.payloads import ClientMetadata, MessageAttachments, Payload
from pilothouse.domain.states import Failed, Idle, ProcessingUserMessage, name_of
from pilothouse.domain.value import MessageId, TurnId, Value
from pilothouse.runtime.commands.command_group import CommandGroup
from pilothouse.runtime.commands.modes import redecide_subagents
from pilothouse.runtime.commands.titles import make_title
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.pool import ContextPool
from pilothouse.runtime.turn.user_input import UserInput, make_messages, open_turn_with_messages, parse_user_input

_MAX_KEY_CHARACTERS = 255


class SentMessage(Value):
    """A stored message of the person."""

    message_id: MessageId
    turn_id: TurnId | None = None
    """None for a queued message."""

    @property
    def queued(self) -> bool:
        return self.turn_id is None


class MessageCommands(CommandGroup):
    """Send, edit and read messages."""

    async def send(
        self,
        context_id: str,
        payloads: Sequence[Payload | dict[str, Any]] | str,
        *,
        mode: str | None = None,
        max_mode: str | None = None,
        client_metadata: ClientMetadata | None = None,
        attached: MessageAttachments | None = None,
        key: str | None = None,
        queue: bool = False,
        by: str = "local",
    ) -> SentMessage:
        """Store the person's message and open a turn. The message is durable when this returns. Commit (a).

        With `queue`, a message that arrives while a turn is open waits for the turn's end. With a `key`, the same
        request sent twice is one message, with the same response. `max_mode` switches a context in a looser mode to
        that mode, and leaves a stricter mode as it is. Raises: InvalidInput, NotFound, Conflict (a turn is open, the
        queue is full), StoreError; then nothing has changed.
        """
        user_input = parse_user_input(self._pool, payloads, mode, client_metadata, by, attached)
        async with self._pool.locked(context_id) as live:
            if max_mode is not None:
                user_input = _with_max_mode(self._pool, live, user_input, max_mode)
            sent_key = _sent_key(live, user_input, key) if key is not None else None
            if sent_key is not None:
                earlier = await self._pool.dependencies.store.sent_key(live.id, sent_key.key)
                if earlier is not None:
                    return _repeated_response(earlier, sent_key, key)
            if not isinstance(live.state, Idle | Failed):
                if not queue:
                    raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))
                return await _enqueue(live, user_input, sent_key)
            sent = await _begin(self._pool, live, live.draft(), user_input, sent_key)
        if user_input.mode is not None:
            await redecide_subagents(self._pool, live, by)
        return sent

    async def edit(
        self,
        context_id: str,
        message_id: str,
        payloads: Sequence[Payload | dict[str, Any]] | str,
        *,
        mode: str | None = None,
        client_metadata: ClientMetadata | None = None,
        attached: MessageAttachments | None = None,
        name: str | None = None,
        by: str = "local",
    ) -> SentMessage:
        """Replace an earlier message: create a branch up to it, make the branch active, and send the new message there.

        Raises: InvalidInput, NotFound, Conflict (a turn is open, the name is taken), StoreError.
        """
        user_input = parse_user_input(self._pool, payloads, mode, client_metadata, by, attached)
        async with self._pool.locked(context_id) as live:
            if not isinstance(live.state, Idle | Failed):
                raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))
            origin = live.branches[live.core.active_branch]
            ids = await live.storage.branch_ids(origin.name)
            (message,) = await live.storage.messages([MessageId(message_id)])
            if message_id not in ids or message.role != "user":
                raise NotFound(Code.UNKNOWN_MESSAGE, message_id=message_id, branch=origin.name)
            draft = live.draft()
            branch_name = name or next_name(origin.name, live.branches)
            put_branch(live, draft, branch_name, origin, ids[: ids.index(MessageId(message_id))])
            draft.core["active_branch"] = branch_name
            sent = await _begin(self._pool, live, draft, user_input)
        if user_input.mode is not None:
            await redecide_subagents(self._pool, live, by)
        return sent

    async def read(
        self,
        context_id: str,
        *,
        branch: str | None = None,
        ids: Sequence[MessageId] | None = None,
        before: int | None = None,
        limit: int = 50,
    ) -> list[Message]:
        """Messages by id, or the last `limit` messages of a branch before position `before`."""
        live = await self._pool.find(context_id)
        if ids is None:
            ids = await self.read_ids(context_id, branch or live.core.active_branch, before=before, limit=limit)
        return await live.storage.messages(ids)

    async def read_ids(
        self, context_id: str, branch: str, *, before: int | None = None, limit: int = 50
    ) -> list[MessageId]:
        """The last `limit` ids of a branch before position `before`. Raises: NotFound."""
        live = await self._pool.find(context_id)
        if branch not in live.branches:
            raise NotFound(Code.UNKNOWN_BRANCH, branch=branch, allowed=", ".join(live.branches))
        stop = live.branches[branch].length if before is None else before
        return await live.storage.branch_ids(branch, max(0, stop - limit), stop)

    async def read_content(
        self, context_id: str, message_id: MessageId, from_sequence: int = 0
    ) -> list[tuple[int, str]]:
        """Exactly the deltas of a message's text behind a sequence number, with their numbers: while the message
        streams, after its end, and after a restart. Raises: NotFound."""
        live = await self._pool.find(context_id)
        writer = live.delta_writer
        if writer is not None and writer.message_id == message_id:
            deltas = writer.pieces_after(from_sequence)
        else:
            deltas = content_chunks(await self._stored(live, message_id))[from_sequence:]
        return list(enumerate(deltas, start=from_sequence + 1))

    async def read_reasoning(
        self, context_id: str, message_id: MessageId, from_sequence: int = 0
    ) -> list[tuple[int, str]]:
        """Exactly the deltas of a message's reasoning behind a sequence number, which counts reasoning only, with their
        numbers: while the message streams, after its end, and after a restart. Raises: NotFound."""
        live = await self._pool.find(context_id)
        writer = live.delta_writer
        if writer is not None and writer.message_id == message_id:
            deltas = writer.reasoning_after(from_sequence)
        else:
            deltas = reasoning_chunks(await self._stored(live, message_id))[from_sequence:]
        return list(enumerate(deltas, start=from_sequence + 1))

    async def _stored(self, live: LiveContext, message_id: MessageId) -> Message:
        """Raises: NotFound for a message that is missing or cannot be read."""
        (message,) = await live.storage.messages([message_id])
        if isinstance(message, ErrorMessage) and message.reason.code is Code.MESSAGE_DAMAGED:
            raise NotFound(Code.UNKNOWN_MESSAGE, message_id=message_id, branch=live.core.active_branch)
        return message


def _with_max_mode(pool: ContextPool, live: LiveContext, user_input: UserInput, name: str) -> UserInput:
    modes = pool.dependencies.modes
    present_mode, bound = modes.stored(live.core.mode), modes.named(name)
    if not is_looser(present_mode, bound) or strictness(present_mode) > strictness(bound):
        return user_input
    bounded: UserInput = msgspec.structs.replace(user_input, mode=bound.name)
    return bounded


async def _begin(
    pool: ContextPool, live: LiveContext, draft: Draft, user_input: UserInput, sent_key: SentKey | None = None
) -> SentMessage:
    is_first = live.core.title is None
    turn, messages = open_turn_with_messages(
        live, draft, make_messages(live, user_input), mode=user_input.mode, by=user_input.by
    )
    sent = SentMessage(message_id=messages[0].id, turn_id=draft.value("turn").id)
    _note_key(draft, sent_key, sent)
    await live.commit(draft, ProcessingUserMessage(), then=lambda: pool.drive(live, turn))
    # With processors configured, the title model must not see a message before they have accepted it.
    if is_first and pool.dependencies.titles is not None and not pool.dependencies.processors:
        pool.run_in_background(make_title(pool, live, messages[0]))
    return sent


async def _enqueue(live: LiveContext, user_input: UserInput, sent_key: SentKey | None) -> SentMessage:
    if len(live.core.queue) >= MAX_QUEUED_MESSAGES:
        raise Conflict(Code.QUEUE_FULL, limit=MAX_QUEUED_MESSAGES)
    draft = live.draft()
    messages = make_messages(live, user_input)
    draft.messages += messages
    item = Queued(
        id=messages[0].id,
        message_ids=tuple(message.id for message in messages),
        mode=user_input.mode,
        by=user_input.by,
        at=live.dependencies.now(),
    )
    draft.core["queue"] = (*draft.value("queue"), item)
    sent = SentMessage(message_id=item.id)
    _note_key(draft, sent_key, sent)
    await live.commit(draft)
    return sent


def _sent_key(live: LiveContext, user_input: UserInput, key: str) -> SentKey:
    """Raises: InvalidInput for a key that is empty or too long."""
    if not 1 <= len(key) <= _MAX_KEY_CHARACTERS:
        raise InvalidInput(Code.INVALID_REQUEST, detail=f"the key must have 1 to {_MAX_KEY_CHARACTERS} characters")
    # The trace id is not part of the request's content: a repeated request may have another one.
    fingerprinted = msgspec.structs.replace(
        user_input, client=msgspec.structs.replace(user_input.client, trace_id=None)
    )
    body = hashlib.sha256(msgspec.json.encode(fingerprinted, order="sorted")).hexdigest()
    key_hash = hashlib.sha256(key.encode("utf-8", "backslashreplace")).hexdigest()
    return SentKey(key=key_hash, body=body, message_id=MessageId(""), at=live.dependencies.now())


def _note_key(draft: Draft, sent_key: SentKey | None, sent: SentMessage) -> None:
    if sent_key is not None:
        draft.keys.append(
            msgspec.structs.replace(sent_key, message_id=sent.message_id, turn_id=sent.turn_id),
        )


def _repeated_response(earlier: SentKey, sent_key: SentKey, key: str | None) -> SentMessage:
    if earlier.body != sent_key.body:
        raise InvalidInput(Code.KEY_REUSED, key=key)
    return SentMessage(message_id=earlier.message_id, turn_id=earlier.turn_id)


def put_branch(
    live: LiveContext, draft: Draft, name: str, origin: Branch, ids: Sequence[MessageId], addition: str | None = None
) -> None:
    """Put a new branch with the first messages of another one into a draft. Raises: InvalidInput, Conflict."""
    check_name(name)
    if name in live.branches:
        raise Conflict(Code.BRANCH_EXISTS, branch=name)
    draft.branches[name] = Branch(
        name=name,
        key=live.dependencies.ambient.new_id(),
        created_at=live.dependencies.now(),
        parent_branch=origin.name,
        prompt_addition=addition if addition is not None else origin.prompt_addition,
        merged=merged_blocks_within(origin, len(ids)),
        compressed=compression_within(origin, len(ids)),
        overview=overview_within(origin, len(ids)),
    )
    draft.appended[name] = list(ids)
