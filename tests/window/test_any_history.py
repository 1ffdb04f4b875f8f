"""A request built from any branch is valid for every server."""

import msgspec
import pytest
from hypothesis import given

from pilothouse.domain.messages import Message
from pilothouse.llm.base import ModelRequest
from pilothouse.llm.chat_completions import CHAT_COMPLETIONS
from pilothouse.testing import wire
from pilothouse.window.history import History
from pilothouse.window.tokens import Estimate
from tests.support.valid_requests import OFFER
from tests.window.histories import branches


def faults_of(messages: list[Message], *, with_tools: bool) -> list[str]:
    history = History(CHAT_COMPLETIONS, Estimate(), with_tools=with_tools)
    history.extend(messages)
    tools = (OFFER,) if with_tools else ()
    request = ModelRequest(model="m", system="s", messages=history.fragments(), tools=tools)
    return wire.faults(msgspec.json.decode(CHAT_COMPLETIONS.body(request)))


@pytest.mark.parametrize("with_tools", [True, False])
@given(messages=branches())
def test_every_branch_encodes_to_a_valid_request(messages: list[Message], with_tools: bool) -> None:
    assert faults_of(messages, with_tools=with_tools) == []


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
