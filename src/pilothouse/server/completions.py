"""OpenAI's chat completions, for existing clients. Nobody can be asked here: what would need a person is denied."""

from collections.abc import AsyncGenerator, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput, ModelError, StoreRefused
from pilothouse.domain.messages import Usage
from pilothouse.domain.payloads import TextPayload, check_payloads
from pilothouse.domain.states import WaitingForRecovery
from pilothouse.domain.values import MessageId, Value
from pilothouse.runtime.following import end_of
from pilothouse.runtime.live import Live
from pilothouse.server.counts import StreamSlot
from pilothouse.server.inputs import Id
from pilothouse.server.problems import Refused
from pilothouse.server.serving import Call
from pilothouse.server.sse import EventStream
from pilothouse.server.unattended import Unattended

FinishReason = Literal["stop", "length", "content_filter"]
# How an answer ended that is incomplete. Clients know these finish reasons, so no words are added to the text.
_FINISHES: Mapping[Code, FinishReason] = {
    Code.ANSWER_TOO_LONG: "length",
    Code.ANSWER_FILTERED: "content_filter",
    Code.ANSWER_REFUSED: "content_filter",
}

_DONE = b"data: [DONE]\n\n"


class ContentPart(Struct, kw_only=True):
    type: str
    text: str | None = None


class PromptMessage(Struct, kw_only=True):
    """Fields that are not listed are accepted and not read."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | Annotated[list[ContentPart], Meta(max_length=100)] | None = None


class CompletionMetadata(Struct, kw_only=True):
    """`context_id` goes on with a context; then only the last message is said to it."""

    context_id: Id | None = None


class CompletionBody(Struct, kw_only=True):
    """Fields that are not listed are accepted and not read: the model and its mode are the server's."""

    messages: Annotated[list[PromptMessage], Meta(min_length=1, max_length=2000)]
    model: str | None = None
    stream: bool = False
    metadata: CompletionMetadata | None = None


class Choice(Value, kw_only=True, omit_defaults=False):
    index: int = 0
    message: dict[str, str]
    finish_reason: FinishReason = "stop"


class Completion(Value, kw_only=True, omit_defaults=False):
    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: tuple[Choice, ...]
    usage: dict[str, int]


async def complete(call: Call, body: CompletionBody) -> Completion | EventStream:
    with call.stream_slot("chat") as slot:
        return await _complete(call, body, slot)


async def _complete(call: Call, body: CompletionBody, slot: StreamSlot) -> Completion | EventStream:
    prompt = _prompt(body)
    check_payloads([TextPayload(content=prompt)])  # before a context is made for it
    live = await _context(call, body)
    place, before = end_of(live), live.core.usage
    sent = await call.runtime.send(live.id, prompt, mode_at_most=call.serving.completions_mode, by=call.user)
    turn = Unattended(call, live, sent.turn_id, place)
    call.runtime.beside(turn.deny())
    if body.stream:
        pieces = _chunks(call, turn, sent.message_id)
        headers = {"x-pilothouse-context": live.id}
        heartbeat = call.serving.heartbeat
        return EventStream(pieces, heartbeat=heartbeat, goes_on=call.is_user, slot=slot, headers=headers)
    async for _ in turn.text():
        pass
    text = turn.whole_text()
    if call.serving.stopping.is_set():
        raise Refused(503, Code.SERVER_STOPPING)
    finish = _finish(turn)
    if isinstance(turn.live.state, WaitingForRecovery) and not text:
        raise StoreRefused(turn.live.state.reason.code, **turn.live.state.reason.params)
    if turn.has_failed and turn.failure is not None and not text and finish == "stop":
        raise ModelError(turn.failure.code, **turn.failure.params)
    return Completion(
        id=f"chatcmpl-{sent.message_id}",
        created=int(call.runtime.parts.ambient.now()),
        model=live.model,
        choices=(Choice(message={"role": "assistant", "content": text + _remark(turn)}, finish_reason=finish),),
        usage=_usage(before, turn.live.core.usage),
    )


async def _context(call: Call, body: CompletionBody) -> Live:
    named = body.metadata.context_id if body.metadata is not None else None
    if named is not None:
        return await call.own(named)
    preferences = (await call.serving.sessions.get(call.user)).preferences
    created = await call.runtime.create_context(
        call.serving.workspace(None, call.user),
        usual_modes=(call.serving.completions_mode, call.serving.mode),
        policy=preferences.tool_approval_policy,
        by=call.user,
    )
    return await call.runtime.context(created)


def _prompt(body: CompletionBody) -> str:
    """The last message; where no context is named, with what came before it as an account."""
    *earlier, last = [(message.role, _text(message)) for message in body.messages]
    if last[0] != "user" or not last[1].strip():
        raise InvalidInput(Code.INVALID_REQUEST, detail="the last message must be the user's, with text")
    told = [f"{role}: {text}" for role, text in earlier if text.strip()]
    if not told or (body.metadata is not None and body.metadata.context_id is not None):
        return last[1]
    account = "\n\n".join(told)
    return f"What was said before:\n\n{account}\n\nNow:\n\n{last[1]}"


def _text(message: PromptMessage) -> str:
    if message.content is None or isinstance(message.content, str):
        return message.content or ""
    return "\n".join(part.text for part in message.content if part.text)


async def _chunks(call: Call, turn: Unattended, message_id: MessageId) -> AsyncGenerator[bytes, None]:
    about = {
        "id": f"chatcmpl-{message_id}",
        "object": "chat.completion.chunk",
        "created": int(call.runtime.parts.ambient.now()),
        "model": turn.live.model,
    }
    yield _chunk(about, {"role": "assistant", "content": ""})
    async for piece in turn.text():
        yield _chunk(about, {"content": piece})
    if remark := _remark(turn):
        yield _chunk(about, {"content": remark})
    yield _chunk(about, {}, _finish(turn))
    yield _DONE


def _finish(turn: Unattended) -> FinishReason:
    return _FINISHES.get(turn.failure.code, "stop") if turn.failure is not None else "stop"


def _remark(turn: Unattended) -> str:
    return turn.remark(with_failure=_finish(turn) == "stop")


def _chunk(about: dict[str, Any], delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + msgspec.json.encode({**about, "choices": [choice]}) + b"\n\n"


def _usage(before: Usage, after: Usage) -> dict[str, int]:
    given = after.input_tokens - before.input_tokens
    made = after.output_tokens - before.output_tokens
    return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}
