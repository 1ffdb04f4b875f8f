"""The metadata that every message of the runtime has."""

from pilothouse.domain.messages import MCPResource, Message, SystemControl


def missing_metadata(message: Message, persona: str | None = None) -> set[str]:
    """The fields that a message lacks. Notices and resources may also be made between turns, and no model made the
    request of a program's own calls."""
    metadata = message.metadata
    missing = {field for field in ("mode", "model") if getattr(metadata, field) is None}
    if metadata.origin is not None:
        missing.discard("model")
    if metadata.persona != persona:
        missing.add("persona")
    between_turns = isinstance(message, SystemControl | MCPResource) and metadata.turn is None is metadata.round
    if not between_turns:
        missing |= {field for field in ("turn", "round") if getattr(metadata, field) is None}
    return missing
