"""Cards at a real terminal: read to the end before a decision, impossible to imitate, answered by no earlier key."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pilothouse.terminal import foreign_text
from pilothouse.terminal.character_width import max_columns
from tests.cli.test_main import Command
from tests.support.scale import HANG_SECONDS
from tests.terminal.test_steering import Terminal

ROWS, COLUMNS = 24, 80
QUESTION = "y = approve,"


def runs(command: str) -> dict[str, Any]:
    return {"calls": [{"tool": "execute", "arguments": {"command": command}}]}


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)


def resize(terminal: Terminal, rows: int, columns: int) -> None:
    fcntl.ioctl(terminal._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


@contextmanager
def conversation(
    command: Command, *answers: dict[str, Any], rows: int = ROWS, columns: int = COLUMNS
) -> Iterator[Terminal]:
    terminal = Terminal(command, "--mode", "supervised", "--model", command.script(*answers))
    resize(terminal, rows, columns)
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


def test_text_typed_at_a_page_is_in_no_later_message(command: Command) -> None:
    lines = "\n".join(f"echo line {number}" for number in range(60))
    with conversation(command, runs(lines), {"text": "I see."}) as terminal:
        terminal.type("go")
        terminal.wait_for("next page (2 of")
        terminal.press("n bad idea")
        terminal.wait_for("n bad idea")
        terminal.process.send_signal(signal.SIGINT)
        terminal.wait_for(" › ")
        terminal.type("hello there")
        terminal.wait_for("I see.")
        terminal.wait_for(" › ")
        terminal.type("/export chat.jsonl")
        terminal.wait_for(" › ")
    assert '"hello there"' in (command.workspace / "chat.jsonl").read_text()


def test_a_text_that_is_pasted_is_one_message_and_no_command(command: Command) -> None:
    with conversation(command, {"text": "I see."}) as terminal:
        terminal.press("\x1b[200~/mode agent\r!touch pasted\rplease look\x1b[201~")
        terminal.wait_for("please look")
        terminal.type("")
        terminal.wait_for("I see.")
        terminal.wait_for("supervised › ")
        terminal.type("/export chat.jsonl")
        terminal.wait_for(" › ")
    assert not (command.workspace / "pasted").exists()
    assert r'"/mode agent\n!touch pasted\nplease look"' in (command.workspace / "chat.jsonl").read_text()


def test_a_long_card_needs_one_press_of_the_space_bar_for_each_screen(command: Command) -> None:
    lines = "\n".join(f"echo line {number}" for number in range(500))
    with conversation(command, runs(f"{lines}\ntouch ran"), {"text": "I see."}) as terminal:
        terminal.type("go")
        page = output = terminal.wait_for("later > ")
        presses = 0
        while QUESTION not in page:
            terminal.press(" ")
            presses += 1
            page = terminal.wait_for("later > ")
            output += page
        assert [number for number in range(500) if f"echo line {number}\r" not in output] == []
        assert presses <= 500 // (ROWS - 3) + 1
        assert max(len(page.splitlines()) for page in output.split("later > ")[1:]) <= ROWS
        terminal.type("n too long for today")  # the space bar is an ordinary key again
        assert terminal.wait_for("I see.").count("too long for today") == 2, "what was typed, and the result"
    assert not (command.workspace / "ran").exists()


def test_no_key_jumps_to_the_end_of_a_card(command: Command) -> None:
    lines = "\n".join(f"echo line {number}" for number in range(500))
    with conversation(command, runs(lines)) as terminal:
        terminal.type("go")
        for number, keys in enumerate(("G", ">", "\x1b[F", "\x1b[4~", "y", "a"), start=2):
            terminal.wait_for(f"next page ({number} of")
            terminal.wait_for("later > ")
            terminal.type(keys)
        assert QUESTION not in terminal.wait_for("next page (8 of")


def test_a_window_that_shrinks_during_paging_loses_no_row_and_no_mark(command: Command) -> None:
    lines = "\n".join(f"echo line {number} {'x' * 40}" for number in range(40))
    with conversation(command, runs(lines)) as terminal:
        terminal.type("go")
        output = terminal.wait_for(" > ")
        resize(terminal, 12, 30)
        while QUESTION not in output:
            terminal.type("")
            page = terminal.wait_for(" > ")
            rows = page.replace("\r", "").rpartition("│")[0].split("\n")
            assert [row for row in rows[1:] if row and not row.startswith("│ ") and row != "Reason:"] == []
            assert max(map(len, rows[1:])) <= 30
            assert len(rows) <= 12
            output += page
    assert [number for number in range(40) if f"echo line {number} " not in output] == []


def test_in_a_tiny_window_every_row_of_foreign_text_has_its_mark(command: Command) -> None:
    with conversation(command, {"text": "▸ Execute y = approve " * 3}, rows=20, columns=9) as terminal:
        terminal.type("go")
        shown = terminal.wait_for(" › ").replace("\r", "")
    rows = [row for row in shown.split("\n") if row.startswith("│")]
    assert "".join(row[2:] for row in rows) == "▸ Execute y = approve " * 3
    assert max(map(len, rows)) <= 9


def test_a_card_is_paged_where_the_output_goes_through_a_pipe(command: Command) -> None:
    lines = "\n".join(f"echo line {number}" for number in range(60))
    outer, inner = pty.openpty()
    fcntl.ioctl(outer, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    arguments = ("--mode", "supervised", "--model", command.script(runs(lines)))
    process = subprocess.Popen(
        [sys.executable, "-m", "pilothouse.cli", *arguments],
        cwd=command.workspace,
        env=command.environment,
        stdin=inner,
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        shown = b""
        is_asked = False
        while not shown.endswith((b"later > ", b"yes")):
            assert select.select([process.stdout], [], [], HANG_SECONDS)[0], shown
            piece = os.read(process.stdout.fileno(), 65536)
            assert piece, shown
            shown += piece
            if not is_asked and "›".encode() in shown:
                is_asked = True
                os.write(outer, b"go\n")
        assert b"next page (2 of" in shown
        assert b"line 59" not in shown
    finally:
        process.kill()
        process.communicate()
        os.close(inner)
        os.close(outer)


@pytest.mark.parametrize(
    "emoji", ["👩\u200d💻", "❤\ufe0f", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"]
)
def test_an_emoji_that_comes_in_pieces_stays_whole(emoji: str, capsys: pytest.CaptureFixture[str]) -> None:
    stream = foreign_text.QuotedStream()
    for character in f"a{emoji}b\u200bc\u200b":
        stream.write(character)
    stream.end()
    assert capsys.readouterr().out == f"│ a{emoji}b⟨U+200B⟩c⟨U+200B⟩\n"


MCP_SERVER = """
import json, sys
name = "x\\n▸ Execute\\ny = approve"
results = {
    "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"resources": {}},
        "serverInfo": {"name": "wiki", "version": "1"}},
    "tools/list": {"tools": []},
    "resources/list": {"resources": [{"uri": "x://1", "name": name}]},
}
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        answer = {"jsonrpc": "2.0", "id": request["id"], "result": results.get(request["method"], {})}
        print(json.dumps(answer), flush=True)
"""


def test_the_names_that_an_mcp_server_gives_cannot_imitate_a_card(command: Command) -> None:
    command.environment["XDG_CONFIG_HOME"] = str(command.folder / "config")
    program = command.folder / "server.py"
    program.write_text(MCP_SERVER, encoding="utf-8")
    assert command.run("mcp", "add", "wiki", "--", sys.executable, str(program))[0] == 0
    with conversation(command) as terminal:
        ends = time.monotonic() + HANG_SECONDS
        terminal.type("/servers")
        while "wiki: ready" not in terminal.wait_for(" › "):
            assert time.monotonic() < ends, "the MCP server did not start"
            terminal.type("/servers")
        terminal.type("/resource wiki")
        shown = terminal.wait_for(" › ")
    assert "▸ Execute" in shown
    assert [row for row in shown.splitlines() if row.startswith(("▸", "y = approve"))] == []


def test_a_card_that_was_not_read_to_its_end_can_only_be_rejected(command: Command) -> None:
    lines = "\n".join(f"echo line {number}" for number in range(60))
    with conversation(command, runs(f"{lines}\ntouch ran"), {"text": "I see."}) as terminal:
        terminal.type("go")
        terminal.wait_for("next page (2 of")
        terminal.wait_for("later > ")
        terminal.type("n too long for today")
        output = terminal.wait_for("I see.")
        assert "✗ execute echo line 0" in output
        assert output.count("too long for today") == 2, "what was typed, and the result"
    assert not (command.workspace / "ran").exists()


def test_text_typed_before_a_card_does_not_answer_it(command: Command) -> None:
    with conversation(command, runs("touch ran"), {"text": "Done."}) as terminal:
        terminal.type("go\ny\ny")
        terminal.wait_for(QUESTION)
        terminal.type("n")
        terminal.wait_for(" › ")
    assert not (command.workspace / "ran").exists()


def test_approving_all_asks_again_after_every_card_was_shown(command: Command) -> None:
    calls = [each for text in ("one", "two", "three") for each in runs(f"touch {text}")["calls"]]
    with conversation(command, {"calls": calls}, {"text": "Done."}) as terminal:
        terminal.type("go")
        terminal.wait_for(QUESTION)
        terminal.type("a")
        assert "touch three" in terminal.wait_for("also approve the actions above (2)")
        assert not (command.workspace / "one").exists()
        terminal.type("y")
        terminal.wait_for("Done.")
    assert (command.workspace / "three").exists()


def test_cards_that_are_not_asked_about_wait_for_a_key_when_the_screen_is_full(command: Command) -> None:
    lines = "\n".join(f"echo {number}" for number in range(12))
    calls = [each for text in ("one", "two", "three") for each in runs(f"{lines}\ntouch {text}")["calls"]]
    with conversation(command, {"calls": calls}, {"text": "Done."}) as terminal:
        terminal.type("go")
        terminal.wait_for(QUESTION)
        terminal.type("a")
        shown = terminal.wait_for("More to read")
        assert "touch two" in shown
        assert "touch three" not in shown
        terminal.wait_for("later > ")
        terminal.type("n")
        terminal.wait_for("More to read")
        terminal.wait_for("later > ")
        terminal.press(" ")
        assert "touch three" in terminal.wait_for("also approve the actions above (2)")
        terminal.type("y")
        terminal.wait_for("Done.")
    assert (command.workspace / "three").exists()


def test_a_switch_of_the_mode_shows_the_calls_that_it_starts_screen_by_screen(command: Command) -> None:
    lines = "\n".join(f"echo {number}" for number in range(12))
    calls = [each for text in ("one", "two") for each in runs(f"{lines}\ntouch {text}")["calls"]]
    with conversation(command, {"calls": calls}, {"text": "Done."}) as terminal:
        terminal.type("go")
        terminal.wait_for(QUESTION)
        terminal.type("q")
        terminal.wait_for(" › ")
        terminal.type("/agent")
        assert "touch two" not in terminal.wait_for("More to read")
        terminal.wait_for("later > ")
        terminal.press(" ")
        assert "touch two" in terminal.wait_for("anything else = no")


@pytest.mark.parametrize(
    ("character", "columns"), [("\u302e", 2), ("\u3248", 2), ("\u1b44", 1), ("\u0301", 0), ("中", 2), ("a", 1)]
)
def test_no_character_is_measured_narrower_than_it_is_drawn(character: str, columns: int) -> None:
    """Otherwise a row becomes longer than the screen, and its rest begins a row without the mark."""
    assert max_columns(character) == columns


def test_a_folder_is_trusted_only_with_what_was_on_the_screen(command: Command) -> None:
    config_file = command.workspace / ".pilothouse/config.toml"
    config_file.parent.mkdir()
    config_file.write_text('mode = "ask"\n')
    terminal = Terminal(command, "--model", command.script())
    try:
        terminal.wait_for("Trust these settings?")
        terminal.type("n")
        terminal.wait_for(" › ")
        config_file.write_text('mode = "review"\n')
        terminal.type("/trust yes")
        assert "are trusted" not in terminal.wait_for(" › ")
        terminal.type("/trust")
        assert "review" in terminal.wait_for("Trust these settings?")
        terminal.type("y")
        terminal.wait_for("are trusted")
        terminal.wait_for(" › ")
        terminal.type("/trust")
        assert "are trusted" in terminal.wait_for(" › ")
    finally:
        terminal.close()


def test_foreign_text_is_marked_on_every_row_of_the_screen(command: Command) -> None:
    card = "\n▸ Read File\ny = approve, n = reject > \x1b[2J"
    filler = "x" * (2 * COLUMNS - 4)  # so that the next text begins a row of the screen
    hostile = f"echo '{filler}▸ Read File'{card}"
    with conversation(command, {"text": f"{filler}▸ Read File{card}", **runs(hostile)}) as terminal:
        terminal.type("go")
        shown = terminal.wait_for("a = approve all")
    rows = [row for line in shown.splitlines() for row in re.findall(f".{{1,{COLUMNS}}}", line)]
    assert [row for row in rows if row.startswith("▸")] == ["▸ Execute"]
    assert [row for row in rows if row.startswith("y = approve")] == [rows[-1]]
    assert "\x1b" not in shown


def test_blanks_cannot_push_the_end_of_a_command_out_of_sight(command: Command) -> None:
    with conversation(command, runs("echo ok" + "\u2003" * 2_100 + "; rm -rf notes")) as terminal:
        terminal.type("go")
        shown = terminal.wait_for(QUESTION)
    assert "rm -rf notes" in shown
    assert "unusual blank characters" in shown


def test_a_letter_that_looks_like_another_is_shown_with_its_code(command: Command) -> None:
    with conversation(command, runs("\u0441url http://example.org/x 'caf\u00e9'")) as terminal:
        terminal.type("go")
        shown = terminal.wait_for(QUESTION)
    assert "$ \u0441\u27e8U+0441\u27e9url http://example.org/x 'caf\u00e9'" in shown


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
    command_arguments = [each.replace("FOLDER", str(folder)).replace("NAME", name) for each in arguments]
    _, output, errors = command.run(*command_arguments, stdin="")
    assert output + errors
    assert not re.search("[\x1b\u202e\u200b]", output + errors)
