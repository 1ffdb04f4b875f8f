"""Commands about messages and turns: send, continue, cancel, retry, and reading what was said."""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import CONTINUABLE, OpenTurn
from pilothouse.domain.errors import Conflict, NotFound, StoreError, StoreRefused
from pilothouse.domain.messages import ErrorMessage, FileReference, Message, Metadata, Text, pieces
from pilothouse.domain.payloads import (
    ClientMetadata,
    FileReferencePayload,
    Payload,
    TextPayload,
    ToolResultPayload,
    check_payloads,
    parse_payload,
)
from pilothouse.domain.states import (
    Cancelling,
    EnhancingSystemPrompt,
    Failed,
    Idle,
    ProcessingUserMessage,
    SavingMessage,
    State,
    TransientError,
    WaitingForRecovery,
    name_of,
)
from pilothouse.domain.values import MessageId, TurnId, Value
from pilothouse.runtime.contexts import Contexts, turn_of
from pilothouse.runtime.deciding import next_state
from pilothouse.runtime.live import Draft, Live
from pilothouse.runtime.modes import note_switch
from pilothouse.runtime.recovery import after_break
from pilothouse.runtime.results import close_open_calls
from pilothouse.runtime.turn import Turn

TITLE_LENGTH = 60
_LOOKED_BACK = 50


class Sent(Value):
    message_id: MessageId
    turn_id: TurnId


async def send(
    contexts: Contexts,
    context_id: str,
    payloads: Sequence[Payload | dict[str, Any]] | str,
    *,
    mode: str | None = None,
    client_metadata: ClientMetadata | None = None,
    by: str = "local",
) -> Sent:
    """Store the person's message and open a turn. When this returns, the message cannot be lost. Commit (a).

    Raises: InvalidInput, NotFound, Conflict (a turn is open), StoreError; then nothing has changed.
    """
    parsed = _parsed(payloads)
    check_payloads(parsed)
    chosen = contexts.parts.modes.named(mode).name if mode is not None else None
    async with contexts.locked(context_id) as live:
        if not isinstance(live.state, Idle | Failed):
            raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))
        draft = live.draft()
        if chosen is not None and chosen != live.core.mode:
            note_switch(draft, live, chosen, by)
        turn = _open_turn(live, draft)
        metadata = _metadata(draft, live, turn, client_metadata)
        messages = [_message(live, payload, metadata) for payload in parsed]
        for message in messages:
            draft.append(message, turn.branch)
        if live.core.title is None:
            draft.core["title"] = _title(messages)
        references = [message for message in messages if isinstance(message, FileReference)]
        await live.commit(draft, ProcessingUserMessage(), then=lambda: contexts.drive(live, Turn(live, references)))
        return Sent(message_id=messages[0].id, turn_id=turn.id)


def _parsed(payloads: Sequence[Payload | dict[str, Any]] | str) -> list[Payload]:
    if isinstance(payloads, str):
        return [TextPayload(content=payloads)]
    return [payload if isinstance(payload, Payload) else parse_payload(payload) for payload in payloads]


def _open_turn(live: Live, draft: Draft) -> OpenTurn:
    if live.core.turn is not None:  # a failed turn that the store would not close then
        close_open_calls(draft, live, Reason(Code.NOT_RUN))
    turn = OpenTurn(id=TurnId(live.parts.ambient.new_id()), branch=live.core.active_branch, started_at=live.parts.now())
    draft.core["turn"] = turn
    return turn


def _metadata(draft: Draft, live: Live, turn: OpenTurn, client: ClientMetadata | None) -> Metadata:
    client = client or ClientMetadata()
    return Metadata(
        turn=turn.id,
        round=turn.round,
        mode=draft.core.get("mode", live.core.mode),
        display_text=client.display_text,
        trace_id=client.trace_id,
        extra=client.extra,
    )


def _message(live: Live, payload: Payload, metadata: Metadata) -> Message:
    common: dict[str, Any] = {
        "id": MessageId(live.parts.ambient.new_id()),
        "timestamp": live.parts.now(),
        "role": "user",
        "metadata": metadata,
    }
    match payload:
        case TextPayload():
            return Text(**common, content=payload.content)
        case FileReferencePayload():
            return FileReference(**common, path=payload.path, range=payload.range)
        case ToolResultPayload():
            result = payload.result if isinstance(payload.result, str) else msgspec.json.encode(payload.result).decode()
            return Text(**common, content=f"Result of {payload.tool_name}:\n{result}")
        case _:
            raise AssertionError("check_payloads lets no other through")


def _title(messages: Sequence[Message]) -> str:
    first = messages[0]
    text = first.content if isinstance(first, Text) else getattr(first, "path", "")
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:TITLE_LENGTH]


async def resume(contexts: Contexts, context_id: str) -> None:
    """Continue: go on from where a turn was cancelled, limited, failed or interrupted, without a new message.

    Raises: Conflict when there is nothing to continue; StoreError when the store still refuses.
    """
    async with contexts.locked(context_id) as live:
        match live.state:
            case WaitingForRecovery():
                await _resume_writing(contexts, live)
            case Failed():
                await _resume_turn(contexts, live)
            case Idle() if live.core.last_turn in CONTINUABLE:
                await _resume_turn(contexts, live)
            case _:
                raise Conflict(Code.NOT_CONTINUABLE, state=name_of(live.state))


async def _resume_turn(contexts: Contexts, live: Live) -> None:
    """A new turn without a new message. Files that the last one named and nobody has read are read first."""
    draft = live.draft()
    turn = _open_turn(live, draft)
    end = live.branches[turn.branch].length
    ids = await live.parts.store.branch_ids(live.id, turn.branch, max(0, end - _LOOKED_BACK), end)
    recent = await live.parts.store.messages(live.id, ids)
    unread = [message for message in recent if isinstance(message, FileReference) and message.resolved_at is None]
    state = ProcessingUserMessage() if unread else EnhancingSystemPrompt()
    await live.commit(draft, state, then=lambda: contexts.drive(live, Turn(live, unread)))


async def _resume_writing(contexts: Contexts, live: Live) -> None:
    """First commit what was kept in memory when the store refused; then go on from there."""
    draft = live.draft()
    closes = draft.core.get("turn", live.core.turn) is None
    if closes:
        live.enter(SavingMessage())
        target: State = Idle()
    else:
        after_break(live, draft)
        waiting = any(call.is_open for call in draft.round_calls())
        target = next_state(draft) if waiting else EnhancingSystemPrompt()
    try:
        await live.commit(draft, target, then=lambda: contexts.drive(live, Turn(live)))
    except StoreError as error:
        live.enter(WaitingForRecovery(reason=error.reason))
        raise


async def cancel(contexts: Contexts, context_id: str, *, by: str = "local") -> None:
    """End the open turn, in whatever state it is; returns when it has ended.

    Raises: Conflict when there is none, StoreError when the end could not be stored.
    """
    failing = await contexts.find(context_id)
    if isinstance(failing.state, Failed) and failing.task is not None:
        await asyncio.wait({failing.task})  # it is being closed already; that must not be cut
    async with contexts.locked(context_id) as live:
        if isinstance(live.state, Idle):
            raise Conflict(Code.NOTHING_TO_CANCEL)
        turn = turn_of(live)
        first = turn.cancelled_by is None
        turn.cancelled_by = by
        if live.task is None:
            live.enter(Cancelling())
            contexts.drive(live)
        elif first and turn.begun:
            live.task.cancel()
        task = live.task
    if task is not None:
        await asyncio.wait({task})
    if isinstance(live.state, WaitingForRecovery):
        raise StoreRefused(live.state.reason.code, **live.state.reason.params)


async def retry_now(contexts: Contexts, context_id: str) -> None:
    """Do not wait for the retry that is planned. Raises: Conflict when none is."""
    async with contexts.locked(context_id) as live:
        if not isinstance(live.state, TransientError) or live.turn is None:
            raise Conflict(Code.NOTHING_TO_RETRY, state=name_of(live.state))
        live.turn.retry_now.set()


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
        name = branch or live.core.active_branch
        if name not in live.branches:
            raise NotFound(Code.UNKNOWN_BRANCH, branch=name, allowed=", ".join(live.branches))
        stop = live.branches[name].length if before is None else before
        ids = await contexts.parts.store.branch_ids(live.id, name, max(0, stop - limit), stop)
    return await contexts.parts.store.messages(live.id, ids)


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
