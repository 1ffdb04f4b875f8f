"""Reading lines from the person without a thread that nobody can stop, and Ctrl-C as an event."""

import asyncio
import os
import signal
import sys
import termios
from collections import deque
from collections.abc import Callable
from contextlib import suppress

LEAVING = ("/quit", "/exit")


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
        self._at_end = False
        self._changed = asyncio.Event()
        self._interrupted = False
        self._asking = 0
        self.was_interrupted = False

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
        if not data:
            self._at_end = True
            asyncio.get_running_loop().remove_reader(self._fd)
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._lines += lines
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
        sys.stdout.write(prompt)
        sys.stdout.flush()
        self._asking += 1
        try:
            while not self._lines and not self._put_back:
                if self._at_end or self._interrupted:
                    sys.stdout.write("\n")
                    self.was_interrupted, self._interrupted = self._interrupted, False
                    return None
                self._changed.clear()
                await self._changed.wait()
            return self._next()
        finally:
            self._asking -= 1

    async def ask_now(self, question: str) -> str | None:
        """Like `ask`, for a decision about what stands on the screen: what was typed before is no answer to it."""
        self._drop_typed()
        return await self.ask(question)

    def _drop_typed(self) -> None:
        """Forget what was typed, but not the wish to leave. The lines of a file or a pipe are answers."""
        if not sys.stdin.isatty():
            return
        with suppress(termios.error):
            termios.tcflush(self._fd, termios.TCIFLUSH)
        typed = [*self._put_back, *(line.decode(errors="replace") for line in self._lines)]
        self._put_back = deque(line for line in typed if line.strip() in LEAVING)
        self._lines.clear()
        self._rest = b""

    async def overhear(self) -> str:
        """A line that is typed while nothing is asked. Never of a file or a pipe: there, a line is an answer."""
        while not self._lines or self._put_back or self._asking or not sys.stdin.isatty():
            self._changed.clear()
            await self._changed.wait()
        return self._next()

    @property
    def is_asking(self) -> bool:
        return self._asking > 0

    def put_back(self, line: str) -> None:
        """It was not for whoever heard it: the next who asks gets it."""
        self._put_back.append(line)

    def _next(self) -> str:
        if self._put_back:
            return self._put_back.popleft()
        return self._lines.popleft().decode(errors="replace").rstrip("\r")
