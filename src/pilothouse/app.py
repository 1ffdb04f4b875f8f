"""The only place that knows every part: a runtime made from settings."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from pilothouse.ambient import Ambient, SystemAmbient, timestamp
from pilothouse.llm.base import Adapter
from pilothouse.runtime.parts import Limits, Parts, Processor, Titles
from pilothouse.runtime.runtime import Runtime
from pilothouse.settings import OPENAI_URL, ModelChoice, Settings
from pilothouse.storage.base import Store
from pilothouse.storage.files.store import FileStore
from pilothouse.tools.builtin import builtin_tools
from pilothouse.tools.registry import Registry
from pilothouse.tracing import tracing_from


def build_runtime(
    settings: Settings,
    environment: Mapping[str, str],
    *,
    adapter: Adapter | None = None,
    store: Store | None = None,
    limits: Limits | None = None,
    processors: Sequence[Processor] = (),
    roots: Sequence[Path] = (),
) -> Runtime:
    """Raises: StoreLocked, InvalidInput."""
    ambient: Ambient = SystemAmbient()
    configuration = settings.configuration
    tracing = tracing_from(environment, ambient, settings.model.name)
    return Runtime(
        Parts(
            store=store or FileStore(settings.data_dir, now=lambda: timestamp(ambient.now())),
            adapter=adapter or build_adapter(settings, settings.model),
            model=settings.model.name,
            registry=Registry(builtin_tools(environment)),
            ambient=ambient,
            modes=configuration.modes,
            personas=configuration.personas,
            prices=configuration.prices,
            steering=configuration.steering,
            titles=_titles(settings),
            limits=limits or _limits(settings),
            processors=processors,
            private=_private(settings),
            roots=roots,
            trace=tracing.entered if tracing is not None else None,
            trace_change=tracing.committed if tracing is not None else None,
        )
    )


def _private(settings: Settings) -> tuple[Path, ...]:
    """What no tool may touch: the data, and the person's configuration with all that lies beside it."""
    file = settings.configuration.user_file
    return (settings.data_dir, file, *([file.parent] if file.parent.name == "pilothouse" else []))


def _limits(settings: Settings) -> Limits:
    given = msgspec.structs.asdict(settings.configuration.file.limits)
    return Limits(**{name: value for name, value in given.items() if value is not None})


def _titles(settings: Settings) -> Titles | None:
    choice = settings.title_model
    return Titles(build_adapter(settings, choice), choice.name) if choice is not None else None


def build_adapter(settings: Settings, choice: ModelChoice) -> Adapter:
    """Adapters are imported when they are needed: a conversation with one does not load the others."""
    if choice.provider == "openai":
        from pilothouse.llm.openai import OpenAIAdapter

        return OpenAIAdapter(settings.base_url or OPENAI_URL, settings.key)
    if choice.provider == "scripted":
        from pilothouse.llm.script import load_script
        from pilothouse.llm.scripted import ScriptedAdapter

        return ScriptedAdapter(load_script(Path(choice.name)))
    from pilothouse.llm.demo import DemoAdapter

    return DemoAdapter()
