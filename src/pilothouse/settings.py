"""Settings: what the command line, the environment, the person's file and the set-up of the page say, in this order,
checked."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from pilothouse.ambient import SystemAmbient, timestamp
from pilothouse.config.credentials import Credentials, StoredSetup
from pilothouse.config.files import Configuration
from pilothouse.config.trust import Trust
from pilothouse.domain.codes import Code, Language, Reason
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.setup import KeyFrom
from pilothouse.domain.values import Timestamp, Value

OPENAI_URL = "https://api.openai.com/v1"
CREDENTIALS = "credentials.json"
_DEFAULT_OPENAI_MODEL = "gpt-4.1-mini"
_MODELS = "demo, openai:NAME, scripted:FILE"


class ModelChoice(Value):
    """`provider` is one of openai, demo, scripted; `name` is its model's, or the script's path."""

    provider: str
    name: str


class Named(Value, kw_only=True):
    """What the command line, the environment and the file say of the model. `by` is what of them names it or its key:
    then no set-up of the page counts."""

    model: str | None = None
    title_model: str | None = None
    base_url: str | None = None
    key: str | None = None
    by: str | None = None


class Settings(Value, kw_only=True):
    """`mode` is what the command line or the environment says; without them, the files decide by folder. `access` is
    the token of the server's local user, where the environment sets it."""

    model: ModelChoice
    title_model: ModelChoice | None = None
    mode: str | None = None
    data_dir: Path
    state_dir: Path | None = None
    """Where the ends of audit chains are noted, outside the data directory; None where there is no home folder."""
    language: Language = "en"
    base_url: str = OPENAI_URL
    key: str | None = None
    key_from: KeyFrom | None = None
    named: Named = Named()
    access: str | None = None
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
    """The command line first, then the environment, then the file, then the set-up of the page, then defaults.

    Raises: InvalidInput, naming what is wrong and what is allowed.
    """
    configuration = Configuration(_user_file(environment, config))
    file = configuration.file
    kept = _data_dir(environment, data_dir or environment.get("PILOTHOUSE_DATA_DIR") or file.data_dir)
    configuration.trusted = Trust(kept / "trust.json", now)
    named = _named(environment, model, configuration)
    wanted = mode or environment.get("PILOTHOUSE_MODE")
    stored = Credentials(kept / CREDENTIALS).read() if named.by is None else None
    return Settings(
        **_chosen(named, stored),
        named=named,
        mode=configuration.modes.named(wanted).name if wanted else None,
        data_dir=kept,
        state_dir=_state_dir(environment),
        language=file.language or language_of(environment),
        access=environment.get("PILOTHOUSE_TOKEN") or None,
        configuration=configuration,
    )


def with_setup(settings: Settings, stored: StoredSetup | None) -> Settings:
    """The same with another set-up of the page, or with none. Raises: InvalidInput where that would not do."""
    changed: Settings = msgspec.structs.replace(settings, **_chosen(settings.named, stored))
    return changed


def _named(environment: Mapping[str, str], model: str | None, configuration: Configuration) -> Named:
    file, key = configuration.file, environment.get("OPENAI_API_KEY") or None
    said = {
        "--model": model,
        "PILOTHOUSE_MODEL": environment.get("PILOTHOUSE_MODEL"),
        str(configuration.own_files[0]): file.model,
        "OPENAI_API_KEY": key,
    }
    return Named(
        model=model or environment.get("PILOTHOUSE_MODEL") or file.model,
        title_model=file.title_model,
        base_url=_base_url(environment),
        key=key,
        by=next((name for name, value in said.items() if value), None),
    )


def _base_url(environment: Mapping[str, str]) -> str | None:
    """Raises: InvalidInput for what is no address of a web server."""
    base_url = environment.get("OPENAI_BASE_URL") or None
    if base_url is not None and not base_url.startswith(("http://", "https://")):
        raise InvalidInput(Code.INVALID_BASE_URL, address=base_url)
    return base_url


def _chosen(named: Named, stored: StoredSetup | None) -> dict[str, Any]:
    key, base_url, key_from = named.key, named.base_url, "environment" if named.key else None
    model = named.model or (f"openai:{_DEFAULT_OPENAI_MODEL}" if key else "demo")
    if stored is not None and named.by is None:
        key, base_url, key_from = stored.key, stored.base_url, "stored" if stored.key else None
        model = f"{stored.provider}:{stored.model}"
    return {
        "model": _model(model, key, base_url),
        "title_model": _model(named.title_model, key, base_url) if named.title_model is not None else None,
        "base_url": base_url or OPENAI_URL,
        "key": key,
        "key_from": key_from,
    }


def _model(named: str, key: str | None, base_url: str | None) -> ModelChoice:
    provider, _, name = named.partition(":")
    if provider not in ("demo", "openai", "scripted") or (provider != "demo" and not name):
        raise InvalidInput(Code.UNKNOWN_MODEL, model=named, allowed=_MODELS)
    if provider == "openai" and key is None and base_url is None:
        raise InvalidInput(Code.MISSING_KEY, model=named, variable="OPENAI_API_KEY")
    return ModelChoice(provider, name or provider)


def _user_file(environment: Mapping[str, str], given: str | None) -> Path:
    named = given or environment.get("PILOTHOUSE_CONFIG")
    if named:
        return _path(named)
    shared = environment.get("XDG_CONFIG_HOME")
    return (Path(shared) if shared else Path.home() / ".config") / "pilothouse" / "config.toml"


def _data_dir(environment: Mapping[str, str], named: str | None) -> Path:
    if named:
        return _path(named)
    shared = environment.get("XDG_DATA_HOME")
    return (Path(shared) if shared else Path.home() / ".local" / "share") / "pilothouse"


def _state_dir(environment: Mapping[str, str]) -> Path | None:
    shared, home = environment.get("XDG_STATE_HOME"), environment.get("HOME")
    if shared:
        return Path(shared) / "pilothouse"
    return Path(home) / ".local" / "state" / "pilothouse" if home else None


def _path(text: str) -> Path:
    try:
        if "\0" in text:
            raise ValueError(text)
        return Path(text).expanduser()
    except (ValueError, RuntimeError) as error:
        raise InvalidInput(Code.INVALID_PATH, path=text) from error


def language_of(environment: Mapping[str, str]) -> Language:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environment.get(name):
            return "zh" if environment[name].lower().startswith("zh") else "en"
    return "en"


def placement_warnings(data: Path, roots: Iterable[Path]) -> list[Reason]:
    """Warns of a data directory inside a workspace that belongs to a git work tree."""
    real = Path(os.path.realpath(data))
    if not any(Path(os.path.realpath(root)) in real.parents for root in roots):
        return []
    repository = next((folder for folder in real.parents if (folder / ".git").exists()), None)
    if repository is None:
        return []
    return [Reason(Code.DATA_IN_REPOSITORY, {"path": str(data), "repository": str(repository)})]
