"""Async tests run on asyncio by themselves, each within a bounded time."""

import asyncio
import inspect
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

SECONDS_AT_MOST = 60

# How busy the machine is decides no test.
settings.register_profile("calm", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("calm")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Counts that a test wants to be seen (kills, faults, rounds), also when it runs in another process."""
    reports = terminalreporter.stats.get("passed", [])
    lines = [text for report in reports for name, text in report.user_properties if name == "figure"]
    for line in sorted(set(lines)):
        terminalreporter.write_line(line)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    arguments: dict[str, Any] = {name: pyfuncitem.funcargs[name] for name in names}

    marker = pyfuncitem.get_closest_marker("seconds")
    seconds = marker.args[0] if marker is not None else SECONDS_AT_MOST

    async def bounded() -> None:
        async with asyncio.timeout(seconds):
            await pyfuncitem.obj(**arguments)

    asyncio.run(bounded())
    return True
