"""A whole runtime for a test: a scripted model, tools that record their runs, a store, and a clock to advance."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pilothouse.domain.payloads import Payload
from pilothouse.domain.states import State, name_of
from pilothouse.domain.value import ContextId
from pilothouse.llm.base import Adapter
from pilothouse.llm.script import Answer, Script
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.dependencies import RuntimeDependencies
from pilothouse.runtime.limits import Limits
from pilothouse.runtime.runtime import Runtime
from pilothouse.sandbox.command_environment import CommandEnvironment
from pilothouse.storage.base import Store
from pilothouse.storage.memory import MemoryStore
from pilothouse.system.ambient import SystemAmbient
from pilothouse.testing.ambient import ManualAmbient
from pilothouse.testing.tools import NoteTool
from pilothouse.tools.base import Tool
from pilothouse.tools.builtin.ask_user import AskUser
from pilothouse.tools.mcp.definitions import MCPServerDefinition
from pilothouse.tools.mcp.servers import AcceptedTools, MCPServers
from pilothouse.tools.registry import Registry

Payloads = Sequence[Payload | dict[str, Any]]


class World:
    """A runtime with two tools: the read-only `look` and the mutating `change`."""

    def __init__(
        self,
        workspace: Path,
        *answers: Answer,
        store: Store | None = None,
        adapter: Adapter | None = None,
        tools: Sequence[Tool[Any]] = (),
        limits: Limits | None = None,
        ids_from: int = 0,
        mcp: Sequence[MCPServerDefinition] | None = None,
        accepted: Path | None = None,
        environment: Mapping[str, str] = os.environ,
        listed: Sequence[str] = (),
        **options: Any,
    ) -> None:
        """`options` are further arguments of `RuntimeDependencies`. `ids_from` separates the ids of a second process
        from those of a first. `mcp` are real MCP servers in real time; `accepted` is the file of their accepted
        tools. Commands get their variables from `environment`, those that are `listed` included."""
        self.workspace = workspace
        self.model = ScriptedAdapter(Script(turn=answers))
        self.look = NoteTool("look", "read_only")
        self.change = NoteTool("change", "mutating")
        self.ambient = ManualAmbient(ids_from=ids_from)
        self.entered: list[State] = []
        names = {tool.name for tool in tools}
        own = [tool for tool in (self.look, self.change, AskUser()) if tool.name not in names]
        registry = Registry([*own, *tools])
        if mcp is not None:
            accepted_tools = AcceptedTools(accepted)
            options["mcp_servers"] = MCPServers(
                registry, list(mcp), environment=environment, ambient=SystemAmbient(), accepted=accepted_tools
            )
        self.dependencies = RuntimeDependencies(
            store=store or MemoryStore(),
            adapter=adapter or self.model,
            model="test",
            registry=registry,
            ambient=self.ambient,
            limits=limits or Limits(),
            command_environment=CommandEnvironment.of(environment, listed),
            trace=lambda _, state: self.entered.append(state),
            **options,
        )
        self.runtime = Runtime(self.dependencies)

    @property
    def states(self) -> list[str]:
        """The names of all states entered, in order."""
        return [name_of(state) for state in self.entered]

    async def start(self, mode: str = "agent") -> ContextId:
        return await self.runtime.contexts.create(self.workspace, mode=mode)

    async def turn(self, context_id: str, payloads: Payloads | str = "hello", **options: Any) -> None:
        """Send a message and wait until the context rests."""
        await self.runtime.messages.send(context_id, payloads, **options)
        await self.runtime.turns.rested(context_id)
