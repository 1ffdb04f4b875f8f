"""Async tests run on asyncio by themselves. Every test has a time limit, and says where it hung."""

import asyncio
import faulthandler
import inspect
import os
import signal
import tempfile
from collections.abc import Generator
from types import FrameType
from typing import Any, NoReturn

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key
from hypothesis import HealthCheck, settings

from tests.scale import LONG

MAX_ASYNC_SECONDS = 600 if LONG else 60
MAX_SYNC_SECONDS = 3600 if LONG else 180
FIXTURE_SECONDS = 60
STUCK_SECONDS = 60
"""How long a test may go on that has not ended when its time was over, before its process is ended."""

# Started in the background or with `nohup`, these are ignored, and every process of a test would inherit that. A
# handler that does nothing is not inherited.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda *_: None)

# Audit heads are noted in the person's state directory: tests have one of their own.
if "PYTEST_XDIST_WORKER" not in os.environ:
    _state = tempfile.TemporaryDirectory(prefix="pilothouse-state-")
    os.environ["XDG_STATE_HOME"] = _state.name

# How busy the machine is decides no test.
settings.register_profile("calm", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("calm")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Counts that a test wants to be seen (kills, faults, rounds), also when it runs in another process."""
    reports = terminalreporter.stats.get("passed", [])
    lines = [text for report in reports for name, text in report.user_properties if name == "figure"]
    for line in sorted(set(lines)):
        terminalreporter.write_line(line)


def _seconds(item: pytest.Item, usual: float) -> float:
    marker = item.get_closest_marker("seconds")
    return float(marker.args[0]) if marker is not None else usual


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A test fails where it stands when its time is over; where that does not end it, its process ends with a trace."""
    limit = _seconds(item, MAX_SYNC_SECONDS) + FIXTURE_SECONDS

    def fail(_number: int, _frame: FrameType | None) -> NoReturn:
        pytest.fail(f"took more than {limit:g} seconds")

    before = signal.signal(signal.SIGALRM, fail)
    signal.setitimer(signal.ITIMER_REAL, limit, STUCK_SECONDS / 3)
    faulthandler.dump_traceback_later(
        limit + STUCK_SECONDS, exit=True, file=item.config.stash[fault_handler_stderr_fd_key]
    )
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    arguments: dict[str, Any] = {name: pyfuncitem.funcargs[name] for name in names}

    seconds = _seconds(pyfuncitem, MAX_ASYNC_SECONDS)

    async def bounded() -> None:
        async with asyncio.timeout(seconds):
            await pyfuncitem.obj(**arguments)

    asyncio.run(bounded())
    return True
