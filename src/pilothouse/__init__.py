"""Pilothouse: a self-hosted runtime for AI agents. Autonomy is a mode; a conversation is durable."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pilothouse.app import build_runtime
    from pilothouse.client import Client
    from pilothouse.domain.errors import PilothouseError
    from pilothouse.llm.base import Adapter
    from pilothouse.runtime.commands.calls import PersonsDecision
    from pilothouse.runtime.context.snapshot import ContextSnapshot
    from pilothouse.runtime.dependencies import Processor
    from pilothouse.runtime.runtime import Runtime
    from pilothouse.settings import Settings, read_settings
    from pilothouse.tools.base import ToolContext
    from pilothouse.tools.function_tools import tool

__version__ = "0.1.0"
__all__ = [
    "Adapter",
    "Client",
    "ContextSnapshot",
    "PersonsDecision",
    "PilothouseError",
    "Processor",
    "Runtime",
    "Settings",
    "ToolContext",
    "build_runtime",
    "read_settings",
    "tool",
]
_MODULES = {
    "Adapter": "llm.base",
    "Client": "client",
    "ContextSnapshot": "runtime.context.snapshot",
    "PersonsDecision": "runtime.commands.calls",
    "PilothouseError": "domain.errors",
    "Processor": "runtime.dependencies",
    "Runtime": "runtime.runtime",
    "Settings": "settings",
    "ToolContext": "tools.base",
    "build_runtime": "app",
    "read_settings": "settings",
    "tool": "tools.function_tools",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: the command line and the client need only a part of them."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
