"""OpenAI's chat completions, for existing clients. Nobody can be asked here: what would need a person is denied."""

from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from pilothouse.domain.codes import Code, Reason, say
from pilothouse.domain.errors import Conflict, InvalidInput, ModelError
from pilothouse.domain.messages import ErrorMessage, Text, Usage
from pilothouse.domain.states import AwaitingToolApproval, AwaitingUserAnswer, Failed, WaitingForRecovery
from pilothouse.domain.values import MessageId, Value
from pilothouse.runtime.following import ChildWaits, Event, Piece, Seen, follow
from pilothouse.runtime.live import Live
from pilothouse.server.inputs import Id
from pilothouse.server.serving import Call
from pilothouse.server.sse import EventStream

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
    finish_reason: Literal["stop"] = "stop"


class Completion(Value, kw_only=True, omit_defaults=False):
    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: tuple[Choice, ...]
    usage: dict[str, int]


async def complete(call: Call, body: CompletionBody) -> Completion | EventStream:
    prompt = _prompt(body)
    live = await _context(call, body)
    position = live.branches[live.core.active_branch].length
    before = live.core.usage
    sent = await call.runtime.send(live.id, prompt, mode=call.serving.completions_mode, by=call.user)
    turn = _Unattended(call, live, position)
    if body.stream:
        call.check_streams()
        pieces = _chunks(call, turn, sent.message_id)
        return EventStream(pieces, heartbeat=call.serving.heartbeat, headers={"x-pilothouse-context": live.id})
    text = "".join([piece async for piece in turn.text()])
    if turn.has_failed and turn.failure is not None and not text:
        raise ModelError(turn.failure.code, **turn.failure.params)
    return Completion(
        id=f"chatcmpl-{sent.message_id}",
        created=int(call.runtime.parts.ambient.now()),
        model=call.runtime.parts.model,
        choices=(Choice(message={"role": "assistant", "content": text + turn.remark()}),),
        usage=_usage(before, turn.live.core.usage),
    )


async def _context(call: Call, body: CompletionBody) -> Live:
    named = body.metadata.context_id if body.metadata is not None else None
    if named is not None:
        return await call.own(named)
    created = await call.runtime.create_context(
        call.serving.workspace(None), mode=call.serving.completions_mode, by=call.user
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


class _Unattended:
    """A turn that nobody watches: what waits for a person is rejected, what is asked is answered so."""

    def __init__(self, call: Call, live: Live, position: int) -> None:
        self._call = call
        self.live = live
        self._position = position
        self._not_done: list[str] = []
        self.failure: Reason | None = None
        self.has_failed = False

    async def text(self) -> AsyncIterator[str]:
        runtime = self._call.runtime
        while True:
            waiting: Live | None = None
            async for happened in follow(runtime, self.live.id, position=self._position):
                for piece in self._taken(happened):
                    yield piece
                if isinstance(happened, ChildWaits):
                    waiting = await runtime.context(happened.context_id)
                    break
            self.live = await runtime.context(self.live.id)
            if waiting is None and self.live.is_waiting():
                waiting = self.live
            if waiting is None:
                self._note_state()
                return
            await self._deny(waiting)

    def _taken(self, happened: Event) -> list[str]:
        match happened:
            case Piece(text=text):
                return [text]
            case Seen(message=message):
                self._position += 1
                if isinstance(message, ErrorMessage):
                    self.failure = message.reason
                if isinstance(message, Text) and message.role == "assistant" and not happened.streamed:
                    return [message.content]
        return []

    async def _deny(self, waiting: Live) -> None:
        runtime, told = self._call.runtime, say(Reason(Code.NOBODY_HERE))
        try:
            if isinstance(waiting.state, AwaitingToolApproval):
                rejected = await runtime.reject_all(waiting.id, reason=told, by="runtime")
                self._not_done += [
                    f"{call.display_name} {msgspec.json.encode(call.arguments).decode()[:200]}" for call in rejected
                ]
            elif isinstance(waiting.state, AwaitingUserAnswer):
                asked = await runtime.open_questions(waiting.id)
                await runtime.answer(waiting.id, [told] * len(asked[0].arguments["questions"]), by="runtime")
        except Conflict:
            pass  # a person was there after all, and faster

    def _note_state(self) -> None:
        """What a mode denied is an answer; what the model or the disk could not do is none."""
        self.has_failed = self.live.core.last_turn == "error" or isinstance(
            self.live.state, Failed | WaitingForRecovery
        )
        match self.live.state:
            case Failed(error_message=reason) | WaitingForRecovery(reason=reason):
                self.failure = reason

    def remark(self) -> str:
        """What was not done, and what went wrong, so that no answer hides it."""
        told = []
        if self._not_done:
            told.append(say(Reason(Code.NOT_DONE, {"calls": "; ".join(self._not_done)}), self._call.language))
        if self.failure is not None:
            told.append(say(self.failure, self._call.language))
        return "".join(f"\n\n[{each}]" for each in told)


async def _chunks(call: Call, turn: _Unattended, message_id: MessageId) -> AsyncIterator[bytes]:
    about = {
        "id": f"chatcmpl-{message_id}",
        "object": "chat.completion.chunk",
        "created": int(call.runtime.parts.ambient.now()),
        "model": call.runtime.parts.model,
    }
    yield _chunk(about, {"role": "assistant", "content": ""})
    async for piece in turn.text():
        yield _chunk(about, {"content": piece})
    if turn.remark():
        yield _chunk(about, {"content": turn.remark()})
    yield _chunk(about, {}, "stop")
    yield _DONE


def _chunk(about: dict[str, Any], delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + msgspec.json.encode({**about, "choices": [choice]}) + b"\n\n"


def _usage(before: Usage, after: Usage) -> dict[str, int]:
    given = after.input_tokens - before.input_tokens
    made = after.output_tokens - before.output_tokens
    return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}
