"""A person edits a call: the edited call is shown, and runs only as shown."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pilothouse.client import CallDecided, Client, ServerError
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.testing.served import Served
from pilothouse.testing.world import World
from tests.support.held_store import DONE
from tests.support.mcp_tools import builtin_tools_for_world


@asynccontextmanager
async def waiting(tmp_path: Path) -> AsyncIterator[tuple[World, Client, str, dict[str, Any]]]:
    """A call that waits to write a file, and the path of its context's calls."""
    arguments = {"path": "log.txt", "content": "theirs\n"}
    asks = Answer(text="I will", calls=(ScriptedCall(tool="write_file", arguments=arguments),))
    world = World(tmp_path, asks, DONE, tools=builtin_tools_for_world())
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        context_id = await world.start("supervised")
        await world.turn(context_id)
        calls = f"/api/contexts/{context_id}/tool-calls"
        (call,) = (await client.request("GET", f"{calls}?status=pending"))["items"]
        yield world, client, calls, call


def decision(call: dict[str, Any], arguments: dict[str, Any], digest: str) -> dict[str, Any]:
    one = {"id": call["id"], "verdict": "approve", "digest": call["digest"], "arguments": arguments}
    return {"decisions": [{**one, "edited_digest": digest}]}


async def test_an_edited_call_is_shown_with_its_own_diff_and_runs_as_shown(tmp_path: Path) -> None:
    async with waiting(tmp_path) as (world, client, calls, call):
        (world.workspace / "other.txt").write_text("old\n")
        arguments = {"path": "other.txt", "content": "mine\n"}
        shown = await client.request("POST", f"{calls}/{call['id']}/preview", {"arguments": arguments})
        edited = shown["call"]
        assert shown["refusal"] is None
        assert (edited["arguments"], edited["edited"], edited["rule_offers"]) == (arguments, True, [])
        assert "-old" in edited["preview"]
        assert "+mine" in edited["preview"]
        assert edited["dangerous"] != call["dangerous"], "it overwrites a file"
        assert (await client.request("GET", f"{calls}/{call['id']}"))["arguments"] == call["arguments"], (
            "nothing is stored"
        )
        await client.request("POST", f"{calls}/decide", decision(call, arguments, edited["digest"]))
        await world.runtime.turns.rested(calls.split("/")[3])
        assert (world.workspace / "other.txt").read_text() == "mine\n"


@pytest.mark.parametrize("way", ["decide", "approve"])
async def test_an_edited_call_whose_file_changed_since_it_was_shown_keeps_waiting(tmp_path: Path, way: str) -> None:
    async with waiting(tmp_path) as (world, client, calls, call):
        arguments = {"path": "other.txt", "content": "mine\n"}
        shown = await client.request("POST", f"{calls}/{call['id']}/preview", {"arguments": arguments})
        (world.workspace / "other.txt").write_text("somebody's\n")
        body = decision(call, arguments, shown["call"]["digest"])
        if way == "approve":
            body = {key: value for key, value in body["decisions"][0].items() if key not in ("id", "verdict")}
        path = f"{calls}/decide" if way == "decide" else f"{calls}/{call['id']}/approve"
        with pytest.raises(ServerError) as refused:
            await client.request("POST", path, body)
        assert (refused.value.problem.status, refused.value.problem.code) == (409, "digest_changed")
        assert (world.workspace / "other.txt").read_text() == "somebody's\n"
        assert (await client.request("GET", f"{calls}/{call['id']}"))["status"] == "pending"


async def test_an_edit_that_may_never_run_says_why(tmp_path: Path) -> None:
    async with waiting(tmp_path) as (_, client, calls, call):
        body = {"arguments": {"path": "../outside.txt", "content": "x"}}
        shown = await client.request("POST", f"{calls}/{call['id']}/preview", body)
        assert shown["refusal"] is not None


async def test_a_decided_call_has_no_preview(tmp_path: Path) -> None:
    async with waiting(tmp_path) as (_, client, calls, call):
        await client.request("POST", f"{calls}/{call['id']}/reject", {})
        with pytest.raises(CallDecided):
            await client.request("POST", f"{calls}/{call['id']}/preview", {"arguments": call["arguments"]})
