"""Processes that end with their call: a keeper around each, and a mark that finds what even that one lost."""

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

from pilothouse.sandbox.confinement import FREE, Confinement
from pilothouse.sandbox.locales import with_usable_locales
from pilothouse.sandbox.process_tree import descendants

MARK = "PILOTHOUSE_CALL"
_PASSES_AT_MOST = 50
_PR_SET_DUMPABLE = 4

# Nothing that holds a key: what a program needs to find its home, its language and its tools.
_PASSED_ON = (
    *("HOME", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER"),
    # where version managers find what their programs stand for
    *("ASDF_DATA_DIR", "ASDF_DIR", "CARGO_HOME", "MISE_DATA_DIR", "NODENV_ROOT", "PYENV_ROOT", "RBENV_ROOT"),
    *("RUSTUP_HOME", "VOLTA_HOME"),
)

# The keeper is found where this package lies, and imports nothing else that lies beside it.
_PACKAGES = str(Path(__file__).parents[2])
_KEEPER = "import sys; sys.path.append(sys.argv[1]); from pilothouse.sandbox.keeper import main; main(sys.argv[2:])"
# The server raises its own limit on open files. What it starts keeps the limit that the server was started with:
# programs that use select() fail with high descriptors, and old ones close every number up to the limit.
MAX_OPEN_FILES = resource.getrlimit(resource.RLIMIT_NOFILE)
_KEEP_LIMIT = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, {MAX_OPEN_FILES}); "
PROCESSES_AT_MOST = 1024
_ENDS_WITHIN = 1.2


def shell() -> str:
    return shutil.which("bash") or "/bin/sh"


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in environment.items() if name in _PASSED_ON}
    # A command line is judged as UTF-8, and so must the shell read it.
    return {**kept, **with_usable_locales(environment), "TERM": "dumb", "PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}


class Running:
    """A command that was started. `output` is a pipe of ours: it can be closed while a daemon still holds its end."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        output: asyncio.StreamReader,
        pipe: asyncio.ReadTransport,
        call_id: str,
    ) -> None:
        self.process = process
        self.output = output
        self._pipe = pipe
        self._call_id = call_id

    async def end(self) -> None:
        """Nothing of the command is left when this returns. The keeper sees to it; if it does not, we do."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            async with asyncio.timeout(_ENDS_WITHIN):
                await self.process.wait()
        except TimeoutError:
            await asyncio.to_thread(end_below, self.process.pid)
            end_group(self.process.pid)
            await self.process.wait()
        finally:
            self._pipe.close()
            if (self.process.returncode or 0) < 0:  # the command has ended its keeper
                await asyncio.to_thread(end_marked, [self._call_id])


async def start(
    argv: Sequence[str],
    *,
    cwd: str,
    call_id: str,
    environment: Mapping[str, str],
    confinement: Confinement = FREE,
    processes: int = PROCESSES_AT_MOST,
) -> Running:
    """Start a program under a keeper of its own; stdout and stderr come together. Raises: OSError."""
    grants = await asyncio.to_thread(encode_grants, confinement)
    ours, theirs = os.pipe()
    output = asyncio.StreamReader()
    try:
        loop = asyncio.get_running_loop()
        pipe, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(output), os.fdopen(ours, "rb", buffering=0)
        )
        try:
            with memory_file(grants) as fd:
                process = await asyncio.create_subprocess_exec(
                    *_keeper(confinement, processes, fd),
                    *argv,
                    cwd=cwd,
                    env={**environment, MARK: call_id},
                    stdin=asyncio.subprocess.PIPE,
                    stdout=theirs,
                    stderr=asyncio.subprocess.STDOUT,
                    start_new_session=True,
                    pass_fds=(fd,),
                )
        except BaseException:
            pipe.close()
            raise
    finally:
        os.close(theirs)
    return Running(process, output, pipe, call_id)


def encode_grants(confinement: Confinement) -> bytes:
    """The grants as the keeper reads them: leaves and paths in turn, separated by zero bytes."""
    return b"\0".join(os.fsencode(part) for grant in confinement.grants() for part in grant)


@contextlib.contextmanager
def memory_file(data: bytes) -> Iterator[int]:
    """An open file without a name: arguments of a program hold two megabytes, less than the grants may take."""
    fd = os.memfd_create("pilothouse")
    try:
        with open(fd, "wb", closefd=False) as file:
            file.write(data)
        os.lseek(fd, 0, os.SEEK_SET)
        yield fd
    finally:
        os.close(fd)


def _keeper(confinement: Confinement, processes: int, grants: int) -> list[str]:
    # Isolated, and without what a site adds: it starts in a few milliseconds, and reads nothing of the folder.
    python = [sys.executable, "-I", "-S", "-B", "-c", _KEEP_LIMIT + _KEEPER, _PACKAGES]
    kernel = [str(confinement.kernel.landlock), str(int(confinement.kernel.filter))]
    return [*python, confinement.kind, *kernel, str(processes), str(grants)]


def remove_deep_tree(folder: str) -> None:
    """Remove a folder that lies too deep for Python. It waits: call it in a thread."""
    subprocess.run(["/bin/rm", "-rf", "--", folder], check=False, capture_output=True)  # noqa: S603


def end_below(pid: int) -> None:
    """End all that a keeper keeps, where it cannot do so itself. What loses its parent still comes to it."""
    for _ in range(_PASSES_AT_MOST):
        alive = [child for child in descendants(pid, PROCESSES_AT_MOST) if _is_alive(child)]
        if not alive:
            return
        for child in alive:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2]  # the name before it may hold anything
    except OSError:
        return False
    return not state.startswith(b" Z")


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
