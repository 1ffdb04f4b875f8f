"""The client's replica over a real server: it follows a turn and equals a fresh load."""

from pathlib import Path

from pilothouse.client import ContextReplica
from pilothouse.domain.states import AwaitingToolApproval, Idle
from pilothouse.llm.script import Answer
from pilothouse.testing.served import Served
from pilothouse.testing.world import World
from tests.support.assertions import present
from tests.support.held_store import calls_answer


def is_idle(copy: ContextReplica) -> bool:
    return (
        copy.is_settled and isinstance(present(copy.context).current_state, Idle) and present(copy.context).turn is None
    )


async def test_a_replica_follows_a_turn_and_equals_a_fresh_load(tmp_path: Path) -> None:
    world = World(
        tmp_path, calls_answer(("change", "a")), Answer(text="Hello there, this is an answer.", delta_delay=0.01)
    )
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        created = await client.request("POST", "/api/contexts", {"mode": "supervised"})
        context_id = created["context_id"]
        async with ContextReplica(client, context_id) as copy:
            await client.send(context_id, "go")
            await copy.until(
                lambda copy: (
                    isinstance(present(copy.context).current_state, AwaitingToolApproval)
                    and bool(present(copy.context).pending_tool_calls)
                )
            )
            call = present(copy.context).pending_tool_calls[0]
            path = f"/api/contexts/{context_id}/tool-calls/{call.id}/approve"
            await client.request("POST", path, {"digest": call.digest})
            await copy.until(lambda copy: is_idle(copy) and len(copy.order) == 4)
            async with ContextReplica(client, context_id) as fresh:
                await fresh.until(is_idle)
                assert (copy.context, copy.order, copy.messages) == (fresh.context, fresh.order, fresh.messages)
                assert not copy.texts
                assert copy.text(copy.order[-1]) == "Hello there, this is an answer."


async def test_a_replica_drops_the_text_of_attempts_that_were_cut(tmp_path: Path) -> None:
    cut = Answer(deltas=("Half ", "of ", "it"), cut=2, delta_delay=0.01)
    world = World(tmp_path, cut, cut, cut, Answer(text="All of it.", delta_delay=0.01))
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        context_id = (await client.request("POST", "/api/contexts", {}))["context_id"]
        async with ContextReplica(client, context_id) as copy:
            await client.send(context_id, "go")
            await copy.until(lambda copy: is_idle(copy) and len(copy.order) == 3)
            assert [copy.text(each) for each in copy.order] == ["go", "Half of ", "All of it."]
            assert not copy.texts
