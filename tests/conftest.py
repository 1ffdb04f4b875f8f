"""Async tests run on asyncio without a marker. Every test has a time limit, and a trace shows where it hung."""

import asyncio
import faulthandler
import inspect
import os
import resource
import signal
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key
from hypothesis import HealthCheck, settings

from tests.support.kernel import KERNEL, check_kernel, not_tested
from tests.support.scale import LONG

MAX_ASYNC_SECONDS = 600 if LONG else 60
MAX_SYNC_SECONDS = 3600 if LONG else 180
LONG_FACTOR = 4 if LONG else 1
"""How much longer than its mark says a test may take where it runs with its full count. It ends what hangs, and decides
nothing else: a busy machine is no reason to fail."""
FIXTURE_SECONDS = 60
STUCK_SECONDS = 60
"""How long a test may go on that has not ended when its time was over, before its process is ended."""

_IS_IN_PHASE = pytest.StashKey[bool]()

# Started in the background or with `nohup`, these are ignored, and every process of a test would inherit that. A
# handler that does nothing is not inherited.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda *_: None)

# Without bytecode, programs that tests start spend most of their start on compiling the package.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Audit heads are noted in the person's state directory: tests have one of their own.
if "PYTEST_XDIST_WORKER" not in os.environ:
    _state = tempfile.TemporaryDirectory(prefix="pilothouse-state-")
    os.environ["XDG_STATE_HOME"] = _state.name
    os.environ["TEST_RUN"] = str(os.getpid())  # `ManualAmbient` keeps the ids of runs apart by this number

# How busy the machine is decides no test.
settings.register_profile("calm", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("calm")


@pytest.fixture
def many_descriptors() -> Iterator[None]:
    """As many descriptors as the system allows: like `serve`, and for tests that share their process
    with hundreds of clients. Sessions of ordinary users start with 1024, of which clients get half."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def pytest_configure() -> None:
    check_kernel(KERNEL, os.environ)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the counts that tests record (kills, faults, rounds), also those of other processes."""
    if not KERNEL.is_complete:
        terminalreporter.write_line(f"NOT TESTED: {not_tested(KERNEL)}.", red=True)
    reports = terminalreporter.stats.get("passed", [])
    lines = [text for report in reports for name, text in report.user_properties if name == "figure"]
    for line in sorted(set(lines)):
        terminalreporter.write_line(line)


def _seconds(item: pytest.Item, usual: float) -> float:
    marker = item.get_closest_marker("seconds")
    return float(marker.args[0]) * LONG_FACTOR if marker is not None else usual


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test at its time limit; if the exception does not end it, end its process with a trace."""
    limit = _seconds(item, MAX_SYNC_SECONDS) + FIXTURE_SECONDS

    def fail(_number: int, _frame: FrameType | None) -> None:
        if item.stash.get(_IS_IN_PHASE, False):
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


@contextmanager
def _phase(item: pytest.Item) -> Generator[None]:
    """An alarm between the phases of a test would fail pytest itself: ignore it and set it again."""
    item.stash[_IS_IN_PHASE] = True
    try:
        yield
    finally:
        item.stash[_IS_IN_PHASE] = False


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    with _phase(item):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    with _phase(item):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    with _phase(item):
        return (yield)


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
