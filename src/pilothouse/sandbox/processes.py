"""Processes that end with their call: a group of their own, a watcher inside it, a mark that finds the rest."""

import asyncio
import contextlib
import ctypes
import os
import shutil
import signal
from collections.abc import Iterable, Mapping
from pathlib import Path

MARK = "PILOTHOUSE_CALL"
_PASSES_AT_MOST = 50
_PR_SET_DUMPABLE = 4

# Nothing that holds a key: what a program needs to find its home, its language and its tools.
_PASSED_ON = ("HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER")

# The watcher holds the other end of our pipe. When we are gone, however we went, `read` ends and it kills the
# whole group. The command itself runs in the foreground, with its signals as usual, and never sees the watcher.
_LAUNCH = """
exec 3<&0 </dev/null
( read -r _ <&3; kill -KILL 0 ) >/dev/null 2>&1 &
exec 3<&-
"$0" -c "$1"
status=$?
kill -KILL $!
wait $! 2>/dev/null
exit $status
"""


def shell() -> str:
    return shutil.which("bash") or "/bin/sh"


def clean_environment(environment: Mapping[str, str], call_id: str) -> dict[str, str]:
    kept = {name: value for name, value in environment.items() if name in _PASSED_ON or name.startswith("LC_")}
    return {**kept, "TERM": "dumb", "PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", MARK: call_id}


class Running:
    """A command that was started. `output` is a pipe of ours: it can be closed while a daemon still holds its end."""

    def __init__(
        self, process: asyncio.subprocess.Process, output: asyncio.StreamReader, pipe: asyncio.ReadTransport
    ) -> None:
        self.process = process
        self.output = output
        self._pipe = pipe

    def close(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        self._pipe.close()


async def start(command: str, *, cwd: str, call_id: str, environment: Mapping[str, str]) -> Running:
    """Start a command line in a group of its own; stdout and stderr come together."""
    ours, theirs = os.pipe()
    output = asyncio.StreamReader()
    try:
        loop = asyncio.get_running_loop()
        pipe, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(output), os.fdopen(ours, "rb", buffering=0)
        )
        try:
            process = await asyncio.create_subprocess_exec(
                "/bin/sh",
                "-c",
                _LAUNCH,
                shell(),
                command,
                cwd=cwd,
                env=clean_environment(environment, call_id),
                stdin=asyncio.subprocess.PIPE,
                stdout=theirs,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        except BaseException:
            pipe.close()
            raise
    finally:
        os.close(theirs)
    return Running(process, output, pipe)


def end_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def end_marked(call_ids: Iterable[str]) -> int:
    """End every process that carries the mark of one of these calls, whatever group it has moved to.

    The mark is inherited, so it finds what a killed runtime left behind and what made itself a daemon, and it
    can never hit a stranger that was given an old number. Gives how many there were.
    """
    marks = {f"{MARK}={call_id}".encode() for call_id in call_ids}
    ended = quiet = 0
    # One that is just forking can slip through a pass: two in a row must find nothing.
    for _ in range(_PASSES_AT_MOST if marks else 0):
        found = _end_once(marks)
        ended += found
        quiet = 0 if found else quiet + 1
        if quiet == 2:
            break
    return ended


def _end_once(marks: set[bytes]) -> int:
    ended = 0
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if marks.isdisjoint((entry / "environ").read_bytes().split(b"\0")):
                continue
            os.kill(int(entry.name), signal.SIGKILL)
            ended += 1
        except OSError:
            continue
    return ended


def hide_environment() -> None:
    """Keep our own environment, which may hold keys, from being read through /proc by what we start (not by root)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
