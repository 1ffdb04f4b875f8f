"""The stdio transport: an MCP server as a child process, with a minimal environment and limits, ended within 2 s."""

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
from pilothouse.sandbox.processes import MARK, MAX_OPEN_FILES, kill_group, kill_marked
from pilothouse.tools.mcp.definitions import MCPServerDefinition
from pilothouse.tools.mcp.message_filter import LineBuffer, MessageFilter, ProtocolViolation
from pilothouse.tools.mcp.transport import StderrTail, Transport, finish
from pilothouse.tools.mcp.types import Clock, TransportEnd

EXIT_TIMEOUT_SECONDS = 0.5
_MAX_END_SECONDS = 1.5
_DRAIN_SECONDS = 0.2
_MAX_BUFFERED_BYTES = 1024 * 1024
_LINES_PER_PAUSE = 200
_PAUSE_SECONDS = 0.01
_STDERR_BYTES_PER_PAUSE = 1024 * 1024
_STDERR_PAUSE_SECONDS = 0.1
_MAX_UNREAD_BYTES = 8 * 1024 * 1024

# The watcher process reads from a pipe whose other end we hold. When our process ends for whatever reason, `read`
# returns and the watcher kills the process group. The watcher is reparented, so that the server never sees it as a
# child, and the server keeps the process id of this shell. The MCP server gets the limit on open files that our process
# was started with.
_LAUNCH = f"""
ulimit -Sn {"unlimited" if MAX_OPEN_FILES[0] == resource.RLIM_INFINITY else MAX_OPEN_FILES[0]}
( ( read -r _; kill -KILL 0 ) <"/proc/self/fd/$0" >/dev/null 2>&1 & )
exec "$@"
"""


class CannotStart(Exception):
    """The program or the folder of a server is missing."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


@contextlib.asynccontextmanager
async def stdio_transport(
    definition: MCPServerDefinition, environment: Mapping[str, str], clock: Clock
) -> AsyncIterator[Transport]:
    """A started server. Raises: CannotStart, OSError, ValueError."""
    import anyio

    mark = f"mcp-{definition.name}-{clock.new_id()}"
    server = await _start(definition, {**environment, **definition.env, MARK: mark}, mark, clock)
    incoming, read = anyio.create_memory_object_stream[Any](0)
    write, outgoing = anyio.create_memory_object_stream[Any](0)
    tasks = [
        asyncio.create_task(server.forward_messages(incoming)),
        asyncio.create_task(server.write_messages(outgoing)),
    ]
    try:
        yield Transport(read, write, server.ended, server.tail.short, server.evidence)
    finally:
        for task in tasks:
            task.cancel()
        try:
            await server.end()
        finally:
            for stream in (incoming, read, write, outgoing):
                stream.close()


async def _start(definition: MCPServerDefinition, environment: Mapping[str, str], mark: str, clock: Clock) -> _Process:
    command = _find_program(definition, environment)
    theirs, ours = os.pipe()
    server = _Process(mark, ours, clock)
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
        server.close_watch_pipe()
        raise
    finally:
        os.close(theirs)
    return server


def _find_program(definition: MCPServerDefinition, environment: Mapping[str, str]) -> str:
    """The program to start. Raises: CannotStart, because the shell would report a missing program only on the standard
    error of a server that never ran."""
    command = definition.command or ""
    if definition.cwd is not None and not os.path.isdir(definition.cwd):
        raise CannotStart(Reason(Code.MCP_FOLDER_MISSING, {"folder": definition.cwd}))
    if "/" in command:
        path = os.path.join(definition.cwd or os.getcwd(), command)
        program = path if os.path.isfile(path) and os.access(path, os.X_OK) else None
    else:
        program = shutil.which(command, path=environment.get("PATH", os.defpath))
    if program is None:
        raise CannotStart(Reason(Code.MCP_PROGRAM_MISSING, {"command": command}))
    return program


class _Process(asyncio.SubprocessProtocol):
    """A server process, whose exit ends the connection even if another process still holds its pipes open."""

    def __init__(self, mark: str, watch_fd: int, clock: Clock) -> None:
        loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[TransportEnd] = loop.create_future()
        self.tail = StderrTail()
        self._loop = loop
        self._mark = mark
        self._watch_fd: int | None = watch_fd
        self._clock = clock
        self._transport: Any = None
        self._lines = LineBuffer()
        self._filter = MessageFilter()
        self._data_received = asyncio.Event()
        self._exited = asyncio.Event()
        self._stderr_bytes = 0

    # callbacks of the event loop

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._receive_stderr(data)
            return
        if self.ended.done():
            return
        try:
            self._lines.feed(data)
        except ProtocolViolation as error:
            self._fail(str(error))
        if self._lines.buffered_bytes > _MAX_BUFFERED_BYTES:
            self._pipe(1).pause_reading()
        self._data_received.set()

    def pipe_connection_lost(self, fd: int, _: Exception | None) -> None:
        # An exit is reported within moments; a process that lives on with a closed pipe counts as ended later.
        if fd in (0, 1):
            self._loop.call_later(2 * _DRAIN_SECONDS, self._finish, f"closed its {'input' if fd == 0 else 'output'}")

    def process_exited(self) -> None:
        self._exited.set()
        status = self._transport.get_returncode()
        detail = f"ended with status {status}" if status >= 0 else f"was ended by signal {-status}"
        # The last output is still in the pipe.
        self._loop.call_later(_DRAIN_SECONDS, self._finish, detail)

    def _receive_stderr(self, data: bytes) -> None:
        """Pause the reading from a server that floods its standard error."""
        self.tail.add(data)
        self._stderr_bytes += len(data)
        if self._stderr_bytes > _STDERR_BYTES_PER_PAUSE:
            self._stderr_bytes = 0
            self._pipe(2).pause_reading()
            self._loop.call_later(_STDERR_PAUSE_SECONDS, self._pipe(2).resume_reading)

    def _finish(self, detail: str) -> None:
        stderr = self.tail.short()
        finish(self.ended, f"it {detail}{f': {stderr}' if stderr else ''}")
        self._data_received.set()

    def _fail(self, detail: str) -> None:
        self._lines.clear()
        self._pipe(1).pause_reading()
        finish(self.ended, f"it {detail}", is_final=True)

    def _pipe(self, fd: int) -> Any:
        return self._transport.get_pipe_transport(fd)

    # the transport

    def evidence(self) -> Reason | None:
        """An observation that explains why the server never became ready."""
        if self._exited.is_set() and self.ended.done():
            return Reason(Code.MCP_PROGRAM_ENDED, {"ended": self.ended.result().detail.removeprefix("it ")})
        return Reason(Code.MCP_PROGRAM_PRINTS, {"line": self._filter.first_bad}) if self._filter.first_bad else None

    async def forward_messages(self, incoming: Any) -> None:
        """Pass messages to the session until the end, then close its stream, which ends every open request."""
        import anyio

        count = 0
        with incoming, contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            while True:
                line = self._lines.take()
                if line is None:
                    if self.ended.done():
                        return
                    self._data_received.clear()
                    self._pipe(1).resume_reading()
                    await self._data_received.wait()
                    continue
                try:
                    message = self._filter.message(line)
                except ProtocolViolation as error:
                    self._fail(str(error))
                    return
                if message is not None:
                    await incoming.send(message)
                count += 1
                if count % _LINES_PER_PAUSE == 0:  # a flooding server must not block the others
                    await self._clock.sleep(_PAUSE_SECONDS)

    async def write_messages(self, outgoing: Any) -> None:
        """Write messages without ever waiting for the server: a sender must not hang on a server that does not read."""
        async for message in outgoing:
            if self._pipe(0).get_write_buffer_size() > _MAX_UNREAD_BYTES:
                self._fail("doesn't read its input")
            elif not self._pipe(0).is_closing():
                data = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                self._pipe(0).write(f"{data}\n".encode())
            self._filter.message_sent(message.message)

    async def end(self) -> None:
        """End the process within two seconds, also when cancelled: close its input, then SIGTERM, then SIGKILL; then
        end the processes that left the group."""
        finish(self.ended, "it was stopped")
        deadline = self._loop.time() + _MAX_END_SECONDS
        pid = self._transport.get_pid()
        try:
            self._pipe(0).close()
            if not await self._wait_for_exit():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(pid, signal.SIGTERM)
                await self._wait_for_exit()
            kill_group(pid)
            await self._wait_for_exit()
            stragglers = asyncio.ensure_future(asyncio.to_thread(kill_marked, [self._mark]))
            await asyncio.wait({stragglers}, timeout=deadline - self._loop.time())
        except asyncio.CancelledError:
            kill_group(pid)
            kill_marked([self._mark])
            raise
        finally:
            self._transport.close()
            self.close_watch_pipe()

    async def _wait_for_exit(self) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(EXIT_TIMEOUT_SECONDS):
                await self._exited.wait()
        return self._exited.is_set()

    def close_watch_pipe(self) -> None:
        """Close our end of the pipe: the watcher then kills what remains of the group."""
        if self._watch_fd is not None:
            os.close(self._watch_fd)
            self._watch_fd = None
