"""The user's session, through real HTTP: tabs in order, two writers, preferences that count, damage."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pilothouse.client import Client, ServerError
from pilothouse.domain.personas import Persona, Personas
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.disk import FaultyDisk
from pilothouse.testing.served import Served
from pilothouse.testing.world import World
from tests.support.held_store import DONE

NOW = "2026-11-15T00:00:00.000Z"


def session_store(data: Path) -> FileStore:
    return FileStore(data, now=lambda: NOW)


async def get(client: Client) -> dict[str, Any]:
    response: dict[str, Any] = await client.request("GET", "/api/session")
    return response


def tabs(session: dict[str, Any]) -> list[str]:
    assert [tab["order"] for tab in session["open_contexts"]] == list(range(len(session["open_contexts"])))
    return [tab["context_id"] for tab in session["open_contexts"]]


async def test_tabs_open_in_order_close_to_the_neighbour_and_survive_a_restart(tmp_path: Path) -> None:
    world = World(tmp_path, store=session_store(tmp_path / "data"))
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        a, b, c = [await world.start() for _ in range(3)]
        for each in (a, b, c, a):
            session = await client.request("POST", "/api/session/open-contexts", {"context_id": each})
        assert tabs(session) == [a, b, c]
        assert session["active_context_id"] is None
        await client.request("PUT", "/api/session/active-context", {"context_id": b})
        session = await client.request("DELETE", f"/api/session/open-contexts/{b}")
        assert (tabs(session), session["active_context_id"]) == ([a, c], c)
        session = await client.request("DELETE", f"/api/session/open-contexts/{c}")
        assert (tabs(session), session["active_context_id"]) == ([a], a)
        await client.request("PATCH", f"/api/contexts/{a}", {"title": "A name"})
        assert (await get(client))["open_contexts"][0]["title"] == "A name"
        await client.request("PUT", "/api/session/ui-state", {"sidebar_width": 333})
        before = await get(client)
    again = World(tmp_path, store=session_store(tmp_path / "data"), ids_from=1000)
    async with again.runtime, Served(again.runtime, [tmp_path]) as served, served.client() as client:
        assert await get(client) == before


async def test_two_pages_that_change_different_things_do_not_undo_each_other(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        changes: list[tuple[str, dict[str, Any]]] = [
            ("ui-state", {"sidebar_width": 300}),
            ("ui-state", {"sidebar_collapsed": True}),
            ("ui-state", {"context_expanded": {"x": True}}),
            ("preferences", {"theme": "dark"}),
            ("preferences", {"language": "zh"}),
            ("preferences", {"font_size": 18}),
        ]
        await asyncio.gather(*(client.request("PUT", f"/api/session/{where}", what) for where, what in changes))
        session = await get(client)
        assert session["version"] == len(changes)
        for where, what in changes:
            assert what.items() <= session[where.replace("-", "_")].items()


async def test_a_stale_version_is_409_and_changes_nothing(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        a, b = await world.start(), await world.start()
        await client.request("POST", "/api/session/open-contexts", {"context_id": a})
        mine, theirs = await get(client), await get(client)
        mine["open_contexts"] = [{"context_id": b, "order": 1}, {"context_id": a, "order": 0}]
        mine["active_context_id"] = b
        written = await client.request("PUT", "/api/session", mine)
        assert (tabs(written), written["active_context_id"], written["version"]) == ([a, b], b, 2)
        theirs["preferences"]["theme"] = "dark"
        stale = [("", theirs), ("/ui-state", {"sidebar_width": 1, "version": 1})]
        for where, body in [*stale, ("/preferences", {"theme": "dark", "version": 1})]:
            with pytest.raises(ServerError) as refused:
                await client.request("PUT", f"/api/session{where}", body)
            assert (refused.value.problem.status, refused.value.problem.code) == (409, "stale_session")
        assert await get(client) == written


async def test_preferences_apply_to_contexts_created_later(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        wanted = {"default_mode": "plan", "tool_approval_policy": {"kind": "manual"}}
        await client.request("PUT", "/api/session/preferences", wanted)
        created = await client.request("POST", "/api/contexts", {})
        assert (created["mode"], created["config"]["policy"]["kind"]) == ("plan", "manual")
        chosen = await client.request("POST", "/api/contexts", {"mode": "build"})
        assert chosen["mode"] == "agent"
        for bad in ({"default_mode": "nope"}, {"theme": "pink"}, {"font_size": 1000}, {"unknown": 1}):
            with pytest.raises(ServerError) as refused:
                await client.request("PUT", "/api/session/preferences", bad)
            assert refused.value.problem.status == 422
        assert (await get(client))["preferences"]["default_mode"] == "plan"


@pytest.mark.parametrize("configured", [None, "supervised", "ask"])
@pytest.mark.parametrize("preferred", [None, "agent", "plan"])
async def test_the_default_mode_is_reported_and_used_for_a_new_context(
    tmp_path: Path, configured: str | None, preferred: str | None
) -> None:
    world = World(tmp_path)
    async with (
        world.runtime,
        Served(world.runtime, [tmp_path], mode=configured) as served,
        served.client() as client,
    ):
        await client.request("PUT", "/api/session/preferences", {"default_mode": preferred})
        modes = (await client.request("GET", "/api/modes"))["items"]
        created = await client.request("POST", "/api/contexts", {})
        assert [mode["name"] for mode in modes if mode["is_default"]] == [created["mode"]]


async def test_the_preferred_model_is_used_for_new_contexts_if_it_exists_and_no_other_is_named(
    tmp_path: Path,
) -> None:
    personas = Personas([Persona("thrifty", model="openai:small"), Persona("plain")])
    world = World(tmp_path, models=["small", "large"], personas=lambda _: personas)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:

        async def model(**body: str) -> str:
            return str((await client.request("POST", "/api/contexts", body))["config"]["model"])

        assert await model() == "test"
        await client.request("PUT", "/api/session/preferences", {"default_model": "large"})
        assert await model() == "large"
        assert await model(persona="plain") == "large"
        assert await model(persona="thrifty") == "small"
        assert await model(model="small") == "small"
        await client.request("PUT", "/api/session/preferences", {"default_model": "gone"})
        assert await model() == "test"
        await client.request("PUT", "/api/session/preferences", {"default_model": None})
        assert await model() == "test"


async def test_deleting_a_context_closes_its_tab(tmp_path: Path) -> None:
    world = World(tmp_path, DONE)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        a, b = await world.start(), await world.start()
        for each in (a, b):
            await client.request("PUT", "/api/session/active-context", {"context_id": each})
        await client.request("DELETE", f"/api/contexts/{b}")
        session = await get(client)
        assert (tabs(session), session["active_context_id"]) == ([a], a)


async def test_each_user_has_a_session_and_opens_only_their_own_contexts(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        mine = await world.start()
        await client.request("PUT", "/api/session/active-context", {"context_id": mine})
        async with Client(served.url, served.tokens.add("anna")) as anna:
            assert (await get(anna))["user_id"] == "anna"
            assert tabs(await get(anna)) == []
            bodies = {
                "PUT /api/session/active-context": {"context_id": mine},
                "POST /api/session/open-contexts": {"context_id": mine},
                "PUT /api/session": {"version": 0, "active_context_id": mine},
            }
            for route, body in bodies.items():
                method, path = route.split()
                with pytest.raises(ServerError) as refused:
                    await anna.request(method, path, body)
                assert refused.value.problem.status == 404
            assert (await get(anna))["version"] == 0


async def test_at_most_a_hundred_tabs_are_open(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        ids = [await world.start() for _ in range(101)]
        for each in ids[:100]:
            await client.request("POST", "/api/session/open-contexts", {"context_id": each})
        with pytest.raises(ServerError) as refused:
            await client.request("POST", "/api/session/open-contexts", {"context_id": ids[100]})
        assert refused.value.problem.code == "too_many_tabs"


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff\xfe", b"null", b'{"user_id": 5}', b"[" * 10000])
async def test_a_damaged_session_is_a_default_one_with_a_warning_and_the_bytes_are_kept(
    tmp_path: Path, damage: bytes
) -> None:
    folder = tmp_path / "data" / "users" / "local"
    folder.mkdir(parents=True)
    (folder / "session.json").write_bytes(damage)
    world = World(tmp_path, store=session_store(tmp_path / "data"))
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        session = await get(client)
        assert session["warning"]["code"] == "session_damaged"
        assert (session["version"], session["open_contexts"]) == (0, [])
        changed = await client.request("PUT", "/api/session/preferences", {"theme": "dark"})
        assert changed["version"] == 1
    assert [path.read_bytes() for path in (folder / "aside").iterdir()] == [damage]


@pytest.mark.parametrize("at", range(1, 5))
async def test_a_session_that_the_disk_refuses_stays_as_it_was(tmp_path: Path, at: int) -> None:
    disk = FaultyDisk()
    world = World(tmp_path, store=FileStore(tmp_path / "data", now=lambda: NOW, disk=disk))
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        await client.request("PUT", "/api/session/preferences", {"theme": "dark"})
        disk.arm(at, "ENOSPC", lasting=True)
        with pytest.raises(ServerError) as refused:
            await client.request("PUT", "/api/session/preferences", {"theme": "light"})
        assert refused.value.problem.status == 503
        disk.disarm()
        session = await get(client)
        assert (session["preferences"]["theme"], session["version"]) == ("dark", 1)
        assert (await client.request("PUT", "/api/session/preferences", {"theme": "light"}))["version"] == 2


async def test_a_tab_whose_id_has_changed_hands_is_not_shown(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with (
        world.runtime,
        Served(world.runtime, [tmp_path]) as served,
        Client(served.url, served.tokens.add("bob")) as bob,
    ):
        context_id = await world.runtime.contexts.create(tmp_path, by="bob")
        await bob.request("PUT", "/api/session/active-context", {"context_id": context_id})
        await world.runtime.contexts.delete(context_id)
        await world.runtime.contexts.create(tmp_path, context_id=context_id, title="a secret plan")
        session = await get(bob)
        assert (session["open_contexts"], session["active_context_id"]) == ([], None)
