"""The model catalog: context window, vision, tokenizer and price of each."""

import re
from collections.abc import Mapping
from functools import lru_cache

import msgspec

from pilothouse.domain.value import Value
from pilothouse.llm.prices import Price


class ModelFacts(Value, kw_only=True):
    """The known properties of a model."""

    window: int | None = None
    """The number of tokens that a request may have."""
    vision: bool = False
    """Whether the model takes images."""
    tokenizer: str | None = None
    """The name of the tokenizer of the model's family."""
    price: Price | None = None


class ModelCatalog:
    """The built-in facts, a person's own facts, which take precedence,
    and the windows that providers have reported since the start."""

    def __init__(self, own: Mapping[str, ModelFacts] | None = None) -> None:
        self._own = dict(own or {})
        self._learned_windows: dict[str, int] = {}

    def facts(self, name: str) -> ModelFacts:
        """The facts about a model. All facts of an unknown model are None."""
        own = self._own.get(name)
        return own if own is not None else _built_in(name)

    def learn_window(self, name: str, tokens: int) -> None:
        """Note the window that a provider reports: the server of a model decides its size."""
        self._learned_windows[name] = tokens

    def learned_window(self, name: str) -> int | None:
        return self._learned_windows.get(name)

    def forget_learned(self) -> None:
        """Forget the reported windows, after a change of provider."""
        self._learned_windows.clear()

    def all_facts(self) -> Mapping[str, ModelFacts]:
        """All facts by name. A built-in name stands for all names that begin with it."""
        return {**_BUILT_IN, **self._own}


_WORD_END = re.compile(r"[-:@]")
_MAX_NAME_CHARACTERS = 64
"""No built-in name is longer."""
_DATE_SUFFIX = re.compile(r"[-@](\d{4}-\d\d-\d\d|\d{8}|\d{3,4}|latest)")


@lru_cache
def _built_in(name: str) -> ModelFacts:
    """The facts under the longest built-in name that the name begins with, in whole words: `gpt-4` does not match
    `gpt-4o` or `gpt-4.1`. The price applies to the model itself and its dated versions only, not to other variants."""
    plain = name.rpartition("/")[2].lower()
    ends = [len(plain), *reversed([match.start() for match in _WORD_END.finditer(plain, 0, _MAX_NAME_CHARACTERS)])]
    for end in ends:
        facts = _BUILT_IN.get(plain[:end])
        if facts is not None:
            is_same_model = end == len(plain) or _DATE_SUFFIX.fullmatch(plain, end) is not None
            return facts if is_same_model else msgspec.structs.replace(facts, price=None)
    return ModelFacts()


def _o200k(window: int, *price: float, vision: bool = True) -> ModelFacts:
    return _other(window, *price, vision=vision, tokenizer="o200k")


def _cl100k(window: int, *price: float, vision: bool = False) -> ModelFacts:
    return _other(window, *price, vision=vision, tokenizer="cl100k")


def _other(window: int, *price: float, vision: bool = False, tokenizer: str | None = None) -> ModelFacts:
    return ModelFacts(window=window, vision=vision, tokenizer=tokenizer, price=Price(*price) if price else None)


# List prices in dollars for a million tokens, input and output. Prices change: a person's own entry takes precedence.
# Prices that depend on the length of the request or on the server of the model, and uncertain ones, are not listed.
_BUILT_IN: dict[str, ModelFacts] = {
    # OpenAI. Of the gpt-5 family's 400,000 tokens, 272,000 may be sent.
    "gpt-6": _other(922_000, vision=True),
    "gpt-5.6": _o200k(922_000),
    "gpt-5.5": _o200k(922_000),
    "gpt-5.4": _o200k(922_000),
    "gpt-5.4-mini": _o200k(272_000),
    "gpt-5.4-nano": _o200k(272_000),
    "gpt-5.3": _o200k(272_000),
    "gpt-5.3-chat": _o200k(128_000),
    "gpt-5.2": _o200k(272_000, 1.75, 14),
    "gpt-5.2-chat": _o200k(128_000, 1.75, 14),
    "gpt-5.2-codex": _o200k(272_000, 1.75, 14),
    "gpt-5.1": _o200k(272_000, 1.25, 10),
    "gpt-5.1-chat": _o200k(128_000, 1.25, 10),
    "gpt-5.1-codex": _o200k(272_000, 1.25, 10),
    "gpt-5.1-codex-mini": _o200k(272_000, 0.25, 2),
    "gpt-5": _o200k(272_000, 1.25, 10),
    "gpt-5-chat": _o200k(128_000, 1.25, 10),
    "gpt-5-codex": _o200k(272_000, 1.25, 10),
    "gpt-5-mini": _o200k(272_000, 0.25, 2),
    "gpt-5-nano": _o200k(272_000, 0.05, 0.40),
    "gpt-5-pro": _o200k(272_000, 15, 120),
    "gpt-4.1": _o200k(1_047_576, 2, 8),
    "gpt-4.1-mini": _o200k(1_047_576, 0.40, 1.60),
    "gpt-4.1-nano": _o200k(1_047_576, 0.10, 0.40),
    "gpt-4o": _o200k(128_000, 2.50, 10),
    "gpt-4o-2024-05-13": _o200k(128_000, 5, 15),
    "gpt-4o-mini": _o200k(128_000, 0.15, 0.60),
    "chatgpt-4o": _o200k(128_000, 5, 15),
    "o1": _o200k(200_000, 15, 60),
    "o1-mini": _o200k(128_000, 1.10, 4.40, vision=False),
    "o1-preview": _o200k(128_000, 15, 60, vision=False),
    "o1-pro": _o200k(200_000, 150, 600),
    "o3": _o200k(200_000, 2, 8),
    "o3-mini": _o200k(200_000, 1.10, 4.40, vision=False),
    "o3-pro": _o200k(200_000, 20, 80),
    "o4-mini": _o200k(200_000, 1.10, 4.40),
    "gpt-oss": _o200k(131_072, vision=False),
    "gpt-4-turbo": _cl100k(128_000, 10, 30, vision=True),
    "gpt-4-1106-preview": _cl100k(128_000, 10, 30),
    "gpt-4-0125-preview": _cl100k(128_000, 10, 30),
    "gpt-4": _cl100k(8_192, 30, 60),
    "gpt-4-32k": _cl100k(32_768, 60, 120),
    "gpt-3.5-turbo": _cl100k(16_385, 0.50, 1.50),
    "gpt-3.5-turbo-1106": _cl100k(16_385, 1, 2),
    "gpt-3.5-turbo-instruct": _cl100k(4_096),
    # Anthropic
    "claude-3-haiku": _other(200_000, 0.25, 1.25, vision=True),
    "claude-3-sonnet": _other(200_000, 3, 15, vision=True),
    "claude-3-opus": _other(200_000, 15, 75, vision=True),
    "claude-3-5-haiku": _other(200_000, 0.80, 4, vision=True),
    "claude-3.5-haiku": _other(200_000, 0.80, 4, vision=True),
    "claude-3-5-sonnet": _other(200_000, 3, 15, vision=True),
    "claude-3.5-sonnet": _other(200_000, 3, 15, vision=True),
    "claude-3-7-sonnet": _other(200_000, 3, 15, vision=True),
    "claude-3.7-sonnet": _other(200_000, 3, 15, vision=True),
    "claude-sonnet-4": _other(200_000, 3, 15, vision=True),
    "claude-sonnet-4-5": _other(200_000, 3, 15, vision=True),
    "claude-sonnet-4.5": _other(200_000, 3, 15, vision=True),
    "claude-sonnet-4-6": _other(1_000_000, vision=True),
    "claude-sonnet-4.6": _other(1_000_000, vision=True),
    "claude-sonnet-5": _other(1_000_000, vision=True),
    "claude-opus-4": _other(200_000, 15, 75, vision=True),
    "claude-opus-4-1": _other(200_000, 15, 75, vision=True),
    "claude-opus-4.1": _other(200_000, 15, 75, vision=True),
    "claude-opus-4-5": _other(200_000, 5, 25, vision=True),
    "claude-opus-4.5": _other(200_000, 5, 25, vision=True),
    "claude-opus-4-6": _other(1_000_000, vision=True),
    "claude-opus-4.6": _other(1_000_000, vision=True),
    "claude-opus-5": _other(1_000_000, vision=True),
    "claude-haiku-4-5": _other(200_000, 1, 5, vision=True),
    "claude-haiku-4.5": _other(200_000, 1, 5, vision=True),
    # Google. The price of gemini-1.5 and of the pro models depends on the length of the request.
    "gemini-1.5-pro": _other(2_097_152, vision=True),
    "gemini-1.5-flash": _other(1_048_576, vision=True),
    "gemini-2.0-flash": _other(1_048_576, 0.10, 0.40, vision=True),
    "gemini-2.0-flash-lite": _other(1_048_576, 0.075, 0.30, vision=True),
    "gemini-2.5-pro": _other(1_048_576, vision=True),
    "gemini-2.5-flash": _other(1_048_576, 0.30, 2.50, vision=True),
    "gemini-2.5-flash-lite": _other(1_048_576, 0.10, 0.40, vision=True),
    "gemini-3": _other(1_048_576, vision=True),
    "gemini-3.1": _other(1_048_576, vision=True),
    "gemini-3.5": _other(1_048_576, vision=True),
    # DeepSeek
    "deepseek-chat": _other(128_000),
    "deepseek-reasoner": _other(128_000),
    "deepseek-r1": _other(128_000),
    "deepseek-v3": _other(128_000),
    "deepseek-v3.1": _other(128_000),
    "deepseek-v3.2": _other(128_000),
    # Qwen. The smaller models with their native windows, without RoPE scaling.
    "qwen-max": _other(30_720),
    "qwen-plus": _other(129_024),
    "qwen-turbo": _other(129_024),
    "qwen2.5": _other(32_768),
    "qwen2.5-vl": _other(32_768, vision=True),
    "qwen3": _other(32_768),
    "qwen3-235b-a22b-instruct-2507": _other(262_144),
    "qwen3-235b-a22b-thinking-2507": _other(262_144),
    "qwen3-coder": _other(262_144),
    "qwen3-max": _other(258_048),
    "qwen3-next": _other(262_144),
    "qwen3-vl": _other(131_072, vision=True),
    "qwq": _other(98_304),
    # Llama
    "llama-3": _other(8_192),
    "llama3": _other(8_192),
    "meta-llama-3": _other(8_192),
    "llama-3.1": _other(128_000),
    "llama3.1": _other(128_000),
    "meta-llama-3.1": _other(128_000),
    "llama-3.2": _other(128_000),
    "llama3.2": _other(128_000),
    "llama3.2-vision": _other(128_000, vision=True),
    "llama-3.2-11b-vision": _other(128_000, vision=True),
    "llama-3.2-90b-vision": _other(128_000, vision=True),
    "llama-3.3": _other(128_000),
    "llama3.3": _other(128_000),
    "llama-4": _other(1_000_000, vision=True),
    "llama4": _other(1_000_000, vision=True),
    # Mistral
    "mistral-7b": _other(32_000),
    "mixtral-8x7b": _other(32_000),
    "mixtral-8x22b": _other(64_000),
    "mistral-nemo": _other(128_000),
    "open-mistral-nemo": _other(128_000),
    "mistral-small": _other(32_000),
    "mistral-small-latest": _other(128_000, vision=True),
    "mistral-small-2503": _other(128_000, vision=True),
    "mistral-small-2506": _other(128_000, vision=True),
    "mistral-small-3.1": _other(128_000, vision=True),
    "mistral-small-3.2": _other(128_000, vision=True),
    "mistral-medium": _other(128_000, vision=True),
    "mistral-medium-3": _other(128_000, vision=True),
    "mistral-medium-3.1": _other(128_000, vision=True),
    "mistral-large": _other(128_000),
    "mistral-large-latest": _other(256_000, vision=True),
    "mistral-large-2512": _other(256_000, vision=True),
    "ministral": _other(128_000),
    "magistral": _other(40_000),
    "codestral": _other(128_000),
    "devstral": _other(128_000),
    "pixtral": _other(128_000, vision=True),
    # Kimi, GLM
    "kimi-k2": _other(131_072),
    "kimi-k2-0905": _other(262_144),
    "kimi-k2-thinking": _other(262_144),
    "kimi-k2-turbo": _other(262_144),
    "kimi-k2.5": _other(262_144, vision=True),
    "glm-4": _other(128_000),
    "glm-4v": _other(8_192, vision=True),
    "glm-4.5": _other(128_000),
    "glm-4.5v": _other(64_000, vision=True),
    "glm-4.6": _other(200_000),
    "glm-4.6v": _other(128_000, vision=True),
    "glm-4.7": _other(200_000),
}
