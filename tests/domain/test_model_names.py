"""Names of models, with and without a provider."""

import pytest

from pilothouse.domain.model_names import ModelName

PROVIDERS = {"openai", "ollama"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("openai:gpt-4.1", ModelName("openai", "gpt-4.1")),
        ("ollama:llama3.2:3b", ModelName("ollama", "llama3.2:3b")),
        ("gpt-4.1", ModelName("openai", "gpt-4.1")),
        ("llama3.2:3b", ModelName("openai", "llama3.2:3b")),
        ("OpenAI:gpt-4.1", ModelName("openai", "OpenAI:gpt-4.1")),
        ("ollama:", ModelName("ollama", "")),
        ("ollama", ModelName("openai", "ollama")),
        (":x", ModelName("openai", ":x")),
        ("", ModelName("openai", "")),
    ],
)
def test_a_prefix_counts_as_a_provider_only_if_a_provider_has_that_name(text: str, expected: ModelName) -> None:
    assert ModelName.parse(text, PROVIDERS, default="openai") == expected


def test_a_name_with_its_provider_is_parsed_back() -> None:
    model = ModelName("ollama", "llama3.2:3b")
    assert ModelName.parse(str(model), PROVIDERS, default="openai") == model
