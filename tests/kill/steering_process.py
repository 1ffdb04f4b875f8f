"""The process that is killed while it steers: one command of each kind, acknowledged as it returns."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from pilothouse.llm.script import Script
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.testing.disk import FaultyDisk
from tests.kill.turn_process import note, runtime_of, serve
from tests.support.steering_scenario import answers, settle_by_approving, steer


async def work(order: dict[str, Any]) -> None:
    data, workspace, acks = Path(order["data"]), Path(order["workspace"]), Path(order["acks"])
    name = order["epoch"]
    disk = FaultyDisk()
    runtime = runtime_of(data, workspace, ScriptedAdapter(Script(turn=tuple(answers(name)))), disk)
    if order.get("kill_at"):
        disk.arm(order["kill_at"], "kill")

    async def act(step: str, command: Callable[[], Awaitable[Any]]) -> Any:
        result = await command()
        note(acks, f"{name} {step}")
        return result

    async with runtime:
        await steer(runtime, workspace, name, act, lambda context_id: settle_by_approving(runtime, context_id))
    note(acks, f"{name} end {disk.count}")


if __name__ == "__main__":
    serve(work)
