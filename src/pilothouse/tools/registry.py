"""The registry of tools. Tools are registered explicitly; some are offered in one workspace only (the MCP servers of a
folder).
"""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.decisions import PolicySnapshot, is_offered
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.tool_offers import ToolDescription
from pilothouse.tools.base import Tool, schema_of

_LOG = logging.getLogger("pilothouse")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
Tools = Mapping[str, Tool[Any]]


class Registry:
    """All tools of a runtime. Tools with `start` and `stop` methods are started and stopped with the runtime."""

    def __init__(self, tools: Iterable[Tool[Any]]) -> None:
        """Raises: InvalidInput for two tools of one name, or a tool that needs a missing one."""
        self._global_tools = _by_name(tools)
        self._source_tools: dict[tuple[str | None, str], Tools] = {}
        self._descriptions: WeakKeyDictionary[Tool[Any], ToolDescription] = WeakKeyDictionary()
        for tool in self._global_tools.values():
            _check_needs(tool, self._global_tools)

    @property
    def tools(self) -> Tools:
        """The tools offered in every workspace."""
        return self.tools_in(None)

    def tools_in(self, workspace: str | None) -> Tools:
        """The tools of a workspace and those of every workspace. The first tool registered under a name keeps it."""
        tools = dict(self._global_tools)
        for (scope, _), source_tools in self._source_tools.items():
            if scope is None or scope == workspace:
                tools.update((name, tool) for name, tool in source_tools.items() if name not in tools)
        return tools

    def set_source(self, source: str, tools: Iterable[Tool[Any]], workspace: str | None = None) -> None:
        """Register the present tools of a source, in place of its earlier ones."""
        self._source_tools[workspace, source] = _by_name(tools)

    def remove_source(self, source: str, workspace: str | None = None) -> None:
        """Remove the tools of a source."""
        self._source_tools.pop((workspace, source), None)

    def find(self, name: str, workspace: str | None = None) -> Tool[Any] | None:
        return self.tools_in(workspace).get(name)

    def effect_of(self, name: str, workspace: str | None = None) -> Effect:
        """The strongest effect that a call of a tool may have."""
        tool = self.find(name, workspace)
        return tool.effect if tool is not None else "unknown"

    def offered(self, snapshot: PolicySnapshot, workspace: str | None = None) -> tuple[ToolDescription, ...]:
        """The descriptions of the tools that the model is offered under a policy."""
        return tuple(
            self.describe(tool)
            for name, tool in self.tools_in(workspace).items()
            if is_offered(name, tool.effect, snapshot)
        )

    def describe(self, tool: Tool[Any]) -> ToolDescription:
        """The description of a tool, cached because building a schema is slow."""
        description = self._descriptions.get(tool)
        if description is None:
            parameters = getattr(tool, "schema", None) or schema_of(tool.parameters)
            description = ToolDescription(name=tool.name, description=tool.description, parameters=parameters)
            self._descriptions[tool] = description
        return description

    async def start(self) -> None:
        """Start the tools that have a `start` method, in the order of registration. Raises: what a tool raises, after
        stopping the tools started before."""
        started: list[Any] = []
        try:
            for tool in self._lifecycle_tools():
                await tool.start()
                started.append(tool)
        except BaseException:
            for tool in reversed(started):
                await tool.stop()
            raise

    async def stop(self) -> None:
        """Stop the started tools in reverse order; a failing tool does not keep the others from stopping."""
        for tool in reversed(list(self._lifecycle_tools())):
            try:
                await tool.stop()
            except Exception:  # foreign code may raise anything
                _LOG.exception("the tool %s did not stop", tool.name)

    def _lifecycle_tools(self) -> Iterator[Any]:
        return (tool for tool in self._global_tools.values() if hasattr(tool, "start") and hasattr(tool, "stop"))


def _by_name(tools: Iterable[Tool[Any]]) -> dict[str, Tool[Any]]:
    by_name: dict[str, Tool[Any]] = {}
    for tool in tools:
        if not _NAME.fullmatch(tool.name):
            raise InvalidInput(
                Code.INVALID_TOOL, tool=tool.name, detail="its name must have 1 to 64 letters, digits, '-' and '_'"
            )
        if tool.name in by_name:
            raise InvalidInput(Code.TOOL_TWICE, tool=tool.name)
        by_name[tool.name] = tool
    return by_name


def _check_needs(tool: Tool[Any], tools: Tools) -> None:
    missing = [name for name in getattr(tool, "needs", ()) if name not in tools]
    if missing:
        raise InvalidInput(Code.TOOL_NEEDS, tool=tool.name, needs=", ".join(missing))
