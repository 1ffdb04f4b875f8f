"""Servers that are killed and started again, without the cost of starting Python each time.

Run as a program it has loaded everything that `pilothouse serve` needs. For each order to start, it forks a process
that runs the command line as if it had been typed; for each order to wait, it reports the exit status of that
process. When its input ends, so do the processes that it started.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

import pilothouse.cli.serve
import pilothouse.i18n.en
import pilothouse.i18n.zh
import pilothouse.llm.openai  # noqa: F401 (what a server would load later is loaded before the first fork)
from pilothouse.cli.main import run_command_line
from tests.support.scale import HANG_SECONDS


class Zygote:
    """The other end: what tests use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.server.restartable_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(self, arguments: list[str], environment: dict[str, str], log: Path) -> int:
        """Gives the process's id."""
        return self._order({"start": arguments, "environment": environment, "log": str(log)})

    def wait(self, pid: int) -> int:
        """Gives the process's wait status."""
        return self._order({"wait": pid})

    def close(self) -> None:
        self._process.communicate(timeout=HANG_SECONDS)

    def _order(self, order: dict[str, Any]) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:  # also if the caller of the previous order is gone
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            return int(self._process.stdout.readline())


def free_port() -> int:
    """A port that no outgoing connection ever gets: a restarted server finds it free."""
    start = 10_000 + os.getpid() * 7 % 20_000
    for port in range(start, start + 2_000):
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("no port is free")


def _run(order: dict[str, Any]) -> None:
    """In the forked process."""
    log = os.open(order["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.environ.update(order["environment"])
    code = 1
    try:
        code = run_command_line(order["start"])
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def _main() -> None:
    started: set[int] = set()
    for line in sys.stdin:
        order = json.loads(line)
        if "wait" in order:
            _, status = os.waitpid(order["wait"], 0)
            started.discard(order["wait"])
            print(status, flush=True)
            continue
        pid = os.fork()
        if pid == 0:
            _run(order)
        started.add(pid)
        print(pid, flush=True)
    for pid in started:
        os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    _main()
