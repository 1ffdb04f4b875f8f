"""Prices of models, and the cost of usage."""

import msgspec

from pilothouse.domain.messages import Usage
from pilothouse.domain.value import Value


class Price(Value):
    """The price of a million tokens, in any currency."""

    input: float
    output: float


def with_cost(usage: Usage, price: Price | None) -> Usage:
    """The usage with its cost. A cost that the provider reports is kept; without a price there is no cost."""
    if price is None or usage.cost is not None:
        return usage
    cost = (usage.input_tokens * price.input + usage.output_tokens * price.output) / 1_000_000
    return msgspec.structs.replace(usage, cost=cost)
