"""The tools that there are. Registration is explicit; some hold in one workspace only (a folder's own servers)."""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.decisions import Standing, is_offered
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.offers import ToolOffer
from pilothouse.tools.base import Tool, schema_of

_LOG = logging.getLogger("pilothouse")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
Tools = Mapping[str, Tool[Any]]


class Registry:
    """Tools that have a beginning and an end (`start`, `stop`) have them with the runtime."""

    def __init__(self, tools: Iterable[Tool[Any]]) -> None:
        """Raises: InvalidInput for two of one name, or one that needs another that is not there."""
        self._everywhere = _by_name(tools)
        self._beside: dict[tuple[str | None, str], Tools] = {}
        self._offers: WeakKeyDictionary[Tool[Any], ToolOffer] = WeakKeyDictionary()
        for tool in self._everywhere.values():
            _check_needs(tool, self._everywhere)

    @property
    def tools(self) -> Tools:
        """Those that are everywhere."""
        return self.within(None)

    def within(self, workspace: str | None) -> Tools:
        """Those of a workspace, and those that are everywhere. A name that is taken is never given again."""
        found = dict(self._everywhere)
        for (where, _), tools in self._beside.items():
            if where is None or where == workspace:
                found.update((name, tool) for name, tool in tools.items() if name not in found)
        return found

    def put(self, source: str, tools: Iterable[Tool[Any]], workspace: str | None = None) -> None:
        """The tools that a source brings now, in place of those that it brought before."""
        self._beside[workspace, source] = _by_name(tools)

    def take_away(self, source: str, workspace: str | None = None) -> None:
        self._beside.pop((workspace, source), None)

    def find(self, name: str, workspace: str | None = None) -> Tool[Any] | None:
        return self.within(workspace).get(name)

    def effect_of(self, name: str, workspace: str | None = None) -> Effect:
        """The most that a call of a tool may do."""
        tool = self.find(name, workspace)
        return tool.effect if tool is not None else "unknown"

    def offered(self, standing: Standing, workspace: str | None = None) -> tuple[ToolOffer, ...]:
        """The tools that the model is told of, as things stand."""
        return tuple(
            self.offer(tool) for name, tool in self.within(workspace).items() if is_offered(name, tool.effect, standing)
        )

    def offer(self, tool: Tool[Any]) -> ToolOffer:
        """Made once for each: a schema takes its time."""
        known = self._offers.get(tool)
        if known is None:
            parameters = getattr(tool, "schema", None) or schema_of(tool.parameters)
            known = ToolOffer(name=tool.name, description=tool.description, parameters=parameters)
            self._offers[tool] = known
        return known

    async def start(self) -> None:
        """Begin what needs a beginning, in the order of registration. Raises: what a tool raises, after stopping the
        others."""
        started: list[Any] = []
        try:
            for tool in self._starting():
                await tool.start()
                started.append(tool)
        except BaseException:
            for tool in reversed(started):
                await tool.stop()
            raise

    async def stop(self) -> None:
        for tool in reversed(list(self._starting())):
            try:
                await tool.stop()
            except Exception:  # it is foreign code: the others are stopped all the same
                _LOG.exception("the tool %s did not stop", tool.name)

    def _starting(self) -> Iterator[Any]:
        return (tool for tool in self._everywhere.values() if hasattr(tool, "start") and hasattr(tool, "stop"))


def _by_name(tools: Iterable[Tool[Any]]) -> dict[str, Tool[Any]]:
    found: dict[str, Tool[Any]] = {}
    for tool in tools:
        if not _NAME.fullmatch(tool.name):
            raise InvalidInput(Code.INVALID_TOOL, tool=tool.name, detail="a name has 1 to 64 letters, digits, - and _")
        if tool.name in found:
            raise InvalidInput(Code.TOOL_TWICE, tool=tool.name)
        found[tool.name] = tool
    return found


def _check_needs(tool: Tool[Any], tools: Tools) -> None:
    missing = [name for name in getattr(tool, "needs", ()) if name not in tools]
    if missing:
        raise InvalidInput(Code.TOOL_NEEDS, tool=tool.name, needs=", ".join(missing))
