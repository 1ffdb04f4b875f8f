"""A server at an address of this machine that can misbehave: each of its tools is one way of going wrong."""

import asyncio
import contextlib
import json
import zlib
from collections.abc import AsyncIterator
from typing import Any

from aiohttp import web

TOOLS = ["echo", "hang", "big_json", "big_events", "packed", "odd_type", "endless_resume", "broken_off", "refused"]
READ_ONLY = {"readOnlyHint": True}


class FakeHttp:
    def __init__(self) -> None:
        self.session = "s1"
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.calls: list[str] = []
        self.calls_to_cut = 0
        """How many of the first calls lose their connection."""
        self.status: int | None = None
        self.redirect: str | None = None
        self.hangs_at_goodbye = False
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append((request.method, dict(request.headers)))
        if self.redirect is not None:
            return web.Response(status=307, headers={"location": self.redirect})
        if self.status is not None:
            return web.Response(status=self.status)
        if request.method == "DELETE":
            if self.hangs_at_goodbye:
                await asyncio.sleep(30)
            return web.Response(status=204)
        if request.method == "GET":
            return await self.events(request)
        message = await request.json()
        is_inside = message["method"] not in ("initialize", "server/discover") and "id" in message
        if is_inside and request.headers.get("mcp-session-id") != self.session:
            return web.Response(status=404)
        return await self.answer(request, message)

    async def events(self, request: web.Request) -> web.StreamResponse:
        if "last-event-id" in request.headers:  # a resumed stream ends again at once
            return await stream(request, b"id: 2\nretry: 0\ndata:\n\n")
        return web.Response(status=405)

    async def answer(self, request: web.Request, message: dict[str, Any]) -> web.StreamResponse:
        number, method, params = message.get("id"), message["method"], message.get("params", {})
        if number is None:
            return web.Response(status=202)
        if method == "initialize":
            info = {"name": "fake", "version": "1"}
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
            return told(number, result, {"mcp-session-id": self.session})
        if method == "tools/list":
            listed = [{"name": name, "inputSchema": {"type": "object"}, "annotations": READ_ONLY} for name in TOOLS]
            return told(number, {"tools": listed})
        if method == "tools/call":
            self.calls.append(params["name"])
            if len(self.calls) <= self.calls_to_cut:
                return cut_off(request)
            return await self.call(request, number, params["name"], params.get("arguments", {}))
        return web.json_response({"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "no"}})

    async def call(self, request: web.Request, number: Any, tool: str, arguments: dict[str, Any]) -> web.StreamResponse:
        match tool:
            case "echo":
                return told(number, {"content": [{"type": "text", "text": arguments.get("text", "")}]})
            case "big_json":
                return await stream(request, b"x" * 65536, 800, "application/json")
            case "big_events":
                return await stream(request, b"data: " + b"x" * 65536, 800)
            case "packed":
                headers = {"content-encoding": "gzip", "content-type": "application/json"}
                return web.Response(body=packed(), headers=headers)
            case "odd_type":
                return web.Response(text="<html>", content_type="text/html")
            case "endless_resume":
                return await stream(request, b"id: 1\nretry: 0\ndata:\n\n")
            case "broken_off":
                return cut_off(request)
            case "refused":
                return web.Response(status=403)
            case _:
                await asyncio.sleep(30)
                return web.Response()


def cut_off(request: web.Request) -> web.Response:
    """Reset the connection of a request instead of answering."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


def packed() -> bytes:
    """A little that becomes 100 MB."""
    packer = zlib.compressobj(wbits=31)
    return b"".join(packer.compress(b" " * 1_000_000) for _ in range(100)) + packer.flush()


def told(number: Any, result: dict[str, Any], headers: dict[str, str] | None = None) -> web.Response:
    text = json.dumps({"jsonrpc": "2.0", "id": number, "result": result})
    return web.Response(text=text, content_type="application/json", headers=headers)


async def stream(
    request: web.Request, chunk: bytes, times: int = 1, kind: str = "text/event-stream"
) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": kind})
    await response.prepare(request)
    with contextlib.suppress(ConnectionError):
        for _ in range(times):
            await response.write(chunk)
    return response


@contextlib.asynccontextmanager
async def serving() -> AsyncIterator[FakeHttp]:
    fake = FakeHttp()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", fake.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    (host, port) = runner.addresses[0][:2]
    fake.url = f"http://{host}:{port}/mcp"
    try:
        yield fake
    finally:
        await runner.cleanup()
