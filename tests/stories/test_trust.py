"""Trust in folders: a project's configuration counts only in the version that the person has seen."""

import contextlib
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pilothouse.client.http_client import ServerError
from pilothouse.domain.errors import Conflict, InvalidInput
from pilothouse.domain.states import AwaitingToolApproval, Idle, State
from pilothouse.testing.served import Served
from pilothouse.testing.world import World
from tests.support.mcp_tools import (
    DONE,
    answer_with_calls,
    log_of,
    ready,
    runs,
    tool_server,
    until,
    world_with_tools,
    writes,
)

STRICT = 'mode = "supervised"\n\n[directories]\ndeploy = "plan"\n\n[[rules]]\neffect = "deny"\ntool = "grep"\n'
GREP = answer_with_calls(("grep", {"pattern": "x"}))


def add_project_files(folder: Path, *, servers: dict[str, Any] | None = None, **files: str) -> None:
    """The folder has files of its own: `config`, `tools`."""
    where = folder / ".pilothouse"
    where.mkdir(exist_ok=True)
    for name, text in files.items():
        (where / f"{name}.toml").write_text(text)
    if servers is not None:
        (where / "mcp_servers.json").write_text(json.dumps({"mcpServers": servers}))


def server_in(folder: Path) -> dict[str, Any]:
    definition = tool_server(folder)
    return {"theirs": {"command": definition.command, "args": list(definition.args)}}


async def trust(world: World, context_id: str) -> None:
    shown = await world.runtime.workspaces.trust_status(context_id)
    assert (await world.runtime.workspaces.trust(context_id, shown.digest)).status == "trusted"


async def state(world: World, context_id: str) -> State:
    return (await world.runtime.contexts.get(context_id)).state


async def statuses(world: World, context_id: str) -> list[str]:
    return [call.status for call in (await world.runtime.calls.read(context_id)).items]


async def test_a_projects_configuration_has_no_effect_before_trust(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, writes("deploy/a", "x"), GREP, writes("b", "x"), DONE, mcp=[])
    tools = "[tools.write_file]\nenabled = false\n[tools.grep]\nrequire_approval = true\n"
    add_project_files(world.workspace, config=STRICT, tools=tools, servers=server_in(tmp_path / "theirs"))
    async with world.runtime:
        context_id = await world.runtime.contexts.create(world.workspace)
        live = await world.runtime.contexts.get(context_id)
        assert live.core.mode == "agent"
        assert (await world.runtime.workspaces.trust_status(context_id)).status == "new"
        await world.turn(context_id)
        assert await statuses(world, context_id) == ["executed"] * 3
        assert await world.runtime.rules.read(context_id) == []
        assert await world.runtime.mcp_servers.read() == []
    assert log_of(tmp_path / "theirs") == [], "no program of the folder was started"


async def test_after_trust_a_projects_configuration_has_effect_at_once(tmp_path: Path) -> None:
    world = world_with_tools(
        tmp_path, writes("deploy/a", "x"), GREP, answer_with_calls(("look", {})), writes("b", "x"), DONE, mcp=[]
    )
    tools = "[tools.look]\nenabled = false\n[tools.write_file]\nrequire_approval = true\n"
    add_project_files(world.workspace, config=STRICT, tools=tools, servers=server_in(tmp_path / "theirs"))
    async with world.runtime:
        context_id = await world.start("agent")
        await trust(world, context_id)
        await ready(world.runtime, "theirs", folders=[str(world.workspace)])
        await world.turn(context_id)
        assert await statuses(world, context_id) == ["denied", "denied", "denied", "pending"]
        assert isinstance(await state(world, context_id), AwaitingToolApproval)
        offered = {tool.name for tool in world.model.requests[0].tools}
        assert "theirs__echo" in offered
        assert not {"look", "grep"} & offered
        another = await world.runtime.contexts.create(world.workspace)
        assert (await world.runtime.contexts.get(another)).core.mode == "supervised"
        entry = [
            each for each in (await world.runtime.contexts.audit(context_id)).entries if each.kind == "folder_trusted"
        ]
        assert [each.by for each in entry] == ["local"]


async def test_trust_decides_waiting_calls_again_in_every_open_context_of_the_folder(tmp_path: Path) -> None:
    grep = answer_with_calls(("change", {"text": "x", "path": "deploy/a"}))
    world = world_with_tools(tmp_path, grep, grep, DONE, DONE)
    add_project_files(world.workspace, config='[directories]\ndeploy = "plan"\n')
    async with world.runtime:
        first = await world.start("supervised")
        second = await world.start("supervised")
        for context_id in (first, second):
            await world.turn(context_id)
            assert await statuses(world, context_id) == ["pending"]
        await trust(world, first)
        for context_id in (first, second):
            await world.runtime.turns.rested(context_id)
            assert await statuses(world, context_id) == ["denied"]
            assert isinstance(await state(world, context_id), Idle)
        assert world.change.ran == []


async def test_a_changed_file_needs_trust_again_and_the_trusted_version_holds(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, GREP, DONE, GREP, DONE, GREP, DONE)
    add_project_files(world.workspace, config='[[rules]]\neffect = "deny"\ntool = "grep"\n')
    async with world.runtime:
        context_id = await world.start()
        await trust(world, context_id)
        for change in ("", '[[rules]]\neffect = "deny"\ntool = "read_file"\n'):
            add_project_files(world.workspace, config=change)
            assert (await world.runtime.workspaces.trust_status(context_id)).status == "changed"
            await world.turn(context_id)
            assert [rule.scope.tool for rule in await world.runtime.rules.read(context_id)] == ["grep"]
        assert await statuses(world, context_id) == ["denied", "denied"]
        (world.workspace / ".pilothouse" / "config.toml").unlink()
        assert (await world.runtime.workspaces.trust_status(context_id)).status == "changed", (
            "also where nothing is left"
        )
        await trust(world, context_id)
        await world.turn(context_id)
        assert (await statuses(world, context_id))[-1] == "executed"


async def test_trusting_another_digest_than_the_shown_one_is_409(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path)
    add_project_files(world.workspace, config='mode = "review"\n')
    async with world.runtime, Served(world.runtime, [world.workspace]) as served, served.client() as client:
        context_id = await world.start()
        path = f"/api/contexts/{context_id}/trust"
        shown = await client.request("GET", path)
        assert (shown["status"], shown["files"]) == ("new", {"config.toml": 'mode = "review"\n'})
        add_project_files(world.workspace, config='mode = "plan"\n')
        for digest in (shown["digest"], "", "0" * 64):
            with pytest.raises(ServerError) as caught:
                await client.request("PUT", path, {"digest": digest})
            assert (caught.value.problem.status, caught.value.problem.code) == (409, "trust_changed")
        assert (await client.request("GET", path))["status"] == "new"
        assert world.dependencies.workspace_policy(str(world.workspace)).mode is None


@pytest.mark.parametrize(
    "text", ["[server]\nport = 1\n", 'model = "openai:x"\n', "[[rules]]\neffect = 'allow'\n", "aproval = 1\n", "mode ="]
)
async def test_a_configuration_with_forbidden_keys_cannot_be_trusted(tmp_path: Path, text: str) -> None:
    world = world_with_tools(tmp_path)
    add_project_files(world.workspace, config=text)
    async with world.runtime:
        context_id = await world.start()
        shown = await world.runtime.workspaces.trust_status(context_id)
        with pytest.raises(InvalidInput):
            await world.runtime.workspaces.trust(context_id, shown.digest)
        assert (await world.runtime.workspaces.trust_status(context_id)).status == "new"


@pytest.mark.parametrize("text", ['files = ["x.py"]\n', '[tools.execute]\nsandbox = "off"\n'])
async def test_a_folder_may_not_bring_code_or_open_the_sandbox(tmp_path: Path, text: str) -> None:
    world = world_with_tools(tmp_path)
    add_project_files(world.workspace, tools=text)
    async with world.runtime:
        context_id = await world.start()
        shown = await world.runtime.workspaces.trust_status(context_id)
        with pytest.raises(InvalidInput):
            await world.runtime.workspaces.trust(context_id, shown.digest)


async def test_a_project_cannot_enable_a_tool_that_the_person_disabled(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "tools.toml").write_text("[tools.grep]\nenabled = false\n")
    world = world_with_tools(tmp_path, GREP, DONE)
    add_project_files(world.workspace, tools="[tools.grep]\nenabled = true\n")
    async with world.runtime:
        context_id = await world.start()
        await trust(world, context_id)
        await world.turn(context_id)
        assert await statuses(world, context_id) == ["denied"]


async def test_a_white_list_of_a_folder_only_narrows_the_persons_own(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "tools.toml").write_text('[tools.execute]\nwhitelist = ["echo"]\n')
    world = world_with_tools(tmp_path, runs("echo a"), runs("true"), DONE)
    add_project_files(world.workspace, tools='[tools.execute]\nwhitelist = ["true", "rm"]\n')
    async with world.runtime:
        context_id = await world.start()
        await trust(world, context_id)
        await world.turn(context_id)
        assert await statuses(world, context_id) == ["pending"], "each list must hold it"


# identity of a folder


async def test_a_folder_behind_a_link_is_the_same_folder(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, GREP, DONE)
    add_project_files(world.workspace, config='[[rules]]\neffect = "deny"\ntool = "grep"\n')
    link = tmp_path / "link"
    link.symlink_to(world.workspace)
    async with world.runtime:
        context_id = await world.runtime.contexts.create(link, mode="agent")
        shown = await world.runtime.workspaces.trust_status(context_id)
        assert shown.folder == str(world.workspace)
        await trust(world, context_id)
        direct = await world.start()
        assert (await world.runtime.workspaces.trust_status(direct)).status == "trusted"
        await world.turn(direct)
        assert await statuses(world, direct) == ["denied"]


async def test_another_folder_that_links_to_a_trusted_one_is_not_trusted(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, GREP, DONE, mcp=[])
    add_project_files(
        world.workspace, config='[[rules]]\neffect = "deny"\ntool = "grep"\n', servers=server_in(tmp_path / "theirs")
    )
    other = tmp_path / "other"
    other.mkdir()
    (other / ".pilothouse").symlink_to(world.workspace / ".pilothouse")
    inside = world.workspace / "inside"
    inside.mkdir()
    async with world.runtime:
        context_id = await world.start()
        await trust(world, context_id)
        await until(lambda: len(log_of(tmp_path / "theirs")) == 1)
        elsewhere = await world.runtime.contexts.create(other, mode="agent")
        with pytest.raises(InvalidInput, match="The file is a link"):
            await world.runtime.workspaces.trust_status(elsewhere)
        await world.turn(elsewhere)
        assert await statuses(world, elsewhere) == ["executed"]
        below = await world.runtime.contexts.create(inside, mode="agent")
        assert (await world.runtime.workspaces.trust_status(below)).status == "none"
        assert len(log_of(tmp_path / "theirs")) == 1, "no second server"


async def test_a_folder_that_takes_the_place_of_a_trusted_one_with_other_files_is_asked_about(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path)
    add_project_files(world.workspace, config='mode = "review"\n')
    async with world.runtime:
        await trust(world, await world.start())
    world.workspace.rename(tmp_path / "moved")
    again = world_with_tools(tmp_path, ids_from=1000)
    add_project_files(again.workspace, config='mode = "plan"\n')
    async with again.runtime:
        context_id = await again.start()
        assert (await again.runtime.workspaces.trust_status(context_id)).status == "changed"
        moved = await again.runtime.contexts.create(tmp_path / "moved")
        assert (await again.runtime.workspaces.trust_status(moved)).status == "new"


# revoking trust


async def test_revoking_trust_ends_its_effects_at_once(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, GREP, DONE, GREP, DONE, mcp=[])
    rule = '[[rules]]\neffect = "deny"\ntool = "grep"\n'
    add_project_files(world.workspace, config=rule, servers=server_in(tmp_path / "theirs"))
    async with world.runtime:
        context_id = await world.start()
        await trust(world, context_id)
        await ready(world.runtime, "theirs", folders=[str(world.workspace)])
        await world.turn(context_id)
        assert (await world.runtime.workspaces.distrust(context_id, by="anna")).status == "new"
        assert await world.runtime.mcp_servers.read() == []
        await world.turn(context_id)
        assert await statuses(world, context_id) == ["denied", "executed"]
        offered = {tool.name for tool in world.model.requests[-1].tools}
        assert "theirs__echo" not in offered
        entry = [
            each
            for each in (await world.runtime.contexts.audit(context_id)).entries
            if each.kind == "folder_distrusted"
        ]
        assert [each.by for each in entry] == ["anna"]


async def test_a_waiting_call_of_a_projects_server_cannot_run_after_trust_is_revoked(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, answer_with_calls(("theirs__echo", {"text": "x"})), DONE, mcp=[])
    add_project_files(world.workspace, servers=server_in(tmp_path / "theirs"))
    async with world.runtime:
        context_id = await world.start("supervised")
        await trust(world, context_id)
        await ready(world.runtime, "theirs", folders=[str(world.workspace)])
        await world.turn(context_id)
        assert await statuses(world, context_id) == ["pending"]
        await world.runtime.workspaces.distrust(context_id)
        with contextlib.suppress(Conflict, InvalidInput):
            await world.runtime.calls.approve_all(context_id)
        await world.runtime.turns.rested(context_id)
        assert log_of(tmp_path / "theirs") == ["started"]


async def test_revoking_trust_that_was_never_given_changes_nothing(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path)
    async with world.runtime:
        context_id = await world.start()
        assert (await world.runtime.workspaces.distrust(context_id)).status == "none"


# the file


async def test_trust_survives_a_restart(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path)
    add_project_files(world.workspace, config='[[rules]]\neffect = "deny"\ntool = "grep"\n')
    async with world.runtime:
        await trust(world, await world.start())
    add_project_files(world.workspace, config="")
    again = world_with_tools(tmp_path, GREP, DONE, ids_from=1000)
    async with again.runtime:
        context_id = await again.start()
        assert (await again.runtime.workspaces.trust_status(context_id)).status == "changed"
        await again.turn(context_id)
        assert await statuses(again, context_id) == ["denied"]


async def test_a_folders_servers_come_back_after_a_restart_with_its_context(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, mcp=[])
    add_project_files(world.workspace, servers=server_in(tmp_path / "theirs"))
    async with world.runtime:
        context_id = await world.start()
        await trust(world, context_id)
        await ready(world.runtime, "theirs", folders=[str(world.workspace)])
    again = world_with_tools(tmp_path, answer_with_calls(("theirs__echo", {"text": "x"})), DONE, ids_from=1000, mcp=[])
    async with again.runtime:
        await again.runtime.contexts.get(context_id)
        assert await again.runtime.mcp_servers.read() == [], "reading starts no servers"
        await again.runtime.contexts.change(context_id, title="mine")
        await ready(again.runtime, "theirs", folders=[str(again.workspace)])
        await again.turn(context_id)
        assert await statuses(again, context_id) == ["executed"]


async def test_only_the_owner_can_read_the_trust_file(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path)
    add_project_files(world.workspace, config='mode = "review"\n')
    before = os.umask(0)
    try:
        async with world.runtime:
            context_id = await world.start()
            await trust(world, context_id)
            file = tmp_path / "data" / "trust.json"
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            os.chmod(file, 0o644)
            await world.runtime.workspaces.distrust(context_id)
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
    finally:
        os.umask(before)
    assert [path.name for path in (tmp_path / "data").iterdir() if path.name.startswith(".trust")] == []


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"folders": 1}', b"\xff"])
async def test_a_damaged_trust_file_is_reported_and_not_treated_as_empty(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "trust.json").write_bytes(damage)
    with pytest.raises(InvalidInput, match=r"trust\.json"):
        world_with_tools(tmp_path)


async def test_no_tool_of_the_agent_reaches_a_projects_configuration(tmp_path: Path) -> None:
    answers = (writes(".pilothouse/config.toml", ""), runs("echo > .pilothouse/config.toml"), DONE)
    world = world_with_tools(tmp_path, *answers)
    add_project_files(world.workspace, config='mode = "review"\n')
    async with world.runtime:
        context_id = await world.start()
        await world.turn(context_id)
        assert await statuses(world, context_id) == ["denied", "denied"]
        assert (world.workspace / ".pilothouse" / "config.toml").read_text() == 'mode = "review"\n'


@pytest.mark.parametrize("kind", ["fifo", "device", "large", "binary", "folder"])
async def test_hostile_files_of_a_project_are_reported_and_block_nothing(tmp_path: Path, kind: str) -> None:
    world = world_with_tools(tmp_path, DONE)
    where = world.workspace / ".pilothouse"
    where.mkdir()
    file = where / "config.toml"
    make: dict[str, Callable[[], object]] = {
        "fifo": lambda: os.mkfifo(file),
        "device": lambda: file.symlink_to("/dev/zero"),
        "large": lambda: file.write_bytes(b"#" * 10_000_000),
        "binary": lambda: file.write_bytes(b"\xff\xfe\x00"),
        "folder": file.mkdir,
    }
    make[kind]()
    async with world.runtime:
        context_id = await world.start()
        with pytest.raises(InvalidInput):
            await world.runtime.workspaces.trust_status(context_id)
        await world.turn(context_id)
        assert isinstance(await state(world, context_id), Idle), "what was not trusted does not matter"
