"""A line reader that keeps the event loop running and delivers Ctrl-C as an event."""

import asyncio
import importlib.util
import os
import re
import select
import signal
import sys
import termios
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from pilothouse.domain.deception.hidden_characters import visible
from pilothouse.sandbox.locales import read_terminal_as_utf8

_CAN_EDIT_LINES = importlib.util.find_spec("readline") is not None
"""Some builds of Python lack `readline`. Importing `readline` gives `input` line editing and history."""
if _CAN_EDIT_LINES:
    if sys.stdin is not None and sys.stdin.isatty():
        read_terminal_as_utf8(os.environ)
    import readline

    readline.parse_and_bind("set enable-bracketed-paste on")  # a pasted text is one line, even if it contains newlines
    _IS_GNU_READLINE = "libedit" not in (readline.__doc__ or "")
    for keymap, before in (("vi-insert", ""), ("vi-command", "A"), ("emacs", "")) if _IS_GNU_READLINE else ():
        readline.parse_and_bind(f"set keymap {keymap}")
        readline.parse_and_bind(rf'"\C-c": "{before}\342\201\240\342\201\243\342\201\240\C-m"')

_CTRL_C = "\u2060\u2063\u2060"
"""Zero-width characters, in an order that nobody types, that Ctrl-C inserts before it ends an edited line. The
terminal sends no signal for the key while a line is edited, since no signal reaches the thread that edits."""
LEAVING = ("/quit", "/exit")
_BURST_SECONDS = 0.03
_UNPRINTABLE_KEYS = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O.)?|[\x00-\x08\x0b-\x1f\x7f]")
"""Arrow keys and other control sequences that a terminal sends for keys without a character."""


class LineReader:
    """Lines of standard input. Ctrl-C calls `interrupt`; if `interrupt` is None, the prompt ends (`was_interrupted`).

    The descriptor stays blocking: a terminal shares it with standard output, which must not lose output.
    """

    def __init__(self) -> None:
        self.interrupt: Callable[[], None] | None = None
        self._fd = sys.stdin.fileno()
        self._rest = b""
        self._lines: deque[bytes] = deque()
        self._put_back: deque[str] = deque()
        self._set_aside: list[str] = []
        """Text typed before a question and not meant as its answer: the next prompt offers the text again."""
        self._is_at_end = False
        self._is_left = False
        """Whether Ctrl-D was pressed at a question on a terminal. Reading from the terminal continues."""
        self._changed = asyncio.Event()
        self._is_interrupted = False
        self._open_prompts = 0
        self._space_ends_lines = False
        self.was_interrupted = False
        """Whether Ctrl-C ended the last prompt."""
        self.was_undecodable = False
        """Whether the last line of `ask_edited` was not valid UTF-8: it is set aside with U+FFFD for those bytes."""

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._on_interrupt)
        try:
            loop.add_reader(self._fd, self._read)
        except PermissionError:  # a plain file never blocks, so all of it is read at once
            while not self._is_at_end:
                self._read()

    def _read(self) -> None:
        try:
            data = os.read(self._fd, 65536)
        except OSError:
            data = b""  # the terminal is gone
            self._is_at_end = True
        if not data and self._open_prompts and sys.stdin.isatty() and not self._is_at_end:
            self._is_left = True
        elif not data:
            self._is_at_end = True
            asyncio.get_running_loop().remove_reader(self._fd)
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._lines += lines
        if self._space_ends_lines and self._rest and not self._rest.strip():  # other spaces are part of the line
            self._lines.append(self._rest)
            self._rest = b""
            sys.stdout.write("\n")  # the terminal echoed a space; Enter would have begun a new row
        if self._is_at_end and self._rest:
            self._lines.append(self._rest)
        self._changed.set()

    def _on_interrupt(self) -> None:
        if self.interrupt is not None:
            self.interrupt()
        else:
            self._is_interrupted = True
            self._changed.set()

    async def ask(self, prompt: str) -> str | None:
        """Read a line, without its newline. None at the end of the input or on Ctrl-C."""
        self.was_interrupted = self._is_left = False
        sys.stdout.write(prompt)
        sys.stdout.flush()
        self._open_prompts += 1
        try:
            while not self._lines and not self._put_back:
                if self._is_at_end or self._is_interrupted or self._is_left:
                    sys.stdout.write("\n")
                    self.was_interrupted, self._is_interrupted, self._is_left = self._is_interrupted, False, False
                    return None
                self._changed.clear()
                await self._changed.wait()
            return self._next()
        finally:
            self._open_prompts -= 1

    async def ask_edited(self, prompt: str) -> str | None:
        """Like `ask`, with line editing and history on a terminal. Text typed ahead is returned first; text that was
        set aside before a question is prefilled behind the prompt."""
        self.was_undecodable = False
        is_typed_ahead = self._lines or self._put_back or self._rest
        if is_typed_ahead or self._is_at_end or not self.can_edit:
            return await self.ask(prompt)
        try:
            settings = termios.tcgetattr(self._fd)
        except termios.error:  # the terminal is gone
            return await self.ask(prompt)
        typed = await self._edit(prompt, settings)
        while typed is not None and typed.is_interrupted and typed.line:  # Ctrl-C discards the unfinished line
            typed = await self._edit(prompt, settings)
        if typed is None:
            return None
        if typed.is_interrupted:
            self.was_interrupted = True
            return None
        if typed.is_undecodable:
            self.was_undecodable = True
            self.set_aside(typed.line or "")
            return ""
        if typed.has_more:
            self.set_aside(typed.line or "")
            return await self.ask_edited(prompt)
        return typed.line

    async def _edit(self, prompt: str, settings: list[Any]) -> "_InputThread | None":
        """Read a line with line editing; None when a signal or the end of the input came first. `settings` are the
        terminal settings to restore afterwards."""
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._fd)
        self._open_prompts += 1
        try:
            self._read_ctrl_c_as_key(settings)
            prefilled = "\n".join(self.take_set_aside())
            typed = _InputThread(prompt, prefilled, lambda: loop.call_soon_threadsafe(self._changed.set))
            while not typed.is_done and not self._is_interrupted:
                self._changed.clear()
                await self._changed.wait()
            self._is_at_end = typed.is_done and typed.line is None
            if typed.is_done and typed.line is not None and not typed.is_interrupted:
                self._join_burst(typed)
        finally:
            # The input thread cannot be stopped: on Ctrl-C and at program exit, it stays blocked in its read.
            self._open_prompts -= 1
            with suppress(termios.error):
                termios.tcsetattr(self._fd, termios.TCSADRAIN, settings)
        if self._is_interrupted or self._is_at_end:
            sys.stdout.write("\n")
            self.set_aside(readline.get_line_buffer() if self._is_interrupted else "")
            self.was_interrupted, self._is_interrupted = self._is_interrupted, False
            return None
        loop.add_reader(self._fd, self._read)
        return typed

    def _join_burst(self, typed: "_InputThread") -> None:
        """Join the lines that arrived together with the line that was read into one message: a terminal without
        bracketed paste sends a pasted text this way. The rest is printed, since the terminal has not echoed it. If the
        last line of the rest has no newline, the prompt offers the whole text again; if the rest has no newline at all,
        the next prompt offers the rest."""
        rest = self._read_unfinished(_BURST_SECONDS).decode(errors="replace")
        rest = _UNPRINTABLE_KEYS.sub("", rest.replace("\r\n", "\n").replace("\r", "\n"))
        if "\n" not in rest:
            self.set_aside(rest)
            return
        typed.line = f"{typed.line}\n{rest}".rstrip("\n")
        typed.has_more = not rest.endswith("\n")
        if not typed.has_more:
            sys.stdout.write(visible(rest))
            sys.stdout.flush()

    def _read_ctrl_c_as_key(self, settings: list[Any]) -> None:
        *flags, characters = settings
        if _IS_GNU_READLINE and characters[termios.VINTR] == b"\x03":
            keys = [each if place != termios.VINTR else b"\0" for place, each in enumerate(characters)]
            termios.tcsetattr(self._fd, termios.TCSADRAIN, [*flags, keys])

    async def ask_now(self, question: str) -> str | None:
        """Like `ask`, for a decision about the text on the screen: input typed before the question does not count."""
        self._set_typed_aside()
        return await self.ask(question)

    async def ask_page(self, question: str) -> str | None:
        """Like `ask_now`, for a prompt at which Enter turns the page. On a terminal, the space bar does so, too."""
        with self._space_as_enter():
            return await self.ask_now(question)

    @contextmanager
    def _space_as_enter(self) -> Iterator[None]:
        """Let the terminal itself end a line at a space (VEOL), so that it still echoes and edits other characters."""
        try:
            settings = termios.tcgetattr(self._fd)
            *flags, characters = settings
            with_space = [each if place != termios.VEOL else b" " for place, each in enumerate(characters)]
            termios.tcsetattr(self._fd, termios.TCSANOW, [*flags, with_space])
        except termios.error:  # a file, a pipe, or a terminal that is gone
            yield
            return
        self._space_ends_lines = True
        try:
            yield
        finally:
            self._space_ends_lines = False
            if self.was_interrupted:  # Ctrl-C discards the line, also words that were already delivered by a space
                self._lines.clear()
                self._rest = b""
                with suppress(termios.error):
                    termios.tcflush(self._fd, termios.TCIFLUSH)
            with suppress(termios.error):
                termios.tcsetattr(self._fd, termios.TCSANOW, settings)

    def _set_typed_aside(self) -> None:
        """Set typed text aside for the next prompt. A command that leaves takes effect at once. Lines of a file or a
        pipe remain answers."""
        if not sys.stdin.isatty():
            return
        unread = (self._rest + self._read_unfinished()).split(b"\n")
        typed = [*self._put_back, *(line.decode(errors="replace") for line in (*self._lines, *unread))]
        self._put_back = deque(line for line in typed if line.strip() in LEAVING)
        self._lines.clear()
        self._rest = b""
        for line in typed:
            if line.strip() not in LEAVING:
                self.set_aside(line)

    def _read_unfinished(self, burst_seconds: float = 0) -> bytes:
        """Read the unfinished line from the terminal. In a burst, each part arrives within `burst_seconds` of the
        previous part."""
        typed = b""
        with suppress(termios.error, OSError):
            settings = termios.tcgetattr(self._fd)
            *flags, local_flags, input_speed, output_speed, characters = settings
            at_once = [{termios.VMIN: 0, termios.VTIME: 0}.get(place, each) for place, each in enumerate(characters)]
            raw = [*flags, local_flags & ~(termios.ICANON | termios.ECHO), input_speed, output_speed, at_once]
            termios.tcsetattr(self._fd, termios.TCSANOW, raw)
            try:
                while chunk := os.read(self._fd, 65536):
                    typed += chunk
                    select.select([self._fd], [], [], burst_seconds)
            finally:
                termios.tcsetattr(self._fd, termios.TCSANOW, settings)
        return typed

    def set_aside(self, line: str) -> None:
        """Keep a line that is not an answer for the next prompt."""
        text = _UNPRINTABLE_KEYS.sub("", line)
        if text.strip():
            self._set_aside.append(text)

    def take_set_aside(self) -> list[str]:
        """Return the lines that were set aside, and forget them."""
        lines, self._set_aside = self._set_aside, []
        return lines

    @property
    def can_edit(self) -> bool:
        """Whether a prompt edits lines: at a terminal, with a Python that has `readline`."""
        return _CAN_EDIT_LINES and sys.stdin.isatty() and sys.stdout.isatty()

    @contextmanager
    def lend_terminal(self, on_interrupt: Callable[[], None]) -> Iterator[None]:
        """Let a child process read the terminal. Ctrl-C calls `on_interrupt`; the settings are restored afterwards.

        Raises: termios.error for a terminal that is gone.
        """
        loop = asyncio.get_running_loop()
        settings = termios.tcgetattr(self._fd) if sys.stdin.isatty() else None
        is_read = settings is not None and loop.remove_reader(self._fd)
        before, self.interrupt = self.interrupt, on_interrupt
        try:
            yield
        finally:
            self.interrupt = before
            if is_read and settings is not None:
                with suppress(termios.error):
                    termios.tcsetattr(self._fd, termios.TCSADRAIN, settings)
            if is_read:
                loop.add_reader(self._fd, self._read)

    async def next_unprompted_line(self) -> str:
        """Wait for a line typed while no prompt is open. Lines of a file or a pipe are answers and never count."""
        while not self._lines or self._put_back or self._open_prompts or not sys.stdin.isatty():
            self._changed.clear()
            await self._changed.wait()
        return self._next()

    @property
    def is_asking(self) -> bool:
        return self._open_prompts > 0

    def is_leaving(self, line: str) -> bool:
        """Whether an answer leaves the question for later. A command that leaves the conversation does so, too; the
        next prompt receives that command."""
        if line.strip() in (*LEAVING, "/cancel"):
            self.put_back(line)
            return True
        return line.strip().lower() in ("q", "/later")

    def put_back(self, line: str) -> None:
        """Return a line that was meant for another prompt: the next prompt receives the line."""
        self._put_back.append(line)

    def _next(self) -> str:
        if self._put_back:
            return self._put_back.popleft()
        return self._lines.popleft().decode(errors="replace").rstrip("\r")


class _InputThread:
    """A thread in which `input` reads one line, so that the event loop keeps running."""

    def __init__(self, prompt: str, prefilled: str, on_done: Callable[[], object]) -> None:
        self.line: str | None = None
        """None until the line is read, and at the end of the input."""
        self.is_done = False
        self.is_interrupted = False
        """Whether Ctrl-C ended the line."""
        self.has_more = False
        """Whether the last line of a burst has no newline yet."""
        self.is_undecodable = False
        """Whether the line had bytes that are not valid UTF-8. U+FFFD replaces them."""
        self._prompt = prompt
        self._prefilled = prefilled
        self._on_done = on_done
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        try:
            readline.set_startup_hook(lambda: readline.insert_text(self._prefilled))
            with suppress(EOFError, OSError):
                self.line = self._read_text().replace("\r\n", "\n").replace("\r", "\n")
        finally:
            self.is_done = True
            with suppress(RuntimeError):  # the event loop has ended
                self._on_done()

    def _read_text(self) -> str:
        """Read a line. For invalid UTF-8, Python raises or passes lone surrogates on, depending on its locale."""
        try:
            encoded = os.fsencode(input(self._prompt))
        except UnicodeDecodeError as error:
            encoded = error.object
        text = encoded.decode(errors="replace")
        self.is_undecodable = text.encode() != encoded
        if _CTRL_C in text:
            self.is_interrupted = True
            text = text.replace(_CTRL_C, "")
            _replace_last_in_history(text)
        return text


def _replace_last_in_history(line: str) -> None:
    """Remove the Ctrl-C mark from the line in the history, from which the person can recall the discarded line."""
    last = readline.get_current_history_length()
    if not last or _CTRL_C not in (readline.get_history_item(last) or ""):
        return
    if line:
        readline.replace_history_item(last - 1, line)
    else:
        readline.remove_history_item(last - 1)
