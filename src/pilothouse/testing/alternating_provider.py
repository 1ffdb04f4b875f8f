"""The second wire format over a real socket: a fake provider that speaks it, and an adapter for that provider."""

from collections.abc import AsyncGenerator

import aiohttp
import msgspec

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ModelUnavailable
from pilothouse.domain.messages import Usage
from pilothouse.llm.base import (
    CallDelta,
    Connected,
    Finished,
    ModelEvent,
    ModelRequest,
    OpaquePartReceived,
    ReasoningTextDelta,
    TextDelta,
    UsageReported,
)
from pilothouse.llm.error_mapping import error_of_response
from pilothouse.llm.script import Answer
from pilothouse.sse import sse_event, sse_events
from pilothouse.testing import alternating_format
from pilothouse.testing.alternating_format import ALTERNATING
from pilothouse.testing.provider import FakeProvider


class _Event(msgspec.Struct, omit_defaults=True):
    text: str = ""
    index: int = 0
    id: str = ""
    tool: str = ""
    reason: str = ""
    input: int = 0
    output: int = 0


class AlternatingProvider(FakeProvider):
    """A fake provider of the alternating format. The script's answers are chosen by the purpose of the request."""

    def find_faults(self, body: bytes) -> list[str]:
        return alternating_format.faults(body)

    def next_answer(self, body: bytes) -> Answer:
        request = msgspec.json.decode(body)
        self.requests.append(request)
        return self.player.answer(request["purpose"])

    def can_send(self, _: ModelEvent) -> bool:
        return True

    def encode_event(self, event: ModelEvent) -> bytes:
        name, data = _wire_event(event)
        return sse_event(msgspec.json.encode(data), name)

    def encode_end(self) -> bytes:
        return sse_event(b"{}", "closed")


def _wire_event(event: ModelEvent) -> tuple[str, _Event]:
    match event:
        case TextDelta(text=text):
            return "text", _Event(text=text)
        case ReasoningTextDelta(text=text):
            return "thought", _Event(text=text)
        case OpaquePartReceived(data=data):
            return "seal", _Event(text=data)
        case CallDelta(index=index, id=call_id, tool=tool, arguments=arguments):
            return "call", _Event(index=index, id=call_id, tool=tool, text=arguments)
        case Finished(reason=reason):
            return "finished", _Event(reason=reason)
        case UsageReported(usage=usage):
            return "usage", _Event(input=usage.input_tokens, output=usage.output_tokens)
        case Connected():
            return "connected", _Event()


class AlternatingAdapter:
    """An adapter for the alternating format."""

    name = "alternating"
    format = ALTERNATING

    def __init__(self, base_url: str) -> None:
        self._url = base_url
        self._session: aiohttp.ClientSession | None = None
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.requests.append(request)
        self._session = self._session or aiohttp.ClientSession()
        try:
            async with self._session.post(self._url, data=self.format.body(request)) as response:
                if response.status != 200:
                    raise error_of_response(response.status, response.headers, await response.read())
                yield Connected()
                async for name, data in sse_events(response.content.iter_any()):
                    if name == "closed":
                        return
                    yield _model_event(name, msgspec.json.decode(data, type=_Event))
        except aiohttp.ClientError as error:
            raise ModelUnavailable(Code.MODEL_CUT) from error

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()


def _model_event(name: str, event: _Event) -> ModelEvent:
    match name:
        case "text":
            return TextDelta(text=event.text)
        case "thought":
            return ReasoningTextDelta(text=event.text)
        case "seal":
            return OpaquePartReceived(data=event.text)
        case "call":
            return CallDelta(index=event.index, id=event.id, tool=event.tool, arguments=event.text)
        case "finished":
            return Finished(reason=event.reason)
        case "usage":
            return UsageReported(usage=Usage(input_tokens=event.input, output_tokens=event.output))
        case _:
            return Connected()
