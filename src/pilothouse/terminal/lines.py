"""Reading lines from the person while the event loop goes on, and Ctrl-C as an event."""

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

from pilothouse.domain.hidden_characters import visible
from pilothouse.sandbox.locales import read_terminal_as_utf8

_CAN_EDIT_LINES = importlib.util.find_spec("readline") is not None
"""Some builds of Python lack it. Once imported, it gives `input` line editing and history."""
if _CAN_EDIT_LINES:
    if sys.stdin is not None and sys.stdin.isatty():
        read_terminal_as_utf8(os.environ)
    import readline

    readline.parse_and_bind("set enable-bracketed-paste on")  # a pasted text is one line, whatever it holds
    _IS_GNU_READLINE = "libedit" not in (readline.__doc__ or "")
    for keymap, before in (("vi-insert", ""), ("vi-command", "A"), ("emacs", "")) if _IS_GNU_READLINE else ():
        readline.parse_and_bind(f"set keymap {keymap}")
        readline.parse_and_bind(rf'"\C-c": "{before}\342\201\240\342\201\243\342\201\240\C-m"')

_CTRL_C = "\u2060\u2063\u2060"
"""What Ctrl-C inserts before it ends an edited line: characters without width, in an order that nobody types. The
terminal sends no signal for the key while a line is edited, since no signal reaches the thread that edits."""
LEAVING = ("/quit", "/exit")
_BURST_SECONDS = 0.03
_UNPRINTABLE_KEYS = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O.)?|[\x00-\x08\x0b-\x1f\x7f]")
"""Arrow keys and other control sequences that a terminal sends for keys without a character."""


class Lines:
    """Lines of standard input. `interrupt` is called on Ctrl-C; without one, asking ends (`was_interrupted`).

    The descriptor stays blocking: a terminal shares it with standard output, which must not lose what it prints.
    """

    def __init__(self) -> None:
        self.interrupt: Callable[[], None] | None = None
        self._fd = sys.stdin.fileno()
        self._rest = b""
        self._lines: deque[bytes] = deque()
        self._put_back: deque[str] = deque()
        self._set_aside: list[str] = []
        """What was typed before a question that it did not answer: the next prompt gives it back."""
        self._at_end = False
        self._is_left = False
        """Whether Ctrl-D was pressed at a question of a terminal, which goes on to be read."""
        self._changed = asyncio.Event()
        self._interrupted = False
        self._asking = 0
        self._space_ends_lines = False
        self.was_interrupted = False
        """Whether Ctrl-C ended what was asked last."""
        self.was_undecodable = False
        """Whether the line that `ask_edited` read last was no UTF-8: the line is set aside, U+FFFD for its bytes."""

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._on_interrupt)
        try:
            loop.add_reader(self._fd, self._read)
        except PermissionError:  # a plain file: it never waits, so it is read at once
            while not self._at_end:
                self._read()

    def _read(self) -> None:
        try:
            data = os.read(self._fd, 65536)
        except OSError:
            data = b""  # the terminal is gone
            self._at_end = True
        if not data and self._asking and sys.stdin.isatty() and not self._at_end:
            self._is_left = True
        elif not data:
            self._at_end = True
            asyncio.get_running_loop().remove_reader(self._fd)
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._lines += lines
        if self._space_ends_lines and self._rest and not self._rest.strip():  # a space inside a line comes with it
            self._lines.append(self._rest)
            self._rest = b""
            sys.stdout.write("\n")  # the terminal has echoed a space where Enter begins a row
        if self._at_end and self._rest:
            self._lines.append(self._rest)
        self._changed.set()

    def _on_interrupt(self) -> None:
        if self.interrupt is not None:
            self.interrupt()
        else:
            self._interrupted = True
            self._changed.set()

    async def ask(self, prompt: str) -> str | None:
        """A line without its end, or None when the person has left (end of input, Ctrl-C)."""
        self.was_interrupted = self._is_left = False
        sys.stdout.write(prompt)
        sys.stdout.flush()
        self._asking += 1
        try:
            while not self._lines and not self._put_back:
                if self._at_end or self._interrupted or self._is_left:
                    sys.stdout.write("\n")
                    self.was_interrupted, self._interrupted, self._is_left = self._interrupted, False, False
                    return None
                self._changed.clear()
                await self._changed.wait()
            return self._next()
        finally:
            self._asking -= 1

    async def ask_edited(self, prompt: str) -> str | None:
        """Like `ask`, with line editing and history where a person types. What they have typed ahead comes first; what
        was set aside before a question stands behind the prompt."""
        self.was_undecodable = False
        is_typed_ahead = self._lines or self._put_back or self._rest
        if is_typed_ahead or self._at_end or not self.can_edit:
            return await self.ask(prompt)
        try:
            settings = termios.tcgetattr(self._fd)
        except termios.error:  # the terminal is gone
            return await self.ask(prompt)
        typed = await self._edit(prompt, settings)
        while typed is not None and typed.is_interrupted and typed.line:  # Ctrl-C drops the line that was begun
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
        """A line that was edited to its end; None when a signal or the end of the input came first. `settings` are
        those of the terminal, which are put back afterwards."""
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._fd)
        self._asking += 1
        try:
            self._read_ctrl_c_as_key(settings)
            prefilled = "\n".join(self.take_set_aside())
            typed = _InputThread(prompt, prefilled, lambda: loop.call_soon_threadsafe(self._changed.set))
            while not typed.is_done and not self._interrupted:
                self._changed.clear()
                await self._changed.wait()
            self._at_end = typed.is_done and typed.line is None
            if typed.is_done and typed.line is not None and not typed.is_interrupted:
                self._join_burst(typed)
        finally:
            # The thread cannot be stopped: on Ctrl-C and at the end of the program it is left in its read.
            self._asking -= 1
            with suppress(termios.error):
                termios.tcsetattr(self._fd, termios.TCSADRAIN, settings)
        if self._interrupted or self._at_end:
            sys.stdout.write("\n")
            self.set_aside(readline.get_line_buffer() if self._interrupted else "")
            self.was_interrupted, self._interrupted = self._interrupted, False
            return None
        loop.add_reader(self._fd, self._read)
        return typed

    def _join_burst(self, typed: "_InputThread") -> None:
        """Lines that arrived together with the line that was read are one message: a terminal without bracketed paste
        sends a pasted text so. The rest is printed, since nobody has seen it yet. Where its last line is not ended,
        the prompt gives the text back; where the rest is no whole line, the next prompt gives the rest."""
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
        """Like `ask`, for a decision about what stands on the screen: what was typed before is no answer to it."""
        self._set_typed_aside()
        return await self.ask(question)

    async def ask_page(self, question: str) -> str | None:
        """Like `ask_now`, where a mere Enter turns a page: at a terminal the space bar does it, too."""
        with self._space_as_enter():
            return await self.ask_now(question)

    @contextmanager
    def _space_as_enter(self) -> Iterator[None]:
        """The terminal itself ends a line at a space (VEOL), so that it goes on to echo and edit the others."""
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
            if self.was_interrupted:  # Ctrl-C discards the line, and words before a space have left the terminal
                self._lines.clear()
                self._rest = b""
                with suppress(termios.error):
                    termios.tcflush(self._fd, termios.TCIFLUSH)
            with suppress(termios.error):
                termios.tcsetattr(self._fd, termios.TCSANOW, settings)

    def _set_typed_aside(self) -> None:
        """Keep what was typed for the next prompt. The wish to leave counts at once. The lines of a file or a pipe are
        answers."""
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
        """Take the line that was begun and not ended out of the terminal. Of a burst, each part comes within
        `burst_seconds` of the part before."""
        typed = b""
        with suppress(termios.error, OSError):
            settings = termios.tcgetattr(self._fd)
            *flags, local_flags, input_speed, output_speed, characters = settings
            at_once = [{termios.VMIN: 0, termios.VTIME: 0}.get(place, each) for place, each in enumerate(characters)]
            raw = [*flags, local_flags & ~(termios.ICANON | termios.ECHO), input_speed, output_speed, at_once]
            termios.tcsetattr(self._fd, termios.TCSANOW, raw)
            try:
                while piece := os.read(self._fd, 65536):
                    typed += piece
                    select.select([self._fd], [], [], burst_seconds)
            finally:
                termios.tcsetattr(self._fd, termios.TCSANOW, settings)
        return typed

    def set_aside(self, line: str) -> None:
        """Keep a line that answers nothing for the next prompt."""
        text = _UNPRINTABLE_KEYS.sub("", line)
        if text.strip():
            self._set_aside.append(text)

    def take_set_aside(self) -> list[str]:
        """The lines for which the next prompt has a place."""
        lines, self._set_aside = self._set_aside, []
        return lines

    @property
    def can_edit(self) -> bool:
        """Whether a prompt edits lines: at a terminal, with a Python that has `readline`."""
        return _CAN_EDIT_LINES and sys.stdin.isatty() and sys.stdout.isatty()

    @contextmanager
    def lend_terminal(self, on_interrupt: Callable[[], None]) -> Iterator[None]:
        """Let a child process read the terminal. Ctrl-C calls `on_interrupt`; the settings are put back afterwards.

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

    async def overhear(self) -> str:
        """A line that is typed while nothing is asked. Never of a file or a pipe: there, a line is an answer."""
        while not self._lines or self._put_back or self._asking or not sys.stdin.isatty():
            self._changed.clear()
            await self._changed.wait()
        return self._next()

    @property
    def is_asking(self) -> bool:
        return self._asking > 0

    def is_leaving(self, line: str) -> bool:
        """Whether an answer leaves the question for later. A command that leaves the conversation does so, too, and is
        kept for whoever asks next."""
        if line.strip() in (*LEAVING, "/cancel"):
            self.put_back(line)
            return True
        return line.strip().lower() in ("q", "/later")

    def put_back(self, line: str) -> None:
        """It was not for whoever heard it: the next who asks gets it."""
        self._put_back.append(line)

    def _next(self) -> str:
        if self._put_back:
            return self._put_back.popleft()
        return self._lines.popleft().decode(errors="replace").rstrip("\r")


class _InputThread:
    """A line that `input` reads in a thread of its own, so that the event loop goes on."""

    def __init__(self, prompt: str, prefilled: str, on_done: Callable[[], object]) -> None:
        self.line: str | None = None
        """None until it is done, and at the end of the input."""
        self.is_done = False
        self.is_interrupted = False
        """Whether Ctrl-C ended the line."""
        self.has_more = False
        """Whether the last line of a burst of lines is not ended yet."""
        self.is_undecodable = False
        """Whether bytes of the line are no UTF-8. U+FFFD stands in their place."""
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
            with suppress(RuntimeError):  # the loop has ended meanwhile
                self._on_done()

    def _read_text(self) -> str:
        """Python raises for bytes that are no UTF-8, or passes them on as lone surrogates, by its locale."""
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
    """Python has put the line into the history. A line that Ctrl-C dropped can be called back from there."""
    last = readline.get_current_history_length()
    if not last or _CTRL_C not in (readline.get_history_item(last) or ""):
        return
    if line:
        readline.replace_history_item(last - 1, line)
    else:
        readline.remove_history_item(last - 1)
