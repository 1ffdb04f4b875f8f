"""Steering from the terminal: the tour, rules, pause and queue at a real terminal, conversations and configuration."""

import codecs
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.test_main import Command
from tests.support.assertions import present
from tests.support.scale import HANG_SECONDS

WRITE = {"tool": "write_file", "arguments": {"path": "docs/b.txt", "content": "written"}}


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)


_PASTE_SWITCH = re.compile(r"\x1b\[\?2004[hl]\r?")
"""Turns bracketed paste on or off. A terminal shows nothing for it."""


_TAKE_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


class Terminal:
    """A real terminal with a conversation in it. A `controlling` terminal sends signals for keys such as Ctrl-C."""

    def __init__(self, command: Command, *arguments: str, controlling: bool = False) -> None:
        self._fd, inner = pty.openpty()
        before = [sys.executable, "-c", _TAKE_TERMINAL] if controlling else []
        self.process = subprocess.Popen(
            [*before, sys.executable, "-m", "pilothouse.cli", *arguments],
            cwd=command.workspace,
            env=command.environment,
            stdin=inner,
            stdout=inner,
            stderr=inner,
        )
        os.close(inner)
        self.output = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")  # a letter may come in two parts
        self._from = 0

    def type(self, line: str) -> None:
        os.write(self._fd, line.encode() + b"\n")

    def press(self, keys: str) -> None:
        os.write(self._fd, keys.encode())

    def wait_for(self, text: str, seconds: float = HANG_SECONDS) -> str:
        """Wait for a text after the last awaited one; return the output up to it."""
        ends = time.monotonic() + seconds
        while text not in self.output[self._from :]:
            left = ends - time.monotonic()
            assert left > 0, f"{text!r} did not come:\n{self.output[self._from :]}"
            if select.select([self._fd], [], [], left)[0]:
                try:
                    self.output += self._decoder.decode(os.read(self._fd, 65536))
                    self.output = self.output[: self._from] + _PASTE_SWITCH.sub("", self.output[self._from :])
                except OSError:
                    raise AssertionError(f"it ended before {text!r}:\n{self.output[self._from :]}") from None
        start = self._from
        self._from = self.output.index(text, self._from) + len(text)
        return self.output[start : self._from]

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._fd)


@pytest.fixture
def terminal(command: Command) -> Iterator[Terminal]:
    new_terminal = Terminal(command)
    yield new_terminal
    new_terminal.close()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_tour_shows_everything_with_one_enter_a_step(command: Command, language: str) -> None:
    command.environment["LANG"] = "zh_CN.UTF-8" if language == "zh" else "C.UTF-8"
    terminal = Terminal(command)
    try:
        terminal.wait_for(" › ")
        terminal.type("/tour")
        total = int(present(re.search(r"\[1/(\d+)\]", terminal.wait_for("[1/") + terminal.wait_for("]")))[1])
        for step in range(1, total + 1):
            terminal.wait_for(": " if language == "en" else "：")
            terminal.type("")
            if step == 3:
                terminal.wait_for("> ")
                terminal.type("!")
                terminal.wait_for("2. ")
                terminal.wait_for("> ")
                terminal.type("2")
            terminal.wait_for(f"[{step + 1}/" if step < total else "context_created")
        terminal.wait_for(" › ")
        terminal.type("/quit")
        terminal.wait_for("pilothouse --context")
    finally:
        terminal.close()
    output = terminal.output
    for expected in ("tour/", "idea ← main", "step 4 of 4", "elevation_ended", "branches_merged", "rule_given"):
        assert expected in output, expected
    assert (command.workspace / "tour/one.txt").read_text() == "changed\n"
    assert len(list(command.workspace.glob("*.jsonl"))) == 1


LEFT, UP = "\x1b[D", "\x1b[A"


def test_a_line_can_be_edited_and_an_earlier_one_called_back(command: Command, terminal: Terminal) -> None:
    terminal.wait_for(" › ")
    terminal.press(f"lst{LEFT}{LEFT}i\n")
    terminal.wait_for("a.txt")
    terminal.wait_for(" › ")
    terminal.press(f"{UP} again\n")
    terminal.wait_for("list again")
    terminal.wait_for(" › ")
    terminal.press("\x04")
    terminal.wait_for("pilothouse --context")
    assert terminal.process.wait(20) == 0


def test_ctrl_c_and_a_kill_at_the_prompt_leave_the_terminal_unchanged(command: Command) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        terminal = Terminal(command)
        try:
            before = termios.tcgetattr(terminal._fd)
            terminal.wait_for(" › ")
            terminal.press("half a line")
            terminal.wait_for("half a line")
            assert termios.tcgetattr(terminal._fd) != before, "lines are edited"
            terminal.process.send_signal(number)
            terminal.process.wait(20)
            assert termios.tcgetattr(terminal._fd) == before
        finally:
            terminal.close()


def test_a_line_typed_during_a_turn_is_queued_and_a_pause_holds(terminal: Terminal) -> None:
    terminal.wait_for(" › ")
    terminal.type("work in 3 steps")
    terminal.wait_for("Step 1.")
    terminal.type("list")
    terminal.wait_for("Queued (1 in the queue)")
    terminal.type("/pause")
    terminal.wait_for("Paused.")
    terminal.wait_for(" › ")
    terminal.type("/queue")
    terminal.wait_for("1. list")
    terminal.type("/resume")
    terminal.wait_for("All 3 steps are done.")
    terminal.wait_for("» list")
    terminal.wait_for("list_directory")
    terminal.wait_for(" › ")


def test_a_sub_agent_asks_in_the_conversation_that_sent_it(terminal: Terminal, command: Command) -> None:
    terminal.wait_for(" › ")
    terminal.type("/review")
    terminal.wait_for("Review")
    terminal.type("delegate: write x.txt: hello")
    terminal.wait_for("A sub-agent (")
    terminal.wait_for("> ")
    terminal.type("y")
    terminal.wait_for("Wrote 6 bytes")
    terminal.wait_for(" › ")
    assert (command.workspace / "x.txt").read_text() == "hello\n"


def test_a_script_ends_at_a_waiting_sub_agent_and_names_its_conversation(command: Command) -> None:
    inner = {"calls": [WRITE]}
    outer = {"calls": [{"tool": "delegate", "arguments": {"task": "write"}}]}
    model = command.script(outer, inner, {"text": "never"})
    code, output, errors = command.run("run", "go", "--mode", "review", "--model", model, "--output-format", "json")
    assert code == 3
    result = json.loads(output)
    assert result["pending"]
    assert result["state"] == "awaiting_tool_approval"
    assert not (command.workspace / "docs/b.txt").exists()
    code, output, errors = command.run("--context", result["context_id"], "--model", model, stdin="n\n/quit\n")
    assert "Write File" in output


def test_rules_of_a_conversation_line_by_line(command: Command) -> None:
    model = command.script({"calls": [WRITE]}, {"text": "Done."}, {"calls": [WRITE]}, {"text": "Again."})
    stdin = "/supervised\ngo\n!\n2\n/rules\ngo\n/rules revoke 1\n/rules\n/deny write_file docs\n/rules\n/why\n/quit\n"
    code, output, errors = command.run("--model", model, stdin=stdin)
    assert (code, errors) == (0, "")
    expected = [
        *("1. always allow write_file", "2. always allow write_file [docs/]", "Done."),
        *("1. always allow write_file [docs/]", "Again.", "Revoked: always allow write_file", "No rules yet."),
        *("never allow write_file [docs/]", "Allowed by a rule"),
    ]
    position = 0
    for text in expected:
        position = output.find(text, position)
        assert position >= 0, f"{text!r} is missing in order:\n{output}"


def test_conversations_are_listed_exported_imported_archived_and_deleted(command: Command) -> None:
    code, output, _ = command.run("run", "hello", "--model", command.script({"text": "Hi."}), "--output-format", "json")
    context_id = json.loads(output)["context_id"]
    assert context_id in command.run("contexts")[1]
    file = command.folder / "kept.jsonl"
    assert command.run("contexts", "export", context_id, str(file))[0] == 0
    code, _, errors = command.run("contexts", "export", context_id, str(file))
    assert (code, "File exists" in errors) == (1, True)
    code, output, _ = command.run("contexts", "import", str(file), "--as", "copy")
    assert (code, "copy" in output) == (0, True)
    code, _, errors = command.run("contexts", "import", str(file))
    assert (code, "already" in errors) == (1, True)
    assert command.run("contexts", "archive", "copy")[0] == 0
    assert "copy" not in command.run("contexts")[1]
    assert "copy" in command.run("contexts", "--archived")[1]
    assert command.run("contexts", "restore", "copy")[0] == 0
    assert command.run("contexts", "delete", "copy")[0] == 0
    assert "copy" not in command.run("contexts")[1]
    assert command.run("contexts", "delete", "copy")[0] == 1


def test_the_configuration_or_its_mistake_is_shown(command: Command) -> None:
    own = command.folder / "config.toml"
    own.write_text('[modes.docs]\nonly_beneath = ["docs"]\n')
    code, output, _ = command.run("config", "--config", str(own))
    assert (code, "modes: agent, supervised, review, plan, ask, docs" in output) == (0, True)
    folder = command.workspace / ".pilothouse"
    folder.mkdir()
    (folder / "config.toml").write_text('\nmodel = "openai:x"\n')
    assert "config.toml (new)" in command.run("config", "--config", str(own))[1]
    code, _, errors = command.run("trust", "--yes", "--config", str(own))
    assert code == 4
    assert f"{folder / 'config.toml'}, line 2, model: A project can't set this key" in errors
    assert command.run("run", "hello", "--config", str(own))[0] == 0, "what is not trusted does nothing"


@pytest.mark.parametrize("arguments", [["config"], ["run", "hello"]])
def test_every_command_that_reads_the_configuration_reports_a_misspelt_tool(
    command: Command, arguments: list[str]
) -> None:
    own = command.folder / "config.toml"
    own.write_text('[[rules]]\neffect = "deny"\ntool = "excute"\n')
    code, _, errors = command.run(*arguments, "--config", str(own))
    assert (code, f"{own}, line 3, rules.0.tool: Unknown tool 'excute'." in errors) == (4, True)
    own.write_text("")
    (command.folder / "tools.toml").write_text("[tools.execut]\nenabled = false\n")
    code, _, errors = command.run(*arguments, "--config", str(own))
    assert (code, "Did you mean 'execute'?" in errors) == (4, True)


def test_a_custom_mode_works_like_any_other(command: Command) -> None:
    own = command.folder / "config.toml"
    own.write_text('mode = "docs"\n[modes.docs]\nicon = "D"\nonly_beneath = ["docs"]\ndenial_ends_turn = true\n')
    elsewhere = {"tool": "write_file", "arguments": {"path": "c.txt", "content": "no"}}
    model = command.script({"calls": [WRITE]}, {"calls": [elsewhere]})
    code, _, errors = command.run("run", "go", "--config", str(own), "--model", model)
    assert (code, "docs mode doesn't allow write_file" in errors) == (3, True)
    assert (command.workspace / "docs/b.txt").exists()
    assert not (command.workspace / "c.txt").exists()


def test_a_switch_that_would_start_something_dangerous_asks_first(command: Command) -> None:
    overwrite = {"tool": "write_file", "arguments": {"path": "a.txt", "content": "gone"}}
    model = command.script({"calls": [overwrite]}, {"text": "Done."})
    stdin = "/supervised\ngo\nq\n/agent\nn\n/agent\ny\n/quit\n"
    code, output, _ = command.run("--model", model, stdin=stdin)
    assert code == 0
    assert output.count("This would start pending actions (1):") == 2
    before, after = output.split("This would start pending actions (1):")[1:]
    assert "🛡️ supervised" in before
    assert "Done." in after
    assert (command.workspace / "a.txt").read_text() == "gone"


@pytest.mark.parametrize("release", ["/agent", "/mode agent", "/m agent"])
def test_a_switch_shows_a_harmless_call_whole_before_it_starts_it(command: Command, release: str) -> None:
    """A person who leaves a call at its first page has not read its end."""
    new = {"tool": "write_file", "arguments": {"path": "new.txt", "content": "line\n" * 200 + "the end\n"}}
    model = command.script({"calls": [new]}, {"text": "Done."})
    code, output, _ = command.run("--model", model, stdin=f"/supervised\ngo\nq\n{release}\nq\n/cancel\n/quit\n")
    assert (code, "This would start pending actions (1):" in output) == (0, True)
    assert not (command.workspace / "new.txt").exists()


def test_an_allow_rule_of_the_terminal_starts_no_waiting_call(command: Command) -> None:
    model = command.script({"calls": [WRITE]}, {"calls": [WRITE]}, {"text": "Done."})
    stdin = "/supervised\ngo\nq\n/allow write_file\n/cancel\n/quit\n"
    code, output, _ = command.run("--model", model, stdin=stdin)
    assert (code, "Done." in output) == (0, False)
    assert not (command.workspace / "docs/b.txt").exists()


def test_enter_returns_to_a_card_that_was_left_for_later(command: Command) -> None:
    model = command.script({"calls": [WRITE]}, {"text": "Done."})
    stdin = "/supervised\ngo\nhello\n99\nq\n/title Mine\n\ny\n/quit\n"
    code, output, _ = command.run("--model", model, stdin=stdin)
    assert code == 0
    assert output.count("Please choose one of these.") == 2
    assert output.count("Press Enter to review") == 1
    assert output.index("Title: Mine") < output.index("Done.")


def test_ctrl_c_at_an_approval_cancels_the_turn_and_the_conversation_continues(command: Command) -> None:
    terminal = Terminal(command, "--model", command.script({"calls": [WRITE]}, {"text": "Hi."}), "--mode", "supervised")
    try:
        terminal.wait_for(" › ")
        terminal.type("go")
        terminal.wait_for("later > ")
        terminal.process.send_signal(signal.SIGINT)
        terminal.wait_for("Cancelled.")
        terminal.wait_for(" › ")
        terminal.type("hello")
        terminal.wait_for("Hi.")
    finally:
        terminal.close()


def test_invalid_commands_are_answered_and_do_not_end_the_conversation(command: Command) -> None:
    huge = "9" * 5000
    lines = [
        *(f"/rules revoke {huge}", f"/elevate {huge}", f"/policy limited_auto {huge}", f"/queue delete {huge}"),
        *("/export ~nosuchuser/x", "/rules x", "/queue x", "/policy manual x", "/elevate", "/merge", "/merge a b c"),
        *("/allow nonsense", "/deny", "/branch delete", "/fork", "/edit", "/persona x", "/why", "/title", "/mode x"),
        *("/resume", "/pause", "/cancel", "/continue", "/elevate end", " /help", "/nonsense"),
    ]
    code, output, errors = command.run("--model", command.script(), stdin="\n".join([*lines, "/quit"]) + "\n")
    assert (code, errors) == (0, "")
    assert output.count(" › ") == len(lines) + 1
    assert "Traceback" not in output


@pytest.mark.parametrize(
    ("language", "no_rules", "no_queue"),
    [("C.UTF-8", "No rules yet.", "The queue is empty."), ("zh_CN.UTF-8", "还没有规则。", "队列为空。")],
)
def test_a_number_of_an_empty_list_is_answered_with_that_it_is_empty(
    command: Command, language: str, no_rules: str, no_queue: str
) -> None:
    lines = "/rules revoke 1\n/rules revoke\n/queue delete 1\n/queue edit 1 x\n/queue delete\n/queue x\n/quit\n"
    command.environment["LANG"] = language
    code, output, errors = command.run("--model", command.script(), stdin=lines)
    assert (code, errors) == (0, "")
    assert (output.count(no_rules), output.count(no_queue)) == (2, 3)
    assert "/queue edit N TEXT" in output, "another word is answered with the usage"


def test_a_mode_named_like_a_command_does_not_take_its_place(command: Command) -> None:
    own = command.folder / "config.toml"
    own.write_text('[modes.rules]\nicon = "R"\n')
    stdin = "/rules\n/mode rules\n/quit\n"
    _, output, _ = command.run("--config", str(own), "--model", command.script(), stdin=stdin)
    assert output.index("No rules yet.") < output.index("Mode: R")
