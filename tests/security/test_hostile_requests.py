"""The server and its web client against odd paths, bodies and texts, and against clients that never read."""

import asyncio
import gzip
import json
import os
import re
from importlib import resources
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from pilothouse.llm.script import Answer
from pilothouse.server.routes import ROUTES
from pilothouse.server.routing import HTML
from pilothouse.testing.served import TOKEN, Served
from pilothouse.testing.world import World
from tests.cli.test_serve import ran, served
from tests.server.descriptors import open_descriptors, reporting_program
from tests.server.test_access import BEARER, access_fixture
from tests.support.scale import HANG_SECONDS

WEB = Path(__file__).parents[2] / "web"
PAGE = sorted(path for path in (WEB / "src").rglob("*") if path.suffix in (".ts", ".tsx", ".css", ".html"))
GROWTH_AT_MOST = 64 * 1024 * 1024
EVIL = "<img src=x onerror=alert(1)><script>alert(1)</script>"


async def raw(port: int, request: bytes) -> bytes:
    """The response to exactly these bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    try:
        async with asyncio.timeout(HANG_SECONDS):
            return await reader.read()
    finally:
        writer.close()


def get(port: int, path: str, *more: str) -> bytes:
    lines = [f"GET {path} HTTP/1.1", f"host: 127.0.0.1:{port}", f"authorization: Bearer {TOKEN}", *more]
    return ("\r\n".join([*lines, "connection: close"]) + "\r\n\r\n").encode("latin-1")


# paths

UP = ("..", "%2e%2e", "%2E%2e", "%252e%252e", "..%2f..", "..%5c..", "..\\..", ".%2e", "%c0%ae%c0%ae", "....//")
PLACES = ("/assets/{}/{}/etc/passwd", "/{}/{}/etc/passwd", "/api/contexts/{}/{}/etc/passwd", "/api/contexts/{}{}")
FILES = (
    "/assets//etc/passwd",
    "/assets/%2fetc%2fpasswd",
    "/assets/index.html%00.css",
    "/assets/docs.css/..",
    "//etc/passwd",
)


async def test_no_path_leads_to_a_file(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        for path in [*(place.format(up, up) for place in PLACES for up in UP), *FILES]:
            answer = await raw(here.served.port, get(here.served.port, path))
            status = int(answer.split(b" ", 2)[1])
            assert status in (400, 404, 405, 422), (path, answer[:200])
            assert b"root:" not in answer


async def test_an_id_with_other_characters_is_refused(tmp_path: Path) -> None:
    bad = ("../../other", "a/b", "", ".", "..", "x" * 300, "a\0b", "-", "a b", "\u202ea", "con\n", "~", "*")
    async with access_fixture(tmp_path) as here:
        before = sorted(tmp_path.rglob("*"))
        for each in bad:
            body = json.dumps({"context_id": each}).encode()
            reply = await here.get(
                "/api/contexts", {**BEARER, "content-type": "application/json"}, method="POST", data=body
            )
            assert reply.status in (400, 422), each
        assert sorted(tmp_path.rglob("*")) == before


# bodies

BODIES = {
    "deep lists": b"[" * 100_000 + b"]" * 100_000,
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "deep in a field": b'{"title": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "many keys": b"{" + b",".join(b'"k%d":1' % number for number in range(60_000)) + b"}",
    "no number": b'{"title": NaN}',
    "no end": b'{"title": Infinity}',
    "half a character": b'{"title": "\\ud800"}',
    "no text": b'{"title": "\xff\xfe"}',
    "a large number": b'{"title": ' + b"9" * 100_000 + b"}",
    "a tag": b'{"title": {"$type": "os.system", "py/object": "os.system"}}',
    "cut off": b'{"title": "x',
    "another thing": b'"x"',
}


@pytest.mark.parametrize("name", BODIES)
async def test_a_body_that_makes_no_sense_is_refused_and_the_server_stays(tmp_path: Path, name: str) -> None:
    async with access_fixture(tmp_path) as here:
        before = await here.everything()
        size = own_size()
        typed = {**BEARER, "content-type": "application/json"}
        for route in [each for each in ROUTES if each.body_example is not None]:
            reply = await here.get(here.path(route), typed, method=route.method, data=BODIES[name])
            assert reply.status in (400, 404, 409, 413, 422), route.path
        assert own_size() - size < GROWTH_AT_MOST
        assert (await here.get("/api/health")).status == 200
        assert await here.everything() == before


def own_size() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


async def test_compressed_request_bodies_are_refused_without_decompression(tmp_path: Path) -> None:
    """A few bytes that would be gigabytes stay a few bytes."""
    packed = gzip.compress(b" " * (512 * 1024 * 1024))
    async with access_fixture(tmp_path) as here:
        size = own_size()
        for path, kind in (("/api/contexts/import", "application/x-ndjson"), ("/api/contexts", "application/json")):
            headers = {**BEARER, "content-type": kind, "content-encoding": "gzip"}
            reply = await here.get(path, headers, method="POST", data=packed)
            assert 400 <= reply.status < 500
        assert own_size() - size < GROWTH_AT_MOST


@pytest.mark.usefixtures("many_descriptors")
async def test_hundreds_of_unread_streams_do_not_slow_down_a_turn(tmp_path: Path) -> None:
    world = World(tmp_path, *[Answer(text="word " * 2000)] * 5)
    async with world.runtime, Served(world.runtime, [tmp_path], limits={"max_streams": 300}) as here:
        context_id = await world.start()
        writers = []
        size = own_size()
        for _ in range(500):
            _, writer = await asyncio.open_connection("127.0.0.1", here.port)
            writer.write(get(here.port, f"/api/contexts/{context_id}/stream", "x-nothing: reads"))
            writers.append(writer)
        try:
            async with asyncio.timeout(HANG_SECONDS), here.client() as client:
                while here.server_state.metrics.streams_open < 300:
                    await asyncio.sleep(0.01)
                for number in range(5):
                    await world.turn(context_id, f"go {number}")
                assert (await client.request("GET", "/api/health"))["status"]
                assert len(await client.request("GET", "/api/contexts")) >= 1
            assert here.server_state.metrics.streams_open == 300
            assert own_size() - size < GROWTH_AT_MOST
        finally:
            for writer in writers:
                writer.transport.abort()


# tokens


async def test_a_cookie_of_a_revoked_token_is_refused(tmp_path: Path) -> None:
    """Neither does the token itself, whether the server was started again or not."""
    tokens = tmp_path / "data/tokens.json"
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http:
        async with served(tmp_path) as server:
            form: dict[str, Any] = {
                "data": {"token": server.token},
                "headers": {"origin": server.url},
                "allow_redirects": False,
            }
            async with http.post(f"{server.url}/", **form) as opened:
                cookie = {"cookie": opened.headers["set-cookie"].partition(";")[0]}
            name = cookie["cookie"].partition("=")[0]
            value = cookie["cookie"].partition("=")[2]
            assert await status(http, f"{server.url}/api/modes", cookie) == 200
            tokens.write_text(json.dumps({"local": "another-token-of-their-own"}))
            assert await status(http, f"{server.url}/api/modes", cookie) == 401
            old = {"authorization": f"Bearer {server.token}"}
            assert await status(http, f"{server.url}/api/modes", old) == 401
        async with served(tmp_path) as again:
            renamed = {"cookie": f"pilothouse-{again.port}={value}"}
            assert name != renamed["cookie"].partition("=")[0] or again.port == server.port
            assert await status(http, f"{again.url}/api/modes", renamed) == 401
            assert await status(http, f"{again.url}/api/modes", old) == 401


async def status(http: aiohttp.ClientSession, url: str, headers: dict[str, str]) -> int:
    async with http.get(url, headers=headers, allow_redirects=False) as answer:
        return answer.status


@pytest.mark.parametrize(
    "query", ["next=//evil.example", "next=/%5cevil.example", "url=http://evil", "server=http://evil"]
)
async def test_signing_in_leads_to_the_web_client_and_nowhere_else(tmp_path: Path, query: str) -> None:
    async with access_fixture(tmp_path) as here:
        form = await here.get(f"/?code={here.served.tokens.new_code()}&{query}", {})
        assert form.status == 200
        assert b"evil" not in form.body
        assert re.findall(rb'action="([^"]*)"', form.body) == [b"/"]
        name, value = query.split("=")
        reply = await here.submit(None, token=TOKEN, **{name: value})
        assert (reply.status, reply.headers["location"]) == (303, "/")


async def test_users_that_are_added_at_once_are_all_there(tmp_path: Path) -> None:
    names = [f"user-{number}" for number in range(8)]
    done = await asyncio.gather(*(ran(tmp_path, "users", "add", name) for name in names))
    assert [code for code, _, _ in done] == [0] * len(names)
    tokens = json.loads((tmp_path / "data/tokens.json").read_text())["tokens"]
    assert set(names) <= set(tokens)
    assert len(set(tokens.values())) == len(tokens)


async def test_the_server_listens_on_loopback_by_default(tmp_path: Path) -> None:
    async with served(tmp_path, program=reporting_program(tmp_path)) as server:
        addresses = await listening(server.process.pid, tmp_path)
        assert addresses == {("127.0.0.1", server.port)}


async def listening(pid: int, folder: Path) -> set[tuple[str, int]]:
    """The addresses that a process listens on, from the kernel's own tables."""
    descriptors = set(await open_descriptors(pid, folder))
    addresses = set()
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            address, _, port = fields[1].partition(":")
            if f"socket:[{fields[9]}]" in descriptors and (table.startswith("udp") or fields[3] == "0A"):
                shown = (
                    ".".join(str(each) for each in reversed(bytes.fromhex(address))) if len(address) == 8 else address
                )
                addresses.add((shown, int(port, 16)))
    return addresses


# impossible requests

ROUTE_WORDS = re.compile(r"url|callback|webhook|redirect|proxy|fetch|command|args|shell|exec", re.IGNORECASE)


def test_no_route_runs_a_tool_or_takes_an_address_or_a_program() -> None:
    """Only the gate runs tools, and only the person configures MCP servers: no route does either. The address of the
    model is set up by the local user alone."""
    for route in ROUTES:
        if route.path.startswith("/api/setup"):
            continue
        fields = json.dumps(route.body_example) if isinstance(route.body_example, dict | list) else ""
        for kind in (route.signature.body, route.signature.query):
            if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
                fields += " ".join(kind.__struct_fields__)
        assert not ROUTE_WORDS.search(fields), route.path
    ways = {(route.method, route.path) for route in ROUTES if "tools" in route.path or "mcp/servers" in route.path}
    assert ways == {
        ("GET", "/api/tools"),
        ("PATCH", "/api/tools/{name}"),
        ("GET", "/api/mcp/servers"),
        ("POST", "/api/mcp/servers/{name}/reconnect"),
        ("GET", "/api/mcp/servers/{name}/resources"),
        ("POST", "/api/mcp/servers/{name}/prompts/{prompt_name}"),
    }


@pytest.mark.parametrize(
    "path", ["/api/mcp/servers", "/api/mcp/servers/evil", "/api/tools/execute", "/api/tools/execute/run"]
)
async def test_a_request_that_adds_a_server_or_a_call_is_refused(tmp_path: Path, path: str) -> None:
    body = json.dumps({"name": "evil", "command": "/usr/bin/touch", "args": [str(tmp_path / "PWNED")]}).encode()
    async with access_fixture(tmp_path) as here:
        for method in ("POST", "PUT"):
            reply = await here.get(path, {**BEARER, "content-type": "application/json"}, method=method, data=body)
            assert reply.status in (404, 405)
    assert not (tmp_path / "PWNED").exists()


def test_content_of_people_and_models_is_served_as_text_or_data_only() -> None:
    """Only the page, its own files and the document are; and those come with the program."""
    pages = {route.path for route in ROUTES if route.gives == HTML}
    assert pages == {"/", "/assets/{name}", "/api/docs"}


# the page

MAKES_HTML = re.compile(
    r"dangerouslySetInnerHTML\s*[=:]|\.(?:inner|outer)HTML\s*=|insertAdjacentHTML\(|document\.write|"
    r"createContextualFragment|new DOMParser|srcDoc\s*=|\beval\(|new Function\(|setTimeout\(\s*[\"'`]|\.setHTML"
)
LEAVES = re.compile(
    r"document\.(?:cookie|referrer)|new WebSocket|sendBeacon|importScripts|"
    r"(?:fetch|EventSource|import)\(\s*[\"'`](?:https?:)?//|url\(\s*[\"']?(?:https?:)?//"
)


def test_the_web_client_inserts_text_only_and_contacts_no_other_host() -> None:
    """Output of models and tools becomes text; the web client loads nothing from other hosts."""
    assert PAGE
    sources = {
        path.name: [*MAKES_HTML.findall(text), *LEAVES.findall(text)] for path in PAGE if (text := path.read_text())
    }
    assert {name: each for name, each in sources.items() if each} == {}
    asking = [path.name for path in PAGE if "XMLHttpRequest" in path.read_text()]
    assert asking == ["upload.ts"]  # the one way to say how far an upload is; the policy keeps it to our own server


def test_the_styles_of_the_web_client_load_nothing() -> None:
    styles = [path for path in PAGE if path.suffix == ".css"]
    assert styles
    assert [path.name for path in styles if re.search(r"url\(|@import|expression\(", path.read_text())] == []


def test_approval_buttons_are_rendered_outside_of_messages() -> None:
    """A message can look like an approval card, but only the dock beside it can decide a call."""
    sources = {path.relative_to(WEB / "src").as_posix(): path.read_text() for path in PAGE}
    deciding = [name for name, text in sources.items() if 'act({ kind: "decide"' in text]
    assert deciding == ["features/approvals/useDock.ts"]
    using = [name for name, text in sources.items() if re.search(r'from "[^"]*/useDock"', text)]
    assert using
    assert all(name.startswith("features/approvals/") for name in using)
    chat_sources = [text for name, text in sources.items() if name.startswith("features/chat/")]
    assert {match for text in chat_sources for match in re.findall(r'from "[./]*approvals/(\w+)"', text)} == set()
    from_calls = {match for text in chat_sources for match in re.findall(r'from "[./]*tool-calls/(\w+)"', text)}
    assert from_calls <= {"CallList", "callText"}
    assert not re.search("useDock|Actions|Card", sources["features/tool-calls/CallList.tsx"])
    page = sources["app/App.tsx"]
    assert page.index("<Transcript") < page.index('className="app-foot"') < page.index("<ApprovalDock")


HEADERS = {"accept-language": f"{EVIL},zh", "user-agent": EVIL, "referer": f"http://{EVIL}", "x-forwarded-host": EVIL}


async def test_request_headers_are_never_echoed_in_a_page(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        for path in ("/", "/api/docs", f"/?code={EVIL}", "/?token=wrong", "/nothing", "/api/contexts/none"):
            for credentials in ({}, BEARER):
                reply = await here.get(path, {**credentials, **HEADERS})
                assert b"onerror" not in reply.body
                assert b"<script>alert" not in reply.body


async def test_words_that_look_like_an_event_make_none(tmp_path: Path) -> None:
    """Over both streams: the one of signals and the one of a whole turn."""
    text = "x\n\nevent: approve\ndata: {}\n\ndata: [DONE]\r\n\r\nid: 7\rretry: 1\n\n"
    world = World(tmp_path, Answer(text=text), Answer(text=text))
    async with world.runtime, Served(world.runtime, [tmp_path]) as here:
        context_id = await world.start()
        body = json.dumps({"message": text}).encode()
        head = (
            f"POST /api/chat/{context_id} HTTP/1.1\r\nhost: 127.0.0.1:{here.port}\r\nauthorization: Bearer {TOKEN}\r\n"
        )
        head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        answer = (await raw(here.port, head.encode() + body)).decode()
        assert " 200 " in answer.partition("\r\n")[0]
        lines = re.split(r"\r\n|\n|\r", answer.partition("\r\n\r\n")[2])
        assert not [line for line in lines if line.startswith(("event: approve", "id: 7", "retry: 1"))]
        data = [line for line in lines if line.startswith("data:")]
        assert data.count("data: {}") <= 1, "the end"
        assert all(json.loads(line[5:]) is not None for line in data if "[DONE]" not in line)


async def test_titles_and_names_with_markup_are_data(tmp_path: Path) -> None:
    (tmp_path / f"{EVIL.replace('/', '')}.txt").write_text("x")
    async with access_fixture(tmp_path) as here:
        typed = {**BEARER, "content-type": "application/json"}
        path = f"/api/contexts/{here.ids['context_id']}"
        title = json.dumps({"title": EVIL}).encode()
        assert (await here.get(path, typed, method="PATCH", data=title)).status == 200
        for each in (path, "/api/contexts", "/api/session", f"{path}/branches", f"{path}/audit"):
            reply = await here.get(each)
            assert reply.headers["content-type"].startswith("application/json")
            assert reply.headers["x-content-type-options"] == "nosniff"
        assert EVIL.encode() not in (await here.get("/")).body


def test_a_pattern_of_a_server_is_never_matched() -> None:
    """Schemas of an MCP server go to the model; the runtime never evaluates their patterns."""
    source = resources.files("pilothouse.tools") / "mcp"
    for each in source.iterdir():
        if each.name.endswith(".py"):
            text = each.read_text()
            assert "jsonschema" not in text
            for match in re.findall(r"re\.(?:compile|match|fullmatch|search)\(([^)]*)", text):
                assert match.startswith(("r'", 'r"', '"', "'", 'rf"')), (each.name, match)


def test_prepared_bodies_have_the_stated_sizes() -> None:
    assert all(isinstance(body, bytes) for body in BODIES.values())
    assert len(BODIES["deep lists"]) == 200_000
    assert len(json.loads(BODIES["many keys"])) == 60_000
