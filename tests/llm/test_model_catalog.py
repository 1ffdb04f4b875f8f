"""Facts of models are found by the longest prefix of the name, in whole words; a person's own entries come first."""

import pytest

from pilothouse.llm.model_catalog import ModelCatalog, ModelFacts
from pilothouse.llm.prices import Price

KNOWN = ModelCatalog()


@pytest.mark.parametrize(
    ("name", "like"),
    [
        ("gpt-4.1-2025-04-14", "gpt-4.1"),
        ("gpt-4.1-mini-2025-04-14", "gpt-4.1-mini"),
        ("openai/gpt-4.1", "gpt-4.1"),
        ("openrouter/openai/gpt-4o-mini", "gpt-4o-mini"),
        ("GPT-4o", "gpt-4o"),
        ("gpt-4-0613", "gpt-4"),
        ("claude-3-5-sonnet-20241022", "claude-3.5-sonnet"),
        ("claude-3-5-sonnet-latest", "claude-3.5-sonnet"),
        ("claude-sonnet-4@20250514", "claude-sonnet-4"),
        ("anthropic/claude-opus-4.5", "claude-opus-4-5"),
        ("gemini-2.0-flash-001", "gemini-2.0-flash"),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1"),
        ("llama3.1:8b", "llama3.1"),
        ("moonshotai/kimi-k2:free", "kimi-k2"),
    ],
)
def test_a_model_is_recognised_by_the_prefix_of_its_name(name: str, like: str) -> None:
    assert KNOWN.facts(name) == KNOWN.facts(like) != ModelFacts()


def test_a_prefix_ends_at_a_word_boundary() -> None:
    assert KNOWN.facts("gpt-4").window == 8_192
    assert KNOWN.facts("gpt-4o").window == 128_000
    assert KNOWN.facts("gpt-4.1").window == 1_047_576
    assert KNOWN.facts("gpt-4.9") == KNOWN.facts("gpt-42") == KNOWN.facts("gpt") == ModelFacts()


@pytest.mark.parametrize("name", ["gpt-4o-audio-preview", "gpt-4o:extended", "claude-opus-4-9", "gpt-5-mini-deluxe"])
def test_another_variant_of_a_family_has_its_window_and_no_price(name: str) -> None:
    facts = KNOWN.facts(name)
    assert facts.window is not None
    assert facts.price is None


@pytest.mark.parametrize("name", ["", "demo", "test", "/tmp/script.toml", "gpt", "-", "/", "-" * 1_000_000])
def test_an_unknown_model_has_no_facts(name: str) -> None:
    assert KNOWN.facts(name) == ModelFacts()


def test_configured_model_facts_override_known_ones_for_that_exact_name() -> None:
    own = ModelFacts(window=1, price=Price(input=1, output=2))
    catalogue = ModelCatalog({"gpt-4o": own, "mine": own})
    assert catalogue.facts("gpt-4o") == catalogue.facts("mine") == own
    assert catalogue.facts("gpt-4o-mini") == KNOWN.facts("gpt-4o-mini")
    assert catalogue.all_facts()["mine"] == catalogue.all_facts()["gpt-4o"] == own
    assert set(KNOWN.all_facts()) == set(catalogue.all_facts()) - {"mine"}


def test_every_built_in_fact_is_found_by_its_own_name_and_plausible() -> None:
    for name, facts in KNOWN.all_facts().items():
        assert KNOWN.facts(name) == facts
        assert facts.window is not None, name
        assert 4_000 <= facts.window <= 3_000_000, name
        assert facts.tokenizer in (None, "o200k", "cl100k")
        assert facts.price is None or 0 < facts.price.input < facts.price.output, name
