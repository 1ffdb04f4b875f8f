"""A request built from any branch is valid for every server."""

import msgspec
import pytest
from hypothesis import given

from pilothouse.domain.messages import Message
from pilothouse.llm.base import ModelRequest, WireFormat
from pilothouse.llm.chat_completions import CHAT_COMPLETIONS
from pilothouse.testing import alternating_format, wire
from pilothouse.testing.alternating_format import ALTERNATING
from pilothouse.window.history import History
from pilothouse.window.tokens import Estimate
from tests.support.valid_requests import OFFER
from tests.window.histories import branches


def body_of(wire_format: WireFormat, messages: list[Message], *, with_tools: bool) -> bytes:
    history = History(wire_format, Estimate(), with_tools=with_tools)
    history.extend(messages)
    tools = (OFFER,) if with_tools else ()
    request = ModelRequest(model="m", system="s", messages=history.fragments(), tools=tools)
    return wire_format.body(request)


@pytest.mark.parametrize("with_tools", [True, False])
@given(messages=branches())
def test_every_branch_encodes_to_a_valid_request(messages: list[Message], with_tools: bool) -> None:
    assert wire.faults(msgspec.json.decode(body_of(CHAT_COMPLETIONS, messages, with_tools=with_tools))) == []


@pytest.mark.parametrize("with_tools", [True, False])
@given(messages=branches())
def test_every_branch_encodes_to_turns_that_alternate(messages: list[Message], with_tools: bool) -> None:
    assert alternating_format.faults(body_of(ALTERNATING, messages, with_tools=with_tools)) == []


@pytest.mark.parametrize("with_tools", [True, False])
@given(messages=branches())
def test_a_branch_is_encoded_the_same_for_any_compression_history(messages: list[Message], with_tools: bool) -> None:
    whole = History(CHAT_COMPLETIONS, Estimate(), with_tools=with_tools)
    whole.extend(messages)
    stepwise = History(CHAT_COMPLETIONS, Estimate(), with_tools=with_tools)
    for message in messages:
        stepwise.extend([message])
        stepwise.fragments()
    assert stepwise.fragments() == whole.fragments()
