"""The signals of a commit: they name what changed, and never carry the new values."""

from typing import TYPE_CHECKING, Any

from pilothouse.domain.contexts import Change
from pilothouse.domain.messages import Message, content_chunks
from pilothouse.domain.signals import ContextChanged, MessageChanged, MessageCompleted, MessageCreated
from pilothouse.domain.value import ContextId

if TYPE_CHECKING:
    from pilothouse.runtime.context.draft import Draft
    from pilothouse.runtime.context.live_context import LiveContext

# Changes of these fields of the core are signalled, so that clients pull them again.
_SIGNALLED_FIELDS = frozenset(
    {"mode", "title", "active_branch", "usage", "rules", "policy", "persona", "model", "elevation", "queue"}
    | {"archived", "pins", "overview"}
)


def publish_commit(live: "LiveContext", draft: "Draft", change: Change) -> None:
    hub = live.dependencies.hub
    if not hub.has_listeners(live.id):
        return
    common: dict[str, Any] = {"context_id": live.id, "version": live.version}
    writer = live.turn.delta_writer if live.turn is not None else None
    queued = {message_id for item in change.core.queue for message_id in item.message_ids}
    for message in change.messages:
        if message.id in queued:
            continue
        if writer is None or writer.message_id != message.id:  # the signal of a streamed message went out before
            hub.publish(message_created(message, live.id, live.version))
        hub.publish(MessageCompleted(**common, message_id=message.id, final_sequence=len(content_chunks(message))))
    for call in change.calls:
        hub.publish(MessageChanged(**common, message_id=call.message_id))
    fields = sorted(_SIGNALLED_FIELDS.intersection(draft.core))
    fields += ["branches"] if draft.branches or draft.dropped else []
    fields += ["pending_tool_calls"] if draft.calls else []
    if fields:
        hub.publish(ContextChanged(**common, fields=tuple(fields)))


def message_created(message: Message, context_id: ContextId, version: int) -> MessageCreated:
    kind = str(message.__struct_config__.tag)
    return MessageCreated(context_id=context_id, version=version, message_id=message.id, role=message.role, type=kind)
