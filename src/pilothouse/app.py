"""The only place that knows every part: a runtime made from settings."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import msgspec

from pilothouse.ambient import Ambient, SystemAmbient, timestamp
from pilothouse.config.reading import read_text
from pilothouse.llm.base import Adapter
from pilothouse.provider import Provider
from pilothouse.runtime.parts import Limits, Parts, Processor
from pilothouse.runtime.runtime import Runtime
from pilothouse.sandbox.workspace import Root
from pilothouse.settings import Settings
from pilothouse.storage.base import Store
from pilothouse.storage.files.store import FileStore
from pilothouse.tools.base import Category, Tool
from pilothouse.tools.builtin import builtin_tools
from pilothouse.tools.mcp.definitions import read_definitions, server_warnings
from pilothouse.tools.mcp.servers import AcceptedTools, Servers
from pilothouse.tools.own import tools_of_file, tools_of_packages
from pilothouse.tools.registry import Registry
from pilothouse.tools.undo.limits import UndoLimits
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
    user_roots: Mapping[str, Sequence[Path]] | None = None,
) -> Runtime:
    """Raises: StoreLocked, InvalidInput."""
    ambient: Ambient = SystemAmbient()
    configuration = settings.configuration
    configuration.read_servers = server_warnings
    provider = Provider(settings)
    tracing = tracing_from(environment, ambient, lambda context_id: runtime.model_of(context_id))
    registry = Registry(configured_tools(settings, environment))
    provided = provider.provided()
    runtime = Runtime(
        Parts(
            store=store
            or FileStore(settings.data_dir, now=lambda: timestamp(ambient.now()), state_dir=settings.state_dir),
            adapter=adapter or provided.adapter,
            model=provided.model,
            registry=registry,
            ambient=ambient,
            modes=configuration.modes,
            personas=configuration.personas,
            catalogue=configuration.catalogue,
            models=provided.models,
            provider=provider if adapter is None else None,
            budget=configuration.budget,
            token_budget=configuration.file.window.token_budget,
            overview=configuration.overview,
            steering=configuration.steering,
            trust=configuration,
            servers=_servers(settings, environment, registry, ambient),
            titles=provided.titles,
            limits=limits or _limits(settings),
            processors=processors,
            private=_private(settings),
            baselines=settings.data_dir / "cache" / "baselines",
            undo=UndoLimits(**msgspec.structs.asdict(configuration.file.undo)),
            roots=roots,
            user_roots=user_roots or {},
            also=[Root(Path(root.path), root.writable) for root in configuration.roots],
            trace=tracing.entered if tracing is not None else None,
            trace_change=tracing.committed if tracing is not None else None,
        )
    )
    return runtime


def configured_tools(settings: Settings, environment: Mapping[str, str]) -> list[Tool[Any]]:
    """Those that come with it, those of installed packages, the person's own. From then on, the configuration is
    checked against them.

    Raises: InvalidInput, also where a file names a tool that does not exist.
    """
    given = settings.configuration.tools
    own = [tool for path in given.files for tool in tools_of_file(path)]
    tools = [*builtin_tools(environment, given.sandbox), *tools_of_packages(), *own]
    settings.configuration.check_tools({tool.name for tool in tools}, get_args(Category))
    return tools


def _servers(settings: Settings, environment: Mapping[str, str], registry: Registry, ambient: Ambient) -> Servers:
    """Raises: InvalidInput."""
    file = settings.configuration.servers_file
    text = read_text(file)
    return Servers(
        registry,
        read_definitions(text, str(file)).servers if text is not None else [],
        environment=environment,
        ambient=ambient,
        accepted=AcceptedTools(settings.data_dir / "accepted_tools.json"),
        may_start=settings.configuration.are_programs_as_trusted,
    )


def _private(settings: Settings) -> tuple[Path, ...]:
    """What no tool may touch: the data, what is noted of it, and the person's configuration with all that lies beside
    it."""
    own = settings.configuration.own_files
    folder = own[0].parent
    state = [settings.state_dir] if settings.state_dir is not None else []
    return (settings.data_dir, *state, *own, *([folder] if folder.name == "pilothouse" else []))


def _limits(settings: Settings) -> Limits:
    given = msgspec.structs.asdict(settings.configuration.file.limits)
    return Limits(**{name: value for name, value in given.items() if value is not None})
