"""`pilothouse audit verify`, and how clients report a cut or rewritten audit: real processes and files."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from pilothouse.domain.rules import Scope
from pilothouse.domain.value import ContextId
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.world import World
from tests.cli.test_main import WRITE, Command
from tests.storage.test_audit_heads import cut_audit
from tests.storage.test_contract import AT


@pytest.fixture
def command(tmp_path: Path) -> Command:
    command = Command(tmp_path)
    command.environment["XDG_STATE_HOME"] = str(tmp_path / "state")
    return command


def turn(command: Command) -> str:
    """The id of a conversation in which a file was written."""
    model = command.script({"text": "I write", "calls": [WRITE]}, {"text": "done"})
    code, output, errors = command.run("--model", model, "--mode", "agent", "run", "go", "--output-format", "json")
    assert code == 0, errors
    context_id: str = json.loads(output)["context_id"]
    return context_id


def test_verify_names_the_cut_conversation_until_the_person_accepts_the_cut(command: Command, tmp_path: Path) -> None:
    context_id = turn(command)
    code, output, _ = command.run("audit", "verify")
    assert code == 0
    assert f"{context_id}  The audit log is intact." in output
    cut_audit(tmp_path, context_id, 1)
    for arguments in ((), (context_id,)):
        code, output, _ = command.run("audit", "verify", *arguments)
        assert code == 1
        assert f"{context_id}  The audit log was cut off or rewritten" in output
    assert command.run("contexts", "export", context_id, str(tmp_path / "out.jsonl"))[0] == 0
    head = json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])
    assert head["chain"]["whole"] is False
    code, output, _ = command.run("--context", context_id, stdin="/audit\n/quit\n")
    assert "This conversation was cut off, rewritten or removed outside of Pilothouse" in output
    assert "The audit log was cut off or rewritten: entry" in output
    assert command.run("audit", "verify", "--accept")[0] == 0
    assert command.run("audit", "verify")[0] == 0


def test_after_a_removed_data_directory_verify_offers_to_accept_everything(command: Command, tmp_path: Path) -> None:
    async def work(*, with_rule: bool) -> None:
        store = FileStore(tmp_path / "data", now=lambda: AT, state_dir=tmp_path / "state/pilothouse")
        world = World(tmp_path, store=store)
        await world.runtime.contexts.create(world.workspace, mode="plan" if with_rule else "agent", context_id="work")
        await store.checkpoint(ContextId("work"))
        if with_rule:
            await world.runtime.rules.give("deny", Scope(tool="other"))
        await world.runtime.close()

    asyncio.run(work(with_rule=True))
    turn(command)
    shutil.rmtree(tmp_path / "data")
    asyncio.run(work(with_rule=False))
    code, output, errors = command.run("--context", "work", stdin="/quit\n")
    for record in ("record of your rules", "conversation"):
        assert f"{record} was cut off, rewritten or removed outside of Pilothouse" in output
    assert output.count("pilothouse audit verify --accept") == 2
    code, output, _ = command.run("audit", "verify")
    assert (code, "Cut off, rewritten or unreadable: 3." in output) == (1, True), output
    code, output, _ = command.run("audit", "verify", "--accept")
    assert code == 0, output
    assert command.run("audit", "verify")[0] == 0
    code, output, errors = command.run("--context", "work", stdin="/quit\n")
    assert "outside of Pilothouse" not in output + errors
    assert turn(command)


def test_accepting_continues_after_a_record_that_cannot_be_opened(command: Command, tmp_path: Path) -> None:
    first, second = turn(command), turn(command)
    cut_audit(tmp_path, first, 1)
    journal = tmp_path / "data/users/anna/journal"
    (journal / "000000000001-000.log").mkdir(parents=True)
    code, output, _ = command.run("audit", "verify", "--accept")
    assert code == 1
    assert "Cut off, rewritten or unreadable: 1." in output
    assert command.run("audit", "verify", first)[0] == command.run("audit", "verify", second)[0] == 0


def test_verify_of_one_conversation_names_the_command_that_accepts_it(command: Command, tmp_path: Path) -> None:
    first, second = turn(command), turn(command)
    cut_audit(tmp_path, first, 1)
    cut_audit(tmp_path, second, 1)
    _, output, _ = command.run("audit", "verify", first)
    assert f"then run: pilothouse audit verify {first} --accept" in output
    assert command.run("audit", "verify", first, "--accept")[0] == 0
    assert command.run("audit", "verify", second)[0] == 1


def test_verify_refuses_a_conversation_that_never_was(command: Command) -> None:
    code, _, errors = command.run("audit", "verify", "nobody")
    assert code == 4
    assert "nobody" in errors


def test_verify_passes_over_files_that_are_no_heads(command: Command, tmp_path: Path) -> None:
    context_id = turn(command)
    (heads,) = (tmp_path / "state").glob("**/audit-heads/*")
    for folder in (heads / "users", heads / "contexts"):
        folder.mkdir(exist_ok=True)
        for stray in (".DS_Store", "local.new", "two words", "a~b~c"):
            (folder / stray).write_bytes(b"")
    code, output, errors = command.run("audit", "verify")
    assert (code, errors) == (0, "")
    assert f"{context_id}  The audit log is intact." in output
