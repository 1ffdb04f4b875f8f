"""execute: a command line in the workspace. Its processes end with the call, whatever becomes of the runtime."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox import processes
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import Arguments, Category, Job, Prepared

HEAD = 20_000
TAIL = 20_000
_LOOK_EVERY = 0.02
_READS_AFTER_THE_END = 16
_HAS_PROC = Path("/proc/self/fd").is_dir()


class ExecuteArguments(Arguments):
    command: Annotated[str, Meta(min_length=1)]
    timeout: Annotated[float, Meta(gt=0)] | None = None
    cwd: str = "."


class Execute:
    name = "execute"
    description = (
        "Run a command line in a shell, in the workspace or its subfolder cwd. Output and error output come "
        "together, the middle of long output is left out. There is no input to read. timeout is in seconds."
    )
    category: Category = "system_control"
    effect: Effect = "mutating"
    parameters = ExecuteArguments

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    async def prepare(self, arguments: ExecuteArguments, workspace: Workspace) -> Prepared:
        return Prepared(effect="mutating", limit=workspace.limit(arguments.cwd), preview=arguments.command)

    async def run(self, arguments: ExecuteArguments, job: Job) -> str:
        if "\0" in arguments.command:
            raise ToolError(Code.INVALID_ARGUMENTS, tool=self.name, detail="the command holds a NUL character")
        assert job.seconds is not None
        seconds = min(arguments.timeout or job.seconds, job.seconds)
        with job.workspace.directory(arguments.cwd) as fd:
            # Through the open directory: what the path names may change, what was checked does not.
            cwd = f"/proc/self/fd/{fd}" if _HAS_PROC else str(job.workspace.root / arguments.cwd)
            running = await processes.start(
                arguments.command, cwd=cwd, call_id=job.call_id, environment=self._environment
            )
        output = _Output()
        try:
            async with asyncio.timeout(seconds):
                await output.read_from(running)
        except TimeoutError:
            raise ToolError(
                Code.TOOL_FAILED, tool=self.name, detail=f"ended after {seconds:g} seconds. Output so far:\n{output}"
            ) from None
        finally:
            await _end(running, job)
        status = running.process.returncode
        return f"{output}\n[exit status {status}]" if status or not output else str(output)


async def _end(running: processes.Running, job: Job) -> None:
    """Nothing of the call may outlive it: its group, and what has left the group."""
    processes.end_group(running.process.pid)
    await asyncio.shield(asyncio.to_thread(processes.end_marked, [job.call_id]))
    running.close()
    await running.process.wait()


class _Output:
    """The head and the tail of what a command prints; memory stays bounded whatever it prints."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0

    async def read_from(self, running: processes.Running) -> None:
        """Read until the pipe is closed, or the command is over: a daemon may hold the pipe open."""
        process = running.process
        left = _READS_AFTER_THE_END
        while left:
            left -= process.returncode is not None
            reading = asyncio.ensure_future(running.output.read(65536))
            try:
                while not reading.done():
                    over = process.returncode is not None
                    await asyncio.wait({reading}, timeout=_LOOK_EVERY)
                    if over and not reading.done():
                        return
                part = reading.result()
            finally:
                reading.cancel()
            if not part:
                return
            self._add(part)

    def _add(self, part: bytes) -> None:
        room = HEAD - len(self._head)
        self._head += part[:room]
        self._tail += part[room:]
        surplus = len(self._tail) - TAIL
        if surplus > 0:
            self._left_out += surplus
            del self._tail[:surplus]

    def __bool__(self) -> bool:
        return bool(self._head)

    def __str__(self) -> str:
        head, tail = self._head.decode(errors="replace"), self._tail.decode(errors="replace")
        if self._left_out:
            return f"{head}\n[… {self._left_out} bytes left out …]\n{tail}"
        return head + tail
