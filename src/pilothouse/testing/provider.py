"""A fake provider: plays a script as OpenAI's streaming chat completions over a real loopback socket.

`python -m pilothouse.testing.provider script.json` runs it on its own and prints its address.
"""

import asyncio
import contextlib
import re
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, Self

import msgspec

from pilothouse.domain.errors import ModelRefused
from pilothouse.domain.messages import Usage
from pilothouse.llm.base import (
    CallDelta,
    Finished,
    ModelEvent,
    OpaquePartReceived,
    ReasoningTextDelta,
    TextDelta,
    UsageReported,
)
from pilothouse.llm.script import Answer, Player, Script, load_script
from pilothouse.sse import sse_event
from pilothouse.testing.wire import WireFault, faults

DATE = "Thu, 01 Jan 2026 00:00:00 GMT"
"""The time of the provider's clock in error responses."""
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
_JSON = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n%b"


class FakeProvider:
    """A provider on a loopback port. Requests that a real server would refuse are refused and recorded in `faults`."""

    def __init__(
        self, script: Script, *, strict: bool = True, models: Sequence[str] | None = (), key: str | None = None
    ) -> None:
        """With `strict`, `stop` raises the recorded faults. `models` are the models that the server lists; None for a
        server without a list. With `key`, requests with another key are refused, and the error repeats that key."""
        self._strict = strict
        self._models = models
        self._key = key
        self.player = Player(script)
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()
        self.requests: list[dict[str, Any]] = []
        """The decoded bodies of accepted requests, in order."""
        self.headers: list[bytes] = []
        self.faults: list[str] = []

    @property
    def base_url(self) -> str:
        assert self._server is not None
        port = self._server.sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}/v1"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)

    async def stop(self) -> None:
        """Stop at once, in the middle of answers. Raises: WireFault."""
        if self._server is not None:
            self._server.close()
        for task in self._serving:
            task.cancel()
        if self._serving:
            await asyncio.wait(self._serving)
        if self._strict and self.faults:
            raise WireFault("\n".join(self.faults))

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                body = await self._read(reader)
                if not self._answer_from_head(writer):
                    await self._answer(body, writer)
        finally:
            writer.close()
            self._serving.discard(task)

    async def _read(self, reader: asyncio.StreamReader) -> bytes:
        head = await reader.readuntil(b"\r\n\r\n")
        self.headers.append(head)
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n") if b": " in line)
        return await reader.readexactly(int(fields.get(b"content-length", 0)))

    def _answer_from_head(self, writer: asyncio.StreamWriter) -> bool:
        """Answer a request with a wrong key, or for the list of models. Return whether the request is answered."""
        head = self.headers[-1].decode("latin-1")
        match = re.search(r"(?im)^authorization: Bearer (.*?)\r?$", head)
        key = match[1] if match else ""
        if self._key is not None and key != self._key:
            writer.write(_error(401, f"Incorrect API key provided: {key}"))
        elif not head.startswith("GET "):
            return False
        elif self._models is None:
            writer.write(_error(404, "there is no such path"))
        else:
            models = {"object": "list", "data": [{"id": name, "object": "model"} for name in self._models]}
            writer.write(_JSON % msgspec.json.encode(models))
        return True

    def find_faults(self, body: bytes) -> list[str]:
        """Return the faults of a body."""
        try:
            return faults(msgspec.json.decode(body))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            return [f"body: {error}"]

    def next_answer(self, body: bytes) -> Answer:
        """Return the next answer of the script. Raises: ModelRefused for an exhausted script."""
        self.requests.append(msgspec.json.decode(body))
        return self.player.answer("turn")

    async def _answer(self, body: bytes, writer: asyncio.StreamWriter) -> None:
        body_faults = self.find_faults(body)
        if body_faults:
            self.faults += body_faults
            writer.write(_error(400, "; ".join(body_faults)))
            return
        try:
            answer = self.next_answer(body)
        except ModelRefused as error:
            writer.write(_error(400, str(error)))
            return
        await asyncio.sleep(answer.delay)
        if answer.error is not None:
            writer.write(_error(answer.error.status, answer.error.message, answer.error.retry_after))
            return
        writer.write(_HEAD)
        async for line in self.lines(answer):
            writer.write(line)
            await writer.drain()

    async def lines(self, answer: Answer) -> AsyncIterator[bytes]:
        """Yield the lines of an answer, event by event."""
        if answer.raw is not None:
            for raw in answer.raw:
                yield raw.encode("utf-8", "surrogateescape")
            return
        for number, event in enumerate(filter(self.can_send, answer.events())):
            if number == answer.cut:
                return
            if number == answer.silence:
                await asyncio.Event().wait()
            await asyncio.sleep(answer.delta_delay)
            yield self.encode_event(event)
        yield self.encode_end()

    def can_send(self, event: ModelEvent) -> bool:
        """Return whether the wire format has such an event."""
        return not isinstance(event, OpaquePartReceived)

    def encode_event(self, event: ModelEvent) -> bytes:
        return sse_event(msgspec.json.encode(chunk_of(event)))

    def encode_end(self) -> bytes:
        """Return the end of a complete stream."""
        return sse_event(b"[DONE]")


def chunk_of(event: ModelEvent) -> dict[str, Any]:
    """Convert an event to a chunk of the real wire format."""
    delta: dict[str, Any] = {}
    finish = None
    match event:
        case TextDelta(text=text):
            delta = {"content": text}
        case ReasoningTextDelta(text=text):
            delta = {"reasoning_content": text}
        case CallDelta():
            function = {"arguments": event.arguments, **({"name": event.tool} if event.tool else {})}
            call = {"index": event.index, "function": function}
            delta = {"tool_calls": [{**call, "id": event.id, "type": "function"} if event.id else call]}
        case Finished(reason=reason):
            finish = reason
        case UsageReported(usage=usage):
            return {"object": "chat.completion.chunk", "choices": [], "usage": _usage(usage)}
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _usage(usage: Usage) -> dict[str, int]:
    total = usage.input_tokens + usage.output_tokens
    return {"prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens, "total_tokens": total}


def _error(status: int, message: str, retry_after: str | None = None) -> bytes:
    kind = "invalid_request_error" if status == 400 else "error"
    body = msgspec.json.encode({"error": {"message": message, "type": kind, "param": None, "code": None}})
    wait = f"retry-after: {retry_after}\r\n" if retry_after else ""
    wait += f"date: {DATE}\r\n"
    head = f"HTTP/1.1 {status} Error\r\ncontent-type: application/json\r\nconnection: close\r\n{wait}"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


async def _main(path: Path) -> None:
    async with FakeProvider(load_script(path), strict=False) as provider:
        sys.stdout.write(provider.base_url + "\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1])))
