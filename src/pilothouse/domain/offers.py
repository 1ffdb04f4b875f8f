"""A tool as the model is told of it."""

from collections.abc import Mapping
from typing import Any, Literal

from pilothouse.domain.values import Value

Category = Literal["file_system", "code_analysis", "system_control", "external", "mcp", "interaction"]


class ToolOffer(Value):
    """`parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]
