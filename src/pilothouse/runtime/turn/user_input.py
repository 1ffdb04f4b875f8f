"""Parsing a person's input, and opening a turn with it: typed messages, the turn, a title, perhaps a switch of mode."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import OpenTurn
from pilothouse.domain.messages import FileReference, Message, Metadata, Text, shown_text
from pilothouse.domain.payloads import (
    ClientMetadata,
    FileReferencePayload,
    ImagePayload,
    MessageAttachments,
    Payload,
    TextPayload,
    ToolResultPayload,
    check_attachments,
    check_payloads,
    check_text,
    display_text,
    parse_payload,
)
from pilothouse.domain.value import MessageId, TurnId, Value
from pilothouse.runtime.authorization.authorization import close_open_calls
from pilothouse.runtime.authorization.policy_snapshot import end_elevation
from pilothouse.runtime.commands.modes import record_switch
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.pool import ContextPool
from pilothouse.runtime.request.images import new_image
from pilothouse.runtime.turn.round import Round
from pilothouse.runtime.turn.turn import Turn

_MAX_FIRST_LINE_TITLE_CHARACTERS = 60


class UserInput(Value, kw_only=True):
    """A person's validated input."""

    payloads: tuple[Payload, ...]
    mode: str | None = None
    """The name of an existing mode to switch to."""
    client: ClientMetadata = ClientMetadata()
    attached: MessageAttachments = MessageAttachments()
    by: str = "local"


def parse_user_input(
    pool: ContextPool,
    payloads: Sequence[Payload | dict[str, Any]] | str,
    mode: str | None,
    client: ClientMetadata | None,
    by: str,
    attached: MessageAttachments | None = None,
) -> UserInput:
    """Validate what a client sent. Raises: InvalidInput."""
    if isinstance(payloads, str):
        payloads = [TextPayload(content=payloads)]
    parsed = tuple(payload if isinstance(payload, Payload) else parse_payload(payload) for payload in payloads)
    check_payloads(parsed)
    attached, client = attached or MessageAttachments(), client or ClientMetadata()
    check_attachments(attached)
    check_text(client.display_text or "")
    mode_name = pool.dependencies.modes.named(mode).name if mode is not None else None
    return UserInput(payloads=parsed, mode=mode_name, client=client, attached=attached, by=by)


def open_turn_with_messages(
    live: LiveContext, draft: Draft, messages: Sequence[Message], *, mode: str | None, by: str
) -> tuple[Turn, list[Message]]:
    """Put a person's messages into a draft: the switch of mode, the open turn, and the messages at the end of the
    active branch."""
    # Errors in the workspace's configuration files are raised here, before the turn begins.
    live.dependencies.workspace_policy(live.core.workspace)
    if mode is not None and mode != live.core.mode:
        record_switch(draft, live, mode, by)
        end_elevation(draft, "mode_switched", by)
    turn = open_turn(live, draft, message_id=messages[0].id)
    hold: Literal["processing"] | None = "processing" if live.dependencies.processors else None
    model = live.model().name
    turn_messages = [_with_turn(message, turn, draft, model, hold) for message in messages]
    for message in turn_messages:
        draft.append(message, turn.branch)
    if live.core.title is None:
        draft.core["title"] = first_line(turn_messages)
    if live.core.archived:
        draft.core["archived"] = False
    return Turn(live, Round(incoming=tuple(turn_messages))), turn_messages


def open_turn(
    live: LiveContext, draft: Draft, *, start: int | None = None, message_id: MessageId | None = None
) -> OpenTurn:
    """Open a turn in a draft. `start` is the position of the turn's first message, if not the end of the branch."""
    if live.core.turn is not None:  # a failed turn whose close the store refused
        close_open_calls(draft, live, Reason(Code.NOT_RUN))
    branch = draft.value("active_branch")
    turn = OpenTurn(
        id=TurnId(live.dependencies.ambient.new_id()),
        branch=branch,
        started_at=live.dependencies.now(),
        start=draft.length(branch) if start is None else start,
        message_id=message_id,
    )
    draft.core["turn"] = turn
    return turn


def make_messages(live: LiveContext, user_input: UserInput) -> list[Message]:
    """The messages of a person's input, not part of a turn yet. The first message carries the attachments, and the
    first text the client's display text."""
    client, attached, payloads = user_input.client, user_input.attached, user_input.payloads
    texts = (number for number, payload in enumerate(payloads) if isinstance(payload, TextPayload))
    displayed = next(texts, 0)
    return [
        _message(
            live,
            payload,
            Metadata(
                display_text=display_text(payload) or (client.display_text if number == displayed else None),
                trace_id=client.trace_id,
                extra=client.extra,
                data_context=attached.data_context if number == 0 else None,
                extra_user_messages=attached.extra_user_messages if number == 0 else (),
            ),
        )
        for number, payload in enumerate(payloads)
    ]


def _with_turn(
    message: Message, turn: OpenTurn, draft: Draft, model: str, hold: Literal["processing"] | None
) -> Message:
    metadata = msgspec.structs.replace(
        message.metadata,
        turn=turn.id,
        round=turn.round,
        mode=draft.value("mode"),
        persona=draft.value("persona"),
        model=model,
        held=hold,
    )
    return msgspec.structs.replace(message, metadata=metadata)


def _message(live: LiveContext, payload: Payload, metadata: Metadata) -> Message:
    common: dict[str, Any] = {
        "id": MessageId(live.dependencies.ambient.new_id()),
        "timestamp": live.dependencies.now(),
        "role": "user",
        "metadata": metadata,
    }
    match payload:
        case TextPayload():
            return Text(**common, content=payload.content)
        case FileReferencePayload():
            return FileReference(**common, path=payload.path, range=payload.range)
        case ImagePayload():
            return new_image(live, payload, common)
        case ToolResultPayload():
            result = payload.result if isinstance(payload.result, str) else msgspec.json.encode(payload.result).decode()
            return Text(**common, content=f"Result of {payload.tool_name}:\n{result}")
        case _:
            raise AssertionError("check_payloads lets no other through")


def first_line(messages: Sequence[Message]) -> str:
    """The first line of text that is not blank, as a title."""
    return next((line.strip() for line in shown_text(messages[0]).splitlines() if line.strip()), "")[
        :_MAX_FIRST_LINE_TITLE_CHARACTERS
    ]
