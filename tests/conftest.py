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

    async def bounded() -> None:
        async with asyncio.timeout(SECONDS_AT_MOST):
            await pyfuncitem.obj(**arguments)

    asyncio.run(bounded())
    return True
