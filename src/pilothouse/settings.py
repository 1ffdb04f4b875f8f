"""Settings: what the command line and the environment say, checked."""

from collections.abc import Mapping
from pathlib import Path

from pilothouse.domain.codes import Code, Language
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.modes import DEFAULT_MODE, Modes
from pilothouse.domain.values import Value

OPENAI_URL = "https://api.openai.com/v1"
_DEFAULT_OPENAI_MODEL = "gpt-4.1-mini"
_MODELS = "demo, openai:NAME, scripted:FILE"


class Settings(Value):
    """`provider` is one of openai, demo, scripted; `model` is its model's name, or the script's path."""

    provider: str
    model: str
    mode: str
    data_dir: Path
    language: Language = "en"
    base_url: str | None = None
    key: str | None = None


def read_settings(
    environment: Mapping[str, str], *, model: str | None = None, mode: str | None = None, data_dir: str | None = None
) -> Settings:
    """The command line first, then the environment, then defaults.

    Raises: InvalidInput, naming what is wrong and what is allowed.
    """
    key = environment.get("OPENAI_API_KEY") or None
    base_url = environment.get("OPENAI_BASE_URL") or None
    named = model or environment.get("PILOTHOUSE_MODEL") or (f"openai:{_DEFAULT_OPENAI_MODEL}" if key else "demo")
    provider, _, name = named.partition(":")
    if provider not in ("demo", "openai", "scripted") or (provider != "demo" and not name):
        raise InvalidInput(Code.UNKNOWN_MODEL, model=named, allowed=_MODELS)
    if provider == "openai" and key is None and base_url is None:
        raise InvalidInput(Code.MISSING_KEY, model=named, variable="OPENAI_API_KEY")
    return Settings(
        provider=provider,
        model=name or provider,
        mode=Modes().named(mode or environment.get("PILOTHOUSE_MODE") or DEFAULT_MODE).name,
        data_dir=_data_dir(environment, data_dir),
        language=_language(environment),
        base_url=base_url or OPENAI_URL,
        key=key,
    )


def _data_dir(environment: Mapping[str, str], given: str | None) -> Path:
    named = given or environment.get("PILOTHOUSE_DATA_DIR")
    if named:
        return Path(named).expanduser()
    shared = environment.get("XDG_DATA_HOME")
    return (Path(shared) if shared else Path.home() / ".local" / "share") / "pilothouse"


def _language(environment: Mapping[str, str]) -> Language:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environment.get(name):
            return "zh" if environment[name].lower().startswith("zh") else "en"
    return "en"
