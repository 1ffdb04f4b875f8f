"""The only place that knows every part: a runtime made from settings."""

from collections.abc import Mapping
from pathlib import Path

from pilothouse.ambient import Ambient, SystemAmbient, timestamp
from pilothouse.llm.base import Adapter
from pilothouse.runtime.parts import Limits, Parts
from pilothouse.runtime.runtime import Runtime
from pilothouse.settings import OPENAI_URL, Settings
from pilothouse.storage.base import Store
from pilothouse.storage.files.store import FileStore
from pilothouse.tools.builtin import builtin_tools
from pilothouse.tools.registry import Registry


def build_runtime(
    settings: Settings,
    environment: Mapping[str, str],
    *,
    adapter: Adapter | None = None,
    store: Store | None = None,
    limits: Limits | None = None,
) -> Runtime:
    """Raises: StoreLocked, InvalidInput."""
    ambient: Ambient = SystemAmbient()
    return Runtime(
        Parts(
            store=store or FileStore(settings.data_dir, now=lambda: timestamp(ambient.now())),
            adapter=adapter or build_adapter(settings),
            model=settings.model,
            registry=Registry(builtin_tools(environment)),
            ambient=ambient,
            limits=limits or Limits(),
            private=(settings.data_dir,),
        )
    )


def build_adapter(settings: Settings) -> Adapter:
    """Adapters are imported when they are needed: a conversation with one does not load the others."""
    if settings.provider == "openai":
        from pilothouse.llm.openai import OpenAIAdapter

        return OpenAIAdapter(settings.base_url or OPENAI_URL, settings.key)
    if settings.provider == "scripted":
        from pilothouse.llm.script import load_script
        from pilothouse.llm.scripted import ScriptedAdapter

        return ScriptedAdapter(load_script(Path(settings.model)))
    from pilothouse.llm.demo import DemoAdapter

    return DemoAdapter()
