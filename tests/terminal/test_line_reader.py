"""Typed text is sent as the person sees it: letters of every script, pasted lines, Ctrl-C."""

import asyncio
import os
import pty
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pilothouse.terminal.line_reader import LineReader
from tests.cli.test_main import Command
from tests.support.scale import HANG_SECONDS
from tests.terminal.test_steering import Terminal
from tests.terminal.test_typed_ahead import messages

NOT_INSTALLED = "zh_XX.UTF-8"


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)


@pytest.mark.parametrize("locale", [NOT_INSTALLED, "C", "C.UTF-8"])
def test_letters_beyond_ascii_are_typed_in_every_locale(command: Command, locale: str) -> None:
    command.environment["LC_ALL"] = locale
    (command.folder / "config.toml").write_text('language = "en"\n')
    terminal = Terminal(command, "--model", command.script({"text": "I see."}))
    try:
        terminal.wait_for(" › ")
        terminal.type("做吧 hello é")
        terminal.wait_for("I see.")
        assert '"做吧 hello é"' in messages(terminal, command)
    finally:
        terminal.close()


def test_the_language_stays_where_the_locale_is_not_installed(command: Command) -> None:
    command.environment["LC_ALL"] = NOT_INSTALLED
    terminal = Terminal(command, "--model", command.script())
    try:
        terminal.wait_for("列出命令")
        terminal.wait_for(" › ")
        terminal.type("!printenv LC_CTYPE LC_MESSAGES")
        terminal.wait_for(f"C.UTF-8\r\n{NOT_INSTALLED}")
    finally:
        terminal.close()


def _undecoded(_: str) -> str:
    return b"caf\xe9 now".decode()


def _with_surrogates(_: str) -> str:
    return b"caf\xe9 now".decode(errors="surrogateescape")


@pytest.mark.parametrize("read", [_undecoded, _with_surrogates])
async def test_a_line_that_is_no_utf8_is_set_aside_and_never_sent(
    monkeypatch: pytest.MonkeyPatch, read: Callable[[str], str]
) -> None:
    outer, inner = pty.openpty()
    with os.fdopen(inner) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        monkeypatch.setattr(LineReader, "can_edit", True)
        monkeypatch.setattr("builtins.input", read)
        lines = LineReader()
        await lines.start()
        assert await lines.ask_edited("") == ""
        assert lines.was_undecodable
        assert lines.take_set_aside() == ["caf\ufffd now"]
        monkeypatch.setattr("builtins.input", lambda _: "café now")
        assert await lines.ask_edited("") == "café now"
        assert not lines.was_undecodable
        asyncio.get_running_loop().remove_reader(inner)
        asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)
    os.close(outer)


CTRL_C, CTRL_R, UP, HOME = "\x03", "\x12", "\x1b[A", "\x01"


def test_ctrl_c_drops_the_line_that_was_begun_and_stays(command: Command) -> None:
    terminal = Terminal(command, "--model", command.script({"text": "One."}, {"text": "Two."}), controlling=True)
    try:
        terminal.wait_for(" › ")
        terminal.press(f"half a line{HOME}")
        terminal.wait_for("half a line")
        terminal.press(CTRL_C)
        terminal.wait_for(" › ")
        terminal.type("whole")
        terminal.wait_for("One.")
        terminal.wait_for(" › ")
        terminal.press(f"{CTRL_R}half")
        terminal.wait_for("lf a line")  # the letters that were searched for are marked
        terminal.press(CTRL_C)
        terminal.wait_for(" › ")
        terminal.press(f"{UP}!")
        terminal.wait_for("half a line!")
        terminal.press("\n")
        terminal.wait_for("Two.")
        exported = messages(terminal, command)
        assert '"whole"' in exported
        assert '"half a line!"' in exported
        assert '"half a line"' not in exported
        terminal.wait_for(" › ")
        terminal.press(CTRL_C)
        terminal.wait_for("pilothouse --context")
        assert "You typed" not in terminal.output
    finally:
        terminal.close()


@pytest.mark.parametrize("end", ["\r", "\n"])
def test_lines_pasted_without_brackets_are_one_message_and_shown(command: Command, end: str) -> None:
    terminal = Terminal(command, "--model", command.script({"text": "One."}, {"text": "Two."}))
    try:
        terminal.wait_for(" › ")
        terminal.press(end.join(["line one", "line two", "", "   !indented", ""]))
        terminal.wait_for("   !indented\r\n")
        terminal.wait_for("One.")
        terminal.wait_for(" › ")
        terminal.type("X")
        terminal.wait_for("Two.")
        exported = messages(terminal, command)
        assert '"line one\\nline two\\n\\n   !indented"' in exported
        assert '"X"' in exported
    finally:
        terminal.close()


def test_pasted_lines_whose_last_is_not_ended_wait_at_the_prompt(command: Command) -> None:
    terminal = Terminal(command, "--model", command.script({"text": "One."}))
    try:
        terminal.wait_for(" › ")
        terminal.press("line one\rline two\rline")
        for part in ("› line one", "line two", "line"):
            terminal.wait_for(part)
        terminal.type(" three")
        terminal.wait_for("One.")
        assert '"line one\\nline two\\nline three"' in messages(terminal, command)
    finally:
        terminal.close()


def test_leaving_says_that_the_conversation_is_gone_with_its_data_directory(command: Command) -> None:
    terminal = Terminal(command, "--model", command.script({"text": "One."}))
    try:
        terminal.wait_for(" › ")
        terminal.type("hello")
        terminal.wait_for("One.")
        terminal.wait_for(" › ")
        shutil.rmtree(command.folder / "data")
        terminal.type("/quit")
        terminal.wait_for("This conversation couldn't be saved")
        assert terminal.process.wait(HANG_SECONDS) is not None
        assert "To come back: " not in terminal.output
    finally:
        terminal.close()
