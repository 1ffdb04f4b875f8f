"""The checked settings, from the command line, the environment, the user's configuration file and the setup stored by
the web client, in this order of precedence."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from pilothouse.config.configuration import Configuration
from pilothouse.config.credentials import Credentials, StoredSetup
from pilothouse.config.trust import Trust
from pilothouse.domain.codes import LANGUAGES, Code, Language, Reason
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.model_names import ModelName
from pilothouse.domain.provider_setup import KeyFrom
from pilothouse.domain.value import Timestamp, Value
from pilothouse.llm.providers import DEFAULT_PROVIDER, DEMO, OPENAI_URL, PROVIDERS
from pilothouse.system.ambient import SystemAmbient, timestamp

CREDENTIALS_FILE = "credentials.json"


class ExplicitModel(Value, kw_only=True):
    """The model as the command line, the environment and the configuration file set it."""

    model: str | None = None
    title_model: str | None = None
    base_url: str | None = None
    key: str | None = None
    source: str | None = None
    """The option, variable or file that sets the model or its key; the stored setup is then ignored."""


class Settings(Value, kw_only=True):
    model: ModelName
    """The name of a scripted model is the path of its script."""
    title_model: ModelName | None = None
    mode: str | None = None
    """The mode from the command line or the environment; without one, the configuration files decide per folder."""
    data_dir: Path
    state_dir: Path | None = None
    """The folder for the ends of audit chains, outside the data directory; None without a home folder."""
    language: Language = "en"
    base_url: str = OPENAI_URL
    key: str | None = None
    key_from: KeyFrom | None = None
    explicit: ExplicitModel = ExplicitModel()
    access: str | None = None
    """The token of the server's local user, if the environment sets it."""
    configuration: Configuration


def read_settings(
    environment: Mapping[str, str],
    *,
    model: str | None = None,
    mode: str | None = None,
    data_dir: str | None = None,
    config: str | None = None,
    now: Callable[[], Timestamp] = lambda: timestamp(SystemAmbient().now()),
) -> Settings:
    """Read the settings. The command line overrides the environment, then come the configuration file, the setup stored
    by the web client, and defaults.

    Raises: InvalidInput, with the invalid value and what is allowed.
    """
    configuration = Configuration(_user_file(environment, config))
    file = configuration.file
    data_path = _data_dir(environment, data_dir or environment.get("PILOTHOUSE_DATA_DIR") or file.data_dir)
    configuration.trust_store = Trust(data_path / "trust.json", now)
    explicit = _explicit_model(environment, model, configuration)
    mode_name = mode or environment.get("PILOTHOUSE_MODE")
    stored = Credentials(data_path / CREDENTIALS_FILE).read() if explicit.source is None else None
    return Settings(
        **_resolve_models(explicit, stored),
        explicit=explicit,
        mode=configuration.modes.named(mode_name).name if mode_name else None,
        data_dir=data_path,
        state_dir=_state_dir(environment),
        language=file.language or language_of(environment),
        access=environment.get("PILOTHOUSE_TOKEN") or None,
        configuration=configuration,
    )


def with_setup(settings: Settings, stored: StoredSetup | None) -> Settings:
    """Return the settings with another stored setup, or with none. Raises: InvalidInput if the result is not usable."""
    changed: Settings = msgspec.structs.replace(settings, **_resolve_models(settings.explicit, stored))
    return changed


def _explicit_model(environment: Mapping[str, str], model: str | None, configuration: Configuration) -> ExplicitModel:
    file, key = configuration.file, environment.get("OPENAI_API_KEY") or None
    sources = {
        "--model": model,
        "PILOTHOUSE_MODEL": environment.get("PILOTHOUSE_MODEL"),
        str(configuration.user_file): file.model,
        "OPENAI_API_KEY": key,
    }
    return ExplicitModel(
        model=model or environment.get("PILOTHOUSE_MODEL") or file.model,
        title_model=file.title_model,
        base_url=_base_url(environment),
        key=key,
        source=next((name for name, value in sources.items() if value), None),
    )


def _base_url(environment: Mapping[str, str]) -> str | None:
    """Raises: InvalidInput for an address that is not http or https."""
    base_url = environment.get("OPENAI_BASE_URL") or None
    if base_url is not None and not base_url.startswith(("http://", "https://")):
        raise InvalidInput(Code.INVALID_BASE_URL, address=base_url)
    return base_url


def _resolve_models(explicit: ExplicitModel, stored: StoredSetup | None) -> dict[str, Any]:
    key, base_url, key_from = explicit.key, explicit.base_url, "environment" if explicit.key else None
    model = explicit.model or (_default_model(DEFAULT_PROVIDER) if key else DEMO)
    if stored is not None and explicit.source is None:
        key, base_url, key_from = stored.key, stored.base_url, "stored" if stored.key else None
        model = f"{stored.provider}:{stored.model}"
    return {
        "model": _model(model, key, base_url),
        "title_model": _model(explicit.title_model, key, base_url) if explicit.title_model is not None else None,
        "base_url": base_url or OPENAI_URL,
        "key": key,
        "key_from": key_from,
    }


def _default_model(provider: str) -> str:
    server = PROVIDERS[provider].server
    assert server is not None
    return f"{provider}:{server.default_model}"


def _model(text: str, key: str | None, base_url: str | None) -> ModelName:
    """Parse `PROVIDER:NAME`. Raises: InvalidInput."""
    model = ModelName(DEMO, DEMO) if text == DEMO else ModelName.parse(text, PROVIDERS, default="")
    provider = PROVIDERS.get(model.provider)
    if provider is None or not model.name:
        allowed = ", ".join(each.model_form for each in PROVIDERS.values())
        raise InvalidInput(Code.UNKNOWN_MODEL, model=text, allowed=allowed)
    if provider.server is not None and key is None and base_url is None:
        raise InvalidInput(Code.MISSING_KEY, model=text, variable=provider.server.key_variable)
    return model


def _user_file(environment: Mapping[str, str], option: str | None) -> Path:
    text = option or environment.get("PILOTHOUSE_CONFIG")
    if text:
        return _path(text)
    xdg_folder = environment.get("XDG_CONFIG_HOME")
    return (Path(xdg_folder) if xdg_folder else Path.home() / ".config") / "pilothouse" / "config.toml"


def _data_dir(environment: Mapping[str, str], text: str | None) -> Path:
    if text:
        return _path(text)
    xdg_folder = environment.get("XDG_DATA_HOME")
    return (Path(xdg_folder) if xdg_folder else Path.home() / ".local" / "share") / "pilothouse"


def _state_dir(environment: Mapping[str, str]) -> Path | None:
    xdg_folder, home = environment.get("XDG_STATE_HOME"), environment.get("HOME")
    if xdg_folder:
        return Path(xdg_folder) / "pilothouse"
    return Path(home) / ".local" / "state" / "pilothouse" if home else None


def _path(text: str) -> Path:
    """Raises: InvalidInput."""
    try:
        if "\0" in text:
            raise ValueError(text)
        return Path(text).expanduser()
    except (ValueError, RuntimeError) as error:
        raise InvalidInput(Code.INVALID_PATH, path=text) from error


def language_of(environment: Mapping[str, str]) -> Language:
    """Return the language of the locale; English if it is not supported."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environment.get(name):
            return next((each for each in LANGUAGES if environment[name].lower().startswith(each)), "en")
    return "en"


def placement_warnings(data: Path, roots: Iterable[Path]) -> list[Reason]:
    """Warn about a data directory inside a workspace that belongs to a git work tree."""
    real = Path(os.path.realpath(data))
    if not any(Path(os.path.realpath(root)) in real.parents for root in roots):
        return []
    repository = next((folder for folder in real.parents if (folder / ".git").exists()), None)
    if repository is None:
        return []
    return [Reason(Code.DATA_IN_REPOSITORY, {"path": str(data), "repository": str(repository)})]
