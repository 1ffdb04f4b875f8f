"""`PendingChange`: what a turn has to store with its next commit, whichever step makes that commit."""

from collections.abc import Sequence
from typing import Any

from pilothouse.domain.messages import Message, ToolRequest, Usage
from pilothouse.runtime.context.draft import Draft


class PendingChange:
    def __init__(self, refused: Draft | None = None) -> None:
        self.messages: list[Message] = []
        """Messages for the end of the turn's branch, before those of the commit's own draft."""
        self.usage: Usage | None = None
        """Usage that the model has reported."""
        self.core: dict[str, Any] = {}
        """Changed fields of the core."""
        self.refused = refused
        """The draft that the store refused. Every new draft begins as a copy of it, until a commit stores it."""

    @property
    def requests(self) -> Sequence[ToolRequest]:
        """The model's messages with calls. The calls are not inspected yet."""
        return [message for message in self.messages if isinstance(message, ToolRequest)]

    def add_usage(self, usage: Usage) -> None:
        self.usage = usage if self.usage is None else self.usage.plus(usage)

    def add_to(self, draft: Draft, branch: str) -> None:
        """Add everything but the refused draft to the draft of a commit."""
        draft.prepend(self.messages, branch)
        draft.core.update(self.core)
        if self.usage is not None:
            draft.add_usage(self.usage)
