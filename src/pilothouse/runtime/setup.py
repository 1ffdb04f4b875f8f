"""Commands about the provider and the model: how they are set up, trying others, changing to them while it runs."""

import asyncio
from collections.abc import Callable

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import Conflict
from pilothouse.domain.setup import Setup, SetupTrial, WantedSetup
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.finishing import finish
from pilothouse.runtime.parts import Provided, Providing

_BY_THE_PROGRAM = "adapter="


def setup(contexts: Contexts) -> Setup:
    """How it stands. A runtime that was given an adapter of somebody's own keeps that."""
    parts = contexts.parts
    if parts.provider is not None:
        return parts.provider.look()
    fixed = Reason(Code.SETUP_FIXED, {"by": _BY_THE_PROGRAM})
    return Setup(provider=parts.adapter.name, model=parts.model, is_demo=parts.is_demo, reason=fixed)


async def try_setup(contexts: Contexts, wanted: WantedSetup) -> SetupTrial:
    """With a small request, in a time limit; nothing is changed by it. Raises: Conflict, InvalidInput."""
    return await _provider(contexts).trial(wanted)


async def set_up(contexts: Contexts, wanted: WantedSetup) -> Setup:
    """Kept, and used from the next request on; an answer that is being streamed comes to its end.

    Raises: Conflict where something else names the model, InvalidInput, StoreRefused.
    """
    provider = _provider(contexts)
    return await _change(contexts, provider, lambda: provider.keep(wanted))


async def forget_setup(contexts: Contexts) -> Setup:
    """Back to what the environment and the files say. Raises: Conflict, InvalidInput, StoreRefused."""
    provider = _provider(contexts)
    return await _change(contexts, provider, provider.forget)


async def _change(contexts: Contexts, provider: Providing, change: Callable[[], Provided | None]) -> Setup:
    async def changed() -> None:
        async with contexts.setting_up:  # what is used is what was written last
            provided = await asyncio.to_thread(change)
            if provided is not None:
                contexts.retired += contexts.parts.use(provided)

    await finish(changed())
    return provider.look()


def _provider(contexts: Contexts) -> Providing:
    provider = contexts.parts.provider
    if provider is None:
        raise Conflict(Code.SETUP_FIXED, by=_BY_THE_PROGRAM)
    return provider
