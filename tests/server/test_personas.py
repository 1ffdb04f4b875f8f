"""Personas over the HTTP API: those that can be chosen, where, and choosing one."""

from pathlib import Path
from typing import Any

import pytest

from pilothouse.client import Client
from pilothouse.testing.world import World
from tests.server.test_workspaces import opened, refused
from tests.stories.test_personas import add_project_persona, has
from tests.support.mcp_tools import DONE, answer_with_calls, world_with_tools

TOOLS = {"allowed": [], "denied": ["change"], "allowed_categories": [], "denied_categories": []}
ADA = 'name = "Ada"\nprinciples = ["One."]\nmodel = "demo"\ndefault_mode = "review"\n[tools]\ndenied = ["change"]\n'


@pytest.fixture
def world(tmp_path: Path) -> World:
    has(tmp_path, "ada", ADA)
    new_world = world_with_tools(tmp_path, answer_with_calls(("change", {"text": "a"})), DONE)
    (new_world.workspace / "other").mkdir()
    add_project_persona(new_world.workspace / "other", "ada", "")
    add_project_persona(new_world.workspace / "other", "scribe", 'role = "writer"\ndefault_mode = "ask"\n')
    return new_world


async def personas(client: Client, query: str = "") -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = (await client.request("GET", f"/api/personas{query}"))["items"]
    return items


async def test_each_persona_is_listed_with_all_fields(world: World) -> None:
    async with opened(world) as (client, _):
        assert await personas(client) == [
            {
                "id": "ada",
                "name": "Ada",
                "role": "",
                "identity": "",
                "communication_style": "",
                "principles": ["One."],
                "prompt": "",
                "model": "demo",
                "temperature": None,
                "max_output_tokens": None,
                "default_mode": "review",
                "tools": TOOLS,
                "origin": "user",
                "hidden": False,
            }
        ]


async def test_a_context_has_the_personas_of_its_folder_after_trust(world: World) -> None:
    async with opened(world) as (client, _):
        created = await client.request("POST", "/api/contexts", {"workspace": "other"})
        path, query = f"/api/contexts/{created['context_id']}", f"?context_id={created['context_id']}"
        assert [each["id"] for each in await personas(client, query)] == ["ada"]
        shown = await client.request("GET", f"{path}/trust")
        assert shown["files"]["personas/scribe.toml"] == 'role = "writer"\ndefault_mode = "ask"\n'
        await client.request("PUT", f"{path}/trust", {"digest": shown["digest"]})
        listed = [(each["id"], each["origin"], each["hidden"]) for each in await personas(client, query)]
        assert listed == [("ada", "user", False), ("scribe", "project", False), ("ada", "project", True)]
        assert [each["id"] for each in await personas(client)] == ["ada"]
        begun = await client.request("POST", "/api/contexts", {"workspace": "other", "persona": "scribe"})
        assert (begun["mode"], begun["config"]["persona"]) == ("ask", "scribe")
        add_project_persona(world.workspace / "other", "later", "")
        assert (await client.request("GET", f"{path}/trust"))["status"] == "changed"
        assert len(await personas(client, query)) == 3


async def test_a_persona_can_be_chosen_at_creation_and_later(world: World) -> None:
    async with opened(world) as (client, _):
        created = await client.request("POST", "/api/contexts", {"persona": "ada"})
        assert (created["mode"], created["config"]["persona"]) == ("review", "ada")
        path = f"/api/contexts/{created['context_id']}"
        assert (await client.request("PATCH", path, {"persona": None}))["config"]["persona"] is None
        await client.request("PUT", f"{path}/mode", {"mode": "supervised"})
        await world.turn(created["context_id"])
        assert len((await client.request("GET", path))["pending_tool_calls"]) == 1
        changed = await client.request("PATCH", path, {"persona": "ada"})
        assert changed["config"]["persona"] == "ada"
        assert changed["pending_tool_calls"] == [], "what waited is decided anew"
        assert world.change.ran == []
        for method, where, body in (
            ("POST", "/api/contexts", {"persona": "nobody"}),
            ("PATCH", path, {"persona": "scribe"}),
        ):
            status, code, problem = await refused(client, method, where, body)
            assert (status, code) == (422, "unknown_persona")
            assert "ada" in problem


async def test_personas_of_another_users_context_are_404(world: World) -> None:
    async with opened(world) as (client, _):
        theirs = await world.runtime.contexts.create(world.workspace, by="somebody")
        for context_id in (theirs, "nothing"):
            status, code, _ = await refused(client, "GET", f"/api/personas?context_id={context_id}")
            assert (status, code) == (404, "unknown_context")
