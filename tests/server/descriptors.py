"""The open descriptors of a running `pilothouse serve`.

The server forbids other processes to look into it: only root reads its `/proc/PID/fd` from outside. Run as a program,
this file is `pilothouse` with a signal handler that writes down what the process itself has open.
"""

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

NAME = "descriptors.txt"
REQUEST = signal.SIGUSR2


def reporting_program(folder: Path) -> tuple[str, ...]:
    """The command that stands for `pilothouse` and reports to a file in this folder. `-P` keeps the modules of this
    folder from standing for others of the same name."""
    return (sys.executable, "-P", __file__, str(folder / NAME))


async def open_descriptors(pid: int, folder: Path) -> list[str]:
    """The target of each open descriptor of the process, as `/proc` names it."""
    report = folder / NAME
    report.unlink(missing_ok=True)
    os.kill(pid, REQUEST)
    while not report.exists():
        await asyncio.sleep(0.01)
    return report.read_text().splitlines()


def _write_report(path: Path) -> None:
    targets = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # closed since, such as the folder of this list
            targets.append(os.readlink(f"/proc/self/fd/{name}"))
    unfinished = path.with_suffix(".new")
    unfinished.write_text("\n".join(targets))
    unfinished.replace(path)


def main() -> int:
    from pilothouse import cli

    report = Path(sys.argv.pop(1))
    signal.signal(REQUEST, lambda *_: _write_report(report))
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
