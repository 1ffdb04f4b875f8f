"""Async tests run on asyncio by themselves, each within a bounded time."""

import asyncio
import inspect
from typing import Any

import pytest

SECONDS_AT_MOST = 60


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
