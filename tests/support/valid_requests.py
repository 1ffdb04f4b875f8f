"""Checks of every request to a model, whatever happened before."""

from collections.abc import Sequence

import msgspec

from pilothouse.domain.tool_offers import ToolDescription
from pilothouse.llm.base import ModelRequest, UserText
from pilothouse.llm.chat_completions import CHAT_COMPLETIONS
from pilothouse.testing import wire

OFFER = ToolDescription("t", "does nothing", {"type": "object", "properties": {}})


def assert_valid_request(request: ModelRequest) -> None:
    wire.check(msgspec.json.decode(CHAT_COMPLETIONS.body(request)))


def assert_valid_window(fragments: Sequence[bytes]) -> None:
    """A history that a person's next message follows: it may end in any way, but every call has its one result."""
    messages = [*fragments, CHAT_COMPLETIONS.encode(UserText(content="go on"))]
    assert_valid_request(ModelRequest(model="m", system="s", messages=messages, tools=(OFFER,)))
