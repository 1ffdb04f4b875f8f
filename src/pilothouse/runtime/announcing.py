"""What clients are told of a commit: that something changed, and where; never what."""

from typing import TYPE_CHECKING, Any

from pilothouse.domain.contexts import Change
from pilothouse.domain.messages import Message, pieces
from pilothouse.domain.signals import ContextChanged, MessageChanged, MessageCompleted, MessageCreated
from pilothouse.domain.values import ContextId

if TYPE_CHECKING:
    from pilothouse.runtime.draft import Draft
    from pilothouse.runtime.live import Live

# Fields of the core that a client pulls again when they have changed.
_TOLD = frozenset(
    {"mode", "title", "active_branch", "usage", "rules", "policy", "persona", "model", "elevation", "queue"}
    | {"archived", "pins", "overview"}
)


def announce(live: "Live", draft: "Draft", change: Change) -> None:
    hub = live.parts.hub
    if not hub.has_listeners(live.id):
        return
    about: dict[str, Any] = {"context_id": live.id, "version": live.version}
    queued = {message_id for item in change.core.queue for message_id in item.message_ids}
    for message in change.messages:
        if message.id in queued:
            continue
        if live.outlet is None or live.outlet.message_id != message.id:
            hub.publish(created(message, live.id, live.version))
        hub.publish(MessageCompleted(**about, message_id=message.id, final_sequence=len(pieces(message))))
    for call in change.calls:
        hub.publish(MessageChanged(**about, message_id=call.message_id))
    fields = sorted(_TOLD.intersection(draft.core))
    fields += ["branches"] if draft.branches or draft.dropped else []
    fields += ["pending_tool_calls"] if draft.calls else []
    if fields:
        hub.publish(ContextChanged(**about, fields=tuple(fields)))


def created(message: Message, context_id: ContextId, version: int) -> MessageCreated:
    kind = str(message.__struct_config__.tag)
    return MessageCreated(context_id=context_id, version=version, message_id=message.id, role=message.role, type=kind)
