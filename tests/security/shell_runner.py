"""Runs command lines in several shells, in a folder with a canary tree, and reports the effects in each one.

The runner is a process of its own, driven by `ShellRunner`: one request a line on standard input, one answer a line on
standard output, both JSON. As a subreaper it waits for everything that a line started. Each program on the PATH is a
script that notes its name before it becomes the program: those that only read are real, all others do nothing else.
"""

import contextlib
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Self

SECONDS = 5
NOBODY = 65534
MAX_TRACE_BYTES = 200_000
_PR_SET_CHILD_SUBREAPER = 36
_TRACE_FD = 9
_TRACED = re.compile(r"^\++ (\S+)", re.MULTILINE)
_FORM = 'eval "f() {\n$1\n}" && declare -f f >&9'
SHELLS = {"bash": ["bash", "-x", "-c"], "dash": ["dash", "-c"], "busybox": ["busybox", "sh", "-c"]}
TREE = {
    "f.txt": "hello world\n",
    "g.txt": "a:b\n",
    "sub/inner.txt": "x\n",
    "victim": "kept\n",
    "data.json": "{}\n",
    "evil.sh": "#!/bin/sh\n/usr/bin/touch PWNED\n",
    "sub/evil.sh": "#!/bin/sh\n/usr/bin/touch PWNED\n",
}


class LineEffects(NamedTuple):
    """The effects of a line."""

    changed: Sequence[str]
    """Paths of the tree that are not as they were."""
    started: Sequence[str]
    """Names of programs of the PATH that began."""
    trace: str
    """What bash noted of its commands, or the form in which it prints a line that it has parsed."""

    @property
    def traced(self) -> list[str]:
        """The first words of the commands that bash ran, its own ones too."""
        return [name.strip("'") for name in _TRACED.findall(self.trace)]


class ShellRunner:
    """Drives the process. `reading` are programs that may really run, `others` are only noted."""

    def __init__(self, base: Path, reading: Sequence[str], others: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self._exchange([str(base), list(reading), list(others)])

    def run(self, shell: str, line: str) -> LineEffects:
        return LineEffects(*self._ask([shell, line]))

    def form(self, line: str) -> str:
        """The line as bash prints it after parsing; empty where bash cannot parse it."""
        return LineEffects(*self._ask(["form", line])).trace

    def _ask(self, request: object) -> tuple[list[str], list[str], str]:
        changed, started, trace = json.loads(self._exchange(request))
        return changed, started, trace

    def _exchange(self, request: object) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


class _Folder:
    """`base` holds the tree (work), the programs (bin), what they noted (started) and what bash noted (trace)."""

    def __init__(self, base: Path, reading: Sequence[str], others: Sequence[str]) -> None:
        self._work, self._bin = base / "work", base / "bin"
        self._started, self._trace = base / "started", base / "trace"
        note = f"#!/bin/sh\nprintf '%s\\n' \"${{0##*/}}\" >> {self._started}\n"
        for name in reading:
            if (real := shutil.which(name)) is not None:
                _put(self._bin / name, f'{note}exec {real} "$@"\n')
        for name in others:
            _put(self._bin / name, note)
        self._environment = {
            "PATH": str(self._bin),
            "HOME": str(self._work),
            "LANG": "C.UTF-8",
            "BASH_XTRACEFD": str(_TRACE_FD),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        self._grow()

    def _grow(self) -> None:
        shutil.rmtree(self._work, ignore_errors=True)
        for name, text in TREE.items():
            _put(self._work / name, text)
        self._before = dict(_state(self._work))

    def run(self, shell: str, line: str) -> LineEffects:
        for path in (self._started, self._trace):
            path.unlink(missing_ok=True)
        pid = os.fork()
        if pid == 0:
            self._become(["bash", "-c", _FORM, "bash", line] if shell == "form" else [*SHELLS[shell], line])
        _reap(pid)
        after = dict(_state(self._work))
        names = self._before.keys() | after.keys()
        changed = sorted(os.path.basename(name) for name in names if self._before.get(name) != after.get(name))
        if changed:
            self._grow()
        started = self._started.read_text(errors="replace").split() if self._started.exists() else []
        with self._trace.open("rb") as trace:
            return LineEffects(changed, started, trace.read(MAX_TRACE_BYTES).decode(errors="replace"))

    def _become(self, arguments: list[str]) -> None:
        try:
            os.setsid()
            os.chdir(self._work)
            nowhere = os.open(os.devnull, os.O_RDWR)
            for descriptor in range(3):
                os.dup2(nowhere, descriptor)
            os.dup2(os.open(self._trace, os.O_WRONLY | os.O_CREAT, 0o600), _TRACE_FD)
            program = shutil.which(arguments[0]) or arguments[0]
            os.execve(program, [os.fsencode(each) for each in arguments], self._environment)
        finally:
            os._exit(125)


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text)
    path.chmod(0o755)


def _state(folder: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            about = entry.stat(follow_symlinks=False)
            yield entry.path, (about.st_mode, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
            if entry.is_dir(follow_symlinks=False):
                yield from _state(Path(entry.path))


class LineTimeout(Exception):
    """A line has not come to its end in time."""


def _late(*_: object) -> None:
    raise LineTimeout


def _reap(pid: int) -> None:
    """Wait for the shell and all processes that it started; end those that take too long."""
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        _wait_for_all()
    except LineTimeout:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        _wait_for_all()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _wait_for_all() -> None:
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


def main() -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    signal.signal(signal.SIGALRM, _late)
    base, reading, others = json.loads(sys.stdin.readline())
    if os.geteuid() == 0:
        os.chown(base, NOBODY, NOBODY)
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    folder = _Folder(Path(base), reading, others)
    print(json.dumps(None), flush=True)
    for request in sys.stdin:
        shell, line = json.loads(request)
        print(json.dumps(folder.run(shell, line)), flush=True)


if __name__ == "__main__":
    main()
