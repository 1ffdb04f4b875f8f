"""Which provider and model are used: made from settings, and set up anew while the runtime runs."""

import asyncio
import re
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import aclosing
from pathlib import Path

from pilothouse.config.credentials import Credentials, StoredSetup
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import Conflict, InvalidInput, ModelError, ModelRefused, ModelUnavailable
from pilothouse.domain.setup import Setup, SetupTrial, WantedSetup, check_address, key_hint
from pilothouse.llm.base import Adapter, Connected, ModelRequest, UserText
from pilothouse.runtime.parts import Provided, Titles
from pilothouse.settings import CREDENTIALS, OPENAI_URL, ModelChoice, Settings, with_setup

TRIAL_SECONDS = 20.0
_TRIAL_PROMPT, _TRIAL_WORDS = "Answer with one word.", "Are you there?"
_OPENAIS = re.compile(r"gpt-|o\d")
_SECRETS_KEPT = 50
_SHORTEST_SECRET = 6  # what is shorter is none, and would blot out half of a log

Build = Callable[[Settings, ModelChoice], Adapter]


def build_adapter(settings: Settings, choice: ModelChoice) -> Adapter:
    """Adapters are imported when they are needed: a conversation with one does not load the others."""
    if choice.provider == "openai":
        from pilothouse.llm.openai import OpenAIAdapter

        return OpenAIAdapter(settings.base_url, settings.key)
    if choice.provider == "scripted":
        from pilothouse.llm.script import load_script
        from pilothouse.llm.scripted import ScriptedAdapter

        return ScriptedAdapter(load_script(Path(choice.name)))
    from pilothouse.llm.demo import DemoAdapter

    return DemoAdapter()


class Provider:
    """`build` makes an adapter. What is kept or forgotten here counts from the next start on too."""

    def __init__(self, settings: Settings, build: Build = build_adapter) -> None:
        self._settings = settings
        self._build = build
        self._credentials = Credentials(settings.data_dir / CREDENTIALS)
        self._secrets = deque([settings.key] if settings.key else [], maxlen=_SECRETS_KEPT)

    @property
    def model(self) -> str:
        return self._settings.model.name

    def secrets(self) -> Sequence[str]:
        """The keys that were given in this process: for whoever must hide them."""
        return [secret for secret in self._secrets if len(secret) >= _SHORTEST_SECRET]

    def provided(self) -> Provided:
        """As the settings say it now."""
        return self._provided(self._settings)

    def _provided(self, settings: Settings) -> Provided:
        titles = settings.title_model
        return Provided(
            adapter=self._build(settings, settings.model),
            model=settings.model.name,
            models=_models(settings),
            titles=Titles(self._build(settings, titles), titles.name) if titles is not None else None,
        )

    def look(self) -> Setup:
        settings = self._settings
        fixed = settings.named.by
        return Setup(
            provider=settings.model.provider,
            model=settings.model.name,
            is_demo=settings.model.provider == "demo",
            base_url=settings.base_url,
            key_hint=key_hint(settings.key),
            key_from=settings.key_from,
            can_change=fixed is None,
            reason=Reason(Code.SETUP_FIXED, {"by": fixed}) if fixed is not None else None,
        )

    async def trial(self, wanted: WantedSetup) -> SetupTrial:
        """Ask for the list of models, and, where one is named, that one for a word. Raises: InvalidInput."""
        from pilothouse.llm.openai import OpenAIAdapter

        base_url, key = self._address_and_key(wanted)
        adapter = OpenAIAdapter(base_url, key, silence_seconds=TRIAL_SECONDS)
        models: list[str] = []
        try:
            async with asyncio.timeout(TRIAL_SECONDS):
                try:
                    models = await adapter.models()
                except ModelRefused as error:
                    if wanted.model is None or error.reason.code is Code.MODEL_AUTH:
                        raise  # else it lists none, which says nothing about the model
                if wanted.model is not None:
                    await _say_a_word(adapter, wanted.model)
            return SetupTrial(ok=True, models=tuple(models))
        except TimeoutError:
            reason = Reason(Code.MODEL_TIMEOUT, {"seconds": TRIAL_SECONDS})
        except ModelError as error:
            reason = error.reason
        finally:
            await adapter.close()
        return SetupTrial(ok=False, models=tuple(models), reason=reason)

    def keep(self, wanted: WantedSetup) -> Provided | None:
        """Raises: Conflict where something else names the model, InvalidInput, StoreRefused."""
        if self._settings.named.by is not None:
            raise Conflict(Code.SETUP_FIXED, by=self._settings.named.by)
        if wanted.model is None:
            raise InvalidInput(Code.INVALID_REQUEST, detail="a model is needed")
        base_url, key = self._address_and_key(wanted)
        stored = StoredSetup(base_url=base_url, key=key, model=wanted.model)
        return self._changed(stored, lambda: self._credentials.write(stored))

    def forget(self) -> Provided | None:
        """Raises: InvalidInput where what is left would not do, StoreRefused."""
        return self._changed(None, self._credentials.remove)

    def _changed(self, stored: StoredSetup | None, write: Callable[[], None]) -> Provided | None:
        """None where it stays as it was."""
        changed = with_setup(self._settings, stored)
        # What would not do is not written.
        provided = self._provided(changed) if changed != self._settings else None
        write()
        self._settings = changed
        return provided

    def _address_and_key(self, wanted: WantedSetup) -> tuple[str, str | None]:
        """A key that was given for one address is sent to no other. Raises: InvalidInput."""
        base_url = check_address(wanted.base_url or self._settings.base_url)
        if wanted.key is not None:
            if wanted.key in self._secrets:
                self._secrets.remove(wanted.key)
            self._secrets.append(wanted.key)
            return base_url, wanted.key
        is_same = base_url == self._settings.base_url.rstrip("/")
        return base_url, self._settings.key if is_same else None


async def _say_a_word(adapter: Adapter, model: str) -> None:
    """Until something comes. Raises: ModelError."""
    said = UserText(content=_TRIAL_WORDS)
    request = ModelRequest(model=model, system=_TRIAL_PROMPT, messages=[adapter.encode(said)])
    async with aclosing(adapter.stream(request)) as events:
        async for event in events:
            if not isinstance(event, Connected):
                return
    raise ModelUnavailable(Code.MODEL_CUT)


def _models(settings: Settings) -> list[str]:
    """Those that the person's file names, and at OpenAI's own address all of its that are known."""
    if settings.model.provider != "openai":
        return []
    at_openai = settings.base_url == OPENAI_URL
    known = settings.configuration.catalogue.known()
    return [
        name for name in known if name in settings.configuration.file.models or (at_openai and _OPENAIS.match(name))
    ]
