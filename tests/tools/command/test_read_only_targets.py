"""A command line that plainly writes a file which its owner may not write needs a person, as a file tool does."""

import os
import stat
from pathlib import Path

import pytest

from pilothouse.domain.codes import Code
from pilothouse.sandbox.command_environment import CommandEnvironment
from pilothouse.sandbox.workspace import Workspace
from pilothouse.testing.world import World
from pilothouse.tools.builtin.execute import Execute, ExecuteArguments
from tests.support.assertions import present
from tests.support.mcp_tools import DONE, runs, world_with_tools

WRITES = (
    "echo x > ro.txt",
    "echo x >> ro.txt",
    "echo x >| ./ro.txt",
    "ls &> ro.txt",
    "cat <<E > ro.txt\nx\nE\n",
    "echo x > sub/../ro.txt",
    "cd sub && echo x > ../ro.txt",
    "echo x > sub/link",
    "sh -c 'echo x > ro.txt'",
    "sed -i s/a/b/ ro.txt",
    "sed -i.bak -e s/a/b/ rw.txt ro.txt",
    "sed -ni p ro.txt",
    "sed --in-place s/a/b/ ro.txt",
    'sed -i "s/$a/b/" ro.txt',
    "sudo sed -i s/a/b/ ro.txt",
    "find . -name x -exec sed -i s/a/b/ ro.txt +",
    "perl -pi -e s/a/b/ ro.txt",
    "cat rw.txt | tee -a ro.txt",
    "truncate -s 0 ro.txt",
    "dd if=rw.txt of=ro.txt",
    "cp rw.txt ro.txt",
    "cp -f rw.txt sub/../ro.txt",
    "mv rw.txt ro.txt",
    "install -m 644 rw.txt ro.txt",
    "cp sub/ro.txt .",
    "cp -t . sub/ro.txt",
    "sort -o ro.txt rw.txt",
    "sort -oro.txt rw.txt",
    "curl --output=ro.txt http://127.0.0.1:1/",
    "chmod u+w ro.txt && echo x > ro.txt",
)
OTHERS = (
    "cat ro.txt > new.txt",
    "cat ro.txt > rw.txt",
    "sed s/a/b/ ro.txt > rw.txt",
    "sed -n p ro.txt; sed -i s/a/b/ rw.txt",
    "sed -i -f ro.txt rw.txt",
    "perl -pe s/a/b/ ro.txt > rw.txt",
    "cp ro.txt new.txt",
    "cp ro.txt sub/new.txt",
    "cp -n rw.txt ro.txt",
    "install -m 644 ro.txt new.txt",
    "mv ro.txt old.txt",
    "rm -f ro.txt",
    "chmod u+w ro.txt",
    "truncate -r ro.txt rw.txt",
    "dd if=ro.txt of=rw.txt",
    "sort -o rw.txt ro.txt",
    "python3 tool.py ro.txt",
    "make > /dev/null 2>&1",
    "echo ro.txt > rw.txt",
    "echo x > missing.txt",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    for name in ("ro.txt", "rw.txt", "sub/ro.txt"):
        (tmp_path / name).write_text("a\n")
    (tmp_path / "ro.txt").chmod(0o444)
    (tmp_path / "sub" / "link").symlink_to("../ro.txt")
    return tmp_path


async def reason_code(folder: Path, command: str) -> Code | None:
    environment = CommandEnvironment.of({"PATH": os.environ["PATH"], "HOME": str(folder)})
    workspace = Workspace(folder, environment=environment)
    preview = await Execute().prepare(ExecuteArguments(command=command), workspace)
    assert preview.violation is None
    return preview.ask.code if preview.ask is not None else None


@pytest.mark.parametrize("command", WRITES)
async def test_a_line_that_plainly_writes_a_read_only_file_asks(folder: Path, command: str) -> None:
    assert await reason_code(folder, command) is Code.FILE_READ_ONLY


@pytest.mark.parametrize("command", OTHERS)
async def test_a_line_that_writes_other_files_asks_for_nothing(folder: Path, command: str) -> None:
    assert await reason_code(folder, command) is None


@pytest.mark.parametrize("command", WRITES)
async def test_the_same_line_is_silent_where_the_file_may_be_written(folder: Path, command: str) -> None:
    (folder / "ro.txt").chmod(0o644)
    assert await reason_code(folder, command) is None


async def test_a_command_on_a_read_only_file_waits_for_the_person_even_in_agent(tmp_path: Path) -> None:
    world: World = world_with_tools(tmp_path, runs("sed -i s/a/b/ ro.txt"), DONE)
    file = world.workspace / "ro.txt"
    file.write_text("a\n")
    file.chmod(0o444)
    async with world.runtime:
        context_id = await world.start("agent")
        await world.turn(context_id)
        (pending,) = await world.runtime.calls.pending(context_id)
        assert present(pending.reason).code is Code.FILE_READ_ONLY
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("a\n", 0o444)
