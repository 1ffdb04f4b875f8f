"""A whole runtime for a test: a scripted model, tools that leave a trace, a store, a clock one can turn."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pilothouse.ambient import SystemAmbient
from pilothouse.domain.states import State, name_of
from pilothouse.domain.values import ContextId
from pilothouse.llm.base import Adapter
from pilothouse.llm.script import Answer, Script
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.parts import Limits, Parts
from pilothouse.runtime.runtime import Runtime
from pilothouse.storage.base import Store
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.ambient import TurnableAmbient
from pilothouse.testing.tools import NoteTool
from pilothouse.tools.base import Tool
from pilothouse.tools.builtin.ask_user import AskUser
from pilothouse.tools.mcp.definitions import ServerDefinition
from pilothouse.tools.mcp.servers import AcceptedTools, Servers
from pilothouse.tools.registry import Registry


class World:
    """`states` is the trace of every state entered, by name; `look` reads and `change` changes. `parts` are others of
    the runtime's parts than these; `ids_from` keeps the ids of a second process apart from a first one's. `mcp` are
    servers of tools, real ones in real time, and `accepted` is where it is kept in which form theirs were accepted."""

    def __init__(
        self,
        workspace: Path,
        *answers: Answer,
        store: Store | None = None,
        adapter: Adapter | None = None,
        tools: Sequence[Tool[Any]] = (),
        limits: Limits | None = None,
        ids_from: int = 0,
        mcp: Sequence[ServerDefinition] | None = None,
        accepted: Path | None = None,
        **parts: Any,
    ) -> None:
        self.workspace = workspace
        self.model = ScriptedAdapter(Script(turn=answers))
        self.look = NoteTool("look", "read_only")
        self.change = NoteTool("change", "mutating")
        self.ambient = TurnableAmbient(ids_from=ids_from)
        self.entered: list[State] = []
        given = {tool.name for tool in tools}
        own = [tool for tool in (self.look, self.change, AskUser()) if tool.name not in given]
        registry = Registry([*own, *tools])
        if mcp is not None:
            remembered = AcceptedTools(accepted)
            parts["servers"] = Servers(
                registry, list(mcp), environment=os.environ, ambient=SystemAmbient(), accepted=remembered
            )
        self.parts = Parts(
            store=store or MemoryStore(),
            adapter=adapter or self.model,
            model="test",
            registry=registry,
            ambient=self.ambient,
            limits=limits or Limits(),
            trace=lambda _, state: self.entered.append(state),
            **parts,
        )
        self.runtime = Runtime(self.parts)

    @property
    def states(self) -> list[str]:
        return [name_of(state) for state in self.entered]

    async def start(self, mode: str = "agent") -> ContextId:
        return await self.runtime.create_context(self.workspace, mode=mode)

    async def turn(self, context_id: str, text: str = "hello", **options: Any) -> None:
        """Send a message and wait until the context rests."""
        await self.runtime.send(context_id, text, **options)
        await self.runtime.rested(context_id)
