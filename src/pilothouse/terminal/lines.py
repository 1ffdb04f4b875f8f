"""Reading lines from the person without a thread that nobody can stop, and Ctrl-C as an event."""

import asyncio
import signal
import sys
from collections.abc import Callable


class Lines:
    """Lines of standard input. `interrupt` is called on Ctrl-C; without one, reading ends."""

    def __init__(self) -> None:
        self._reader = asyncio.StreamReader(limit=2**21)
        self.interrupt: Callable[[], None] | None = None
        self._reading: asyncio.Task[bytes] | None = None

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(self._reader), sys.stdin)
        loop.add_signal_handler(signal.SIGINT, self._on_interrupt)

    def _on_interrupt(self) -> None:
        if self.interrupt is not None:
            self.interrupt()
        elif self._reading is not None:
            self._reading.cancel()

    async def ask(self, prompt: str) -> str | None:
        """A line without its end, or None when the person has left (end of input, Ctrl-C)."""
        sys.stdout.write(prompt)
        sys.stdout.flush()
        self._reading = asyncio.ensure_future(self._reader.readline())
        try:
            line = await self._reading
        except asyncio.CancelledError:
            sys.stdout.write("\n")
            return None
        except ValueError:
            return ""  # a line beyond all limits; the reader has dropped it
        finally:
            self._reading = None
        return line.decode(errors="replace").rstrip("\r\n") if line else None
