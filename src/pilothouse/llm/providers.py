"""The registry of providers: how settings name them, and how their adapters are built. Another provider is an adapter
in a module of its own, and an entry here."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from pilothouse.domain.value import Value
from pilothouse.llm.base import Adapter

DEFAULT_PROVIDER = "openai"
"""The provider of model names without one. Earlier versions stored only names, all of this provider."""
DEMO = "demo"
OPENAI_URL = "https://api.openai.com/v1"


class Connection(Value):
    """The model, the address and the key for which an adapter is built."""

    model: str
    base_url: str = ""
    key: str | None = None
    silence_seconds: float | None = None
    """How long the server may send nothing; None for the adapter's own limit."""


class ProviderServer(NamedTuple):
    """The server of a provider that is reached over the network."""

    url: str
    """The provider's own address, where settings name no other."""
    key_variable: str
    """The environment variable of the API key."""
    default_model: str
    own_models: re.Pattern[str]
    """The models of the catalog that the provider's own address serves."""


class Provider(NamedTuple):
    model_form: str
    """How settings name a model of the provider."""
    build: Callable[[Connection], Adapter]
    server: ProviderServer | None = None
    """None for a model in this process, which needs no key."""


# The modules of adapters are imported when an adapter is built: a start imports only those in use.


def _build_openai(connection: Connection) -> Adapter:
    from pilothouse.llm.openai import READ_TIMEOUT_SECONDS, OpenAIAdapter

    seconds = READ_TIMEOUT_SECONDS if connection.silence_seconds is None else connection.silence_seconds
    return OpenAIAdapter(connection.base_url, connection.key, silence_seconds=seconds)


def _build_scripted(connection: Connection) -> Adapter:
    from pilothouse.llm.script import load_script
    from pilothouse.llm.scripted import ScriptedAdapter

    return ScriptedAdapter(load_script(Path(connection.model)))


def _build_demo(_: Connection) -> Adapter:
    from pilothouse.llm.demo import DemoAdapter

    return DemoAdapter()


_OPENAI_SERVER = ProviderServer(OPENAI_URL, "OPENAI_API_KEY", "gpt-4.1-mini", re.compile(r"gpt-|o\d"))

PROVIDERS: Mapping[str, Provider] = {
    DEMO: Provider("demo", _build_demo),
    "openai": Provider("openai:NAME", _build_openai, _OPENAI_SERVER),
    "scripted": Provider("scripted:FILE", _build_scripted),
}


def key_variables() -> frozenset[str]:
    """The environment variables that hold API keys."""
    return frozenset(each.server.key_variable for each in PROVIDERS.values() if each.server is not None)
