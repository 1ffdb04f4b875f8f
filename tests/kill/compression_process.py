"""The process that is killed while it compresses and undoes compressions, each step acknowledged as it returns."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from pilothouse.testing.disk import FaultyDisk
from tests.kill.turn_process import note, runtime_of, serve
from tests.support.compression_scenario import BUDGET, run_compressions
from tests.support.full_windows import Model


async def work(order: dict[str, Any]) -> None:
    data, workspace, acks = Path(order["data"]), Path(order["workspace"]), Path(order["acks"])
    name = order["epoch"]
    disk = FaultyDisk()
    runtime = runtime_of(data, workspace, Model(), disk, budget=BUDGET)

    async def act(step: str, command: Callable[[], Awaitable[Any]]) -> Any:
        result = await command()
        note(acks, f"{name} {step} {getattr(result, 'message_id', '-')}")
        return result

    def begins(phase: str) -> None:
        if phase == order.get("phase"):
            disk.arm(order["kill_at"], "kill")

    async with runtime:
        await run_compressions(runtime, workspace, name, act, begins)
    note(acks, f"{name} end -")


if __name__ == "__main__":
    serve(work)
