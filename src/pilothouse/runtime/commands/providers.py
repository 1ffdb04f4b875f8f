"""Commands about the provider and the model: read the setup, try another one, change it while the runtime works."""

import asyncio
from collections.abc import Callable, Sequence

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import Conflict
from pilothouse.domain.provider_setup import Setup, SetupRequest, SetupTrial
from pilothouse.llm.model_catalog import ModelFacts
from pilothouse.runtime.commands.command_group import CommandGroup
from pilothouse.runtime.dependencies import ProviderHandle, ProviderService
from pilothouse.runtime.pool import ContextPool
from pilothouse.runtime.shield import run_to_completion

_FIXED_BY_ADAPTER = "adapter="


class ProviderCommands(CommandGroup):
    """The provider and its models."""

    @property
    def models(self) -> tuple[str, ...]:
        """The models that a context may use, the default first."""
        dependencies = self._pool.dependencies
        return tuple(dict.fromkeys((dependencies.model, *dependencies.models)))

    def facts(self, model: str) -> ModelFacts:
        """The window, the tokenizer and the price of a model."""
        return self._pool.dependencies.catalog.facts(model)

    def secrets(self) -> Sequence[str]:
        """Strings that must not appear in any log."""
        provider = self._pool.dependencies.provider
        return provider.secrets() if provider is not None else ()

    def current(self) -> Setup:
        """The present setup. An adapter that a program passed to the runtime cannot be changed."""
        dependencies = self._pool.dependencies
        if dependencies.provider is not None:
            return dependencies.provider.status()
        reason = Reason(Code.SETUP_FIXED, {"by": _FIXED_BY_ADAPTER})
        return Setup(
            provider=dependencies.adapter.name, model=dependencies.model, is_demo=dependencies.is_demo, reason=reason
        )

    async def test(self, requested: SetupRequest) -> SetupTrial:
        """Try a setup with a small request and a time limit. Nothing changes. Raises: Conflict, InvalidInput."""
        return await _provider(self._pool).trial(requested)

    async def use(self, requested: SetupRequest) -> Setup:
        """Store a setup and use it from the next request on. An answer that is streaming continues to its end.

        Raises: Conflict where a program, the environment or a file names the model, InvalidInput, StoreRefused.
        """
        provider = _provider(self._pool)
        return await _change(self._pool, provider, lambda: provider.keep(requested))

    async def forget(self) -> Setup:
        """Return to the setup of the environment and the files. Raises: Conflict, InvalidInput, StoreRefused."""
        provider = _provider(self._pool)
        return await _change(self._pool, provider, provider.forget)


async def _change(pool: ContextPool, provider: ProviderService, change: Callable[[], ProviderHandle | None]) -> Setup:
    async def change_and_use() -> None:
        async with pool.setup_lock:  # the setup in use must be the one written last
            handle = await asyncio.to_thread(change)
            if handle is not None:
                pool.retired_adapters += pool.dependencies.use(handle)

    await run_to_completion(change_and_use())
    return provider.status()


def _provider(pool: ContextPool) -> ProviderService:
    provider = pool.dependencies.provider
    if provider is None:
        raise Conflict(Code.SETUP_FIXED, by=_FIXED_BY_ADAPTER)
    return provider
