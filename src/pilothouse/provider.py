"""The provider and the model in use: built from settings, tested, and replaced while the runtime runs."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import aclosing

from pilothouse.config.credentials import Credentials, StoredSetup
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import Conflict, InvalidInput, ModelError, ModelRefused, ModelUnavailable
from pilothouse.domain.model_names import ModelName
from pilothouse.domain.provider_setup import Setup, SetupRequest, SetupTrial, check_address, key_hint
from pilothouse.llm.base import Adapter, Connected, ListsModels, ModelRequest, UserText
from pilothouse.llm.providers import DEFAULT_PROVIDER, DEMO, PROVIDERS, Connection
from pilothouse.runtime.dependencies import ProviderHandle, TitleModel
from pilothouse.settings import CREDENTIALS_FILE, Settings, with_setup

TRIAL_TIMEOUT_SECONDS = 20.0
_TRIAL_SYSTEM_PROMPT = "Answer with one word."
_TRIAL_MESSAGE = "Are you there?"
_MAX_REMEMBERED_SECRETS = 50
_MIN_SECRET_CHARACTERS = 6  # redacting shorter texts would garble the log

BuildAdapter = Callable[[Settings, ModelName], Adapter]


def build_adapter(settings: Settings, model: ModelName) -> Adapter:
    """Build the adapter of a model."""
    connection = Connection(model=model.name, base_url=settings.base_url, key=settings.key)
    return PROVIDERS[model.provider].build(connection)


class ProviderSetup:
    """The current provider settings. Changes are stored, so that they survive a restart."""

    def __init__(self, settings: Settings, build: BuildAdapter = build_adapter) -> None:
        self._settings = settings
        self._build = build
        self._credentials = Credentials(settings.data_dir / CREDENTIALS_FILE)
        self._secrets = deque([settings.key] if settings.key else [], maxlen=_MAX_REMEMBERED_SECRETS)

    @property
    def model(self) -> str:
        return self._settings.model.name

    def secrets(self) -> Sequence[str]:
        """Return the API keys that this process has received, for redaction in logs."""
        return [secret for secret in self._secrets if len(secret) >= _MIN_SECRET_CHARACTERS]

    def handle(self) -> ProviderHandle:
        """Build the adapters of the current settings."""
        return self._build_handle(self._settings)

    def _build_handle(self, settings: Settings) -> ProviderHandle:
        title_model = settings.title_model
        return ProviderHandle(
            adapter=self._build(settings, settings.model),
            model=settings.model.name,
            models=_models(settings),
            titles=TitleModel(self._build(settings, title_model), title_model.name)
            if title_model is not None
            else None,
        )

    def status(self) -> Setup:
        settings = self._settings
        fixed_by = settings.explicit.source
        return Setup(
            provider=settings.model.provider,
            model=settings.model.name,
            is_demo=settings.model.provider == DEMO,
            base_url=settings.base_url,
            key_hint=key_hint(settings.key),
            key_from=settings.key_from,
            can_change=fixed_by is None,
            reason=Reason(Code.SETUP_FIXED, {"by": fixed_by}) if fixed_by is not None else None,
        )

    async def trial(self, requested: SetupRequest) -> SetupTrial:
        """Test a provider: request its list of models and, if a model is given, one word from it.

        Raises: InvalidInput.
        """
        provider = PROVIDERS[_server_provider(requested)]
        base_url, key = self._address_and_key(requested)
        adapter = provider.build(
            Connection(model=requested.model or "", base_url=base_url, key=key, silence_seconds=TRIAL_TIMEOUT_SECONDS)
        )
        models: list[str] = []
        try:
            async with asyncio.timeout(TRIAL_TIMEOUT_SECONDS):
                try:
                    models = await adapter.models() if isinstance(adapter, ListsModels) else []
                except ModelRefused as error:
                    if requested.model is None or error.reason.code is Code.MODEL_AUTH:
                        raise  # a provider without a list of models can still work
                if requested.model is not None:
                    await _request_a_word(adapter, requested.model)
            return SetupTrial(ok=True, models=tuple(models))
        except TimeoutError:
            reason = Reason(Code.MODEL_TIMEOUT, {"seconds": TRIAL_TIMEOUT_SECONDS})
        except ModelError as error:
            reason = error.reason
        finally:
            await adapter.close()
        return SetupTrial(ok=False, models=tuple(models), reason=reason)

    def keep(self, requested: SetupRequest) -> ProviderHandle | None:
        """Store and use another setup; None if nothing changes.

        Raises: Conflict if the command line, the environment or the file sets the model, InvalidInput, StoreRefused.
        """
        if self._settings.explicit.source is not None:
            raise Conflict(Code.SETUP_FIXED, by=self._settings.explicit.source)
        if requested.model is None:
            raise InvalidInput(Code.INVALID_REQUEST, detail="the model is missing")
        provider = _server_provider(requested)
        base_url, key = self._address_and_key(requested)
        stored = StoredSetup(provider=provider, base_url=base_url, key=key, model=requested.model)
        return self._change(stored, lambda: self._credentials.write(stored))

    def forget(self) -> ProviderHandle | None:
        """Delete the stored setup; None if nothing changes.

        Raises: InvalidInput if no valid setup remains, StoreRefused.
        """
        return self._change(None, self._credentials.remove)

    def _change(self, stored: StoredSetup | None, write: Callable[[], None]) -> ProviderHandle | None:
        changed = with_setup(self._settings, stored)
        # The adapters are built first, so that an invalid setup is not written.
        handle = self._build_handle(changed) if changed != self._settings else None
        write()
        self._settings = changed
        return handle

    def _address_and_key(self, requested: SetupRequest) -> tuple[str, str | None]:
        """Return the address and the key to use. The present key is sent only to the present address.

        Raises: InvalidInput.
        """
        base_url = check_address(requested.base_url or self._settings.base_url)
        if requested.key is not None:
            if requested.key in self._secrets:
                self._secrets.remove(requested.key)
            self._secrets.append(requested.key)
            return base_url, requested.key
        is_same = base_url == self._settings.base_url.rstrip("/")
        return base_url, self._settings.key if is_same else None


def _server_provider(requested: SetupRequest) -> str:
    """The name of the requested provider. Raises: InvalidInput for one that is unknown or has no server."""
    name = requested.provider or DEFAULT_PROVIDER
    allowed = [each for each, provider in PROVIDERS.items() if provider.server is not None]
    if name not in allowed:
        raise InvalidInput(Code.INVALID_REQUEST, detail=f"the provider must be one of: {', '.join(allowed)}")
    return name


async def _request_a_word(adapter: Adapter, model: str) -> None:
    """Request a short answer and stop at its first event. Raises: ModelError."""
    message = UserText(content=_TRIAL_MESSAGE)
    request = ModelRequest(model=model, system=_TRIAL_SYSTEM_PROMPT, messages=[adapter.format.encode(message)])
    async with aclosing(adapter.stream(request)) as events:
        async for event in events:
            if not isinstance(event, Connected):
                return
    raise ModelUnavailable(Code.MODEL_CUT)


def _models(settings: Settings) -> list[str]:
    """Return the models of the user's file and, at the provider's own address, all known models of the provider."""
    server = PROVIDERS[settings.model.provider].server
    if server is None:
        return []
    is_own = settings.base_url == server.url
    configured = settings.configuration.file.models
    names = settings.configuration.model_catalog.all_facts()
    return [name for name in names if name in configured or (is_own and server.own_models.match(name))]
