"""Cards at a real terminal: read to the end before they are decided, imitated by nobody, answered by no earlier key."""

import fcntl
import re
import struct
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pilothouse.terminal import foreign_text
from tests.terminal.test_command import Command
from tests.terminal.test_steering import Terminal

ROWS, COLUMNS = 24, 80
QUESTION = "y = yes"


def runs(command: str) -> dict[str, Any]:
    return {"calls": [{"tool": "execute", "arguments": {"command": command}}]}


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)


@contextmanager
def conversation(command: Command, *answers: dict[str, Any]) -> Iterator[Terminal]:
    terminal = Terminal(command, "--mode", "supervised", "--model", command.script(*answers))
    fcntl.ioctl(terminal._fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    try:
        terminal.wait_for(" › ")
        yield terminal
    finally:
        terminal.close()


def test_a_long_command_is_paged_and_asked_about_only_at_its_end(command: Command) -> None:
    lines = "\n".join(f"echo line {number}" for number in range(60))
    with conversation(command, runs(f"{lines}\ntouch ran"), {"text": "Done."}) as terminal:
        terminal.type("go")
        first = terminal.wait_for("next page (2 of")
        assert "line 59" not in first
        assert QUESTION not in first
        assert len(first[first.index("▸") :].splitlines()) <= ROWS
        terminal.type("")
        terminal.wait_for("next page (3 of")
        terminal.type("")
        third = terminal.wait_for("next page (4 of")
        terminal.type("")
        assert "touch ran" in third + terminal.wait_for(QUESTION)
        terminal.type("y")
        terminal.wait_for("Done.")
    assert (command.workspace / "ran").exists()


def test_who_stops_reading_can_only_say_no(command: Command) -> None:
    lines = "\n".join(f"echo line {number}" for number in range(60))
    with conversation(command, runs(f"{lines}\ntouch ran")) as terminal:
        terminal.type("go")
        terminal.wait_for("next page (2 of")
        terminal.type("n")
        terminal.wait_for(" › ")
    assert not (command.workspace / "ran").exists()


def test_what_was_typed_before_a_card_is_no_answer_to_it(command: Command) -> None:
    with conversation(command, runs("touch ran"), {"text": "Done."}) as terminal:
        terminal.type("go\ny\ny")
        terminal.wait_for(QUESTION)
        terminal.type("n")
        terminal.wait_for(" › ")
    assert not (command.workspace / "ran").exists()


def test_who_approves_all_is_asked_once_more_when_all_have_been_shown(command: Command) -> None:
    calls = [each for text in ("one", "two", "three") for each in runs(f"touch {text}")["calls"]]
    with conversation(command, {"calls": calls}, {"text": "Done."}) as terminal:
        terminal.type("go")
        terminal.wait_for(QUESTION)
        terminal.type("a")
        assert "touch three" in terminal.wait_for("approve the 2 calls above as well")
        assert not (command.workspace / "one").exists()
        terminal.type("y")
        terminal.wait_for("Done.")
    assert (command.workspace / "three").exists()


@pytest.mark.parametrize(
    ("character", "columns"), [("\u302e", 2), ("\u3248", 2), ("\u1b44", 1), ("\u0301", 0), ("中", 2), ("a", 1)]
)
def test_a_character_is_not_taken_for_narrower_than_a_screen_draws_it(character: str, columns: int) -> None:
    """Else a row becomes longer than the screen, and what is left of it begins a row without the mark."""
    assert foreign_text._width(character) == columns


def test_a_folder_is_trusted_only_with_what_was_on_the_screen(command: Command) -> None:
    brought = command.workspace / ".pilothouse/config.toml"
    brought.parent.mkdir()
    brought.write_text('mode = "ask"\n')
    terminal = Terminal(command, "--model", command.script())
    try:
        terminal.wait_for("Trust it?")
        terminal.type("n")
        terminal.wait_for(" › ")
        brought.write_text('mode = "review"\n')
        terminal.type("/trust yes")
        assert "is trusted" not in terminal.wait_for(" › ")
        terminal.type("/trust")
        assert "review" in terminal.wait_for("Trust it?")
        terminal.type("y")
        terminal.wait_for("is trusted")
        terminal.wait_for(" › ")
        terminal.type("/trust")
        assert "is trusted" in terminal.wait_for(" › ")
    finally:
        terminal.close()


def test_foreign_text_is_marked_on_every_row_of_the_screen(command: Command) -> None:
    card = "\n▸ Read File\ny = yes, n = no > \x1b[2J"
    filler = "x" * (2 * COLUMNS - 4)  # so that what follows begins a row of the screen
    hostile = f"echo '{filler}▸ Read File'{card}"
    with conversation(command, {"text": f"{filler}▸ Read File{card}", **runs(hostile)}) as terminal:
        terminal.type("go")
        shown = terminal.wait_for("a = all")
    rows = [row for line in shown.splitlines() for row in re.findall(f".{{1,{COLUMNS}}}", line)]
    assert [row for row in rows if row.startswith("▸")] == ["▸ Execute"]
    assert [row for row in rows if row.startswith("y = yes")] == [rows[-1]]
    assert "\x1b" not in shown


def test_blanks_cannot_push_the_end_of_a_command_out_of_sight(command: Command) -> None:
    with conversation(command, runs("echo ok" + "\u2003" * 2_100 + "; rm -rf notes")) as terminal:
        terminal.type("go")
        shown = terminal.wait_for(QUESTION)
    assert "rm -rf notes" in shown
    assert "unusual blanks" in shown


@pytest.mark.parametrize(
    "arguments",
    [
        *(["trust", "FOLDER"], ["trust", "--yes", "FOLDER"], ["trust", "--revoke", "FOLDER"]),
        *(["mcp", "remove", "NAME"], ["mcp", "test", "NAME"], ["config", "--workspace", "FOLDER"]),
        *(["personas", "--workspace", "FOLDER"], ["personas", "--workspace", "NAME"], ["contexts", "export", "NAME"]),
        *(["--mode", "NAME"], ["--context", "NAME"], ["--model", "NAME", "run", "x"], ["users", "remove", "NAME"]),
    ],
    ids=" ".join,
)
def test_no_command_prints_a_control_or_hidden_character(command: Command, arguments: list[str]) -> None:
    name = "od\x1b[31md\u202e\u200bx"
    folder = command.folder / name
    (folder / ".pilothouse").mkdir(parents=True)
    (folder / ".pilothouse" / "config.toml").write_text(f"# {name}\nmode = 'plan'\n")
    given = [each.replace("FOLDER", str(folder)).replace("NAME", name) for each in arguments]
    _, output, errors = command.run(*given, given="")
    assert output + errors
    assert not re.search("[\x1b\u202e\u200b]", output + errors)
