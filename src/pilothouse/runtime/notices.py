"""Constructors of the runtime's own messages in a conversation, and of published errors."""

from collections.abc import Mapping
from typing import Any

from pilothouse.domain.codes import Reason
from pilothouse.domain.messages import ErrorMessage, Metadata, NoticeKind, Processing, SystemControl
from pilothouse.domain.signals import ErrorRaised
from pilothouse.domain.value import MessageId
from pilothouse.runtime.context.live_context import LiveContext


def present_metadata(live: LiveContext, mode: str | None = None) -> Metadata:
    """The metadata of a message that is made now. `mode` replaces the present mode."""
    turn = live.core.turn
    return Metadata(
        turn=turn.id if turn is not None else None,
        round=turn.round if turn is not None else None,
        mode=mode or live.core.mode,
        persona=live.core.persona,
        model=live.model().name,
    )


def system_notice(
    live: LiveContext,
    kind: NoticeKind,
    content: str = "",
    *,
    detail: Mapping[str, Any],
    mode: str | None = None,
) -> SystemControl:
    """A system message about an event. `mode` is the mode of its metadata, if not the present one."""
    return SystemControl(
        id=MessageId(live.dependencies.ambient.new_id()),
        timestamp=live.dependencies.now(),
        role="system",
        metadata=present_metadata(live, mode),
        kind=kind,
        content=content,
        detail=detail,
    )


def progress_notice(live: LiveContext, reason: Reason, metadata: Metadata) -> Processing:
    """A notice for the person that does not end the turn."""
    at = live.dependencies.now()
    return Processing(
        id=MessageId(live.dependencies.ambient.new_id()),
        timestamp=at,
        role="system",
        metadata=metadata,
        stage=str(reason.code),
        started_at=at,
        detail={"params": reason.params},
    )


def error_message(live: LiveContext, reason: Reason, metadata: Metadata) -> ErrorMessage:
    """The message that says why a turn ended."""
    return ErrorMessage(
        id=MessageId(live.dependencies.ambient.new_id()),
        timestamp=live.dependencies.now(),
        role="assistant",
        metadata=metadata,
        reason=reason,
    )


def publish_error(live: LiveContext, reason: Reason) -> None:
    """Signal an error to everyone who follows the conversation. Nothing is stored."""
    live.dependencies.hub.publish(ErrorRaised(context_id=live.id, version=live.version, reason=reason))
