"""Text typed before a question never answers it, and is never lost."""

import asyncio
import os
import pty
import signal
import sys
import termios
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pilothouse.runtime.events.attend import EventCommands
from pilothouse.runtime.events.turn_events import branch_end
from pilothouse.terminal import repl
from pilothouse.terminal.line_reader import LineReader
from pilothouse.testing.world import World
from tests.cli.test_main import Command
from tests.support.scale import HANG_SECONDS
from tests.terminal.test_cards import runs
from tests.terminal.test_steering import Terminal

QUESTION = "y = approve,"
CTRL_D = "\x04"
ASKS = {"calls": [{"tool": "ask_user", "arguments": {"questions": [{"question": "Which letter?"}]}}]}


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)


@contextmanager
def conversation(command: Command, *answers: dict[str, Any]) -> Iterator[Terminal]:
    terminal = Terminal(command, "--mode", "supervised", "--model", command.script(*answers))
    try:
        terminal.wait_for(" › ")
        yield terminal
    finally:
        terminal.close()


def wait_for_card(terminal: Terminal) -> None:
    terminal.wait_for(QUESTION)
    terminal.wait_for("later > ")


def messages(terminal: Terminal, command: Command) -> str:
    terminal.wait_for(" › ")
    terminal.type("/export chat.jsonl")
    terminal.wait_for("Exported to")
    return (command.workspace / "chat.jsonl").read_text()


def test_a_line_typed_before_a_card_comes_back_at_the_next_prompt(command: Command) -> None:
    with conversation(command, runs("touch ran"), {"text": "Done."}, {"text": "I see."}) as terminal:
        terminal.press("go\nand then the tests")
        wait_for_card(terminal)
        terminal.type("n")
        terminal.wait_for("› and then the tests")
        terminal.type(", please")
        terminal.wait_for("Done.")
        assert '"and then the tests, please"' in messages(terminal, command)
    assert not (command.workspace / "ran").exists()


async def test_whole_lines_and_half_a_line_typed_before_a_question_are_set_aside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outer, inner = pty.openpty()
    with os.fdopen(inner) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        lines = LineReader()
        await lines.start()
        os.write(outer, b"first\nsecond\n\x1b[Ahalf\xc3\xa9")
        await lines.ask("")
        before = termios.tcgetattr(inner)
        asking = asyncio.ensure_future(lines.ask_now("? "))
        await asyncio.sleep(0)
        assert lines.is_asking
        os.write(outer, b"y\n")
        assert await asking == "y"
        assert lines.take_set_aside() == ["second", "halfé"]
        assert termios.tcgetattr(inner) == before
        asyncio.get_running_loop().remove_reader(inner)
        asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)
    os.close(outer)


def test_an_invalid_answer_at_a_card_is_returned_to_the_prompt(command: Command) -> None:
    with conversation(command, runs("touch ran"), {"text": "Done."}) as terminal:
        terminal.type("go")
        wait_for_card(terminal)
        terminal.type("what does this do?")
        terminal.wait_for("comes back at the next prompt")
        wait_for_card(terminal)
        terminal.type("n")
        terminal.wait_for("› what does this do?")


def test_text_typed_before_a_card_is_printed_when_the_user_quits_there(command: Command) -> None:
    with conversation(command, runs("touch ran")) as terminal:
        terminal.press("go\nand then the tests")
        wait_for_card(terminal)
        terminal.type("/quit")
        terminal.wait_for("You typed this")
        terminal.wait_for("│ and then the tests")
        terminal.wait_for("pilothouse --context")


def test_half_a_line_is_printed_when_an_interrupt_ends_the_conversation(command: Command) -> None:
    terminal = Terminal(command, "--model", command.script())
    try:
        terminal.wait_for(" › ")
        terminal.press("half a line")
        terminal.wait_for("half a line")
        terminal.process.send_signal(signal.SIGINT)
        terminal.wait_for("it wasn't sent")
        terminal.wait_for("│ half a line")
        terminal.wait_for("pilothouse --context")
    finally:
        terminal.close()


@pytest.mark.parametrize("piped", [False, True])
def test_a_message_is_queued_while_a_call_waits(command: Command, piped: bool) -> None:
    model = command.script(runs("touch ran"), {"text": "Done."}, {"text": "I see."})
    if piped:
        stdin = "go\nq\nand then\n\ny\n/quit\n"
        code, output, errors = command.run("--mode", "supervised", "--model", model, stdin=stdin)
        assert (code, errors) == (0, "")
        assert "Queued (1 in the queue)" in output
        assert "I see." in output
        return
    with conversation(command, runs("touch ran"), {"text": "Done."}, {"text": "I see."}) as terminal:
        terminal.type("go")
        wait_for_card(terminal)
        terminal.type("q")
        terminal.wait_for(" › ")
        terminal.type("and then")
        terminal.wait_for("Queued (1 in the queue)")
        terminal.wait_for("Press Enter to review")
        terminal.wait_for(" › ")
        terminal.type("")
        wait_for_card(terminal)
        terminal.type("y")
        terminal.wait_for("Done.")
        terminal.wait_for("» and then")
        terminal.wait_for("I see.")


def test_a_shell_command_typed_during_a_turn_runs_after_it(command: Command) -> None:
    terminal = Terminal(command)
    try:
        terminal.wait_for(" › ")
        terminal.type("work in 3 steps")
        terminal.wait_for("Step 1.")
        terminal.type("!touch own")
        terminal.wait_for("All 3 steps are done.")
        terminal.wait_for(" › ")
        terminal.wait_for(" › ")
        assert (command.workspace / "own").exists()
    finally:
        terminal.close()


@pytest.mark.parametrize("letter", ["q", "n", "later"])
def test_a_single_letter_answers_a_question(command: Command, letter: str) -> None:
    with conversation(command, ASKS, {"text": "I see."}) as terminal:
        terminal.type("go")
        terminal.wait_for("To answer later, type /later")
        terminal.wait_for("> ")
        terminal.type(letter)
        terminal.wait_for("I see.")
        assert f'"answers":["{letter}"]' in messages(terminal, command)


@pytest.mark.parametrize("keys", ["/later\n", CTRL_D, "\n/later\n"])
def test_a_question_is_left_for_later_and_answered_then(command: Command, keys: str) -> None:
    with conversation(command, ASKS, {"text": "I see."}) as terminal:
        terminal.type("go")
        terminal.wait_for("To answer later, type /later")
        terminal.wait_for("> ")
        terminal.press(keys)
        terminal.wait_for("The question is still open.")
        terminal.wait_for(" › ")
        terminal.type("")
        terminal.wait_for("Which letter?")
        terminal.wait_for("> ")
        terminal.type("b")
        terminal.wait_for("I see.")


def test_ctrl_d_at_a_card_leaves_the_card_and_not_the_conversation(command: Command) -> None:
    with conversation(command, runs("touch ran"), {"text": "Done."}) as terminal:
        terminal.type("go")
        wait_for_card(terminal)
        terminal.press(CTRL_D)
        terminal.wait_for("Press Enter to review")
        terminal.wait_for(" › ")
        terminal.type("")
        wait_for_card(terminal)
        terminal.type("/cancel")
        terminal.wait_for("Cancelled.")
        terminal.wait_for(" › ")
        terminal.press(CTRL_D)
        terminal.wait_for("pilothouse --context")


class _TypedLines:
    """Lines that a person typed without a question."""

    def __init__(self, *lines: str) -> None:
        self._lines = list(lines)
        self.interrupt: Any = None
        self.is_asking = False

    async def next_unprompted_line(self) -> str:
        if not self._lines:
            await asyncio.Event().wait()
        return self._lines.pop(0)


@pytest.mark.parametrize("line", ["/mode agent", "  /mode agent "])
async def test_a_command_that_still_asks_when_the_turn_ends_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    world, is_asked, is_answered = World(tmp_path), asyncio.Event(), asyncio.Event()
    shown_for: list[str] = []

    async def ask(command: str) -> list[str]:
        shown_for.append(command)
        is_asked.set()
        await is_answered.wait()
        return []

    async def turn(*_: Any, **__: Any) -> AsyncIterator[Any]:
        await is_asked.wait()
        asyncio.get_running_loop().call_soon(is_answered.set)  # once the turn has ended
        return
        yield

    monkeypatch.setattr(repl, "LineReader", lambda: _TypedLines(line))
    monkeypatch.setattr(EventCommands, "attend", turn)
    async with world.runtime, asyncio.timeout(HANG_SECONDS):
        context_id = await world.start("review")
        conversation = repl.Conversation(world.runtime, context_id, "en")
        monkeypatch.setattr(conversation, "_confirm_started_calls", ask)
        await conversation._show(branch_end(await world.runtime.contexts.get(context_id)))
        assert shown_for == ["/mode agent"]
        assert (await world.runtime.contexts.get(context_id)).core.mode == "agent"


async def test_a_pasted_text_that_begins_with_a_slash_is_sent_during_a_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, sent = World(tmp_path), asyncio.Event()
    texts: list[str] = []

    async def send(text: str) -> None:
        texts.append(text)
        sent.set()

    async def turn(*_: Any, **__: Any) -> AsyncIterator[Any]:
        await sent.wait()
        return
        yield

    monkeypatch.setattr(repl, "LineReader", lambda: _TypedLines("/mode agent\nand more"))
    monkeypatch.setattr(EventCommands, "attend", turn)
    async with world.runtime, asyncio.timeout(HANG_SECONDS):
        context_id = await world.start("review")
        conversation = repl.Conversation(world.runtime, context_id, "en")
        monkeypatch.setattr(conversation, "_send", send)
        await conversation._show(branch_end(await world.runtime.contexts.get(context_id)))
    assert texts == ["/mode agent\nand more"]
