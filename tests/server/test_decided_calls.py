"""A late decision gets the earlier one, with its author and time, and changes nothing."""

from pathlib import Path
from typing import Any

import pytest

from pilothouse.client import CallDecided, Client
from pilothouse.testing.served import Served
from pilothouse.testing.world import World
from tests.support.held_store import DONE, calls_answer


async def conflict_of(client: Client, path: str, body: dict[str, Any]) -> CallDecided:
    with pytest.raises(CallDecided) as caught:
        await client.request("POST", path, body)
    assert caught.value.problem.status == 409
    return caught.value


@pytest.mark.parametrize("first", ["approve", "reject"])
@pytest.mark.parametrize("when", ["in the turn", "after it"])
async def test_a_late_decision_gets_the_earlier_decision(tmp_path: Path, first: str, when: str) -> None:
    world = World(tmp_path, calls_answer(("change", "a"), ("change", "b")), DONE)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        context_id = await world.start("supervised")
        await world.turn(context_id)
        calls, other = f"/api/contexts/{context_id}/tool-calls", (await world.runtime.calls.pending(context_id))[1]
        call = (await world.runtime.calls.pending(context_id))[0]
        await client.request("POST", f"{calls}/{call.id}/{first}", {"reason": "no"} if first == "reject" else {})
        if when == "after it":
            await client.request("POST", f"{calls}/{other.id}/reject", {"reason": "no"})
            await world.runtime.turns.rested(context_id)
        record = await world.runtime.calls.get(context_id, call.id)
        verdict = "approved" if first == "approve" else "rejected"
        ran = list(world.change.ran)
        for path, body in (
            (f"{call.id}/approve", {}),
            (f"{call.id}/reject", {}),
            ("approve-all", {"ids": [call.id]}),
            ("reject-all", {"ids": [call.id]}),
            ("decide", {"decisions": [{"id": call.id, "verdict": "approve"}]}),
        ):
            error = await conflict_of(client, f"{calls}/{path}", body)
            decision = (error.call_id, error.verdict, error.decided_by, error.decided_at)
            assert decision == (call.id, verdict, "local", record.decided_at)
        assert world.change.ran == ran


async def test_one_decided_call_makes_the_server_refuse_the_whole_request(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("change", "a"), ("change", "b")), DONE)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        context_id = await world.start("supervised")
        await world.turn(context_id)
        first, second = await world.runtime.calls.pending(context_id)
        calls = f"/api/contexts/{context_id}/tool-calls"
        await client.request("POST", f"{calls}/{first.id}/reject", {"reason": "no"})
        error = await conflict_of(client, f"{calls}/approve-all", {"ids": [second.id, first.id]})
        assert error.call_id == first.id
        assert [call.id for call in await world.runtime.calls.pending(context_id)] == [second.id]
        assert world.change.ran == []


async def test_every_item_of_the_list_has_a_title(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        await world.start()
        await world.runtime.contexts.create(tmp_path, title="Named")
        items = (await client.request("GET", "/api/contexts"))["items"]
        assert {item["title"] for item in items} == {None, "Named"}


async def test_a_waiting_call_names_the_letters_that_look_like_others(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("change", "p\u0430ypal"), ("change", "plain")), DONE)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        context_id = await world.start("supervised")
        await world.turn(context_id)
        calls = (await client.request("GET", f"/api/contexts/{context_id}/tool-calls"))["items"]
        assert [call["lookalikes"] for call in calls] == ["\u0430", ""]
