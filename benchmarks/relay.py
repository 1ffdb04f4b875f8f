"""The baseline of the server benchmarks: a bare Starlette relay, and a model whose pieces contain the time of writing.

`python -m benchmarks.relay PORT ADDRESS` relays, on any free port where PORT is 0; `python -m benchmarks.relay model
DELTAS DELAY` is the model. Each prints its address. No module of Pilothouse is imported: the relay shows the least
possible cost.
"""

import asyncio
import contextlib
import socket
import sys
import time
from collections.abc import AsyncIterator

import aiohttp
import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

_MODEL_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
_PIECE = (
    b'data: {"object":"chat.completion.chunk","choices":'
    b'[{"index":0,"delta":{"content":"%020d"},"finish_reason":null}]}\n\n'
)
_MODEL_END = (
    b'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    b"data: [DONE]\n\n"
)


class _Delta(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    delta: _Delta


class _Chunk(msgspec.Struct):
    choices: list[_Choice]


_CHUNK = msgspec.json.Decoder(_Chunk)
_ENCODER = msgspec.json.Encoder()


class Relay:
    """Request an answer and pass each piece on as an event, without storing it."""

    def __init__(self, address: str) -> None:
        self._url = address + "/chat/completions"
        self._session: aiohttp.ClientSession | None = None
        self.app = Starlette(
            routes=[
                Route("/api/health", self.health),
                Route("/chat", self.chat, methods=["POST"]),
                Route("/stream", self.stream),
            ]
        )

    async def health(self, _: Request) -> Response:
        return Response(b'{"status":"ok"}', media_type="application/json")

    async def chat(self, request: Request) -> Response:
        return StreamingResponse(self._events(await request.body()), media_type="text/event-stream")

    async def stream(self, _: Request) -> Response:
        return StreamingResponse(_silence(), media_type="text/event-stream")

    async def _events(self, body: bytes) -> AsyncIterator[bytes]:
        if self._session is None:
            self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        rest = b""
        async with self._session.post(self._url, data=body) as answer:
            async for part in answer.content.iter_any():
                *lines, rest = (rest + part).split(b"\n")
                for line in lines:
                    if line.startswith(b"data: {") and (text := _CHUNK.decode(line[6:]).choices[0].delta.content):
                        yield b"event: token\ndata: %b\n\n" % _ENCODER.encode({"text": text})
        yield b"event: done\ndata: {}\n\n"


async def _silence() -> AsyncIterator[bytes]:
    """Send one event and then none: the cost of an idle open stream."""
    yield b"event: state\ndata: {}\n\n"
    await asyncio.Event().wait()


class Model:
    """Answers every request with a number of pieces, each with the time of writing in nanoseconds (twenty digits). With
    a delay the pieces follow a schedule: a late piece does not delay the next."""

    def __init__(self, deltas: int, delay: float) -> None:
        self._deltas = deltas
        self._delay = delay

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n") if b": " in line)
            await reader.readexactly(int(fields.get(b"content-length", 0)))
            writer.write(_MODEL_HEAD)
            began = asyncio.get_running_loop().time()
            for number in range(self._deltas):
                if self._delay:
                    until = began + (number + 1) * self._delay
                    await asyncio.sleep(max(0.0, until - asyncio.get_running_loop().time()))
                writer.write(_PIECE % time.monotonic_ns())
                await writer.drain()
            writer.write(_MODEL_END)
        writer.close()


async def _model(deltas: int, delay: float) -> None:
    server = await asyncio.start_server(Model(deltas, delay).serve, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


def _relay(port: int, address: str) -> None:
    # The protocol is named: only then does asyncio send small pieces at once.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    listening.listen(socket.SOMAXCONN)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/", flush=True)
    config = uvicorn.Config(
        Relay(address).app,
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        timeout_keep_alive=60,
    )
    asyncio.run(uvicorn.Server(config).serve(sockets=[listening]))


if __name__ == "__main__":
    if sys.argv[1] == "model":
        asyncio.run(_model(int(sys.argv[2]), float(sys.argv[3])))
    else:
        _relay(int(sys.argv[1]), sys.argv[2])
