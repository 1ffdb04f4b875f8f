"""Processes that end with their call: a supervisor around each, and a mark that finds processes which escape it."""

import asyncio
import contextlib
import ctypes
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from pilothouse.sandbox.confinement import UNCONFINED, Confinement
from pilothouse.sandbox.process_tree import descendants

MARK = "PILOTHOUSE_CALL"
"""The environment variable that names the call of a process."""
_MAX_KILL_PASSES = 50
_PR_SET_DUMPABLE = 4

# The supervisor is imported from this package's folder, which comes last in the search path.
_PACKAGES = str(Path(__file__).parents[2])
_SUPERVISOR = (
    "import sys; sys.path.append(sys.argv[1]); from pilothouse.sandbox.supervisor import main; main(sys.argv[2:])"
)
# The server raises its own limit on open files. Its children keep the limit that the server was started with: programs
# that use select() fail with high descriptors, and old programs close every number up to the limit.
MAX_OPEN_FILES = resource.getrlimit(resource.RLIMIT_NOFILE)
_RESTORE_LIMIT = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, {MAX_OPEN_FILES}); "
MAX_PROCESSES = 1024
_END_TIMEOUT_SECONDS = 1.2


def shell() -> str:
    return shutil.which("bash") or "/bin/sh"


class SupervisedProcess:
    """A running command under its supervisor."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        output: asyncio.StreamReader,
        pipe: asyncio.ReadTransport,
        call_id: str,
    ) -> None:
        self.process = process
        """The supervisor."""
        self.output = output
        """Reads a pipe of the runtime's own, which can be closed while a daemon still holds the other end."""
        self._pipe = pipe
        self._call_id = call_id

    async def end(self) -> None:
        """End the command with all of its processes. The supervisor kills them; if it fails to, the runtime does."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            async with asyncio.timeout(_END_TIMEOUT_SECONDS):
                await self.process.wait()
        except TimeoutError:
            await asyncio.to_thread(kill_descendants, self.process.pid)
            kill_group(self.process.pid)
            await self.process.wait()
        finally:
            self._pipe.close()
            if (self.process.returncode or 0) < 0:  # the command has killed its supervisor
                await asyncio.to_thread(kill_marked, [self._call_id])


async def start(
    argv: Sequence[str],
    *,
    cwd: str,
    call_id: str,
    environment: Mapping[str, str],
    confinement: Confinement = UNCONFINED,
    max_processes: int = MAX_PROCESSES,
) -> SupervisedProcess:
    """Start a program under a supervisor of its own; stdout and stderr share one pipe. Raises: OSError."""
    orders = await asyncio.to_thread(encode_orders, confinement, {**environment, MARK: call_id})
    read_end, write_end = os.pipe()
    output = asyncio.StreamReader()
    try:
        loop = asyncio.get_running_loop()
        pipe, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(output), os.fdopen(read_end, "rb", buffering=0)
        )
        try:
            with memory_file(orders) as fd:
                process = await asyncio.create_subprocess_exec(
                    *_supervisor_argv(confinement, max_processes, fd),
                    *argv,
                    cwd=cwd,
                    # The supervisor is not confined: a variable for the command, such as LD_PRELOAD, must not reach it.
                    env={MARK: call_id},
                    stdin=asyncio.subprocess.PIPE,
                    stdout=write_end,
                    stderr=asyncio.subprocess.STDOUT,
                    start_new_session=True,
                    pass_fds=(fd,),
                )
        except BaseException:
            pipe.close()
            raise
    finally:
        os.close(write_end)
    return SupervisedProcess(process, output, pipe, call_id)


def encode_orders(confinement: Confinement, environment: Mapping[str, str]) -> bytes:
    """The command's environment and grants as the supervisor reads them, separated by zero bytes: the number of
    variables, names and values in turn, then accesses and paths in turn."""
    pairs = (*environment.items(), *confinement.grants())
    return b"\0".join([str(len(environment)).encode(), *(os.fsencode(part) for pair in pairs for part in pair)])


@contextlib.contextmanager
def memory_file(data: bytes) -> Iterator[int]:
    """An open file without a name: a program's arguments are limited to two megabytes, and grants may take more. Unlike
    arguments, the file can be read by no process of another user."""
    fd = os.memfd_create("pilothouse")
    try:
        with open(fd, "wb", closefd=False) as file:
            file.write(data)
        os.lseek(fd, 0, os.SEEK_SET)
        yield fd
    finally:
        os.close(fd)


def _supervisor_argv(confinement: Confinement, max_processes: int, orders_fd: int) -> list[str]:
    # Isolated and without `site`, Python starts in a few milliseconds, and reads nothing in the working folder.
    python = [sys.executable, "-I", "-S", "-B", "-c", _RESTORE_LIMIT + _SUPERVISOR, _PACKAGES]
    kernel = [str(confinement.kernel.landlock), str(int(confinement.kernel.filter))]
    return [*python, confinement.kind, *kernel, str(max_processes), str(orders_fd)]


def remove_deep_tree(folder: str) -> None:
    """Remove a folder that is nested too deeply for Python. Blocks: call it in a thread."""
    subprocess.run(["/bin/rm", "-rf", "--", folder], check=False, capture_output=True)  # noqa: S603


def kill_descendants(pid: int) -> None:
    """Kill all processes below a supervisor that does not do so itself. Orphans still become its children."""
    for _ in range(_MAX_KILL_PASSES):
        alive = [child for child in descendants(pid, MAX_PROCESSES) if _is_alive(child)]
        if not alive:
            return
        for child in alive:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2]  # the name in front may contain `)`
    except OSError:
        return False
    return not state.startswith(b" Z")


def kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def kill_marked(call_ids: Iterable[str]) -> int:
    """Kill every process that carries the mark of one of these calls, whatever group it has moved to.

    The mark is inherited: it identifies orphans of a killed runtime and daemons, and never a foreign process that was
    given an old process number. Returns the number of processes.
    """
    marks = {f"{MARK}={call_id}".encode() for call_id in call_ids}
    killed = empty_passes = 0
    # A process that is just forking can slip through a pass: two passes in a row must find nothing.
    for _ in range(_MAX_KILL_PASSES if marks else 0):
        count = _kill_once(marks)
        killed += count
        empty_passes = 0 if count else empty_passes + 1
        if empty_passes == 2:
            break
    return killed


def _kill_once(marks: set[bytes]) -> int:
    killed = 0
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if marks.isdisjoint((entry / "environ").read_bytes().split(b"\0")):
                continue
            os.kill(int(entry.name), signal.SIGKILL)
            killed += 1
        except OSError:
            continue
    return killed


def hide_environment() -> None:
    """Keep child processes (unless root) from reading this process's environment, which may hold keys, in /proc."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
