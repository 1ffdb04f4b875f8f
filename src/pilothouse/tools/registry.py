"""The tools that there are. Registration is explicit: a list given to the constructor."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from pilothouse.domain.decisions import Standing, is_offered
from pilothouse.domain.offers import ToolOffer
from pilothouse.tools.base import Tool, schema_of


class Registry:
    def __init__(self, tools: Iterable[Tool[Any]], disabled: Iterable[str] = ()) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self.disabled = frozenset(disabled)

    def find(self, name: str) -> Tool[Any] | None:
        return self.tools.get(name)

    def is_disabled(self, name: str) -> bool:
        return name in self.disabled

    def offered(self, standing: Standing) -> tuple[ToolOffer, ...]:
        """The tools that the model is told of, as things stand."""
        return tuple(self.offers[name] for name, tool in self.tools.items() if is_offered(name, tool.effect, standing))

    @cached_property
    def offers(self) -> dict[str, ToolOffer]:
        return {
            name: ToolOffer(name=name, description=tool.description, parameters=schema_of(tool.parameters))
            for name, tool in self.tools.items()
        }
