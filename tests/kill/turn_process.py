"""The process that is killed: it runs scripted turns with side effects and reports acknowledged writes.

Run as a program it is a zygote: for each line of JSON on its input it forks one such process, so that a
thousand of them cost no thousand starts of Python.
"""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from pilothouse.domain.errors import NotFound, PilothouseError
from pilothouse.domain.states import AwaitingToolApproval, AwaitingUserAnswer, Idle
from pilothouse.llm.base import Adapter
from pilothouse.llm.script import Answer, Script, ScriptedCall
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.dependencies import RuntimeDependencies
from pilothouse.runtime.limits import Limits
from pilothouse.runtime.runtime import Runtime
from pilothouse.sandbox.command_environment import CommandEnvironment
from pilothouse.storage.files.disk import Disk
from pilothouse.storage.files.store import FileStore
from pilothouse.system.ambient import SystemAmbient, timestamp
from pilothouse.testing.disk import FaultyDisk
from pilothouse.testing.tools import NoteTool
from pilothouse.tools.base import Tool
from pilothouse.tools.builtin.ask_user import AskUser
from pilothouse.tools.builtin.execute import Execute
from pilothouse.tools.registry import Registry
from tests.support.live_contexts import live_context_at_rest

CONTEXT = "victim"
MODES = ("agent", "supervised", "review", "agent", "plan")
QUESTION = {"questions": [{"question": "Go on?"}]}


def note(path: Path, line: str) -> None:
    """Write without a buffer: lines of a killed process are not lost."""
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(fd, line.encode() + b"\n")
    os.close(fd)


def script_of(epoch: str, turns: int) -> Script:
    answers = []
    for turn in range(turns):
        name = f"{epoch}-{turn}"
        changes = [ScriptedCall(tool="change", arguments={"text": f"{name}-{part}"}) for part in "ab"]
        looks = [ScriptedCall(tool="look", arguments={"text": name})]
        command = f"echo {name}-x >> effects; sleep 0.02; sleep 3141 & echo done"
        runs = [ScriptedCall(tool="execute", arguments={"command": command})] if turn % 3 == 0 else []
        asks = [ScriptedCall(tool="ask_user", arguments=QUESTION)] if turn % 4 == 1 else []
        text = [f"working on {name} ", "piece by ", "piece"]
        answers.append(Answer(deltas=tuple(text), calls=(*changes, *looks, *runs, *asks), delta_delay=0.001))
        answers.append(Answer(reasoning=("I think ", "so."), deltas=("done ", name), delta_delay=0.001))
    return Script(turn=tuple(answers))


def runtime_of(data: Path, workspace: Path, adapter: Adapter, disk: Disk | None = None, **parts: Any) -> Runtime:
    ambient = SystemAmbient()
    effects = workspace / "effects"
    tools: list[Tool[Any]] = [
        NoteTool("change", "mutating", on_run=lambda text: note(effects, text)),
        NoteTool("look", "read_only"),
        Execute(),
        AskUser(),
    ]
    return Runtime(
        RuntimeDependencies(
            store=FileStore(data, now=lambda: timestamp(ambient.now()), disk=disk),
            adapter=adapter,
            model="scripted",
            registry=Registry(tools),
            ambient=ambient,
            limits=Limits(delta_spacing=0.002),
            command_environment=CommandEnvironment.of(os.environ),
            **parts,
        )
    )


async def work(order: dict[str, Any]) -> None:
    data, workspace, acks = Path(order["data"]), Path(order["workspace"]), Path(order["acks"])
    disk = FaultyDisk()
    epoch, turns = order["epoch"], order["turns"]
    runtime = runtime_of(data, workspace, ScriptedAdapter(script_of(epoch, turns * 3)), disk)
    if order.get("kill_at"):
        disk.arm(order["kill_at"], "kill")
    async with runtime:
        try:
            await runtime.contexts.get(CONTEXT)
        except NotFound:
            await runtime.contexts.create(workspace, context_id=CONTEXT)
        for turn in range(turns):
            await settle(runtime)
            mode = MODES[turn % len(MODES)]
            await runtime.modes.switch(CONTEXT, mode)
            note(acks, f"mode {mode}")
            sent = await runtime.messages.send(CONTEXT, f"message {epoch}-{turn}")
            note(acks, f"message {sent.message_id}")
        await settle(runtime)
    note(acks, f"ops {disk.count}")


async def settle(runtime: Runtime) -> None:
    """Decide whatever waits until the context is Idle."""
    while True:
        live = await live_context_at_rest(runtime, CONTEXT)
        try:
            if isinstance(live.state, AwaitingToolApproval):
                await runtime.calls.approve_all(CONTEXT)
            elif isinstance(live.state, AwaitingUserAnswer):
                await runtime.calls.answer(CONTEXT, ["yes"])
            elif isinstance(live.state, Idle):
                return
            else:
                await runtime.turns.cancel(CONTEXT)
        except PilothouseError:
            await runtime.turns.cancel(CONTEXT)


def serve(work: Callable[[dict[str, Any]], Coroutine[Any, Any, None]]) -> None:
    """For each line of JSON on the input, one forked process that does the work in it."""
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            try:
                asyncio.run(work(json.loads(line)))
            finally:
                os._exit(0)
        print(pid, flush=True)
        _, status = os.waitpid(pid, 0)
        print(status, flush=True)


if __name__ == "__main__":
    serve(work)
