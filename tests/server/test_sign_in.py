"""Signing a browser in: links with one-time codes, the form for a token, and the token file."""

import asyncio
import http.cookies
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, NotFound
from pilothouse.server.routing import HTML, JSON
from pilothouse.server.sign_in import MAX_FORM_BYTES
from pilothouse.server.tokens import (
    MAX_SIGN_IN_CODES,
    MAX_SIGN_INS_PER_USER,
    SIGN_IN_CODE_LIFETIME_SECONDS,
    SIGN_IN_LIFETIME_SECONDS,
    Tokens,
)
from pilothouse.testing.ambient import ManualAmbient
from pilothouse.testing.served import TOKEN
from tests.server.test_access import A_MINUTE, BEARER, GUARDED, AccessFixture, Reply, access_fixture, refusing
from tests.support.scale import HANG_SECONDS

CROSS_SITE = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}


async def user_of(here: AccessFixture, cookie: Mapping[str, str]) -> str:
    return str(msgspec.json.decode((await here.get("/api/health", cookie)).body)["user"])


def signs_nobody_in(reply: Reply, status: int) -> bool:
    is_page = reply.headers["content-type"].startswith(HTML)
    return reply.status == status and "set-cookie" not in reply.headers and is_page


# the link


async def test_opening_a_link_signs_nobody_in_before_the_person_confirms(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        code = here.served.tokens.new_code()
        for headers in ({}, CROSS_SITE, {**CROSS_SITE, "sec-fetch-site": "none"}):
            form_page = await here.get(f"/?code={code}", headers)
            assert signs_nobody_in(form_page, 200)
            assert b"the user of this computer" in form_page.body
            assert form_page.headers["referrer-policy"] == "strict-origin"
            assert "form-action 'self'" in form_page.headers["content-security-policy"]
        cookie = await here.sign_in(code=code)
        assert await user_of(here, cookie) == "local"
        page = await here.get("/", {**cookie, "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate"})
        assert page.status == 200
        redirect = await here.get(
            "/api/contexts", {**cookie, "origin": here.origin, "content-type": JSON}, method="POST", data=b"{}"
        )
        assert redirect.status == 201


async def test_a_sign_in_link_works_once_and_for_a_minute(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        tokens, ambient = here.served.tokens, here.world.ambient
        used = tokens.new_code()
        await here.sign_in(code=used)
        assert signs_nobody_in(await here.get(f"/?code={used}", {}), 401)
        assert signs_nobody_in(await here.submit(code=used), 401)
        late = tokens.new_code()
        ambient.advance(SIGN_IN_CODE_LIFETIME_SECONDS)
        assert signs_nobody_in(await here.get(f"/?code={late}", {}), 401)
        assert signs_nobody_in(await here.submit(code=late), 401)
        early = tokens.new_code()
        ambient.advance(-1.0)  # a clock that is set back makes no code last longer
        assert signs_nobody_in(await here.submit(code=early), 401)


async def test_of_concurrent_requests_with_one_code_only_one_signs_in(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        code = here.served.tokens.new_code()
        replies = await asyncio.gather(*(here.submit(code=code) for _ in range(8)))
        assert sorted(reply.status for reply in replies) == [303] + [401] * 7


async def test_a_wrong_code_opens_nothing_and_counts_as_an_attempt(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        code = here.served.tokens.new_code()
        for wrong in ("", "wrong", code[:-1], code + "x", code.upper(), TOKEN, "%E2%82%AC", "%ED%A0%80", "%00"):
            here.world.ambient.advance(1.0)
            assert signs_nobody_in(await here.get(f"/?code={wrong}", {}), 401), wrong
        assert signs_nobody_in(await here.submit(code="wrong"), 401)
        for reply in (await here.get("/?code=wrong", {}), await here.submit(code="x"), await here.submit(token="x")):
            assert signs_nobody_in(reply, 429)
            assert b"seconds" in reply.body
        assert (await here.submit(code=code)).status == 303, "who has the right one is not held up"


async def test_a_wrong_code_or_token_takes_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with access_fixture(tmp_path) as here:
        locked: list[object] = []
        monkeypatch.setattr(here.served.tokens, "_change", locked.append)
        assert signs_nobody_in(await here.submit(code="wrong"), 401)
        assert signs_nobody_in(await here.submit(token="wrong"), 401)
        assert locked == []


async def test_a_code_or_a_token_in_the_address_opens_no_other_route(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        code = here.served.tokens.new_code()
        async with refusing(here) as refusals:
            for route in GUARDED:
                path = here.path(route)
                more = f"{'&' if '?' in path else '?'}token={TOKEN}"
                reply = await here.ask(route, {}, path=path + more)
                refusals.check(reply, 401, Code.UNAUTHORIZED, route.method, route.path)
                if route.path != "/":
                    reply = await here.ask(route, {}, path=f"{path}{more}&code={code}")
                    refusals.check(reply, 401, Code.UNAUTHORIZED, route.method, route.path)


# another user's link


async def test_a_link_of_another_user_replaces_a_sign_in_only_after_confirmation(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        tokens = here.served.tokens
        anna = await here.sign_in(token=tokens.add("anna"))
        code = tokens.new_code()
        page = await here.get(f"/?code={code}", anna)
        assert signs_nobody_in(page, 200)
        assert b"signed in as anna" in page.body
        assert b'name="instead_of" value="anna"' in page.body
        # From another site the browser sends no cookie with the link, but it does with the form.
        blind = await here.get(f"/?code={code}", CROSS_SITE)
        assert b'name="instead_of" value=""' in blind.body
        again = await here.submit(anna, code=code, instead_of="")
        assert signs_nobody_in(again, 200)
        assert b"signed in as anna" in again.body
        assert await user_of(here, anna) == "anna"
        local = await here.sign_in(anna, code=code, instead_of="anna")
        assert await user_of(here, local) == "local"
        assert (await here.get("/api/health", anna)).status == 401, "the browser has given this one up"


async def test_another_page_cannot_send_the_form(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        tokens = here.served.tokens
        fields = {"token": tokens.add("mallory")}
        for headers in (
            {"origin": "http://evil.example"},
            {"origin": "null"},
            {"origin": here.origin, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
            {"origin": here.origin, "sec-fetch-site": "same-site"},
        ):
            for sent in (fields, {"code": tokens.new_code()}):
                assert signs_nobody_in(await here.submit(headers, **sent), 403)
        silent = await here.get("/", {"content-type": "application/x-www-form-urlencoded"}, method="POST", data=b"")
        assert signs_nobody_in(silent, 403), "a browser always says where a form comes from"


async def test_a_signed_in_person_who_opens_an_old_or_their_own_link_gets_to_the_web_client(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        cookie = await here.cookie()
        for code in (here.served.tokens.new_code(), "used-up"):
            reply = await here.get(f"/?code={code}", cookie)
            assert (reply.status, reply.headers["location"]) == (303, "/")
            assert "set-cookie" not in reply.headers


# the form and the cookie


async def test_the_cookie_is_no_token_and_is_kept_from_scripts_and_other_sites(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        reply = await here.submit(token=f" {TOKEN} ")
        cookie, *attributes = reply.headers["set-cookie"].split("; ")
        assert {"httponly", "samesite=strict", "path=/"} <= {each.lower() for each in attributes}
        assert not {each.partition("=")[0].lower() for each in attributes} & {"domain", "secure"}
        assert TOKEN not in cookie
        assert (await here.cookie())["cookie"] != cookie, "each browser has its own"
        behind_tls = await here.submit({"origin": here.origin.replace("http:", "https:")}, token=TOKEN)
        assert "; secure" in behind_tls.headers["set-cookie"].lower()


@pytest.mark.parametrize("token", ["wrong", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "", "a" * 4000, "\ud7ff€\0"])
async def test_a_wrong_token_in_the_form_signs_nobody_in(tmp_path: Path, token: str) -> None:
    async with access_fixture(tmp_path) as here:
        assert signs_nobody_in(await here.submit(token=token), 401)
        assert signs_nobody_in(await here.submit(BEARER, token=token), 401)


async def test_an_invalid_form_is_refused(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        typed = {"origin": here.origin, "content-type": "application/x-www-form-urlencoded"}
        for headers, data, status in (
            ({**typed, "content-type": JSON}, b'{"token": "%s"}' % TOKEN.encode(), 415),
            (typed, b"token=" + b"x" * MAX_FORM_BYTES, 413),
            (typed, b"token=\xff", 422),
            (typed, b"token=%ff", 422),
            (typed, b"&".join([b"a=1"] * 20), 422),
            (typed, b"", 401),
        ):
            assert signs_nobody_in(await here.get("/", headers, method="POST", data=data), status), (data[:20], status)


async def test_a_sign_in_ends_with_its_time_its_token_and_its_user(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        tokens = here.served.tokens
        first = await here.sign_in(token=tokens.add("anna"))
        renewed = tokens.renew("anna")
        assert (await here.get("/api/health", first)).status == 401
        second = await here.sign_in(token=renewed)
        tokens.remove("anna")
        assert (await here.get("/api/health", second)).status == 401
        third = await here.sign_in(token=tokens.add("anna"))
        assert (await here.get("/api/health", second)).status == 401, "a user of the same name is another one"
        here.world.ambient.advance(SIGN_IN_LIFETIME_SECONDS - 1)
        assert await user_of(here, third) == "anna"
        here.world.ambient.advance(1)
        assert (await here.get("/api/health", third)).status == 401


@pytest.mark.parametrize("revoke", [Tokens.renew, Tokens.remove])
async def test_a_token_that_is_revoked_while_the_form_is_handled_signs_nobody_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, revoke: Callable[[Tokens, str], object]
) -> None:
    async with access_fixture(tmp_path) as here:
        tokens = here.served.tokens
        token, sign_in = tokens.add("anna"), tokens.sign_in

        def sign_in_late(token: str, cookie: str | None = None) -> str | None:
            revoke(tokens, "anna")
            return sign_in(token, cookie)

        monkeypatch.setattr(tokens, "sign_in", sign_in_late)
        assert signs_nobody_in(await here.submit(token=token), 401)
        assert msgspec.json.decode(tokens.path.read_bytes())["sign_ins"] == []


async def test_a_stream_ends_when_its_user_gets_a_new_token(tmp_path: Path) -> None:
    async with access_fixture(tmp_path, heartbeat=0.05) as here:
        tokens = here.served.tokens
        anna = {"authorization": f"Bearer {tokens.add('anna')}"}
        async with here.http.get("/api/stream", headers=anna) as stream:
            assert await stream.content.readuntil(b"\n\n")
            tokens.renew("anna")
            async with asyncio.timeout(HANG_SECONDS):
                await stream.content.read()


# the file


def test_no_value_in_the_token_file_grants_access(tmp_path: Path) -> None:
    own_token = "one-of-my-own-and-long"
    tokens = Tokens(tmp_path / "tokens.json", ManualAmbient(), own_token)
    tokens.prepare()
    token, code = tokens.add("anna"), tokens.new_code()
    secrets = [token, code, tokens.new_code(), tokens.sign_in(token) or "", tokens.sign_in(own_token) or ""]
    stored = tokens.path.read_text()
    assert [secret for secret in (*secrets, own_token) if secret in stored] == []
    data = msgspec.json.decode(stored)
    hashes = [*data["tokens"].values(), *(each["code"] for each in data["codes"])]
    hashes += [each["proof"] for each in data["sign_ins"]]
    assert len(hashes) == 6
    for each in hashes:
        assert tokens.user_of(each) is tokens.user_of_cookie(each) is tokens.user_of_code(each) is None


def test_clear_text_tokens_of_earlier_versions_work_and_are_stored_as_hashes(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    clear = {
        "local": "the-local-token-in-clear",
        "format": "a-user-with-an-odd-name",
        "ada": "the-token-of-ada-in-clear",
    }
    path.write_bytes(msgspec.json.encode(clear))
    os.chmod(path, 0o600)
    tokens = Tokens(path, ManualAmbient())
    assert {user: tokens.user_of(token) for user, token in clear.items()} == {user: user for user in clear}
    tokens.prepare()
    assert not [token for token in clear.values() if token in path.read_text()]
    assert {user: tokens.user_of(token) for user, token in clear.items()} == {user: user for user in clear}
    tokens.remove("ada")
    assert tokens.user_of(clear["ada"]) is None


def test_the_token_file_stays_small(tmp_path: Path) -> None:
    ambient = ManualAmbient()
    tokens = Tokens(tmp_path / "tokens.json", ambient)
    token = tokens.renew("local")
    cookies = [tokens.sign_in(token) or "" for _ in range(MAX_SIGN_INS_PER_USER)]
    assert tokens.user_of_cookie(cookies[0]) == "local"
    tokens.sign_in(token)
    assert tokens.user_of_cookie(cookies[0]) is None, "the oldest browser is signed out"
    assert tokens.user_of_cookie(cookies[-1]) == "local"
    codes = [tokens.new_code() for _ in range(MAX_SIGN_IN_CODES + 1)]
    assert tokens.user_of_code(codes[0]) is None
    assert tokens.user_of_code(codes[1]) == "local"
    ambient.advance(A_MINUTE)
    tokens.new_code()
    assert len(msgspec.json.decode(tokens.path.read_bytes())["codes"]) == 1


def test_a_token_cannot_be_renewed_for_an_unknown_user_or_against_the_environment(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.json", ManualAmbient(), TOKEN)
    with pytest.raises(NotFound):
        tokens.renew("nobody")
    with pytest.raises(Conflict):
        tokens.renew("local")
    assert not tokens.path.exists()


async def test_cookies_are_not_unquoted_before_authentication(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unquoting takes quadratic time: 60 kB of escapes blocked the server for seconds, before any authentication."""

    def unquote(text: str) -> str:
        raise AssertionError(f"{len(text)} characters")

    monkeypatch.setattr(http.cookies, "_unquote", unquote)
    async with access_fixture(tmp_path) as here:
        escapes = '\\"' * 10_000
        reply = await here.get("/api/health", {"cookie": f'pilothouse-{here.served.port}="{escapes}"'})
        assert reply.status == 401
