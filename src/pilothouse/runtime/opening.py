"""Opening a turn with a person's message: what was sent becomes typed messages, a turn, a title and perhaps a mode."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import OpenTurn
from pilothouse.domain.messages import FileReference, Message, Metadata, Text, said
from pilothouse.domain.payloads import (
    Attached,
    ClientMetadata,
    FileReferencePayload,
    ImagePayload,
    Payload,
    TextPayload,
    ToolResultPayload,
    check_attached,
    check_payloads,
    parse_payload,
)
from pilothouse.domain.values import MessageId, TurnId, Value
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.draft import Draft
from pilothouse.runtime.images import new_image
from pilothouse.runtime.live import Live
from pilothouse.runtime.modes import note_switch
from pilothouse.runtime.results import close_open_calls
from pilothouse.runtime.standing import end_elevation
from pilothouse.runtime.turn import Turn

TITLE_LENGTH = 60


class Letter(Value, kw_only=True):
    """What a person sends, checked. `mode` is the name of a mode that there is."""

    payloads: tuple[Payload, ...]
    mode: str | None = None
    client: ClientMetadata = ClientMetadata()
    attached: Attached = Attached()
    by: str = "local"


def read_letter(
    contexts: Contexts,
    payloads: Sequence[Payload | dict[str, Any]] | str,
    mode: str | None,
    client: ClientMetadata | None,
    by: str,
    attached: Attached | None = None,
) -> Letter:
    """Raises: InvalidInput."""
    if isinstance(payloads, str):
        payloads = [TextPayload(content=payloads)]
    parsed = tuple(payload if isinstance(payload, Payload) else parse_payload(payload) for payload in payloads)
    check_payloads(parsed)
    attached = attached or Attached()
    check_attached(attached)
    chosen = contexts.parts.modes.named(mode).name if mode is not None else None
    return Letter(payloads=parsed, mode=chosen, client=client or ClientMetadata(), attached=attached, by=by)


def begin_turn(live: Live, draft: Draft, letter: Letter) -> tuple[Turn, list[Message]]:
    """Put into a draft: the switch of the mode, the turn opened, the messages at the end of the active branch."""
    return take_messages(live, draft, make_messages(live, letter), mode=letter.mode, by=letter.by)


def take_messages(
    live: Live, draft: Draft, messages: Sequence[Message], *, mode: str | None, by: str
) -> tuple[Turn, list[Message]]:
    live.parts.steering(live.core.workspace)  # what is wrong in its files is told now, not in the middle of the turn
    if mode is not None and mode != live.core.mode:
        note_switch(draft, live, mode, by)
        end_elevation(draft, "mode_switched", by)
    opened = open_turn(live, draft, message_id=messages[0].id)
    held: Literal["processing"] | None = "processing" if live.parts.processors else None
    stamped = [_stamped(message, opened, draft.value("mode"), held) for message in messages]
    for message in stamped:
        draft.append(message, opened.branch)
    if live.core.title is None:
        draft.core["title"] = first_line(stamped)
    if live.core.archived:
        draft.core["archived"] = False
    return Turn(live, stamped), stamped


def open_turn(live: Live, draft: Draft, *, start: int | None = None, message_id: MessageId | None = None) -> OpenTurn:
    """`start` is where its own messages begin, if not at the end of the branch."""
    if live.core.turn is not None:  # a failed turn that the store would not close then
        close_open_calls(draft, live, Reason(Code.NOT_RUN))
    branch = draft.value("active_branch")
    turn = OpenTurn(
        id=TurnId(live.parts.ambient.new_id()),
        branch=branch,
        started_at=live.parts.now(),
        start=draft.length(branch) if start is None else start,
        message_id=message_id,
    )
    draft.core["turn"] = turn
    return turn


def make_messages(live: Live, letter: Letter) -> list[Message]:
    """The messages of a letter, not yet of any turn. What is attached goes with the first of them."""
    client, attached = letter.client, letter.attached
    metadata = Metadata(display_text=client.display_text, trace_id=client.trace_id, extra=client.extra)
    with_all = msgspec.structs.replace(
        metadata, data_context=attached.data_context, extra_user_messages=attached.extra_user_messages
    )
    first, *others = letter.payloads
    return [_message(live, first, with_all), *(_message(live, payload, metadata) for payload in others)]


def _stamped(message: Message, turn: OpenTurn, mode: str, held: Literal["processing"] | None) -> Message:
    metadata = msgspec.structs.replace(message.metadata, turn=turn.id, round=turn.round, mode=mode, held=held)
    return msgspec.structs.replace(message, metadata=metadata)


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
        case ImagePayload():
            return new_image(live, payload, common)
        case ToolResultPayload():
            result = payload.result if isinstance(payload.result, str) else msgspec.json.encode(payload.result).decode()
            return Text(**common, content=f"Result of {payload.tool_name}:\n{result}")
        case _:
            raise AssertionError("check_payloads lets no other through")


def first_line(messages: Sequence[Message]) -> str:
    return next((line.strip() for line in said(messages[0]).splitlines() if line.strip()), "")[:TITLE_LENGTH]
