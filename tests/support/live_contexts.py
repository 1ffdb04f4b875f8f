"""The live contexts behind a runtime, for tests of what the façade does not return."""

from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.pool import ContextPool
from pilothouse.runtime.runtime import Runtime


def pool_of(runtime: Runtime) -> ContextPool:
    return runtime._pool


async def live_context(runtime: Runtime, context_id: str) -> LiveContext:
    """The context itself, which changes while the test looks at it."""
    return await pool_of(runtime).find(context_id)


async def live_context_at_rest(runtime: Runtime, context_id: str) -> LiveContext:
    """The context itself, once it rests."""
    return await pool_of(runtime).rested(context_id)
