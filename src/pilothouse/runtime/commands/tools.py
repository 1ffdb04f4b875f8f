"""Commands about tools: list them, switch them on and off."""

from collections.abc import Mapping
from typing import Any

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, NotFound
from pilothouse.domain.rules import Lifetime, Rule, Scope, covers_whole_tool
from pilothouse.domain.tool_offers import ToolDescription
from pilothouse.runtime.commands.command_group import CommandGroup
from pilothouse.runtime.commands.rules import RuleCommands
from pilothouse.runtime.pool import ContextPool
from pilothouse.tools.base import Tool


class ToolCommands(CommandGroup):
    """Tools: list them, switch them on and off."""

    def in_workspace(self, workspace: str | None) -> Mapping[str, Tool[Any]]:
        """The tools of a workspace; without one, the tools of all workspaces."""
        registry = self._pool.dependencies.registry
        return registry.tools_in(workspace) if workspace is not None else registry.tools

    def describe(self, tool: Tool[Any]) -> ToolDescription:
        """The definition of a tool, as models get it."""
        return self._pool.dependencies.registry.describe(tool)

    async def disabled(self, *, user: str = "local") -> set[str]:
        """The names of tools that the configuration, or a rule of the user, switches off."""
        disabled = self._pool.dependencies.workspace_policy(None).disabled
        tools = (await self.known(user=user)).values()
        names = {tool.name for tool in tools if tool.name in disabled or tool.category in disabled}
        return names | {
            rule.scope.tool for rule in await RuleCommands(self._pool).read(user=user) if _switches_off(rule)
        }

    async def known(self, *, user: str = "local") -> Mapping[str, Tool[Any]]:
        """The tools of all workspaces, and those of the workspaces of a user's open contexts."""
        registry = self._pool.dependencies.registry
        tools = dict(registry.tools)
        for workspace in sorted(user_workspaces(self._pool, user)):
            tools |= {name: tool for name, tool in registry.tools_in(workspace).items() if name not in tools}
        return tools

    async def switch(self, name: str, enabled: bool, *, user: str = "local") -> None:
        """Switch a tool on or off permanently, in all of a user's contexts. A tool is off by a rule that denies it,
        which is durable and audited.

        Raises: NotFound, Conflict for a tool that the configuration has switched off, StoreError.
        """
        tools = await self.known(user=user)
        if name not in tools:
            raise NotFound(Code.UNKNOWN_TOOL, tool=name, allowed=", ".join(tools))
        is_off = name in await self.disabled(user=user)
        if is_off and enabled:
            for rule in await RuleCommands(self._pool).read(user=user):
                if _switches_off(rule) and rule.scope.tool == name:
                    await RuleCommands(self._pool).revoke(rule.id, user=user, by=user)
            if name in await self.disabled(user=user):
                raise Conflict(Code.ONLY_LOCAL, file="tools.toml")
        elif not is_off and not enabled:
            await RuleCommands(self._pool).give("deny", Scope(tool=name), user=user, by=user)


def _switches_off(rule: Rule) -> bool:
    """Whether a rule denies a whole tool, everywhere and permanently."""
    is_permanent_everywhere = rule.scope.workspace is None and rule.lifetime == Lifetime()
    return rule.effect == "deny" and covers_whole_tool(rule.scope) and is_permanent_everywhere


def user_workspaces(pool: ContextPool, user: str) -> set[str]:
    return {
        live.core.workspace
        for live in pool.in_memory()
        if live.core.owner == user and live.core.workspace is not None and live.files.is_beneath_a_root
    }
