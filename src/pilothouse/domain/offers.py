"""A tool as the model is told of it."""

from collections.abc import Mapping
from typing import Any

from pilothouse.domain.values import Value


class ToolOffer(Value):
    """`parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]
