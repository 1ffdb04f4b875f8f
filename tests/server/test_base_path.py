"""The server below a path prefix: every route, signing in, links and documents; nothing outside of the prefix."""

import re
from http.cookies import SimpleCookie
from pathlib import Path

import aiohttp
import msgspec
import pytest
from yarl import URL

from pilothouse.cli.parser import read_options
from pilothouse.client import Client
from pilothouse.config.configuration import Configuration
from pilothouse.domain.base_path import MAX_BASE_PATH_LENGTH, base_path_of
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.server.routes import ROUTES
from tests.cli.test_serve import confirmed, ran, served
from tests.server.test_access import PUBLIC, access_fixture, named, raw, refusing, reply_of

BASE = "/pilothouse"
PREFIXED = {"base_path": BASE}


async def test_every_route_answers_below_the_base_path(tmp_path: Path) -> None:
    async with access_fixture(tmp_path, server=PREFIXED) as here:
        for route in sorted(ROUTES, key=lambda route: route.method == "DELETE"):
            reply = await here.ask(route)
            assert reply.status not in (401, 403, 405, 413, 415, 421, 429, 500), (named(route), reply)
            assert reply.status != 404 or reply.code not in (Code.OUTSIDE_BASE_PATH, Code.NO_SUCH_PATH), named(route)


async def test_no_route_but_a_probe_exists_outside_the_base_path(tmp_path: Path) -> None:
    async with access_fixture(tmp_path, server=PREFIXED) as here, refusing(here) as refusals:
        own = await here.cookie()
        here.base_path = ""
        for route in ROUTES:
            for headers in ({"authorization": f"Bearer {here.served.token}"}, {}, {**own, "origin": here.origin}):
                reply = await here.ask(route, headers)
                if route in PUBLIC:
                    assert reply.status == 200, named(route)
                else:
                    refusals.check(reply, 404, Code.OUTSIDE_BASE_PATH, route.method, route.path, headers)
        for path in (
            *(
                "/",
                "/x",
                f"{BASE}x/",
                f"{BASE}%2f",
                f"{BASE}%2fapi/modes",
                "//pilothouse/",
                "/PILOTHOUSE/",
                "/%70ilothouse/",
            ),
            *(f"{BASE}/../healthz", "/./pilothouse/", "/pilothouse;x/", f"{BASE}?", f"{BASE}\\"),
        ):
            async with raw(here) as (reader, writer):
                writer.write(f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 0\r\n\r\n".encode())
                reply = await reply_of(reader)
                assert reply.status in (404, 401), path
                assert (reply.status == 401) == path.startswith(f"{BASE}/"), path
                assert "set-cookie" not in reply.headers


async def test_the_base_path_without_its_slash_leads_to_the_web_client(tmp_path: Path) -> None:
    async with access_fixture(tmp_path, server=PREFIXED) as here:
        reply = await here.get("", {})
        assert (reply.status, reply.headers["location"]) == (307, f"{BASE}/")
        assert (await here.get("", {}, method="POST")).status == 404
        assert (await here.get("", {"host": "evil.example"})).status == 421


async def test_a_sign_in_stays_below_the_base_path(tmp_path: Path) -> None:
    async with access_fixture(tmp_path, server=PREFIXED) as here:
        code = here.served.tokens.new_code()
        page = await here.get(f"/?code={code}", {})
        assert re.findall(rb'action="([^"]*)"', page.body) == [f"{BASE}/".encode()]
        reply = await here.submit(code=code)
        assert (reply.status, reply.headers["location"]) == (303, f"{BASE}/")
        ((_, cookie),) = SimpleCookie(reply.headers["set-cookie"]).items()
        assert (cookie["path"], bool(cookie["httponly"]), cookie["samesite"]) == (f"{BASE}/", True, "strict")
        own = {"cookie": reply.headers["set-cookie"].partition(";")[0]}
        assert (await here.get("/api/health", own)).status == 200
        again = await here.get(f"/?code={code}", own)
        assert (again.status, again.headers["location"]) == (303, f"{BASE}/")
        cross = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
        assert (await here.get("/", {**own, **cross})).status == 200, "somebody follows a link to the page"


async def test_the_api_documents_name_the_base_path(tmp_path: Path) -> None:
    async with access_fixture(tmp_path, server=PREFIXED) as here:
        document = msgspec.json.decode((await here.get("/api/openapi.json")).body)
        assert document["servers"] == [{"url": BASE}]
        page = (await here.get("/api/docs")).body.decode()
        assert f"<code>{BASE}</code>" in page
        links = [link for link in re.findall(r'(?:href|src)="([^"]*)"', page) if not link.startswith(("#", "data:"))]
        assert links
        for link in links:
            path = URL(f"http://host{BASE}/api/docs").join(URL(link)).path
            assert (await here.get(path.removeprefix(BASE))).status == 200, link


@pytest.mark.parametrize("by", ["option", "file"])
async def test_links_of_the_command_line_lie_below_the_base_path(tmp_path: Path, by: str) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f'[server]\nbase_path = "{BASE if by == "file" else "/another"}/"\n')
    options = ("--base-path", BASE) if by == "option" else ()
    jar = aiohttp.CookieJar(unsafe=True)
    async with (
        served(tmp_path, "--port", "0", "--config", str(config), *options) as server,
        aiohttp.ClientSession(cookie_jar=jar) as http,
    ):
        assert f"{server.url}{BASE}/" in server.lines[-1]
        _, link, _ = await ran(tmp_path, "open", "--no-open")
        assert link.startswith(f"{server.url}{BASE}/?code=")
        assert await confirmed(http, link.strip()) in (200, 503)
        async with http.get(f"{server.url}{BASE}/api/health") as answer:
            assert answer.status == 200
        async with Client(f"{server.url}{BASE}/", server.token) as client:
            context_id = (await client.request("POST", "/api/contexts", {"mode": "ask"}))["context_id"]
            name, _ = await anext(client.events("GET", f"/api/contexts/{context_id}/stream"))
            assert name == "StateChanged"


VALID = {
    "/": "",
    "/pilothouse": BASE,
    "/pilothouse/": BASE,
    "/a/b.c/~d-e_f": "/a/b.c/~d-e_f",
    "/..a": "/..a",
    f"/{'x' * (MAX_BASE_PATH_LENGTH - 1)}": f"/{'x' * (MAX_BASE_PATH_LENGTH - 1)}",
}
INVALID = (
    *("", " ", "pilothouse", "//", "///", "/a//b", "//evil.example", "/a//", "/.", "/..", "/../", "/a/../b", "/a/./b"),
    *("/a b", "/a%20b", "/a?b", "/a#b", "/a\\b", "/ä", "/a\n", "/a/\n", "/\0", "http://host/a", "/a;b", "/<b>", "~/a"),
    *(f"/{'x' * MAX_BASE_PATH_LENGTH}", "/" + "a/" * 100_000),
)


def test_a_base_path_has_one_spelling() -> None:
    assert {text: base_path_of(text) for text in VALID} == VALID


@pytest.mark.parametrize("text", INVALID, ids=lambda text: repr(text[:20]))
def test_other_texts_are_no_base_path(text: str) -> None:
    with pytest.raises(ValueError, match="isn't a valid base path") as caught:
        base_path_of(text)
    assert len(str(caught.value)) < MAX_BASE_PATH_LENGTH + 100


@pytest.mark.parametrize("value", ["pilothouse", "//evil.example", "/a/../b"])
def test_an_invalid_base_path_is_an_error_that_says_what_is_valid(
    tmp_path: Path, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        read_options(["serve", "--base-path", value])
    assert ended.value.code == 2
    assert f"{value!r} isn't a valid base path: use a path like /pilothouse" in capsys.readouterr().err
    config = tmp_path / "config.toml"
    config.write_text(f'[server]\nbase_path = "{value}"\n')
    with pytest.raises(InvalidInput) as caught:
        Configuration(config)
    for part in (f"{value!r} isn't a valid base path", "server.base_path", "a path like /pilothouse", "line 2"):
        assert part in str(caught.value)
