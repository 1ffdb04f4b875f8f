"""Commands about messages: send, queue, edit and resend, and reading what was said."""

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from pilothouse.domain.branches import Branch, check_name, compressed_within, merged_within, next_name
from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import QUEUE_AT_MOST, Queued, SentKey
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound
from pilothouse.domain.messages import ErrorMessage, Message, pieces
from pilothouse.domain.modes import is_looser, strictness
from pilothouse.domain.payloads import Attached, ClientMetadata, Payload
from pilothouse.domain.states import Failed, Idle, ProcessingUserMessage, name_of
from pilothouse.domain.values import MessageId, TurnId, Value
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.draft import Draft
from pilothouse.runtime.live import Live
from pilothouse.runtime.modes import follow_children
from pilothouse.runtime.opening import Letter, begin_turn, make_messages, read_letter
from pilothouse.runtime.titles import make_title

KEY_LENGTH_AT_MOST = 255


class Sent(Value):
    """`turn_id` is None for a message that was queued."""

    message_id: MessageId
    turn_id: TurnId | None = None

    @property
    def queued(self) -> bool:
        return self.turn_id is None


async def send(
    contexts: Contexts,
    context_id: str,
    payloads: Sequence[Payload | dict[str, Any]] | str,
    *,
    mode: str | None = None,
    mode_at_most: str | None = None,
    client_metadata: ClientMetadata | None = None,
    attached: Attached | None = None,
    key: str | None = None,
    queue: bool = False,
    by: str = "local",
) -> Sent:
    """Store the person's message and open a turn. When this returns, the message cannot be lost. Commit (a).

    With `queue`, a message that comes while a turn is open waits for its end. With a `key`, the same request sent
    twice is one message, and gets the same answer. `mode_at_most` switches a context that is in a looser mode to that
    one, and leaves a stricter one as it is.
    Raises: InvalidInput, NotFound, Conflict (a turn is open, the queue is full), StoreError; then nothing has changed.
    """
    letter = read_letter(contexts, payloads, mode, client_metadata, by, attached)
    async with contexts.locked(context_id) as live:
        if mode_at_most is not None:
            letter = _with_mode_at_most(contexts, live, letter, mode_at_most)
        sent_key = _key(live, letter, key) if key is not None else None
        if sent_key is not None:
            known = await contexts.parts.store.sent_key(live.id, sent_key.key)
            if known is not None:
                return _same_answer(known, sent_key, key)
        if not isinstance(live.state, Idle | Failed):
            if not queue:
                raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))
            return await _enqueue(live, letter, sent_key)
        sent = await _begin(contexts, live, live.draft(), letter, sent_key)
    if letter.mode is not None:
        await follow_children(contexts, live, by)
    return sent


def _with_mode_at_most(contexts: Contexts, live: Live, letter: Letter, name: str) -> Letter:
    modes = contexts.parts.modes
    own, most = modes.stored(live.core.mode), modes.named(name)
    if not is_looser(own, most) or strictness(own) > strictness(most):
        return letter
    bound: Letter = msgspec.structs.replace(letter, mode=most.name)
    return bound


async def _begin(contexts: Contexts, live: Live, draft: Draft, letter: Letter, sent_key: SentKey | None = None) -> Sent:
    is_first = live.core.title is None
    turn, messages = begin_turn(live, draft, letter)
    sent = Sent(message_id=messages[0].id, turn_id=draft.value("turn").id)
    _note_key(draft, sent_key, sent)
    await live.commit(draft, ProcessingUserMessage(), then=lambda: contexts.drive(live, turn))
    # Where somebody's processors look at messages first, no other model sees one before them.
    if is_first and contexts.parts.titles is not None and not contexts.parts.processors:
        contexts.beside(make_title(contexts, live, messages[0]))
    return sent


async def _enqueue(live: Live, letter: Letter, sent_key: SentKey | None) -> Sent:
    if len(live.core.queue) >= QUEUE_AT_MOST:
        raise Conflict(Code.QUEUE_FULL, limit=QUEUE_AT_MOST)
    draft = live.draft()
    messages = make_messages(live, letter)
    draft.messages += messages
    item = Queued(
        id=messages[0].id,
        message_ids=tuple(message.id for message in messages),
        mode=letter.mode,
        by=letter.by,
        at=live.parts.now(),
    )
    draft.core["queue"] = (*draft.value("queue"), item)
    sent = Sent(message_id=item.id)
    _note_key(draft, sent_key, sent)
    await live.commit(draft)
    return sent


def _key(live: Live, letter: Letter, key: str) -> SentKey:
    """Raises: InvalidInput for a key that is empty or too long."""
    if not 1 <= len(key) <= KEY_LENGTH_AT_MOST:
        raise InvalidInput(Code.INVALID_REQUEST, detail=f"the key must have 1 to {KEY_LENGTH_AT_MOST} characters")
    # The trace of a request is not what it says: sent once more, it may have another.
    said = msgspec.structs.replace(letter, client=msgspec.structs.replace(letter.client, trace_id=None))
    body = hashlib.sha256(msgspec.json.encode(said, order="sorted")).hexdigest()
    named = hashlib.sha256(key.encode("utf-8", "backslashreplace")).hexdigest()
    return SentKey(key=named, body=body, message_id=MessageId(""), at=live.parts.now())


def _note_key(draft: Draft, sent_key: SentKey | None, sent: Sent) -> None:
    if sent_key is not None:
        draft.keys.append(
            msgspec.structs.replace(sent_key, message_id=sent.message_id, turn_id=sent.turn_id),
        )


def _same_answer(known: SentKey, asked: SentKey, key: str | None) -> Sent:
    if known.body != asked.body:
        raise InvalidInput(Code.KEY_REUSED, key=key)
    return Sent(message_id=known.message_id, turn_id=known.turn_id)


async def edit_message(
    contexts: Contexts,
    context_id: str,
    message_id: str,
    payloads: Sequence[Payload | dict[str, Any]] | str,
    *,
    mode: str | None = None,
    client_metadata: ClientMetadata | None = None,
    attached: Attached | None = None,
    name: str | None = None,
    by: str = "local",
) -> Sent:
    """Say something else than before at an earlier place: a new branch up to there, made active, with the new message.

    Raises: InvalidInput, NotFound, Conflict (a turn is open, the name is taken), StoreError.
    """
    letter = read_letter(contexts, payloads, mode, client_metadata, by, attached)
    async with contexts.locked(context_id) as live:
        if not isinstance(live.state, Idle | Failed):
            raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))
        origin = live.branches[live.core.active_branch]
        ids = await contexts.parts.store.branch_ids(live.id, origin.name)
        (message,) = await contexts.parts.store.messages(live.id, [MessageId(message_id)])
        if message_id not in ids or message.role != "user":
            raise NotFound(Code.UNKNOWN_MESSAGE, message_id=message_id, branch=origin.name)
        draft = live.draft()
        chosen = name or next_name(origin.name, live.branches)
        put_branch(live, draft, chosen, origin, ids[: ids.index(MessageId(message_id))])
        draft.core["active_branch"] = chosen
        sent = await _begin(contexts, live, draft, letter)
    if letter.mode is not None:
        await follow_children(contexts, live, by)
    return sent


def put_branch(
    live: Live, draft: Draft, name: str, origin: Branch, ids: Sequence[MessageId], addition: str | None = None
) -> None:
    """A new branch with the first messages of another one. Raises: InvalidInput, Conflict."""
    check_name(name)
    if name in live.branches:
        raise Conflict(Code.BRANCH_EXISTS, branch=name)
    draft.branches[name] = Branch(
        name=name,
        key=live.parts.ambient.new_id(),
        created_at=live.parts.now(),
        parent_branch=origin.name,
        prompt_addition=addition if addition is not None else origin.prompt_addition,
        merged=merged_within(origin, len(ids)),
        compressed=compressed_within(origin, len(ids)),
    )
    draft.appended[name] = list(ids)


async def read_messages(
    contexts: Contexts,
    context_id: str,
    *,
    branch: str | None = None,
    ids: Sequence[MessageId] | None = None,
    before: int | None = None,
    limit: int = 50,
) -> list[Message]:
    """Messages by id, or the last `limit` of a branch that stand before position `before`."""
    live = await contexts.find(context_id)
    if ids is None:
        ids = await read_ids(contexts, context_id, branch or live.core.active_branch, before=before, limit=limit)
    return await contexts.parts.store.messages(live.id, ids)


async def read_ids(
    contexts: Contexts, context_id: str, branch: str, *, before: int | None = None, limit: int = 50
) -> list[MessageId]:
    """The last `limit` ids of a branch that stand before position `before`. Raises: NotFound."""
    live = await contexts.find(context_id)
    if branch not in live.branches:
        raise NotFound(Code.UNKNOWN_BRANCH, branch=branch, allowed=", ".join(live.branches))
    stop = live.branches[branch].length if before is None else before
    return await contexts.parts.store.branch_ids(live.id, branch, max(0, stop - limit), stop)


async def read_content(
    contexts: Contexts, context_id: str, message_id: MessageId, from_sequence: int = 0
) -> list[tuple[int, str]]:
    """Exactly the pieces behind a sequence number: while it streams, after it, and after a restart."""
    live = await contexts.find(context_id)
    outlet = live.outlet
    if outlet is not None and outlet.message_id == message_id:
        found = outlet.pieces_after(from_sequence)
    else:
        (message,) = await contexts.parts.store.messages(live.id, [message_id])
        if isinstance(message, ErrorMessage) and message.reason.code is Code.MESSAGE_DAMAGED:
            raise NotFound(Code.UNKNOWN_MESSAGE, message_id=message_id, branch=live.core.active_branch)
        found = pieces(message)[from_sequence:]
    return list(enumerate(found, start=from_sequence + 1))
