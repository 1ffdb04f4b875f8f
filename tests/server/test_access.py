"""Access to every route: made from the route table, over real sockets, so that no route can be forgotten."""

import asyncio
import dataclasses
import io
import logging
import os
import re
import socket
import stat
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from types import EllipsisType
from typing import Any, NamedTuple
from urllib.parse import urlencode

import aiohttp
import msgspec
import pytest

from pilothouse.api.views import Problem
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput, StoreDamaged
from pilothouse.domain.rules import Scope
from pilothouse.llm.script import Answer
from pilothouse.server import protocol
from pilothouse.server.app import MAX_BODY_BYTES, MAX_URL_BYTES
from pilothouse.server.logs import JsonLines
from pilothouse.server.routes import MEBIBYTE, ROUTES
from pilothouse.server.routing import EVENTS, HTML, JSON, Route
from pilothouse.server.serve import DEFAULT_HOST, DEFAULT_PORT, listen, make_server, make_server_state
from pilothouse.server.sign_in import FORM_TYPE
from pilothouse.server.tokens import MIN_TOKEN_LENGTH, Tokens
from pilothouse.storage.memory import MemoryStore
from pilothouse.system.ambient import SystemAmbient
from pilothouse.testing.ambient import ManualAmbient
from pilothouse.testing.served import TOKEN, Served
from pilothouse.testing.world import World
from tests.support.held_store import calls_answer
from tests.support.live_contexts import live_context
from tests.support.mcp_tools import builtin_tools_for_world, configuration, log_of, ready, runs, tool_server
from tests.support.scale import HANG_SECONDS

GUARDED = [route for route in ROUTES if not route.public]
PUBLIC = [route for route in ROUTES if route.public]
CHANGING = [route for route in ROUTES if route.method != "GET"]
WITH_BODY = [route for route in ROUTES if route.signature.body is not None]
IN_CONTEXT = [route for route in ROUTES if "{context_id}" in route.path]
FORMS = (
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/plain",
    "text/plain;charset=utf-8",
    "TEXT/PLAIN",
)
PARAMETERS = {"name": "notes.txt", "mode": "plan"}
BEARER = {"authorization": f"Bearer {TOKEN}"}
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
A_MINUTE = 61.0
MORE_THAN_BUFFERS = 32 * 1024 * 1024


class Reply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def code(self) -> str:
        return msgspec.json.decode(self.body, type=Problem).code


class AccessFixture:
    """A server with one context of the local user's, which waits for them to decide a call. A command has changed a
    file there and printed much; the folder has its own configuration; an MCP server has tools."""

    def __init__(self, folder: Path, world: World, served: Served, http: aiohttp.ClientSession) -> None:
        self.folder = folder
        self.world = world
        self.served = served
        self.http = http
        self.ids: dict[str, str] = {}
        self.base_path = served.server_state.access.base_path

    async def furnish(self) -> None:
        runtime = self.world.runtime
        rule = await runtime.rules.give("deny", Scope(tool="another"))
        context_id = await self.world.start("agent")
        await self.world.turn(context_id, "print")
        (printed,) = (await runtime.calls.read(context_id)).items
        await runtime.modes.switch(context_id, "supervised")
        await self.world.turn(context_id, "go")
        await runtime.messages.send(context_id, "later", queue=True)
        await runtime.branches.create(context_id, "try")
        (call,) = await runtime.calls.pending(context_id)
        (message,) = await runtime.messages.read(context_id, branch="main", limit=1)
        ids = {"context_id": context_id, "call_id": call.id, "message_id": message.id, "rule_id": rule.id}
        self.ids = {
            **ids,
            "tab_id": context_id,
            "thread_id": context_id,
            "branch": "main",
            "source": "try",
            "prompt_name": "review",
        }
        self.printed = printed.id
        self.digest = (await runtime.workspaces.trust_status(context_id)).digest

    def path(self, route: Route, **ids: str) -> str:
        """With real ids in it, and with the parameters that there must be."""
        query = route.signature.query
        fields = msgspec.structs.fields(query) if query is not None else ()
        needed = "&".join(f"{field.name}={PARAMETERS[field.name]}" for field in fields if field.required)
        names = {"tools": "look", "servers": "docs", "assets": "docs.css"}
        named = {"name": next((name for part, name in names.items() if f"/{part}/{{name}}" in route.path), "")}
        about = {"call_id": self.printed} if route.path.endswith("/output") else {}
        return route.path.format_map({**self.ids, **named, **about, **ids}) + (f"?{needed}" if needed else "")

    def body(self, route: Route) -> bytes | None:
        if route.signature.body is None:
            return None
        if route.signature.body is bytes:
            return b"x"
        if route.path.endswith("/trust"):
            return msgspec.json.encode({"digest": self.digest})
        text = msgspec.json.encode(route.body_example).decode()
        return text.replace("0190c8f2-7c1a-7abc-8def-0123456789ab", self.ids["context_id"]).encode()

    async def ask(
        self,
        route: Route,
        headers: Mapping[str, str] = BEARER,
        *,
        method: str | None = None,
        path: str | None = None,
        body: bytes | EllipsisType | None = ...,
    ) -> Reply:
        """A request as a client would send it, except for the given parts."""
        data = self.body(route) if body is ... else body
        typed = {"content-type": route.takes} if data is not None else {}
        return await self.get(path or self.path(route), {**typed, **headers}, method=method or route.method, data=data)

    async def get(
        self, path: str, headers: Mapping[str, str] = BEARER, *, method: str = "GET", data: bytes | None = None
    ) -> Reply:
        async with self.http.request(
            method,
            self.base_path + path,
            headers=headers,
            data=None if data is None else io.BytesIO(data),
            allow_redirects=False,
            skip_auto_headers=["content-type", "user-agent"],
        ) as answer:
            is_endless = answer.content_type == EVENTS
            body = b"" if is_endless else await answer.read()
            return Reply(answer.status, answer.headers.copy(), body)

    async def cookie(self) -> dict[str, str]:
        return await self.sign_in(token=TOKEN)

    async def submit(self, headers: Mapping[str, str] | None = None, **fields: str) -> Reply:
        """Send the form of the sign-in page, as a browser does."""
        sent = {"origin": self.origin, "content-type": FORM_TYPE, **(headers or {})}
        return await self.get("/", sent, method="POST", data=urlencode(fields).encode())

    async def sign_in(self, headers: Mapping[str, str] | None = None, **fields: str) -> dict[str, str]:
        """The cookie of a browser that has sent the form."""
        reply = await self.submit(headers, **fields)
        assert (reply.status, reply.headers["location"]) == (303, f"{self.base_path}/"), reply
        return {"cookie": reply.headers["set-cookie"].partition(";")[0]}

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.served.port}"

    async def everything(self) -> object:
        """Everything that a request could change."""
        runtime = self.world.runtime
        contexts = (await runtime.contexts.list(limit=200)).items
        lives = [await live_context(runtime, each.context_id) for each in contexts]
        return (
            [(live.id, live.version, live.state) for live in lives],
            await self.served.server_state.sessions.get("local"),
            await runtime.rules.read(),
            [(path, path.read_bytes() if path.is_file() else b"") for path in sorted(self.folder.rglob("*"))],
            [await runtime.workspaces.trust_status(each.context_id) for each in contexts],
            [(each.name, each.status, each.restarts) for each in await runtime.mcp_servers.read()],
            log_of(self.folder / "docs"),
            list(self.world.change.ran),
        )


@asynccontextmanager
async def access_fixture(
    folder: Path, *, heartbeat: float = 15.0, server: Mapping[str, Any] | None = None, **options: Any
) -> AsyncIterator[AccessFixture]:
    """`server` has arguments of `make_server_state`."""
    workspace = folder / "workspace"
    (workspace / ".pilothouse").mkdir(parents=True)
    (workspace / ".pilothouse" / "config.toml").write_text('[directories]\ndeploy = "plan"\n')
    (workspace / "notes.txt").write_text("before")
    (folder / "page").mkdir()
    (folder / "page/index.html").write_text("<!doctype html><title>Pilothouse</title>")
    own = configuration(folder)
    world = World(
        workspace,
        runs("printf after > notes.txt; seq 1 20000"),
        Answer(text="Printed."),
        calls_answer(("change", "a")),
        *[Answer(text="Well.")] * 50,
        tools=[tool for tool in builtin_tools_for_world() if tool.name == "execute"],
        store=options.pop("store", None) or MemoryStore(folder / "kept"),
        trust=own,
        workspace_policy=own.workspace_policy,
        mcp=[tool_server(folder / "docs")],
        **options,
    )
    async with (
        world.runtime,
        Served(
            world.runtime, [workspace], limits={"heartbeat": heartbeat}, web_folder=folder / "page", **(server or {})
        ) as served,
        aiohttp.ClientSession(served.url, cookie_jar=aiohttp.DummyCookieJar()) as http,
    ):
        new_house = AccessFixture(folder, world, served, http)
        await ready(world.runtime, "docs")
        await new_house.furnish()
        yield new_house


def named(route: Route) -> str:
    return f"{route.method} {route.path}"


class _Refusals:
    """Collects unexpected responses, so that one run names all of them."""

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self.count = 0

    def check(self, reply: Reply, status: int, code: str, *about: object) -> None:
        self.count += 1
        is_page = reply.headers.get("content-type", "").startswith(HTML)
        is_bare = about[0] == "HEAD" or (is_page and status == 401)
        if reply.status != status or (not is_bare and reply.code != code):
            self.wrong.append(f"{about}: {reply.status} {reply.body[:200]!r}")


@asynccontextmanager
async def refusing(here: AccessFixture) -> AsyncIterator[_Refusals]:
    """Check that every request was refused as expected and changed nothing."""
    refusals = _Refusals()
    before = await here.everything()
    yield refusals
    assert refusals.count
    assert refusals.wrong == []
    assert await here.everything() == before


# every route


async def test_every_route_answers_with_the_token(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        before = await here.everything()
        for route in sorted(ROUTES, key=lambda route: route.method == "DELETE"):
            reply = await here.ask(route)
            assert reply.status not in (401, 403, 405, 413, 415, 421, 429, 500), (named(route), reply)
        assert await here.everything() != before


async def test_the_fixture_has_data_for_the_routes_of_folders_and_servers(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        about = ("/trust", "/undo", "/output", "/mcp/servers", "/resources", "/prompts/{prompt_name}", "/tools/{name}")
        routes = [route for route in ROUTES if route.path.endswith(about) and "/compress/" not in route.path]
        assert len(routes) == 9
        for route in routes:
            reply = await here.ask(route)
            assert reply.status == 200, (named(route), reply)


async def test_every_route_refuses_a_request_without_a_valid_token(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here, refusing(here) as refusals:
        cookie = (await here.cookie())["cookie"].partition("=")[2]
        name = here.served.server_state.access.cookie_name
        for route in GUARDED:
            for headers in (
                {},
                {"authorization": "Bearer another-token-than-that"},
                {"authorization": "Bearer "},
                {"authorization": f"Basic {TOKEN}"},
                {"authorization": f"Token {TOKEN}"},
                {"authorization": TOKEN},
                {"authorization": f"Bearer {cookie}"},
                {"cookie": f"{name}={TOKEN}"},
                {"cookie": f"{name}={cookie[:-1]}"},
                {"cookie": f"{name}x={cookie}"},
                {"cookie": f"{name}=", "origin": here.origin},
                {"authorization": "Bearer another-token-than-that", "cookie": f"{name}={cookie}"},
            ):
                here.world.ambient.advance(A_MINUTE)
                reply = await here.ask(route, headers)
                refusals.check(reply, 401, Code.UNAUTHORIZED, route.method, route.path, headers)


async def test_a_page_of_another_site_is_refused_on_every_route_and_method(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here, refusing(here) as refusals:
        port = here.served.port
        foreign = (
            "http://evil.example",
            "null",
            "",
            "file://",
            f"http://evil.example:{port}",
            f"http://127.0.0.1:{port + 1}",
            "http://127.0.0.1",
            f"http://localhost:{port}",
            f"http://127.0.0.1:{port}.evil.example",
            f"http://127.0.0.1:{port}@evil.example",
            f"ftp://127.0.0.1:{port}",
        )
        for credentials in (BEARER, await here.cookie()):
            for route in ROUTES:
                for origin in foreign:
                    reply = await here.ask(route, {**credentials, "origin": origin})
                    refusals.check(reply, 403, Code.FOREIGN_ORIGIN, route.method, route.path, origin)
                for method in ("OPTIONS", "HEAD"):
                    preflight = {"origin": foreign[0], "access-control-request-method": route.method}
                    reply = await here.ask(route, {**credentials, **preflight}, method=method, body=None)
                    refusals.check(reply, 403, Code.FOREIGN_ORIGIN, method, route.path)


async def test_a_cross_site_request_is_refused_on_every_route(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here, refusing(here) as refusals:
        for credentials in (BEARER, await here.cookie()):
            for route in ROUTES:
                for site in ("cross-site", "same-site", "whatever"):
                    for more in ({}, {"origin": here.origin}, {"sec-fetch-mode": "navigate"}):
                        if route.path == "/" and "sec-fetch-mode" in more:
                            continue  # somebody follows a link to the page
                        reply = await here.ask(route, {**credentials, "sec-fetch-site": site, **more})
                        refusals.check(reply, 403, Code.FOREIGN_ORIGIN, route.method, route.path, site, more)


async def test_a_foreign_host_header_is_refused_on_every_route(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here, refusing(here) as refusals:
        port = here.served.port
        for route in ROUTES:
            for host in (
                "evil.example",
                f"evil.example:{port}",
                f"127.0.0.1.evil.example:{port}",
                f"localhost.evil.example:{port}",
                f"evil.example@127.0.0.1:{port}",
                f"192.168.1.10:{port}",
                f"0.0.0.0:{port}",
                f"127.0.0.2:{port}",
                f"[::2]:{port}",
                "",
            ):
                reply = await here.ask(route, {**BEARER, "host": host, "origin": f"http://{host}"})
                refusals.check(reply, 421, Code.FOREIGN_HOST, route.method, route.path, host)


async def test_form_content_types_are_refused_on_every_changing_route(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here, refusing(here) as refusals:
        own = {**await here.cookie(), "origin": here.origin, "sec-fetch-site": "same-origin"}
        for credentials in (BEARER, own):
            for route in CHANGING:
                for form in FORMS:
                    for body in (here.body(route), b"a=b", b"", None):
                        reply = await here.ask(route, {**credentials, "content-type": form}, body=body)
                        refusals.check(reply, 415, Code.UNSUPPORTED_TYPE, route.method, route.path, form)


async def test_a_body_without_a_type_is_refused_on_every_route_that_changes_something(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here, refusing(here) as refusals:
        for route in CHANGING:
            sent = here.body(route) or b"{}"
            reply = await here.get(here.path(route), method=route.method, data=sent)
            refusals.check(reply, 415, Code.UNSUPPORTED_TYPE, route.method, route.path)


async def test_no_changing_route_answers_get_or_head(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here, refusing(here) as refusals:
        credentials = {**BEARER, **await here.cookie()}
        for route in CHANGING:
            segments = here.path(route).partition("?")[0].split("/")[1:]
            siblings = [
                each for each in ROUTES if len(each.segments) == len(segments) and each.match(segments) is not None
            ]
            for body in (None, here.body(route)):
                reply = await here.ask(route, credentials, method="HEAD", body=body)
                refusals.check(reply, 405, Code.METHOD_NOT_ALLOWED, "HEAD", route.path)
                assert route.method in reply.headers["allow"]
                reply = await here.ask(route, credentials, method="GET", body=body)
                if not any(each.method == "GET" for each in siblings):
                    refusals.check(reply, 405, Code.METHOD_NOT_ALLOWED, "GET", route.path)


async def test_a_cookie_alone_changes_nothing_without_an_origin(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        cookie = await here.cookie()
        async with refusing(here) as refusals:
            for route in CHANGING:
                reply = await here.ask(route, cookie)
                refusals.check(reply, 403, Code.FOREIGN_ORIGIN, route.method, route.path)
        for route in sorted(ROUTES, key=lambda route: route.method == "DELETE"):
            more = {"origin": here.origin} if route.method != "GET" else {}
            reply = await here.ask(route, {**cookie, **more})
            assert reply.status not in (401, 403, 405, 413, 415, 421, 429, 500), (named(route), reply)


async def test_every_answer_carries_the_headers_that_keep_a_browser_safe(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        statuses = set()

        async def check(reply: Reply) -> None:
            statuses.add(reply.status)
            is_form = reply.headers.get("content-type", "").startswith(HTML) and reply.status in (401, 429)
            expected = {**HEADERS, "referrer-policy": "strict-origin"} if is_form else HEADERS
            assert {name: reply.headers.get(name) for name in HEADERS} == expected
            assert reply.headers["cache-control"] in ("no-store", "no-cache")
            policy = dict(part.split(" ", 1) for part in reply.headers["content-security-policy"].split("; "))
            assert policy["default-src"] == "'none'"
            assert policy["script-src"] == policy["connect-src"] == "'self'"
            assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
            assert policy["form-action"] == ("'self'" if is_form else "'none'")
            assert "unsafe" not in reply.headers["content-security-policy"]
            assert "*" not in reply.headers["content-security-policy"]
            assert not [name for name in reply.headers if name.lower().startswith("access-control-")]
            assert "server" not in reply.headers

        for route in sorted(ROUTES, key=lambda route: route.method == "DELETE"):
            own = {**BEARER, "origin": here.origin}
            for headers in ({}, {**own, "host": "evil.example"}, {**BEARER, "origin": "http://evil.example"}):
                await check(await here.ask(route, headers))
            preflight = {
                "access-control-request-method": route.method,
                "access-control-request-headers": "authorization",
            }
            for headers in (own, {"origin": here.origin}):
                await check(await here.ask(route, {**headers, **preflight}, method="OPTIONS", body=None))
            await check(await here.ask(route, BEARER, method="HEAD", body=None))
            if route in CHANGING:
                await check(await here.ask(route, {**BEARER, "content-type": "text/plain"}))
            if route.takes == JSON and route in WITH_BODY:
                await check(await here.ask(route, own, body=b"{"))
                await check(await here.ask(route, own, body=b'{"nothing": 1}'))
            await check(await here.ask(route, own))
        await check(await here.get("/nowhere"))
        await check(await here.get("/api/modes?" + "x" * MAX_URL_BYTES))
        for _ in range(12):
            await check(await here.get("/", {"authorization": "Bearer wrong"}))
        await check(await here.submit(token=TOKEN))
        assert statuses >= {200, 201, 204, 400, 401, 403, 404, 405, 409, 414, 415, 421, 422, 429}


async def test_a_malformed_request_is_answered_with_the_security_headers(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        for nonsense in (b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\nno header\r\n\r\n", b"\x16\x03\x01\x02\x00\x01"):
            async with raw(here) as (reader, writer):
                writer.write(nonsense)
                reply = await reply_of(reader)
                assert reply.status == 400
                assert {name: reply.headers.get(name) for name in HEADERS} == HEADERS
                assert "content-security-policy" in reply.headers


# another user


async def test_another_users_context_is_404_on_every_route(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        anna = {"authorization": f"Bearer {here.served.tokens.add('anna')}"}
        nothing = {**here.ids, "context_id": "no-such-context"}
        async with refusing(here) as refusals:
            for route in IN_CONTEXT:
                reply = await here.ask(route, anna)
                refusals.check(reply, 404, Code.UNKNOWN_CONTEXT, route.method, route.path)
                absent = await here.ask(route, anna, path=here.path(route, **nothing))
                alike = absent.body.replace(b"no-such-context", here.ids["context_id"].encode())
                assert reply.body == alike, "nothing tells whether somebody else has one of that id"


async def test_another_users_context_is_404_in_every_body_and_query(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        anna = {"authorization": f"Bearer {here.served.tokens.add('anna')}", "content-type": JSON}
        foreign = here.ids["context_id"]
        say = {"messages": [{"role": "user", "content": "x"}], "metadata": {"context_id": foreign}}
        scope = {"effect": "allow", "scope": {"tool": "change"}, "context_id": foreign}
        tabs = {"version": 0, "open_contexts": [{"context_id": foreign}]}
        async with refusing(here) as refusals:
            for method, path, body in (
                ("POST", "/v1/chat/completions", say),
                ("POST", "/v1/chat/completions", {**say, "stream": True}),
                ("POST", "/api/rules", scope),
                ("GET", f"/api/rules?context_id={foreign}", None),
                ("DELETE", f"/api/rules/{here.ids['rule_id']}?context_id={foreign}", None),
                ("PUT", "/api/session", tabs),
                ("PUT", "/api/session", {"version": 0, "active_context_id": foreign}),
                ("PUT", "/api/session/active-context", {"context_id": foreign}),
                ("POST", "/api/session/open-contexts", {"context_id": foreign}),
                ("POST", f"/api/chat/{foreign}/resume", {"decisions": [{"type": "approve"}]}),
            ):
                data = msgspec.json.encode(body) if body is not None else None
                reply = await here.get(path, anna, method=method, data=data)
                refusals.check(reply, 404, Code.UNKNOWN_CONTEXT, method, path)
            reply = await here.get(f"/api/rules/{here.ids['rule_id']}", anna, method="DELETE")
            refusals.check(reply, 404, Code.UNKNOWN_RULE, "DELETE", "a rule of somebody else")
            for path in ("/api/contexts", f"/api/contexts?parent={foreign}", "/api/rules"):
                assert msgspec.json.decode((await here.get(path, anna)).body)["items"] == []
            async with here.http.get(f"/api/stream?contexts={foreign}", headers=anna) as stream:
                first = await stream.content.readuntil(b"\n\n")
                assert first.startswith(b"event: Error\n")
                assert f'"code":"{Code.UNKNOWN_CONTEXT}"'.encode() in first


# tokens


NEARLY = (
    TOKEN[:-1],
    TOKEN[1:],
    TOKEN + "x",
    TOKEN + TOKEN,
    f"{TOKEN} x",
    f"x {TOKEN}",
    f"{TOKEN},{TOKEN}",
    TOKEN.upper(),
    TOKEN.replace("a", "а"),  # Cyrillic
    TOKEN.replace("o", "ö"),
    TOKEN + "\u200b",
    "x" * 8000,
)


async def test_a_token_that_is_nearly_right_is_wrong(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here, refusing(here) as refusals:
        for token in NEARLY:
            here.world.ambient.advance(A_MINUTE)
            reply = await here.get("/api/health", {"authorization": f"Bearer {token}"})
            refusals.check(reply, 401, Code.UNAUTHORIZED, "GET", token)
            assert reply.headers["www-authenticate"] == "Bearer"


async def test_ten_wrong_tokens_a_minute_throttle_an_address_but_not_a_valid_token(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        ambient = here.world.ambient
        name = here.served.server_state.access.cookie_name
        wrong: list[Callable[[int], Awaitable[Any]]] = [
            lambda number: here.get("/api/health", {"authorization": f"Bearer wrong-{number}"}),
            lambda number: here.get("/api/health", {"cookie": f"{name}=wrong-{number}"}),
            lambda number: here.get("/", {"authorization": f"Bearer wrong-{number}"}),
        ]
        for number in range(10):
            assert (await wrong[number % 3](number)).status == 401
        assert ambient.slept == []
        for number in range(30):
            assert (await here.get("/api/health", {})).status == 401, "no token is no attempt"
            reply = await wrong[number % 3](number)
            assert reply.status == 429
            assert 1 <= int(reply.headers["retry-after"]) <= 60
            assert ambient.slept == [1.0] * (number + 1), "each of them waits for its answer"
            assert (await here.get("/api/health")).status == 200
            assert (await here.submit(token=TOKEN)).status == 303
        ambient.advance(A_MINUTE)
        for make in wrong:
            assert (await make(0)).status == 401


async def test_forwarded_headers_do_not_evade_the_limit_on_wrong_tokens(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        statuses = []
        for number in range(12):
            named = {"x-forwarded-for": f"192.0.2.{number}", "forwarded": f"for=192.0.2.{number}"}
            reply = await here.get("/api/health", {**named, "authorization": f"Bearer wrong-{number}"})
            statuses.append(reply.status)
        assert statuses == [401] * 10 + [429] * 2


async def test_a_user_who_is_removed_is_refused_at_once_and_their_stream_ends(tmp_path: Path) -> None:
    world = World(tmp_path)
    tokens = Tokens(tmp_path / "tokens.json", world.ambient, TOKEN)
    anna = {"authorization": f"Bearer {tokens.add('anna')}"}
    async with world.runtime, impatient(world, tokens, 0.05) as url, aiohttp.ClientSession(url) as http:
        async with http.get("/api/health", headers=anna) as answer:
            assert answer.status == 200
        async with http.get("/api/stream", headers=anna) as theirs, http.get("/api/stream", headers=BEARER) as ours:
            assert await theirs.content.readuntil(b"\n\n")
            Tokens(tokens.path, SystemAmbient(), TOKEN).remove("anna")  # as another process does it
            async with http.get("/api/health", headers=anna) as answer:
                assert answer.status == 401
            await theirs.content.read()
            beats = 0
            while beats < 3:  # the others go on
                beats += await ours.content.readuntil(b"\n\n") == b": \n\n"


async def test_a_removed_user_receives_no_further_events(tmp_path: Path) -> None:
    world = World(tmp_path)
    tokens = Tokens(tmp_path / "tokens.json", world.ambient, TOKEN)
    anna = {"authorization": f"Bearer {tokens.add('anna')}"}
    async with world.runtime, impatient(world, tokens, 0.5) as url, aiohttp.ClientSession(url) as http:
        context_id = await world.runtime.contexts.create(tmp_path, by="anna")
        is_over = asyncio.Event()

        async def talk() -> None:
            while not is_over.is_set():
                await world.runtime.contexts.change(context_id, title=world.ambient.new_id())
                await asyncio.sleep(0.001)

        talking = asyncio.create_task(talk())
        try:
            async with http.get(f"/api/contexts/{context_id}/stream", headers=anna) as stream:
                assert await stream.content.readuntil(b"\n\n")
                tokens.remove("anna")
                async with asyncio.timeout(HANG_SECONDS):
                    await stream.content.read()
        finally:
            is_over.set()
            await talking


@asynccontextmanager
async def impatient(world: World, tokens: Tokens, heartbeat: float) -> AsyncIterator[str]:
    """A server that looks after its streams more often than usual."""
    listening = listen(DEFAULT_HOST, 0, tokens)
    port = listening.getsockname()[1]
    usual = make_server_state(world.runtime, tokens, host=DEFAULT_HOST, port=port)
    server_state = dataclasses.replace(usual, heartbeat=heartbeat)
    server = make_server(server_state, lambda: None)
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield f"http://{DEFAULT_HOST}:{port}"
    finally:
        server_state.stopping.set()
        server.should_exit = True
        await task


def test_only_the_owner_can_read_the_token_file(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "data" / "tokens.json", ManualAmbient())
    before = os.umask(0)
    try:
        tokens.prepare()
        assert mode_of(tokens.path) == 0o600
        assert mode_of(tokens.path.parent) == 0o700
        tokens.add("anna")
        assert mode_of(tokens.path) == 0o600
        os.chmod(tokens.path, 0o644)
        tokens.remove("anna")
        assert mode_of(tokens.path) == 0o600
    finally:
        os.umask(before)
    assert os.listdir(tokens.path.parent) == ["tokens.json"], "no draft is left behind"


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_generated_token_is_stored_and_long(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    token = Tokens(path, SystemAmbient()).add("anna")
    Tokens(path, SystemAmbient()).prepare()
    assert Tokens(path, SystemAmbient()).user_of(token) == "anna"
    assert len(token) >= 2 * MIN_TOKEN_LENGTH
    assert Tokens(path, SystemAmbient()).add("otto") != token


DAMAGED = (
    b"",
    b"{",
    b"[]",
    b"null",
    b"\xff\xfe",
    b'{"local": 1}',
    b'{"local": ""}',
    b'{"local": "short"}',
    b'{"local": "with space and long"}',
    b'{"../local": "a-token-that-is-long-enough"}',
    b'{"anna": "a-token-that-is-long-enough", "local": null}',
    b"{" * 100_000,
    b'{"format": 3, "tokens": {}}',
    b'{"format": 2, "tokens": {"local": "in-clear-and-long-enough"}}',
    b'{"format": 2, "tokens": {"../local": "%s"}}' % (b"0" * 64),
    b'{"format": 2, "tokens": {"a": "%s", "b": "%s"}}' % (b"0" * 64, b"0" * 64),
    b'{"format": 2, "tokens": {}, "more": 1}',
)


async def test_a_damaged_token_file_is_reported_and_grants_no_access(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        tokens = here.served.tokens
        anna = tokens.add("anna")
        content = tokens.path.read_bytes()
        cookie = await here.cookie()
        for damage in DAMAGED:
            async with refusing(here) as refusals:
                tokens.path.write_bytes(damage)
                replies = []
                with logged(tokens) as log:
                    for headers in (BEARER, {"authorization": f"Bearer {anna}"}, {"authorization": "Bearer "}, cookie):
                        replies.append(await here.get("/api/contexts", headers))
                    pages = [await here.submit(token=token) for token in (TOKEN, anna, "a-token-that-is-long-enough")]
                    pages.append(await here.get("/?code=anything", {}))
                for reply in pages:
                    assert reply.status == 503
                    assert "set-cookie" not in reply.headers
                for reply in replies:
                    refusals.check(reply, 503, Code.TOKENS_DAMAGED, "GET", damage[:40])
                    assert str(tokens.path).encode() not in reply.body, "nobody has shown a token yet"
                assert str(tokens.path) in log.getvalue(), "who runs it is told which file it is"
                assert (await here.get("/api/contexts", {})).status == 401
                for work in (lambda: tokens.add("otto"), lambda: tokens.remove("anna"), tokens.prepare):
                    with pytest.raises(StoreDamaged, match=re.escape(str(tokens.path))):
                        work()
                assert tokens.path.read_bytes() == damage, "what is damaged is not written over"
            tokens.path.write_bytes(content)
            assert (await here.get("/api/contexts", {"authorization": f"Bearer {anna}"})).status == 200


# logs


class LeakingStore(MemoryStore):
    """A route with a bug whose message contains secrets."""

    async def document(self, user: str, name: str) -> bytes | None:
        if user == "anna":
            raise RuntimeError(f"no idea what to do with {TOKEN} of {user}")
        return await super().document(user, name)


async def test_no_line_of_the_log_contains_a_token(tmp_path: Path) -> None:
    async with access_fixture(tmp_path, store=LeakingStore()) as here:
        tokens = here.served.tokens
        anna = tokens.add("anna")
        with logged(tokens) as log:
            cookie = await here.cookie()
            for route in ROUTES:
                await here.ask(route, {"authorization": f"Bearer {anna}"})
            for token in (TOKEN, anna):
                for path in (f"/?code={token}", f"/{token}", f"/api/contexts/{token}", f"/api/modes?x={token}"):
                    for headers in (BEARER, cookie, {}, {**BEARER, "origin": token}, {"host": token}):
                        await here.get(path, headers)
            reply = await here.get("/api/session", {"authorization": f"Bearer {anna}"})
            assert (reply.status, reply.code) == (500, Code.INTERNAL)
            assert TOKEN.encode() not in reply.body
            async with raw(here) as (reader, writer):
                writer.write(f"nonsense {TOKEN}\r\n\r\n".encode())
                await reader.read()
        written = log.getvalue()
        assert TOKEN not in written
        assert anna not in written
        assert cookie["cookie"].partition("=")[2] not in written
        lines = [msgspec.json.decode(line) for line in written.splitlines()]
        assert len([line for line in lines if line["message"] == "request"]) > len(ROUTES)
        failures = [line for line in lines if "trace" in line]
        assert any("no idea what to do with [hidden] of anna" in line["trace"] for line in failures)


@contextmanager
def logged(tokens: Tokens) -> Iterator[io.StringIO]:
    """The whole log, as the server writes it."""
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    handler.setFormatter(JsonLines(tokens.secrets))
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield log
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


# bounds


async def test_an_address_that_is_too_long_is_refused(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here, refusing(here) as refusals:
        for path in ("/api/modes?x=", "/api/contexts/", "/"):
            for length in (MAX_URL_BYTES + 2, 3 * MAX_URL_BYTES):
                reply = await here.get(path.ljust(length, "x"))
                refusals.check(reply, 414, Code.QUERY_TOO_LARGE, "GET", path, length)
        assert (await here.get("/api/modes?x=".ljust(MAX_URL_BYTES, "x"))).status != 414


async def test_an_oversized_content_length_is_refused_before_the_body_is_sent(
    tmp_path: Path,
) -> None:
    async with access_fixture(tmp_path) as here, refusing(here) as refusals:
        for route in WITH_BODY:
            limit = route.limit or MAX_BODY_BYTES
            path = here.path(route)
            async with raw(here) as (reader, writer):
                writer.write(head(route.method, path, **{"content-type": route.takes, "content-length": limit + 1}))
                refusals.check(await reply_of(reader), 413, Code.BODY_TOO_LARGE, route.method, path)
                assert await reader.read() == b"", "the connection is closed"


async def test_a_body_that_grows_too_large_is_refused(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here, refusing(here) as refusals, raw(here) as (reader, writer):
        writer.write(head("POST", "/api/contexts", **{"content-type": JSON, "transfer-encoding": "chunked"}))
        for _ in range(MAX_BODY_BYTES // MEBIBYTE):
            writer.write(f"{MEBIBYTE:x}\r\n".encode() + b" " * MEBIBYTE + b"\r\n")
            await writer.drain()
        writer.write(b"1\r\n \r\n")  # no end follows: the bytes received so far are refused
        refusals.check(await reply_of(reader), 413, Code.BODY_TOO_LARGE, "POST", "/api/contexts")
        assert await reader.read() == b"", "the connection is closed"


async def test_a_large_body_that_is_refused_costs_neither_the_answer_nor_the_connection(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here, refusing(here) as refusals:
        for body, status, code in (
            ({"authorization": "Bearer wrong"}, 401, Code.UNAUTHORIZED),
            ({"content-type": "text/plain"}, 415, Code.UNSUPPORTED_TYPE),
            ({}, 404, Code.UNKNOWN_CONTEXT),
        ):
            async with raw(here) as (reader, writer):
                typed = {"content-type": "application/octet-stream", "content-length": MEBIBYTE}
                writer.write(head("POST", "/api/contexts/none/files?name=x", **{**typed, **body}))
                writer.write(b"x" * MEBIBYTE)
                refusals.check(await reply_of(reader), status, code, "POST", body)
                writer.write(head("GET", "/api/health"))
                assert (await reply_of(reader)).status == 200, "the connection is as good as before"


MORE = b"x-more: " + b"y" * 1000 + b"\r\n"


@pytest.mark.parametrize("piece", [MORE, b"y" * 1000], ids=["many headers", "one header"])
@pytest.mark.parametrize("is_first", [True, False], ids=["at first", "after another request"])
async def test_headers_without_end_are_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: bytes, is_first: bool
) -> None:
    monkeypatch.setattr(protocol, "MAX_HEADER_SECONDS", 3600.0)  # no timeout ends the connection
    async with access_fixture(tmp_path) as here:
        async with raw(here) as (reader, writer):
            if not is_first:
                writer.write(head("GET", "/api/health"))
                assert (await reply_of(reader)).status == 200
            writer.write(head("GET", "/api/health")[:-2] + b"x-first: ")
            writer.write(piece * (2 * protocol.MAX_HEADER_BYTES // len(piece)))
            assert await rest_of(reader) == b""
        assert (await here.get("/api/health")).status == 200


async def test_headers_without_end_behind_an_open_stream_are_cut_off_or_not_read(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        async with raw(here) as (reader, writer):
            writer.write(head("GET", "/api/stream"))
            await reader.readuntil(b"\n\n")
            writer.write(head("GET", "/api/health")[:-2])
            taken = 0
            with suppress(ConnectionError, TimeoutError):
                while taken < MORE_THAN_BUFFERS:
                    writer.write(MORE * 100)
                    async with asyncio.timeout(1):
                        await writer.drain()
                    taken += len(MORE) * 100
            assert taken < MORE_THAN_BUFFERS
        assert (await here.get("/api/health")).status == 200


async def rest_of(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read()
    except ConnectionError:
        return b""


async def test_connections_with_endless_headers_affect_no_other_client(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        slow = [await asyncio.open_connection(DEFAULT_HOST, here.served.port) for _ in range(200)]
        try:
            for number, (_, writer) in enumerate(slow):
                writer.write((b"", b"GET", head("GET", "/api/health")[:-2], b"\r\n")[number % 4])
                await writer.drain()
            for route in [route for route in ROUTES if route.method == "GET"]:
                async with asyncio.timeout(HANG_SECONDS):
                    assert (await here.ask(route)).status == 200, named(route)
            reader, writer = slow[198]  # the oldest were dropped: the server holds 128 connections without a token
            writer.write(b"\r\n")
            assert (await reply_of(reader)).status == 200, "whoever ends them after all is answered"
        finally:
            for _, writer in slow:
                writer.transport.abort()


@pytest.mark.parametrize("start_of_it", [b"", b"GET /", b"GET / HTTP/1.1\r\nhost: x\r\n"])
async def test_a_connection_with_unfinished_headers_times_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start_of_it: bytes
) -> None:
    monkeypatch.setattr(protocol, "MAX_HEADER_SECONDS", 0.2)
    async with access_fixture(tmp_path) as here, raw(here) as (reader, writer):
        writer.write(start_of_it)
        assert await rest_of(reader) == b""


@asynccontextmanager
async def raw(here: AccessFixture) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection(DEFAULT_HOST, here.served.port)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


def head(method: str, path: str, **headers: object) -> bytes:
    lines = {"host": DEFAULT_HOST, **BEARER, **headers}
    return (
        f"{method} {path} HTTP/1.1\r\n".encode()
        + b"".join(f"{name}: {value}\r\n".encode() for name, value in lines.items())
        + b"\r\n"
    )


async def reply_of(reader: asyncio.StreamReader) -> Reply:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().removesuffix("\r\n\r\n").split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Reply(int(first.split(" ")[1]), headers, body)


# listening


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.10", "example.org", "0", "127.0.0.1.example.org"])
def test_listening_for_other_machines_needs_a_configured_token(tmp_path: Path, host: str) -> None:
    tokens = Tokens(tmp_path / "tokens.json", SystemAmbient())
    tokens.prepare()
    with pytest.raises(InvalidInput) as caught:
        listen(host, 0, tokens)
    assert caught.value.reason.code is Code.OPEN_ACCESS


@pytest.mark.parametrize(
    "token", ["x", "x" * (MIN_TOKEN_LENGTH - 1), "x" * 513, "fifteen letters and spaces", "ö" * 20]
)
def test_a_configured_token_that_is_weak_or_unsendable_is_refused(tmp_path: Path, token: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Tokens(tmp_path / "tokens.json", SystemAmbient(), token)
    assert caught.value.reason.code is Code.WEAK_ACCESS
    assert token not in str(caught.value) or len(token) == 1


def test_without_a_port_the_next_free_one_is_taken_and_a_named_port_never_moves(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.json", SystemAmbient())
    with listen(DEFAULT_HOST, None, tokens) as first, listen(DEFAULT_HOST, None, tokens) as second:
        ports = [each.getsockname()[1] for each in (first, second)]
        assert ports == sorted(set(ports))
        assert DEFAULT_PORT <= ports[0] < ports[1] < DEFAULT_PORT + 50
        with socket.create_connection(second.getsockname(), timeout=HANG_SECONDS):
            pass
        with pytest.raises(InvalidInput) as caught:
            listen(DEFAULT_HOST, ports[0], tokens)
        assert caught.value.reason.code is Code.PORT_TAKEN


def test_an_unavailable_address_is_reported(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.json", SystemAmbient(), TOKEN)
    for host, port in (("192.0.2.1", 0), (DEFAULT_HOST, 65536), (DEFAULT_HOST, 70000), ("x" * 70, 0)):
        with pytest.raises(InvalidInput) as caught:
            listen(host, port, tokens)
        assert caught.value.reason.code is Code.CANNOT_LISTEN
