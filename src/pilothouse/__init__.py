"""Pilothouse: a self-hosted runtime for AI agents. Autonomy is a mode; a conversation is durable."""

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:  # the supervisor of every command imports this package, and `typing` takes half of its start
    from typing import Any

    from pilothouse.app import build_runtime
    from pilothouse.client import Client
    from pilothouse.domain.calls import CallRecord
    from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, PilothouseError, StoreError
    from pilothouse.domain.messages import Text, ToolResult
    from pilothouse.domain.states import AwaitingToolApproval, AwaitingUserAnswer
    from pilothouse.llm.base import Adapter
    from pilothouse.runtime.commands.calls import PersonsDecision
    from pilothouse.runtime.commands.proposed_calls import ProposedCall
    from pilothouse.runtime.context.snapshot import ContextSnapshot
    from pilothouse.runtime.dependencies import Processor
    from pilothouse.runtime.events.attend import Attendant, Decisions
    from pilothouse.runtime.events.turn_events import (
        MessageAdded,
        QuestionAsked,
        ReasoningAdded,
        StateEntered,
        SubagentWaiting,
        TextAdded,
        branch_end,
    )
    from pilothouse.runtime.runtime import Runtime
    from pilothouse.settings import Settings, read_settings
    from pilothouse.tools.base import ToolContext
    from pilothouse.tools.function_tools import tool

__version__ = "0.1.0"
__all__ = [
    "Adapter",
    "Attendant",
    "AwaitingToolApproval",
    "AwaitingUserAnswer",
    "CallRecord",
    "Client",
    "Conflict",
    "ContextSnapshot",
    "Decisions",
    "InvalidInput",
    "MessageAdded",
    "NotFound",
    "PersonsDecision",
    "PilothouseError",
    "Processor",
    "ProposedCall",
    "QuestionAsked",
    "ReasoningAdded",
    "Runtime",
    "Settings",
    "StateEntered",
    "StoreError",
    "SubagentWaiting",
    "Text",
    "TextAdded",
    "ToolContext",
    "ToolResult",
    "branch_end",
    "build_runtime",
    "read_settings",
    "tool",
]
_MODULES = {
    "Adapter": "llm.base",
    "Attendant": "runtime.events.attend",
    "AwaitingToolApproval": "domain.states",
    "AwaitingUserAnswer": "domain.states",
    "CallRecord": "domain.calls",
    "Client": "client",
    "Conflict": "domain.errors",
    "ContextSnapshot": "runtime.context.snapshot",
    "Decisions": "runtime.events.attend",
    "InvalidInput": "domain.errors",
    "MessageAdded": "runtime.events.turn_events",
    "NotFound": "domain.errors",
    "PersonsDecision": "runtime.commands.calls",
    "PilothouseError": "domain.errors",
    "Processor": "runtime.dependencies",
    "ProposedCall": "runtime.commands.proposed_calls",
    "QuestionAsked": "runtime.events.turn_events",
    "ReasoningAdded": "runtime.events.turn_events",
    "Runtime": "runtime.runtime",
    "Settings": "settings",
    "StateEntered": "runtime.events.turn_events",
    "StoreError": "domain.errors",
    "SubagentWaiting": "runtime.events.turn_events",
    "Text": "domain.messages",
    "TextAdded": "runtime.events.turn_events",
    "ToolContext": "tools.base",
    "ToolResult": "domain.messages",
    "branch_end": "runtime.events.turn_events",
    "build_runtime": "app",
    "read_settings": "settings",
    "tool": "tools.function_tools",
}


def __getattr__(name: str) -> "Any":
    """Import a public name when it is first used: the command line and the client need only a part of them."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
