"""The provider and the model set up over the HTTP API, with real requests to a local provider: trials,
later requests, stored settings, access, and that the key is visible nowhere."""

import asyncio
import json
import signal
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pilothouse.app import build_runtime
from pilothouse.client import Client
from pilothouse.client.http_client import ServerError
from pilothouse.config.credentials import Credentials, StoredSetup
from pilothouse.domain.messages import Text
from pilothouse.domain.states import TransientError
from pilothouse.llm.providers import OPENAI_URL
from pilothouse.llm.script import Answer, Script, ScriptedError
from pilothouse.runtime.runtime import Runtime
from pilothouse.settings import read_settings
from pilothouse.testing.provider import FakeProvider
from pilothouse.testing.served import Served
from tests.cli.test_serve import ran, served
from tests.support.assertions import content_of, instance_of
from tests.support.live_contexts import pool_of

KEY = "sk-nobody-may-see-this-Zx9Q"
JSON = {"content-type": "application/json"}
NOWHERE = "http://127.0.0.1:9/v1"


class SetupServer:
    """A server, and a conversation in it."""

    def __init__(self, runtime: Runtime, server: Served, client: Client, workspace: Path) -> None:
        self.runtime, self.server, self.client, self.workspace = runtime, server, client, workspace

    async def request(self, method: str, path: str = "", body: Any = None) -> Any:
        answer = await self.client.request(method, f"/api/setup{path}", body)
        assert KEY not in json.dumps(answer)
        return answer

    async def refused(
        self, method: str, path: str = "", body: Any = None, client: Client | None = None
    ) -> tuple[int, str]:
        with pytest.raises(ServerError) as caught:
            await (client or self.client).request(method, f"/api/setup{path}", body)
        assert KEY not in str(caught.value.problem)
        return caught.value.problem.status, caught.value.problem.code

    async def turn(self) -> str:
        """The answer in a new conversation."""
        context_id = await self.runtime.contexts.create(self.workspace, mode="ask")
        await self.runtime.messages.send(context_id, "hello")
        await self.runtime.turns.rested(context_id)
        return str(getattr((await self.runtime.messages.read(context_id))[-1], "content", ""))


@asynccontextmanager
async def setup_server(
    folder: Path, environment: dict[str, str] | None = None, **options: Any
) -> AsyncIterator[SetupServer]:
    (folder / "work").mkdir(exist_ok=True)
    settings = read_settings(
        environment or {}, data_dir=str(folder / "data"), config=str(folder / "conf/config.toml"), **options
    )
    async with (
        build_runtime(settings, {}) as runtime,
        Served(runtime, [folder / "work"]) as server,
        server.client() as client,
    ):
        yield SetupServer(runtime, server, client, folder / "work")


def fake(*texts: str, **options: Any) -> FakeProvider:
    answers = tuple(Answer(text=text) for text in texts)
    return FakeProvider(Script(turn=answers), **{"models": ("small", "large"), "key": KEY, **options})


def setup_body(provider: FakeProvider, **more: Any) -> dict[str, Any]:
    return {"base_url": provider.base_url, "key": KEY, **more}


# looking and trying


async def test_without_a_key_the_demo_model_answers_and_setup_is_open(tmp_path: Path) -> None:
    async with setup_server(tmp_path) as here:
        assert await here.request("GET") == {
            "provider": "demo",
            "model": "demo",
            "is_demo": True,
            "base_url": OPENAI_URL,
            "key_hint": None,
            "key_from": None,
            "can_change": True,
            "reason": None,
        }


async def test_a_trial_lists_the_models_and_queries_the_named_one(tmp_path: Path) -> None:
    async with fake("OK.") as provider, setup_server(tmp_path) as here:
        listed = {"ok": True, "models": ["large", "small"], "reason": None}
        assert await here.request("POST", "/test", setup_body(provider)) == listed
        assert provider.requests == []
        assert await here.request("POST", "/test", setup_body(provider, model="small")) == listed
        (request,) = provider.requests
        assert request["model"] == "small"
        assert len(json.dumps(request)) < 500, "it costs next to nothing"
        assert (await here.request("GET"))["is_demo"], "a trial changes nothing"
        assert not (tmp_path / "data/credentials.json").exists()


async def test_a_provider_that_lists_nothing_can_be_tried_by_a_model(tmp_path: Path) -> None:
    async with fake("OK.", models=None) as provider, setup_server(tmp_path) as here:
        response = await here.request("POST", "/test", setup_body(provider))
        assert (response["ok"], response["reason"]["code"]) == (False, "model_refused")
        assert await here.request("POST", "/test", setup_body(provider, model="any")) == {
            "ok": True,
            "models": [],
            "reason": None,
        }


async def test_the_error_of_a_failed_trial_hides_the_key(tmp_path: Path) -> None:
    async with fake(key="another-key-than-that") as provider, setup_server(tmp_path) as here:
        response = await here.request("POST", "/test", setup_body(provider, model="small"))
        assert (response["ok"], response["reason"]["code"]) == (False, "model_auth")
        assert "[hidden]" in response["reason"]["params"]["detail"], "the provider had said it"
        response = await here.request("POST", "/test", {"base_url": NOWHERE, "key": KEY})
        assert (response["ok"], response["reason"]["code"]) == (False, "model_connect")


async def test_a_provider_that_never_answers_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pilothouse.provider.TRIAL_TIMEOUT_SECONDS", 0.2)
    silent = FakeProvider(Script(turn=(Answer(text="never", silence=0),)), models=("small",))
    async with silent as provider, setup_server(tmp_path) as here:
        response = await here.request("POST", "/test", setup_body(provider, model="small"))
        assert (response["ok"], response["reason"]["code"], response["models"]) == (False, "model_timeout", ["small"])


# using


async def test_a_stored_provider_is_used_from_the_next_request_and_its_file_is_private(tmp_path: Path) -> None:
    async with fake("From the provider.") as provider, setup_server(tmp_path) as here:
        assert "demo model" in await here.turn()
        response = await here.request("PUT", "", setup_body(provider, model="small"))
        assert response == await here.request("GET")
        assert (response["provider"], response["model"], response["is_demo"]) == ("openai", "small", False)
        assert (response["base_url"], response["key_hint"], response["key_from"]) == (
            provider.base_url,
            "Zx9Q",
            "stored",
        )
        models = (await here.client.request("GET", "/api/models"))["items"]
        assert [(each["name"], each["is_default"], each["is_demo"]) for each in models] == [("small", True, False)]
        assert await here.turn() == "From the provider."
        assert f"authorization: bearer {KEY}".lower().encode() in provider.headers[-1].lower()
        file = tmp_path / "data/credentials.json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert [path for path in (tmp_path / "data").iterdir() if path.name.startswith(".credentials")] == []


async def test_a_stored_provider_survives_a_restart_until_it_is_deleted(tmp_path: Path) -> None:
    async with fake("Still there.") as provider:
        async with setup_server(tmp_path) as here:
            await here.request("PUT", "", setup_body(provider, model="small"))
        async with setup_server(tmp_path) as here:
            assert (await here.request("GET"))["model"] == "small"
            assert await here.turn() == "Still there."
            response = await here.request("DELETE")
            assert (response["is_demo"], response["key_hint"], response["key_from"]) == (True, None, None)
            assert "demo model" in await here.turn()
            assert (await here.client.request("GET", "/api/models"))["items"][0]["is_demo"]
            assert not (tmp_path / "data/credentials.json").exists()
        async with setup_server(tmp_path) as here:
            assert (await here.request("GET"))["is_demo"]


async def test_the_terminal_uses_the_provider_set_up_in_the_web_client(tmp_path: Path) -> None:
    async with fake("Said in the terminal.") as provider:
        async with setup_server(tmp_path) as here:
            await here.request("PUT", "", setup_body(provider, model="small"))
        code, out, err = await ran(tmp_path, "run", "hello", "--mode", "ask")
        assert (code, out.strip()) == (0, "Said in the terminal."), err


async def test_an_answer_in_progress_is_completed_by_the_old_provider(tmp_path: Path) -> None:
    slow = Answer(deltas=("word ",) * 60, delta_delay=0.01)
    first = FakeProvider(Script(turn=(slow,)), key=KEY)
    async with first, fake("From the second.") as second, setup_server(tmp_path) as here:
        await here.request("PUT", "", setup_body(first, model="slow"))
        context_id = await here.runtime.contexts.create(here.workspace, mode="ask")
        stream = here.client.events("GET", f"/api/contexts/{context_id}/stream")
        await anext(stream)
        await here.runtime.messages.send(context_id, "hello")
        async for name, _ in stream:
            if name == "ContentDelta":
                break
        await here.request("PUT", "", setup_body(second, model="fast"))
        await here.runtime.turns.rested(context_id)
        answer = (await here.runtime.messages.read(context_id))[-1]
        assert (content_of(answer), instance_of(Text, answer).ended) == ("word " * 60, "complete")
        await here.runtime.messages.send(context_id, "and now?")
        await here.runtime.turns.rested(context_id)
        assert content_of((await here.runtime.messages.read(context_id))[-1]) == "From the second."


async def test_a_retry_uses_the_new_provider_and_one_of_its_models(tmp_path: Path) -> None:
    busy = Answer(error=ScriptedError(status=503, message="busy", retry_after="100"))
    first = FakeProvider(Script(turn=(busy,)), key=KEY)
    async with first, fake("From the second.") as second, setup_server(tmp_path) as here:
        await here.request("PUT", "", setup_body(first, model="slow"))
        context_id = await here.runtime.contexts.create(here.workspace, mode="ask")
        stream = here.client.events("GET", f"/api/contexts/{context_id}/stream")
        await here.runtime.messages.send(context_id, "hello")
        async for _ in stream:
            if isinstance((await here.runtime.contexts.get(context_id)).state, TransientError):
                break
        await here.request("PUT", "", setup_body(second, model="fast"))
        await here.runtime.turns.retry_now(context_id)
        await here.runtime.turns.rested(context_id)
        assert content_of((await here.runtime.messages.read(context_id))[-1]) == "From the second."
        assert [request["model"] for request in second.requests] == ["fast"]


async def test_a_conversation_may_only_choose_a_model_of_the_present_provider(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/config.toml").write_text("[models.large]\nwindow = 1000\n")
    async with fake() as provider, setup_server(tmp_path) as here:
        context_id = await here.runtime.contexts.create(here.workspace)
        path = f"/api/contexts/{context_id}"
        with pytest.raises(ServerError, match="large"):
            await here.client.request("PATCH", path, {"model": "large"})
        await here.request("PUT", "", setup_body(provider, model="small"))
        for name in ("large", "small"):
            assert (await here.client.request("PATCH", path, {"model": name}))["config"]["model"] == name
        with pytest.raises(ServerError, match="gone"):
            await here.client.request("PATCH", path, {"model": "gone"})
        await here.client.request("PATCH", path, {"model": "large"})
        await here.request("DELETE")
        assert (await here.client.request("GET", path))["config"]["model"] == "demo"


# settings that override the stored provider


@pytest.mark.parametrize(
    ("environment", "options", "by"),
    [
        ({"OPENAI_API_KEY": KEY}, {}, "OPENAI_API_KEY"),
        ({"PILOTHOUSE_MODEL": "demo"}, {}, "PILOTHOUSE_MODEL"),
        ({}, {"model": "demo"}, "--model"),
        ({}, {}, "config.toml"),
    ],
)
async def test_command_line_environment_and_file_override_the_stored_provider(
    tmp_path: Path, environment: dict[str, str], options: dict[str, str], by: str
) -> None:
    async with fake() as provider:
        async with setup_server(tmp_path) as here:
            await here.request("PUT", "", setup_body(provider, model="small"))
        if by == "config.toml":
            (tmp_path / "conf").mkdir()
            (tmp_path / "conf/config.toml").write_text('model = "demo"\n')
        async with setup_server(tmp_path, environment, **options) as here:
            response = await here.request("GET")
            assert response["model"] == ("gpt-4.1-mini" if "OPENAI_API_KEY" in environment else "demo")
            assert response["key_from"] == ("environment" if "OPENAI_API_KEY" in environment else None)
            assert response["can_change"] is False
            assert response["reason"]["code"] == "setup_fixed"
            assert response["reason"]["params"]["by"].endswith(by)
            assert await here.refused("PUT", "", setup_body(provider, model="large")) == (409, "setup_fixed")
            assert await here.request("DELETE") == response, "what is not used can still be forgotten"
            assert not (tmp_path / "data/credentials.json").exists()


async def test_an_address_of_the_environment_is_the_usual_one(tmp_path: Path) -> None:
    async with (
        fake("Here.", key=None) as provider,
        setup_server(tmp_path, {"OPENAI_BASE_URL": provider.base_url}) as here,
    ):
        response = await here.request("GET")
        assert (response["base_url"], response["can_change"]) == (provider.base_url, True)
        await here.request("PUT", "", {"model": "small"})
        assert await here.turn() == "Here."
        assert b"authorization" not in provider.headers[-1].lower()


# the key


async def test_a_key_is_sent_only_to_the_address_it_was_stored_for(tmp_path: Path) -> None:
    async with fake("One.", "Two.") as provider, fake("OK.", key=None) as other, setup_server(tmp_path) as here:
        await here.request("PUT", "", setup_body(provider, model="small"))
        assert (await here.request("POST", "/test", {"base_url": other.base_url, "model": "small"}))["ok"]
        await here.request("PUT", "", {"base_url": other.base_url, "model": "small"})
        assert (await here.request("GET"))["key_from"] is None
        assert all(KEY.encode() not in head for head in other.headers)
        await here.request("PUT", "", setup_body(provider, model="small"))
        assert (await here.request("POST", "/test", {"model": "large"}))["ok"], "the same address: the key is there"
        await here.request("PUT", "", {"base_url": f"{provider.base_url}/", "model": "large"})
        assert await here.turn() == "Two."


async def test_no_redirect_sends_the_key_to_another_host(tmp_path: Path) -> None:
    async with fake(key=None) as other, setup_server(tmp_path) as here:

        async def lead_away(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            head = f"HTTP/1.1 307 Elsewhere\r\nlocation: {other.base_url}/models\r\n"
            writer.write(f"{head}content-length: 0\r\nconnection: close\r\n\r\n".encode())
            writer.close()

        server = await asyncio.start_server(lead_away, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        response = await here.request(
            "POST", "/test", {"base_url": f"http://127.0.0.1:{port}", "key": KEY, "model": "m"}
        )
        assert (response["ok"], response["reason"]["params"]["status"]) == (False, 307)
        assert other.headers == []
        server.close()


async def test_the_key_is_only_in_the_credentials_file_and_survives_a_kill(tmp_path: Path) -> None:
    async with fake(key="what-the-provider-wants") as provider:
        async with served(tmp_path) as process, Client(process.url, process.token) as client:
            await client.request("POST", "/api/setup/test", setup_body(provider, model="small"))
            await client.request("PUT", "/api/setup", setup_body(provider, model="small"))
            created = await client.request("POST", "/api/contexts", {"mode": "ask"})
            await client.send(created["context_id"], "hello")
            with pytest.raises(ServerError):
                await client.request("PUT", "/api/setup", {"key": f"{KEY}\n", "model": "small"})
            process.process.send_signal(signal.SIGKILL)
            out, err = await process.process.communicate()
            assert KEY not in out.decode() + err.decode()
        async with served(tmp_path) as process, Client(process.url, process.token) as client:
            response = await client.request("GET", "/api/setup")
            assert (response["model"], response["key_hint"]) == ("small", "Zx9Q")
    for path in (tmp_path / "data").rglob("*"):
        if path.is_file() and path.name != "credentials.json":
            assert KEY.encode() not in path.read_bytes(), path


@pytest.mark.parametrize(
    "body",
    [
        *({"base_url": address} for address in ("file:///etc/passwd", "ftp://a/v1", "//a/v1", "a/v1", "http://", " ")),
        *({"base_url": f"http://{address}"} for address in (f"me:{KEY}@a/v1", f"a/v1?key={KEY}", f"a/#{KEY}", "a:x/")),
        *({"base_url": f"{NOWHERE}{sign}"} for sign in ("?", "#", "/?", "\\")),
        *({"key": f"{KEY}{sign}"} for sign in ("\n", "\r\nhost: evil", " ", "é", "\0")),
        {"key": ""},
        {"key": "x" * 501},
        {"model": ""},
        {"model": "a\nb"},
        {"provider": "anthropic"},
        {"unknown": KEY},
    ],
)
async def test_an_invalid_address_key_or_model_is_refused_without_echoing_the_value(
    tmp_path: Path, body: dict[str, str]
) -> None:
    async with setup_server(tmp_path) as here:
        for method, path in (("POST", "/test"), ("PUT", "")):
            status, _ = await here.refused(method, path, {"base_url": NOWHERE, "model": "m", **body})
            assert status == 422
        assert await here.refused("PUT", "", {"base_url": NOWHERE}) == (422, "invalid_request")
        assert (await here.request("GET"))["is_demo"]


async def test_a_short_key_has_no_end_that_is_shown(tmp_path: Path) -> None:
    async with setup_server(tmp_path) as here:
        response = await here.request("PUT", "", {"base_url": NOWHERE, "key": "ollama", "model": "m"})
        assert (response["key_hint"], response["key_from"]) == (None, "stored")


# access and failures


async def test_only_the_local_user_sets_up_the_provider(tmp_path: Path) -> None:
    async with fake() as provider, setup_server(tmp_path) as here:
        await here.request("PUT", "", setup_body(provider, model="small"))
        token = here.server.tokens.add("anna")
        async with here.server.client(token) as anna:
            for method, path, body in (
                ("PUT", "", setup_body(provider, model="large")),
                ("POST", "/test", setup_body(provider)),
                ("DELETE", "", None),
            ):
                assert await here.refused(method, path, body, anna) == (403, "only_local_user")
            response = await anna.request("GET", "/api/setup")
            assert (response["model"], response["can_change"], response["reason"]["code"]) == (
                "small",
                False,
                "only_local_user",
            )
            assert (response["base_url"], response["key_hint"]) == (None, None)


async def test_a_store_that_refuses_changes_nothing(tmp_path: Path) -> None:
    async with fake() as provider, setup_server(tmp_path) as here:
        (tmp_path / "data/credentials.json").mkdir()
        assert await here.refused("PUT", "", setup_body(provider, model="small")) == (503, "store_refused")
        assert (await here.request("GET"))["is_demo"]
        assert "demo model" in await here.turn()
        assert [path.name for path in (tmp_path / "data").iterdir() if "credentials" in path.name] == [
            "credentials.json"
        ]


async def test_a_credentials_draft_left_by_a_kill_is_removed_with_the_next_change(tmp_path: Path) -> None:
    async with setup_server(tmp_path) as here:
        draft = tmp_path / "data/.credentials-killed"
        draft.write_text(f'{{"key": "{KEY}')
        await here.request("PUT", "", {"base_url": NOWHERE, "model": "m"})
        assert not draft.exists()
        draft.write_text(KEY)
        (tmp_path / "data/credentials.json").unlink()
        await here.request("DELETE")
        assert not draft.exists()


async def test_a_kill_at_any_instant_leaves_the_old_or_the_new_credentials(tmp_path: Path) -> None:
    """A kill just before the n-th disk operation, for every n."""
    path = tmp_path / "credentials.json"
    program = (
        "import os, sys; from pathlib import Path; import pilothouse.config.credentials as it\n"
        "left = [int(sys.argv[3])]\n"
        "def dying(call):\n"
        "    def counted(*given, **named):\n"
        "        left[0] -= 1\n"
        "        if left[0] < 0: os.kill(os.getpid(), 9)\n"
        "        return call(*given, **named)\n"
        "    return counted\n"
        "for name in ('open', 'fsync', 'replace', 'unlink'): setattr(os, name, dying(getattr(os, name)))\n"
        "it.msgspec.json.encode = dying(it.msgspec.json.encode)\n"
        "kept = it.Credentials(Path(sys.argv[1]))\n"
        "if sys.argv[2]: kept.write(it.StoredSetup(base_url='http://b', key='the-second-key', model='b'))\n"
        "else: kept.remove()\n"
    )
    for what in ("write", ""):
        for number in range(20):
            Credentials(path).write(StoredSetup(base_url="http://a", key="the-first-key", model="a"))
            process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, str(path), what, str(number))
            code = await process.wait()
            stored = Credentials(path).read()
            pair = (stored.model, stored.key) if stored is not None else None
            assert pair in [("a", "the-first-key"), ("b", "the-second-key") if what else None]
            for each in tmp_path.iterdir():
                assert stat.S_IMODE(each.stat().st_mode) == 0o600, each
            if code == 0:
                break
        assert (code, number > 1) == (0, True)
        assert pair == (("b", "the-second-key") if what else None)
    assert list(tmp_path.iterdir()) == []


async def test_a_provider_that_cannot_be_built_is_not_stored(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/config.toml").write_text(f'title_model = "scripted:{tmp_path}/titles.json"\n')
    (tmp_path / "titles.json").write_text("{}")
    async with fake("From the provider.") as provider, setup_server(tmp_path) as here:
        (tmp_path / "titles.json").unlink()
        assert (await here.refused("PUT", "", setup_body(provider, model="small")))[0] == 422
        assert (await here.request("GET"))["is_demo"]
        assert not (tmp_path / "data/credentials.json").exists()
        (tmp_path / "titles.json").write_text("{}")
        await here.request("PUT", "", setup_body(provider, model="small"))
        assert await here.turn() == "From the provider."


async def test_a_window_learned_from_one_provider_does_not_apply_to_another(tmp_path: Path) -> None:
    async with fake() as provider, setup_server(tmp_path) as here:
        await here.request("PUT", "", setup_body(provider, model="small"))
        parts = pool_of(here.runtime).dependencies
        usual = parts.budget_of("small").tokens
        parts.catalog.learn_window("small", 1000)
        assert parts.budget_of("small").tokens == 1000
        await here.request("PUT", "", {"base_url": NOWHERE, "model": "small"})
        assert parts.budget_of("small").tokens == usual


async def test_a_key_that_the_configuration_needs_cannot_be_deleted(tmp_path: Path) -> None:
    async with fake() as provider:
        async with setup_server(tmp_path) as here:
            await here.request("PUT", "", setup_body(provider, model="small"))
        (tmp_path / "conf").mkdir()
        (tmp_path / "conf/config.toml").write_text('title_model = "openai:small"\n')
        async with setup_server(tmp_path) as here:
            assert await here.refused("DELETE") == (422, "missing_key")
            assert (await here.request("GET"))["model"] == "small"


async def test_a_damaged_credentials_file_is_named_at_the_start_without_its_content(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/credentials.json").write_text(json.dumps({"base_url": 7, "key": KEY, "model": "m"}))
    code, out, err = await ran(tmp_path, "run", "hello")
    assert (code, out) == (4, "")
    assert "credentials.json" in err
    assert KEY not in err


async def test_concurrent_changes_leave_the_last_written_credentials(tmp_path: Path) -> None:
    async with setup_server(tmp_path) as here:
        bodies = [{"base_url": NOWHERE, "model": f"m{number}"} for number in range(10)]
        await asyncio.gather(*[here.request("PUT", "", body) for body in bodies])
        stored = json.loads((tmp_path / "data/credentials.json").read_text())
        assert (await here.request("GET"))["model"] == stored["model"] == pool_of(here.runtime).dependencies.model
