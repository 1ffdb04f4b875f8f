"""The OpenAI-compatible chat completions endpoint. Clients cannot approve calls: pending calls are rejected."""

from collections.abc import AsyncGenerator, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput, ModelError, StoreRefused
from pilothouse.domain.messages import Usage
from pilothouse.domain.payloads import TextPayload, check_payloads
from pilothouse.domain.states import WaitingForRecovery
from pilothouse.domain.value import MessageId, Value
from pilothouse.runtime.context.snapshot import ContextSnapshot
from pilothouse.runtime.events.turn_events import branch_end
from pilothouse.server.headless_turn import HeadlessTurn
from pilothouse.server.metrics import StreamSlot
from pilothouse.server.problems import HTTPProblem
from pilothouse.server.queries import Id
from pilothouse.server.sse import EventStream
from pilothouse.server.state import RequestContext
from pilothouse.sse import sse_event

FinishReason = Literal["stop", "length", "content_filter"]
# Finish reasons of incomplete answers. Clients know them, so the text gets no additional remark.
_FINISH_REASONS: Mapping[Code, FinishReason] = {
    Code.ANSWER_TOO_LONG: "length",
    Code.ANSWER_FILTERED: "content_filter",
    Code.ANSWER_REFUSED: "content_filter",
}

_DONE = sse_event(b"[DONE]")


class ContentPart(Struct, kw_only=True):
    type: str
    text: str | None = None


class PromptMessage(Struct, kw_only=True):
    """A message of the prompt. Unknown fields are accepted and ignored."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | Annotated[list[ContentPart], Meta(max_length=100)] | None = None


class CompletionMetadata(Struct, kw_only=True):
    """Pilothouse's own options of a request."""

    context_id: Id | None = None
    """The context to continue: only the last message of the request is sent to it."""


class CompletionBody(Struct, kw_only=True):
    """A chat completion request. Unknown fields are accepted and ignored, and so is `model`: the server's settings
    choose the model and the mode."""

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


async def complete(request: RequestContext, body: CompletionBody) -> Completion | EventStream:
    with request.stream_slot("chat") as slot:
        return await _complete(request, body, slot)


async def _complete(request: RequestContext, body: CompletionBody, slot: StreamSlot) -> Completion | EventStream:
    prompt = _prompt(body)
    check_payloads([TextPayload(content=prompt)])  # before a context is created for it
    live = await _get_or_create_context(request, body)
    position, usage_before = branch_end(live), live.core.usage
    sent = await request.runtime.messages.send(
        live.id, prompt, max_mode=request.server.completions_mode, by=request.user
    )
    turn = HeadlessTurn(request, live, sent.turn_id, position)
    request.runtime.run_in_background(turn.reject_pending())
    if body.stream:
        chunks = _encode_chunks(request, turn, sent.message_id)
        headers = {"x-pilothouse-context": live.id}
        heartbeat = request.server.heartbeat
        return EventStream(
            chunks, heartbeat=heartbeat, is_authorized=request.has_valid_token, slot=slot, headers=headers
        )
    async for _ in turn.text():
        pass
    text = turn.full_text()
    if request.server.stopping.is_set():
        raise HTTPProblem(503, Code.SERVER_STOPPING)
    finish_reason = _finish_reason(turn)
    if isinstance(turn.live.state, WaitingForRecovery) and not text:
        raise StoreRefused(turn.live.state.reason.code, **turn.live.state.reason.params)
    if turn.has_failed and turn.failure is not None and not text and finish_reason == "stop":
        raise ModelError(turn.failure.code, **turn.failure.params)
    return Completion(
        id=f"chatcmpl-{sent.message_id}",
        created=int(request.runtime.ambient.now()),
        model=await request.runtime.contexts.model(turn.live.id),
        choices=(Choice(message={"role": "assistant", "content": text + _remark(turn)}, finish_reason=finish_reason),),
        usage=_usage(usage_before, turn.live.core.usage),
    )


async def _get_or_create_context(request: RequestContext, body: CompletionBody) -> ContextSnapshot:
    existing_id = body.metadata.context_id if body.metadata is not None else None
    if existing_id is not None:
        return await request.own(existing_id)
    preferences = (await request.server.sessions.get(request.user)).preferences
    context_id = await request.runtime.contexts.create(
        request.server.workspace(None, request.user),
        usual_modes=(request.server.completions_mode, request.server.mode),
        policy=preferences.tool_approval_policy,
        by=request.user,
    )
    return await request.runtime.contexts.get(context_id)


def _prompt(body: CompletionBody) -> str:
    """Return the text to send: the last message. For a new context, a transcript of the earlier ones precedes it.

    Raises: InvalidInput.
    """
    *earlier, last = [(message.role, _text(message)) for message in body.messages]
    if last[0] != "user" or not last[1].strip():
        raise InvalidInput(Code.INVALID_REQUEST, detail="the last message must be from the user and have text")
    transcript = [f"{role}: {text}" for role, text in earlier if text.strip()]
    if not transcript or (body.metadata is not None and body.metadata.context_id is not None):
        return last[1]
    history = "\n\n".join(transcript)
    return f"What was said before:\n\n{history}\n\nNow:\n\n{last[1]}"


def _text(message: PromptMessage) -> str:
    if message.content is None or isinstance(message.content, str):
        return message.content or ""
    return "\n".join(part.text for part in message.content if part.text)


async def _encode_chunks(
    request: RequestContext, turn: HeadlessTurn, message_id: MessageId
) -> AsyncGenerator[bytes, None]:
    header = {
        "id": f"chatcmpl-{message_id}",
        "object": "chat.completion.chunk",
        "created": int(request.runtime.ambient.now()),
        "model": await request.runtime.contexts.model(turn.live.id),
    }
    yield _encode_chunk(header, {"role": "assistant", "content": ""})
    async for chunk in turn.text():
        yield _encode_chunk(header, {"content": chunk})
    if remark := _remark(turn):
        yield _encode_chunk(header, {"content": remark})
    yield _encode_chunk(header, {}, _finish_reason(turn))
    yield _DONE


def _finish_reason(turn: HeadlessTurn) -> FinishReason:
    return _FINISH_REASONS.get(turn.failure.code, "stop") if turn.failure is not None else "stop"


def _remark(turn: HeadlessTurn) -> str:
    return turn.remark(with_failure=_finish_reason(turn) == "stop")


def _encode_chunk(header: dict[str, Any], delta: dict[str, str], finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return sse_event(msgspec.json.encode({**header, "choices": [choice]}))


def _usage(before: Usage, after: Usage) -> dict[str, int]:
    prompt = after.input_tokens - before.input_tokens
    completion = after.output_tokens - before.output_tokens
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
