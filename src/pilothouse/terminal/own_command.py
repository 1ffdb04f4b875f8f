"""`!command`: the user's own command, in their own shell and environment. The audit records the command; no mode gates
it."""

import asyncio
import os
import signal
import sys
import termios
from contextlib import suppress

from pilothouse.domain.codes import Language
from pilothouse.domain.deception.hidden_characters import visible
from pilothouse.domain.errors import PilothouseError
from pilothouse.domain.exit_status import is_failure
from pilothouse.i18n import translate_exit_status, ui_text
from pilothouse.runtime.runtime import Runtime
from pilothouse.runtime.shield import run_to_completion
from pilothouse.sandbox.process_handles import ProcessHandles
from pilothouse.terminal.line_reader import LineReader

_INTERRUPT_SECONDS = 1.0
"""The time that a command has to end after Ctrl-C, before the terminal offers to kill it."""
_TERMINATE_SECONDS = 2.0
"""The time that processes have to end after SIGTERM, before SIGKILL."""


async def run_own_command(
    runtime: Runtime, context_id: str, command: str, lines: LineReader, language: Language
) -> None:
    """Run a command of the user. Ctrl-C interrupts the command, a second Ctrl-C kills it; the conversation
    continues."""
    live = await runtime.contexts.get(context_id)
    run = _Run(command, lines, language)
    try:
        await run.complete(live.core.workspace)
    except (OSError, ValueError, termios.error) as error:
        print(visible(ui_text("terminal", "own_refused", language, detail=error)))
    except asyncio.CancelledError:
        with suppress(PilothouseError):  # the cancellation is raised again below
            await run_to_completion(_audit_command(runtime, context_id, run))
        raise
    await _audit_command(runtime, context_id, run)
    if run.status is not None and is_failure(run.status):
        print(f"[{translate_exit_status(run.status, language)}]")


async def _audit_command(runtime: Runtime, context_id: str, run: "_Run") -> None:
    """Record a command that has started in the audit, whether or not the wait for its end was cancelled."""
    if run.has_started:
        await runtime.workspaces.note_own_command(context_id, run.command, run.status)


class _Run:
    """A command that runs in the foreground of the terminal."""

    def __init__(self, command: str, lines: LineReader, language: Language) -> None:
        self.command = command
        self._lines = lines
        self._language: Language = language
        self._process: asyncio.subprocess.Process | None = None
        self._ended: asyncio.Future[int] | None = None
        self._offer: asyncio.TimerHandle | None = None
        self._is_forced_next = False
        self._force = asyncio.Event()

    @property
    def has_started(self) -> bool:
        return self._process is not None

    @property
    def status(self) -> int | None:
        """The exit status; None until the command has ended."""
        return self._process.returncode if self._process is not None else None

    async def complete(self, folder: str | None) -> None:
        """Run the command. The command has ended when this method returns or raises, also after a cancellation.

        Raises: OSError, ValueError for a command that cannot be started, termios.error for a closed terminal.
        """
        stdin = None if sys.stdin.isatty() else asyncio.subprocess.DEVNULL  # piped lines belong to the conversation
        with self._lines.lend_terminal(self._on_interrupt):
            try:
                await run_to_completion(self._start(folder, stdin))  # a cancellation must not lose a started process
                await self._wait()
            finally:
                if self._offer is not None:
                    self._offer.cancel()
                await asyncio.shield(self._end())

    async def _start(self, folder: str | None, stdin: int | None) -> None:
        self._process = await asyncio.create_subprocess_shell(self.command, cwd=folder, stdin=stdin)
        self._ended = asyncio.ensure_future(self._process.wait())

    async def _wait(self) -> None:
        """Wait until the command ends, or the user asks to kill it."""
        assert self._ended is not None
        forced = asyncio.ensure_future(self._force.wait())
        try:
            await asyncio.wait((self._ended, forced), return_when=asyncio.FIRST_COMPLETED)
        finally:
            forced.cancel()

    def _on_interrupt(self) -> None:
        if self._is_forced_next:
            self._force.set()
            return
        if not _is_foreground():  # the terminal sends the signal to a foreground command itself
            self._signal(signal.SIGINT)
        if self._offer is None:
            self._offer = asyncio.get_running_loop().call_later(_INTERRUPT_SECONDS, self._offer_force)

    def _offer_force(self) -> None:
        """Offer to kill the command, unless its program has taken over the terminal and handles Ctrl-C itself, as an
        editor does."""
        self._offer = None
        if not _reads_single_keys():
            self._is_forced_next = True
            print(ui_text("terminal", "own_goes_on", self._language), flush=True)

    async def _end(self) -> None:
        """End a command that still runs, with all processes that it started, even if the shell ends before them."""
        if self._process is None or self._ended is None:
            return
        if not self._ended.done():
            with ProcessHandles(self._process.pid) as handles:
                for number in (signal.SIGTERM, signal.SIGKILL):
                    handles.signal(number)
                    if await handles.have_ended(_TERMINATE_SECONDS):
                        break
        await self._ended

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            with ProcessHandles(self._process.pid) as handles:
                handles.signal(number)


def _is_foreground() -> bool:
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except OSError:
        return False


def _reads_single_keys() -> bool:
    try:
        return not termios.tcgetattr(sys.stdin.fileno())[3] & termios.ICANON
    except termios.error:
        return False
