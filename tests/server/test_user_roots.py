"""Users limited to their own folders: `[users.NAME] roots`."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pilothouse.cli.serve import unused_table_warnings
from pilothouse.client import Client
from pilothouse.config.configuration import Configuration
from pilothouse.domain.errors import InvalidInput, ToolError
from pilothouse.i18n import translate
from pilothouse.sandbox.workspace import Root
from pilothouse.server.tokens import Tokens
from pilothouse.settings import read_settings
from pilothouse.testing.ambient import ManualAmbient
from pilothouse.testing.served import TOKEN, Served
from pilothouse.testing.world import World
from tests.cli.test_serve import ran
from tests.server.test_ownership import answer_of, export_of, import_to
from tests.support.held_store import DONE
from tests.support.live_contexts import live_context
from tests.support.mcp_tools import answer_with_calls, builtin_tools_for_world, configuration, files_at, writes


class TwoUserServer:
    """A server of two users: anna is kept to `root/anna`; the local user may work anywhere in `root`."""

    def __init__(self, root: Path, world: World, served: Served, token: str) -> None:
        self.root = root
        self.world = world
        self.served = served
        self.token = token

    async def answer(self, method: str, path: str, body: Any = None, token: str | None = None) -> tuple[int, str]:
        return await answer_of(self.served, token or self.token, method, path, body)

    def restrict(self) -> None:
        object.__setattr__(self.world.dependencies, "user_roots", {"anna": [self.root / "anna"]})


@asynccontextmanager
async def two_user_server(folder: Path, *answers: Any, **parts: Any) -> AsyncIterator[TwoUserServer]:
    root = Path(os.path.realpath(folder)) / "root"
    for name in ("anna/inner", "secret/.pilothouse"):
        (root / name).mkdir(parents=True)
    (root / "secret/plan.txt").write_text("plum")
    (root / "secret/.pilothouse/config.toml").write_text('mode = "plan"\n')
    (root / "anna/link").symlink_to(root / "secret")
    own = configuration(folder)
    world = World(
        root,
        *answers,
        store=files_at(folder),
        tools=builtin_tools_for_world(),
        trust=own,
        workspace_policy=own.workspace_policy,
        **parts,
    )
    async with world.runtime, Served(world.runtime, [root], workspace=root / "secret") as served:
        new_shared = TwoUserServer(root, world, served, served.tokens.add("anna"))
        new_shared.restrict()
        yield new_shared


async def test_a_user_with_roots_works_beneath_them_and_nowhere_else(tmp_path: Path) -> None:
    async with two_user_server(tmp_path, DONE, DONE) as here:
        async with Client(here.served.url, here.token) as anna:
            for workspace, real in (
                (None, "anna"),
                ("inner", "anna/inner"),
                (str(here.root / "anna/inner"), "anna/inner"),
            ):
                created = await anna.request("POST", "/api/contexts", {"workspace": workspace} if workspace else {})
                assert created["workspace"] == str(here.root / real)
            assert [name async for name, _ in anna.chat("thread", "hello")][-1] == "done"
            assert (await anna.request("GET", "/api/contexts/thread"))["workspace"] == str(here.root / "anna")
            body = {"messages": [{"role": "user", "content": "hello"}]}
            await anna.request("POST", "/v1/chat/completions", body)
            listed = (await anna.request("GET", "/api/contexts"))["items"]
            assert {each["workspace"] for each in listed} == {str(here.root / "anna"), str(here.root / "anna/inner")}
        outside = (here.root, here.root / "secret", here.root / "absent", "/", "/absent", "../secret", "link")
        for refused_workspace in outside:
            status, text = await here.answer("POST", "/api/contexts", {"workspace": str(refused_workspace)})
            assert (status, "outside_roots" in text) == (422, True), refused_workspace
            assert f"({here.root / 'anna'})" in text
        assert (await here.answer("POST", "/api/contexts", {"workspace": "secret"}, TOKEN))[0] == 201


async def test_an_import_does_not_take_a_user_outside_their_roots(tmp_path: Path) -> None:
    async with two_user_server(tmp_path) as here:
        context_id = await here.world.runtime.contexts.create(here.root / "secret")
        lines = await export_of(here.served, TOKEN, context_id)
        assert await import_to(here.served, here.token, lines, "context_id=mine") == 422
        assert await import_to(here.served, here.token, lines, "context_id=mine&workspace=link") == 422
        assert await import_to(here.served, here.token, lines, "context_id=mine&workspace=inner") == 201


async def test_an_older_conversation_touches_nothing_outside_its_owners_roots(tmp_path: Path) -> None:
    """Every access to the folder is refused; the conversation itself can still be read and deleted."""
    looks = answer_with_calls(("read_file", {"path": "plan.txt"}), ("execute", {"command": "cat plan.txt"}))
    async with two_user_server(tmp_path, writes("new.txt", "x"), DONE, looks, DONE) as here:
        runtime = here.world.runtime
        object.__setattr__(here.world.dependencies, "user_roots", {})
        context_id = await runtime.contexts.create(here.root / "secret", mode="agent", by="anna")
        await here.world.turn(context_id, "write")
        assert (here.root / "secret/new.txt").exists()
        await runtime.uploads.add(context_id, "note.txt", b"mine")
        here.restrict()
        live = await live_context(runtime, context_id)
        live.files.forget_workspace()  # roots change with a restart, when no context is in memory
        path = f"/api/contexts/{context_id}"
        for method, route, body in (
            ("GET", f"{path}/files?query=plan", None),
            ("GET", f"{path}/trust", None),
            ("POST", f"{path}/undo", None),
            ("POST", f"{path}/files/note.txt/copy", {}),
            ("POST", f"{path}/workspace-overview", {}),
            ("POST", f"{path}/mcp-resources", {"server": "docs", "uri": "docs://guide"}),
        ):
            status, text = await here.answer(method, route, body)
            assert 400 <= status < 500, (route, status, text)
            assert "plum" not in text
        assert (here.root / "secret/new.txt").exists(), "nothing was undone"
        assert not (here.root / "secret/note.txt").exists()
        with pytest.raises(ToolError):
            live.files.workspace()
        payloads = [{"type": "text", "content": "read"}, {"type": "file_reference", "path": "plan.txt"}]
        assert (await here.answer("POST", f"{path}/messages", {"payloads": payloads}))[0] == 202
        await runtime.turns.rested(context_id)
        status, text = await here.answer("GET", f"{path}/messages")
        assert status == 200
        assert "plum" not in text
        assert (await here.answer("DELETE", path))[0] == 204


async def test_additional_folders_are_reached_only_within_a_users_roots(tmp_path: Path) -> None:
    beside = tmp_path / "root/secret"
    inside = tmp_path / "root/anna/inner"
    async with two_user_server(
        tmp_path, extra_roots=[Root(beside, writable=False), Root(inside, writable=True)]
    ) as here:
        theirs = await live_context(here.world.runtime, await here.world.runtime.contexts.create(inside, by="anna"))
        ours = await live_context(here.world.runtime, await here.world.runtime.contexts.create(inside))
        assert [root.path for root in theirs.dependencies.extra_roots_of("anna")] == [inside]
        with pytest.raises(ToolError):
            theirs.files.workspace().read(str(beside / "plan.txt"))
        assert ours.files.workspace().read(str(beside / "plan.txt")) == b"plum"


async def test_a_sub_agent_stays_within_the_roots_of_its_user(tmp_path: Path) -> None:
    async with two_user_server(tmp_path) as here:
        runtime = here.world.runtime
        parent = await runtime.contexts.create(here.root / "anna", by="anna")
        with pytest.raises(InvalidInput, match="opens to you"):
            await runtime.contexts.create(here.root / "secret", parent=parent)


@pytest.mark.parametrize(
    "text", ['root = ["/srv"]', "roots = []", 'roots = ["relative"]', "roots = 3", "", 'roots = ["/a"]\nmore = 1']
)
def test_a_mistake_in_a_users_table_is_reported_and_lifts_no_restriction(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f"[users.anna]\n{text}\n")
    with pytest.raises(InvalidInput, match=r"users\.anna"):
        Configuration(file)


async def test_a_server_does_not_start_with_roots_of_a_user_that_are_not_its_own(tmp_path: Path) -> None:
    config = tmp_path / "config/pilothouse/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[users.anna]\nroots = ["{tmp_path / "data"}"]\n')
    (tmp_path / "data").mkdir()
    code, out, err = await ran(tmp_path, "serve", "--no-open", "--port", "0")
    assert (code, out) == (4, "")
    assert "[users.anna]" in err
    assert "--root" in err
    assert str(tmp_path / "data") in err


async def test_a_server_does_not_start_where_a_folder_of_a_user_is_missing_and_names_it(tmp_path: Path) -> None:
    config = tmp_path / "config/pilothouse/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[users.anna]\nroots = ["{tmp_path / "absent"}"]\n')
    code, out, err = await ran(tmp_path, "serve", "--no-open", "--port", "0")
    assert (code, out) == (4, "")
    assert "[users.anna]" in err
    assert f"{str(tmp_path / 'absent')!r} of the user 'anna'" in err
    assert "doesn't exist" in err


async def test_health_counts_only_the_users_own_contexts(tmp_path: Path) -> None:
    async with two_user_server(tmp_path) as here, here.served.client() as local:
        for _ in range(3):
            await here.world.runtime.contexts.get(await here.world.runtime.contexts.create(here.root))
        async with Client(here.served.url, here.token) as anna:
            assert (await anna.request("GET", "/api/health"))["contexts_in_memory"] == 0
        assert (await local.request("GET", "/api/health"))["contexts_in_memory"] == 3


async def test_the_roots_of_other_users_are_closed_to_a_users_confined_commands(tmp_path: Path) -> None:
    async with two_user_server(tmp_path) as here:
        inside, beside = here.root / "anna/inner", here.root / "secret"
        roots = {"anna": [here.root / "anna"], "bob": [beside], "carl": [inside], "dora": [here.root]}
        object.__setattr__(here.world.dependencies, "user_roots", roots)
        context_id = await here.world.runtime.contexts.create(here.root / "anna", by="anna")
        assert (await live_context(here.world.runtime, context_id)).files.workspace().foreign_roots == (beside,)
        context_id = await here.world.runtime.contexts.create(beside)
        assert (await live_context(here.world.runtime, context_id)).files.workspace().foreign_roots == ()


def test_a_table_for_an_unknown_user_is_reported(tmp_path: Path) -> None:
    """A misspelt name restricts no user."""
    (tmp_path / "folder").mkdir()
    config = tmp_path / "config.toml"
    config.write_text(f'[users.ana]\nroots = ["{tmp_path / "folder"}"]\n')
    settings = read_settings({"HOME": str(tmp_path)}, config=str(config), data_dir=str(tmp_path / "data"))
    tokens = Tokens(tmp_path / "data" / "server" / "tokens.json", ManualAmbient())
    tokens.add("anna")
    (warning,) = unused_table_warnings(settings, tokens)
    assert "[users.ana]" in translate(warning)
    assert "anna, local" in translate(warning)
    tokens.add("ana")
    assert unused_table_warnings(settings, tokens) == []
