"""What is known of models: how much fits into their window, what they can see, how they count, what they cost."""

from collections.abc import Mapping

from pilothouse.domain.prices import Price
from pilothouse.domain.values import Value


class ModelFacts(Value, kw_only=True):
    """`window` is in tokens, where it is known; `tokenizer` names the family's own way of counting."""

    window: int | None = None
    vision: bool = False
    tokenizer: str | None = None
    price: Price | None = None


class Catalogue:
    """The built-in facts, and a person's own, which stand first."""

    def __init__(self, own: Mapping[str, ModelFacts] | None = None) -> None:
        self._own = dict(own or {})

    def facts(self, name: str) -> ModelFacts:
        """What is known of a model; of an unknown one, nothing."""
        return self._own.get(name, ModelFacts())
