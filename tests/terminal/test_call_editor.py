"""`e` at a card: the call in the user's editor, shown again before it runs."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_main import Command
from tests.terminal.test_cards import runs
from tests.terminal.test_steering import Terminal

DONE = {"text": "Done."}
EDITOR = """
import os, pathlib, sys
path = pathlib.Path(sys.argv[-1])
text = path.read_text()
pathlib.Path(r"{log}").write_text(f"{{path}}|{{path.stat().st_mode & 0o777:o}}|{{text}}")
path.write_text(text.replace("before", "after") + "\\n")
sys.exit({status})
"""


@pytest.fixture
def command(tmp_path: Path) -> Command:
    new_command = Command(tmp_path)
    new_command.environment.pop("VISUAL", None)
    new_command.environment.pop("EDITOR", None)
    return new_command


def set_editor(command: Command, status: int = 0) -> Path:
    """An editor that replaces a word. Returns the file in which the editor records its input."""
    log = command.folder / "log"
    program = command.folder / "editor.py"
    program.write_text(EDITOR.format(log=log, status=status))
    command.environment["EDITOR"] = f"{sys.executable} {program}"
    return log


@contextmanager
def card(command: Command, *answers: dict[str, Any]) -> Iterator[Terminal]:
    terminal = Terminal(command, "--mode", "supervised", "--model", command.script(*answers))
    try:
        terminal.wait_for(" › ")
        terminal.type("go")
        terminal.wait_for("y = approve,")
        terminal.wait_for("later > ")
        yield terminal
    finally:
        terminal.close()


def test_a_command_is_edited_as_text_and_shown_before_it_runs(command: Command) -> None:
    log = set_editor(command)
    with card(command, runs("touch before"), DONE) as terminal:
        terminal.type("e")
        assert "$ touch after" in terminal.wait_for("y = approve edited action")
        assert not (command.workspace / "after").exists()
        terminal.wait_for("later > ")
        terminal.type("y")
        terminal.wait_for("Done.")
    path, mode, text = log.read_text().split("|")
    assert (mode, text) == ("600", "touch before")
    assert not Path(path).parent.exists()
    assert (command.workspace / "after").exists()


def test_other_arguments_are_edited_as_json(command: Command) -> None:
    log = set_editor(command)
    write = {"tool": "write_file", "arguments": {"path": "x", "content": "before\n"}}
    with card(command, {"calls": [write]}, DONE) as terminal:
        terminal.type("e")
        assert "+after" in terminal.wait_for("y = approve edited action")
        terminal.wait_for("later > ")
        terminal.type("y")
        terminal.wait_for("Done.")
    assert '"content": "before\\n"' in log.read_text()
    assert (command.workspace / "x").read_text() == "after\n"


def test_an_editor_that_fails_leaves_the_call_unchanged(command: Command) -> None:
    set_editor(command, status=1)
    with card(command, runs("touch before"), DONE) as terminal:
        terminal.type("e")
        terminal.wait_for("exit code 1")
        terminal.wait_for("y = approve,")
        terminal.wait_for("later > ")
        terminal.type("y")
        terminal.wait_for("Done.")
    assert (command.workspace / "before").exists()


@pytest.mark.parametrize("editor", ["", "/no/such/editor"])
def test_without_an_editor_the_arguments_are_typed(command: Command, editor: str) -> None:
    command.environment["EDITOR"] = editor
    with card(command, runs("touch before"), DONE) as terminal:
        terminal.type("e")
        terminal.wait_for("New arguments as JSON")
        terminal.wait_for("> ")
        terminal.type('{"command": "touch after"}')
        assert "$ touch after" in terminal.wait_for("y = approve edited action")
        terminal.wait_for("later > ")
        terminal.type("o")
        terminal.wait_for("y = approve,")
        terminal.wait_for("later > ")
        terminal.type("n")
        terminal.wait_for(" › ")
    assert not (command.workspace / "after").exists()
