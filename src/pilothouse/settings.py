"""Settings: what the command line, the environment and the person's file say, in this order, checked."""

from collections.abc import Callable, Mapping
from pathlib import Path

from pilothouse.ambient import SystemAmbient, timestamp
from pilothouse.config.files import Configuration
from pilothouse.config.trust import Trust
from pilothouse.domain.codes import Code, Language
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.values import Timestamp, Value

OPENAI_URL = "https://api.openai.com/v1"
_DEFAULT_OPENAI_MODEL = "gpt-4.1-mini"
_MODELS = "demo, openai:NAME, scripted:FILE"


class ModelChoice(Value):
    """`provider` is one of openai, demo, scripted; `name` is its model's, or the script's path."""

    provider: str
    name: str


class Settings(Value, kw_only=True):
    """`mode` is what the command line or the environment says; without them, the files decide by folder. `access` is
    the token of the server's local user, where the environment sets it."""

    model: ModelChoice
    title_model: ModelChoice | None = None
    mode: str | None = None
    data_dir: Path
    language: Language = "en"
    base_url: str | None = None
    key: str | None = None
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
    """The command line first, then the environment, then the file, then defaults.

    Raises: InvalidInput, naming what is wrong and what is allowed.
    """
    configuration = Configuration(_user_file(environment, config))
    file = configuration.file
    kept = _data_dir(environment, data_dir or environment.get("PILOTHOUSE_DATA_DIR") or file.data_dir)
    configuration.trusted = Trust(kept / "trust.json", now)
    key = environment.get("OPENAI_API_KEY") or None
    base_url = environment.get("OPENAI_BASE_URL") or None
    named = model or environment.get("PILOTHOUSE_MODEL") or file.model
    chosen = _model(named or (f"openai:{_DEFAULT_OPENAI_MODEL}" if key else "demo"), key, base_url)
    wanted = mode or environment.get("PILOTHOUSE_MODE")
    return Settings(
        model=chosen,
        title_model=_model(file.title_model, key, base_url) if file.title_model is not None else None,
        mode=configuration.modes.named(wanted).name if wanted else None,
        data_dir=kept,
        language=file.language or language_of(environment),
        base_url=base_url or OPENAI_URL,
        key=key,
        access=environment.get("PILOTHOUSE_TOKEN") or None,
        configuration=configuration,
    )


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
