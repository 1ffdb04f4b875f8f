"""What a model costs, where it is known."""

import msgspec

from pilothouse.domain.messages import Usage
from pilothouse.domain.values import Value


class Price(Value):
    """In one currency, per million tokens."""

    input: float
    output: float


def priced(usage: Usage, price: Price | None) -> Usage:
    """Usage with its cost. What the provider itself reports stands; without a price, none is made up."""
    if price is None or usage.cost is not None:
        return usage
    cost = (usage.input_tokens * price.input + usage.output_tokens * price.output) / 1_000_000
    return msgspec.structs.replace(usage, cost=cost)
