"""A server that is a process of ours: started with only what it is given, read with limits, ended in two seconds."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import shutil
import signal
from collections.abc import AsyncIterator, Mapping
from typing import Any

from pilothouse.domain.codes import Code, Reason
from pilothouse.sandbox.processes import MARK, MAX_OPEN_FILES, end_group, end_marked
from pilothouse.tools.mcp.definitions import ServerDefinition
from pilothouse.tools.mcp.lines import Abuse, Judge, Lines
from pilothouse.tools.mcp.link import Link, Tail, finish
from pilothouse.tools.mcp.values import Clock, End

PATIENCE = 0.5
_ENDS_WITHIN = 1.5
_AFTER_EXIT = 0.2
_HELD_AT_MOST = 1024 * 1024
_LINES_IN_A_ROW = 200
_REST = 0.01
_STDERR_IN_A_ROW = 1024 * 1024
_STDERR_REST = 0.1
_UNREAD_AT_MOST = 8 * 1024 * 1024

# The watcher holds one end of a pipe of ours. When we are gone, however we went, `read` ends and it kills the
# group. It is nobody's child, so that the server never meets it, and the server keeps the number of this shell.
# The server of tools gets the limit on open files that ours was started with.
_LAUNCH = f"""
ulimit -Sn {"unlimited" if MAX_OPEN_FILES[0] == resource.RLIM_INFINITY else MAX_OPEN_FILES[0]}
( ( read -r _; kill -KILL 0 ) <"/proc/self/fd/$0" >/dev/null 2>&1 & )
exec "$@"
"""


class CannotStart(Exception):
    """What a server is started with is not there."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


@contextlib.asynccontextmanager
async def stdio_link(definition: ServerDefinition, environment: Mapping[str, str], clock: Clock) -> AsyncIterator[Link]:
    """A started server. Raises: CannotStart, OSError, ValueError."""
    import anyio

    mark = f"mcp-{definition.name}-{clock.new_id()}"
    server = await _started(definition, {**environment, **definition.env, MARK: mark}, mark, clock)
    incoming, read = anyio.create_memory_object_stream[Any](0)
    write, outgoing = anyio.create_memory_object_stream[Any](0)
    tasks = [asyncio.create_task(server.pass_on(incoming)), asyncio.create_task(server.send_from(outgoing))]
    try:
        yield Link(read, write, server.ended, server.tail.short, server.evidence)
    finally:
        for task in tasks:
            task.cancel()
        try:
            await server.end()
        finally:
            for stream in (incoming, read, write, outgoing):
                stream.close()


async def _started(definition: ServerDefinition, environment: Mapping[str, str], mark: str, clock: Clock) -> _Server:
    command = _found(definition, environment)
    theirs, ours = os.pipe()
    server = _Server(mark, ours, clock)
    try:
        await asyncio.get_running_loop().subprocess_exec(
            lambda: server,
            *("/bin/sh", "-c", _LAUNCH, str(theirs), command, *definition.args),
            env=environment,
            cwd=definition.cwd,
            pass_fds=(theirs,),
            start_new_session=True,
        )
    except BaseException:
        server.let_go()
        raise
    finally:
        os.close(theirs)
    return server


def _found(definition: ServerDefinition, environment: Mapping[str, str]) -> str:
    """The shell would say it too, but only to the standard error of what never came to be."""
    command = definition.command or ""
    if definition.cwd is not None and not os.path.isdir(definition.cwd):
        raise CannotStart(Reason(Code.MCP_FOLDER_MISSING, {"folder": definition.cwd}))
    if "/" in command:
        path = os.path.join(definition.cwd or os.getcwd(), command)
        found = path if os.path.isfile(path) and os.access(path, os.X_OK) else None
    else:
        found = shutil.which(command, path=environment.get("PATH", os.defpath))
    if found is None:
        raise CannotStart(Reason(Code.MCP_PROGRAM_MISSING, {"command": command}))
    return found


class _Server(asyncio.SubprocessProtocol):
    """One process. It has ended when it says so, whoever may still hold its pipes."""

    def __init__(self, mark: str, watched: int, clock: Clock) -> None:
        loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[End] = loop.create_future()
        self.tail = Tail()
        self._loop = loop
        self._mark = mark
        self._watched: int | None = watched
        self._clock = clock
        self._transport: Any = None
        self._lines = Lines()
        self._judge = Judge()
        self._came = asyncio.Event()
        self._exited = asyncio.Event()
        self._noise = 0

    # what the event loop calls

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._hear_noise(data)
            return
        if self.ended.done():
            return
        try:
            self._lines.feed(data)
        except Abuse as error:
            self._fail(str(error))
        if self._lines.held > _HELD_AT_MOST:
            self._pipe(1).pause_reading()
        self._came.set()

    def pipe_connection_lost(self, fd: int, _: Exception | None) -> None:
        # It tells that it has exited in the next moments; only one that lives on with a closed pipe does not.
        if fd in (0, 1):
            self._loop.call_later(2 * _AFTER_EXIT, self._finish, f"closed its {'input' if fd == 0 else 'output'}")

    def process_exited(self) -> None:
        self._exited.set()
        status = self._transport.get_returncode()
        words = f"ended with status {status}" if status >= 0 else f"was ended by signal {-status}"
        # What it wrote last is still in the pipe.
        self._loop.call_later(_AFTER_EXIT, self._finish, words)

    def _hear_noise(self, data: bytes) -> None:
        """One that floods its standard error is made to wait."""
        self.tail.add(data)
        self._noise += len(data)
        if self._noise > _STDERR_IN_A_ROW:
            self._noise = 0
            self._pipe(2).pause_reading()
            self._loop.call_later(_STDERR_REST, self._pipe(2).resume_reading)

    def _finish(self, words: str) -> None:
        noise = self.tail.short()
        finish(self.ended, f"it {words}{f': {noise}' if noise else ''}")
        self._came.set()

    def _fail(self, words: str) -> None:
        self._lines.clear()
        self._pipe(1).pause_reading()
        finish(self.ended, f"it {words}", is_final=True)

    def _pipe(self, fd: int) -> Any:
        return self._transport.get_pipe_transport(fd)

    # what the link does

    def evidence(self) -> Reason | None:
        if self._exited.is_set() and self.ended.done():
            return Reason(Code.MCP_PROGRAM_ENDED, {"ended": self.ended.result().detail.removeprefix("it ")})
        return Reason(Code.MCP_PROGRAM_PRINTS, {"line": self._judge.first_bad}) if self._judge.first_bad else None

    async def pass_on(self, incoming: Any) -> None:
        """Messages to the session, until the end. Its side is closed then, and every open request with it."""
        import anyio

        count = 0
        with incoming, contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            while True:
                line = self._lines.take()
                if line is None:
                    if self.ended.done():
                        return
                    self._came.clear()
                    self._pipe(1).resume_reading()
                    await self._came.wait()
                    continue
                try:
                    message = self._judge.message(line)
                except Abuse as error:
                    self._fail(str(error))
                    return
                if message is not None:
                    await incoming.send(message)
                count += 1
                if count % _LINES_IN_A_ROW == 0:  # one that floods must not hold up the others
                    await self._clock.sleep(_REST)

    async def send_from(self, outgoing: Any) -> None:
        """Never waits for the server: who has something to say to it must not hang on one that does not read."""
        async for message in outgoing:
            if self._pipe(0).get_write_buffer_size() > _UNREAD_AT_MOST:
                self._fail("does not read what it is sent")
            elif not self._pipe(0).is_closing():
                data = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                self._pipe(0).write(f"{data}\n".encode())
            self._judge.answered(message.message)

    async def end(self) -> None:
        """Asked, told, made; then what has left the group. Within two seconds, and also when we are cancelled."""
        finish(self.ended, "it was stopped")
        until = self._loop.time() + _ENDS_WITHIN
        pid = self._transport.get_pid()
        try:
            self._pipe(0).close()
            if not await self._gone():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(pid, signal.SIGTERM)
                await self._gone()
            end_group(pid)
            await self._gone()
            rest = asyncio.ensure_future(asyncio.to_thread(end_marked, [self._mark]))
            await asyncio.wait({rest}, timeout=until - self._loop.time())
        except asyncio.CancelledError:
            end_group(pid)
            end_marked([self._mark])
            raise
        finally:
            self._transport.close()
            self.let_go()

    async def _gone(self) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await self._exited.wait()
        return self._exited.is_set()

    def let_go(self) -> None:
        """Our end of the pipe: the watcher ends what is left of the group."""
        if self._watched is not None:
            os.close(self._watched)
            self._watched = None
