"""`Runtime`: every command that a client can give, in one group for each noun."""

from collections.abc import Coroutine, Iterable
from typing import Any

from pilothouse.domain.promises import Kernel
from pilothouse.domain.signals import Signal
from pilothouse.domain.store_health import StoreHealth
from pilothouse.domain.value import Timestamp
from pilothouse.runtime.commands.branches import BranchCommands
from pilothouse.runtime.commands.calls import CallCommands
from pilothouse.runtime.commands.context_export import ExportCommands
from pilothouse.runtime.commands.context_import import ImportCommands
from pilothouse.runtime.commands.contexts import ContextCommands
from pilothouse.runtime.commands.mcp_servers import MCPServerCommands
from pilothouse.runtime.commands.merges import MergeCommands
from pilothouse.runtime.commands.messages import MessageCommands
from pilothouse.runtime.commands.modes import ModeCommands
from pilothouse.runtime.commands.providers import ProviderCommands
from pilothouse.runtime.commands.queue import QueueCommands, take_queued
from pilothouse.runtime.commands.rules import RuleCommands
from pilothouse.runtime.commands.tools import ToolCommands
from pilothouse.runtime.commands.turns import TurnCommands
from pilothouse.runtime.commands.uploads import UploadCommands
from pilothouse.runtime.commands.user_documents import DocumentCommands
from pilothouse.runtime.commands.workspaces import WorkspaceCommands
from pilothouse.runtime.compression.commands import CompressionCommands
from pilothouse.runtime.dependencies import RuntimeDependencies
from pilothouse.runtime.events.attend import EventCommands
from pilothouse.runtime.events.signal_bus import Subscription
from pilothouse.runtime.pool import ContextPool
from pilothouse.runtime.request.preview import WindowCommands
from pilothouse.runtime.turn.subagents import delegate
from pilothouse.sandbox import confinement
from pilothouse.system.ambient import Ambient


class Runtime:
    """The runtime, built from `RuntimeDependencies`. Use it as an async context manager, or call `close`."""

    def __init__(self, dependencies: RuntimeDependencies) -> None:
        self._dependencies = dependencies
        self._pool = pool = ContextPool(dependencies, take_queued=take_queued, delegate=delegate)
        self.contexts = ContextCommands(pool)
        self.workspaces = WorkspaceCommands(pool)
        self.messages = MessageCommands(pool)
        self.queue = QueueCommands(pool)
        self.uploads = UploadCommands(pool)
        self.turns = TurnCommands(pool)
        self.events = EventCommands(pool)
        self.calls = CallCommands(pool)
        self.modes = ModeCommands(pool)
        self.rules = RuleCommands(pool)
        self.branches = BranchCommands(pool)
        self.merges = MergeCommands(pool)
        self.window = WindowCommands(pool)
        self.compression = CompressionCommands(pool)
        self.exports = ExportCommands(pool)
        self.imports = ImportCommands(pool)
        self.tools = ToolCommands(pool)
        self.mcp_servers = MCPServerCommands(pool)
        self.providers = ProviderCommands(pool)
        self.documents = DocumentCommands(pool)

    @property
    def kernel(self) -> Kernel:
        """The promises that the kernel keeps about commands that only read. Without one of them, fewer commands run
        without approval."""
        return confinement.kernel()

    def signals(self, topics: Iterable[str]) -> Subscription:
        """Subscribe to signals: of contexts by their ids, of a user's session by its topic."""
        return self._dependencies.hub.subscribe(topics)

    def publish(self, signal: Signal) -> None:
        """Publish a signal to its subscribers."""
        self._dependencies.hub.publish(signal)

    @property
    def ambient(self) -> Ambient:
        """The clock, the timers and the source of ids of this runtime."""
        return self._dependencies.ambient

    def now(self) -> Timestamp:
        """The present time."""
        return self._dependencies.now()

    async def health(self) -> StoreHealth:
        """The condition of the store."""
        return await self._dependencies.store.health()

    def run_in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine without waiting for it. The runtime cancels it when it closes."""
        self._pool.run_in_background(work)

    async def start(self) -> None:
        """Start the tools that need it, the connections to MCP servers, and the recovery of interrupted contexts."""
        await self._pool.start()

    async def close(self) -> None:
        """Stop all tasks, mark open turns as interrupted, and close servers, tools, adapters and the store."""
        await self._pool.close()

    async def __aenter__(self) -> "Runtime":
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
