"""A call that waits again after a restart runs only with the files of its card."""

import copy
from pathlib import Path

import pytest

from pilothouse.domain.codes import Code
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from pilothouse.tools.builtin import builtin_tools
from tests.stories.test_shown_files import SHOWN, SWAPPED, approve, approve_edited, elevate, switch

ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
RELEASES = {"approved": approve, "edited": approve_edited, "switched": switch, "elevated": elevate}


@pytest.mark.parametrize("is_swapped", [False, True], ids=["as shown", "swapped"])
@pytest.mark.parametrize("release", RELEASES)
async def test_after_a_restart_a_waiting_script_runs_only_unchanged(
    tmp_path: Path, release: str, is_swapped: bool
) -> None:
    script = tmp_path / "run.sh"
    script.write_text(SHOWN)
    script.chmod(0o755)
    tools = builtin_tools()
    store, blocking_tool = MemoryStore(), NoteTool("change", "mutating", hold=True)
    change = ScriptedCall(tool="change", arguments={"text": "x"})
    calls = (change, ScriptedCall(tool="execute", arguments={"command": "./run.sh"}))
    killed = World(tmp_path, Answer(calls=calls), store=store, tools=[*tools, blocking_tool], environment=ENVIRONMENT)
    context_id = await killed.start("agent")
    await killed.runtime.messages.send(context_id, "go")
    await blocking_tool.started.wait()
    again = World(
        tmp_path, Answer(text="Done."), store=copy.deepcopy(store), tools=tools, ids_from=1000, environment=ENVIRONMENT
    )
    await killed.runtime.close()
    async with again.runtime:
        (call,) = await again.runtime.calls.pending(context_id)
        assert call.waited
        if release == "elevated":
            await again.runtime.modes.switch(context_id, "review")
        if is_swapped:
            script.write_text(SWAPPED)
        await RELEASES[release](again, context_id, call)
        await again.runtime.turns.rested(context_id)
        ran = await again.runtime.calls.get(context_id, call.id)
    if is_swapped:
        assert (ran.status, ran.reason and ran.reason.code) == ("failed", Code.COMMAND_FILES_CHANGED)
        assert not (tmp_path / "made").exists()
    else:
        assert (ran.status, (tmp_path / "made").read_text()) == ("executed", "shown\n")
