"""A tool as requests describe it to the model."""

from collections.abc import Mapping
from typing import Any, Literal

from pilothouse.domain.value import Value

Category = Literal["file_system", "code_analysis", "system_control", "external", "mcp", "interaction"]


class ToolDescription(Value):
    """The description of a tool in a request."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """A JSON schema."""
