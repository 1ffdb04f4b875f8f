"""Sampling settings in chat completions: the names that each kind of model takes, and what the checker refuses."""

from typing import Any

import msgspec
import pytest

from pilothouse.domain.sampling import Sampling
from pilothouse.llm.base import ModelRequest, UserText
from pilothouse.llm.chat_completions import CHAT_COMPLETIONS
from pilothouse.testing import wire

BOTH = Sampling(temperature=0.5, max_output_tokens=300)


def body(model: str, sampling: Sampling = BOTH) -> dict[str, Any]:
    messages = [CHAT_COMPLETIONS.encode(UserText("hello"))]
    request = ModelRequest(model=model, system="x", messages=messages, sampling=sampling)
    decoded: dict[str, Any] = msgspec.json.decode(CHAT_COMPLETIONS.body(request))
    wire.check(decoded)
    return decoded


def settings(decoded: dict[str, Any]) -> dict[str, Any]:
    names = ("temperature", "max_tokens", "max_completion_tokens")
    return {name: decoded[name] for name in names if name in decoded}


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4.1-mini", "gpt-5-chat-latest", "qwen3", "mistralai/mistral", "o"])
def test_most_models_get_the_temperature_and_max_tokens(model: str) -> None:
    assert settings(body(model)) == {"temperature": 0.5, "max_tokens": 300}


@pytest.mark.parametrize("model", ["o1", "o3-mini", "o4-mini", "gpt-5", "gpt-5.2-codex", "openai/gpt-5-mini", "gpt-6"])
def test_reasoning_models_get_max_completion_tokens_and_no_temperature(model: str) -> None:
    assert settings(body(model)) == {"max_completion_tokens": 300}


def test_without_settings_nothing_is_sent() -> None:
    assert settings(body("gpt-4o", Sampling())) == {}
    assert settings(body("gpt-4o", Sampling(temperature=0))) == {"temperature": 0.0}


@pytest.mark.parametrize(
    ("model", "fields", "fault"),
    [
        ("gpt-4o", {"temperature": 2.1}, "temperature: is no number"),
        ("gpt-4o", {"temperature": True}, "temperature: is no number"),
        ("gpt-4o", {"temperature": "0"}, "temperature: is no number"),
        ("gpt-4o", {"max_tokens": 0}, "max_tokens: is no whole number"),
        ("gpt-4o", {"max_completion_tokens": 1.5}, "max_completion_tokens: is no whole number"),
        ("gpt-4o", {"max_tokens": 1, "max_completion_tokens": 1}, "stands beside max_tokens"),
        ("o3", {"temperature": 1}, "temperature: is refused by a reasoning model"),
        ("openai/gpt-5", {"max_tokens": 1}, "max_tokens: is refused by a reasoning model"),
    ],
)
def test_the_checker_of_requests_refuses_what_servers_refuse(model: str, fields: dict[str, Any], fault: str) -> None:
    faults = wire.faults({**body(model, Sampling()), **fields})
    assert len(faults) == 1
    assert fault in faults[0]
