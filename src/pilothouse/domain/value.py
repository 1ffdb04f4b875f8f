"""The base class of all values: frozen, typed, and encoded alike on disk and on the wire."""

import re
from typing import NewType, dataclass_transform

import msgspec

ContextId = NewType("ContextId", str)
MessageId = NewType("MessageId", str)
CallId = NewType("CallId", str)
TurnId = NewType("TurnId", str)

Timestamp = str
"""RFC 3339 in UTC. Times are displayed and compared for age. Order comes from sequence numbers, never from times."""

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def snake_case(name: str) -> str:
    """StreamingLLMResponse -> streaming_llm_response."""
    return _WORD_START.sub("_", name).lower()


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Value(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A frozen value. Decoding refuses unknown fields: a misspelt one must not be dropped silently."""
