"""The composition root: builds a runtime and all its dependencies from settings."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import msgspec

from pilothouse.config.toml_document import read_text
from pilothouse.llm.base import Adapter
from pilothouse.provider import ProviderSetup
from pilothouse.runtime.dependencies import Processor, RuntimeDependencies
from pilothouse.runtime.limits import Limits
from pilothouse.runtime.runtime import Runtime
from pilothouse.sandbox.command_environment import CommandEnvironment
from pilothouse.sandbox.workspace import Root
from pilothouse.settings import Settings, read_settings
from pilothouse.storage.base import Store
from pilothouse.storage.files.store import FileStore
from pilothouse.system.ambient import Ambient, SystemAmbient, timestamp
from pilothouse.tools.base import Category, Tool
from pilothouse.tools.builtin import builtin_tools
from pilothouse.tools.extensions import load_processors, load_scorer
from pilothouse.tools.function_tools import tools_of_file, tools_of_packages
from pilothouse.tools.mcp.definitions import mcp_server_warnings, read_definitions
from pilothouse.tools.mcp.servers import AcceptedTools, MCPServers
from pilothouse.tools.registry import Registry
from pilothouse.tools.undo.limits import UndoLimits
from pilothouse.tracing import tracing_from


def build_runtime(
    settings: Settings | None = None,
    environment: Mapping[str, str] | None = None,
    *,
    tools: Sequence[Tool[Any]] = (),
    adapter: Adapter | None = None,
    store: Store | None = None,
    limits: Limits | None = None,
    processors: Sequence[Processor] = (),
    roots: Sequence[Path] = (),
    user_roots: Mapping[str, Sequence[Path]] | None = None,
) -> Runtime:
    """Build a runtime from settings; without them, from the environment and the configuration files. `tools` and
    `processors` are added to those of the settings; `adapter`, `store` and `limits` replace them.

    Raises: StoreLocked, InvalidInput.
    """
    environment = os.environ if environment is None else environment
    settings = settings or read_settings(environment)
    ambient: Ambient = SystemAmbient()
    configuration = settings.configuration
    configuration.read_mcp_server_warnings = mcp_server_warnings
    provider = ProviderSetup(settings)
    tracing = tracing_from(environment, ambient, lambda context_id: runtime.contexts.model_in_memory(context_id))
    registry = Registry(configured_tools(settings, tools))
    handle = provider.handle()
    folder = configuration.user_file.parent
    scorer = configuration.file.window.scorer
    own_scorer: dict[str, Any] = {"importance": load_scorer(scorer, folder)} if scorer is not None else {}
    runtime = Runtime(
        RuntimeDependencies(
            store=store or open_file_store(settings, ambient),
            adapter=adapter or handle.adapter,
            model=handle.model,
            registry=registry,
            ambient=ambient,
            modes=configuration.modes,
            personas=configuration.personas,
            catalog=configuration.model_catalog,
            models=handle.models,
            provider=provider if adapter is None else None,
            budget=configuration.budget,
            token_budget=configuration.file.window.token_budget,
            overview=configuration.overview,
            workspace_policy=configuration.workspace_policy,
            trust=configuration,
            mcp_servers=_mcp_servers(settings, environment, registry, ambient),
            titles=handle.titles,
            limits=limits or _limits(settings),
            command_environment=CommandEnvironment.of(environment, configuration.command_variables),
            processors=[*load_processors(configuration.file.processors, folder), *processors],
            **own_scorer,
            private_folders=_private_folders(settings),
            baseline_cache=settings.data_dir / "cache" / "baselines",
            undo=UndoLimits(**msgspec.structs.asdict(configuration.file.undo)),
            roots=roots,
            user_roots=user_roots or {},
            extra_roots=[Root(Path(root.path), root.writable) for root in configuration.roots],
            trace=tracing.entered if tracing is not None else None,
            trace_change=tracing.committed if tracing is not None else None,
        )
    )
    return runtime


def open_file_store(settings: Settings, ambient: Ambient) -> FileStore:
    """Open the store in the data directory. Raises: StoreLocked."""
    return FileStore(settings.data_dir, now=lambda: timestamp(ambient.now()), state_dir=settings.state_dir)


def configured_tools(settings: Settings, more_tools: Sequence[Tool[Any]] = ()) -> list[Tool[Any]]:
    """Load the built-in tools, those of installed packages, the user's own, and those of a program. From now on, the
    tools that configuration files name are checked against them.

    Raises: InvalidInput, also if a file names an unknown tool.
    """
    tool_settings = settings.configuration.tools
    own_tools = [tool for path in tool_settings.files for tool in tools_of_file(path)]
    tools = [*builtin_tools(tool_settings.sandbox), *tools_of_packages(), *own_tools, *more_tools]
    settings.configuration.check_tools({tool.name for tool in tools}, get_args(Category))
    return tools


def _mcp_servers(
    settings: Settings, environment: Mapping[str, str], registry: Registry, ambient: Ambient
) -> MCPServers:
    """Raises: InvalidInput."""
    file = settings.configuration.mcp_servers_file
    text = read_text(file)
    return MCPServers(
        registry,
        read_definitions(text, str(file)).servers if text is not None else [],
        environment=environment,
        ambient=ambient,
        accepted=AcceptedTools(settings.data_dir / "accepted_tools.json"),
        may_start=settings.configuration.has_unchanged_programs,
    )


def _private_folders(settings: Settings) -> tuple[Path, ...]:
    """Return the paths that no tool may touch: the data and state directories, and the user's configuration with the
    whole folder around it."""
    user_files = settings.configuration.user_files
    folder = user_files[0].parent
    state = [settings.state_dir] if settings.state_dir is not None else []
    return (settings.data_dir, *state, *user_files, *([folder] if folder.name == "pilothouse" else []))


def _limits(settings: Settings) -> Limits:
    table = msgspec.structs.asdict(settings.configuration.file.limits)
    return Limits(**{name: value for name, value in table.items() if value is not None})
