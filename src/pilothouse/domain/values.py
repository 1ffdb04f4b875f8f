"""The base of all values: frozen, typed, and the same on disk and on the wire."""

import re
from typing import NewType, dataclass_transform

import msgspec

ContextId = NewType("ContextId", str)
MessageId = NewType("MessageId", str)
CallId = NewType("CallId", str)
TurnId = NewType("TurnId", str)

# RFC 3339 in UTC. Times are shown and compared for age, never used for order: sequence gives order.
Timestamp = str

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def snake_case(name: str) -> str:
    """StreamingLLMResponse -> streaming_llm_response."""
    return _WORD_START.sub("_", name).lower()


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Value(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A frozen value. Unknown fields are refused: a typo must never be dropped silently."""
