"""Several calls in one answer: each sees what those before it have changed."""

from pathlib import Path

from tests.server.lending import DONE, furnished, says

WRITE = ("write_file", {"path": "run.sh", "content": "echo first; sleep 0.2; echo done > made\n"})
RUN = ("execute", {"command": "sh run.sh"})
READ = ("read_file", {"path": "made"})


async def test_a_command_may_run_what_the_call_before_it_has_written(tmp_path: Path) -> None:
    """It was shown to nobody, so that nobody can have approved another script."""
    world = furnished(tmp_path, says(WRITE, RUN), DONE)
    async with world.runtime:
        context_id = await world.start("agent")
        await world.turn(context_id, "go")
        written, ran = (await world.runtime.read_calls(context_id)).items
        assert (written.status, ran.status, ran.exit_status) == ("executed", "executed", 0)


async def test_a_call_that_reads_waits_for_the_changes_asked_for_before_it(tmp_path: Path) -> None:
    world = furnished(tmp_path, says(WRITE, RUN, READ, ("execute", {"command": "cat made"})), DONE)
    async with world.runtime:
        context_id = await world.start("agent")
        await world.turn(context_id, "go")
        calls = (await world.runtime.read_calls(context_id)).items
        assert [call.status for call in calls] == ["executed"] * 4
        results = [message.content for message in await world.runtime.read_messages(context_id)][-3:-1]
        assert all("done" in content for content in results)
