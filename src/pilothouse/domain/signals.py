"""Signals: small notices of changes. A signal carries no content: clients fetch the changed data."""

from pilothouse.domain.codes import Reason
from pilothouse.domain.messages import Role
from pilothouse.domain.states import State
from pilothouse.domain.value import ContextId, MessageId, Value

DELETED = "deleted"


class BaseSignal(Value, tag_field="event", tag=True):
    context_id: ContextId
    version: int

    @property
    def topic(self) -> str:
        """The topic whose subscribers get the signal."""
        return self.context_id

    @property
    def key(self) -> tuple[object, ...]:
        """A newer signal replaces an unsent older one with the same key."""
        return (type(self), self.context_id)


class StateChanged(BaseSignal):
    state: State


class _AboutMessage(BaseSignal):
    message_id: MessageId

    @property
    def key(self) -> tuple[object, ...]:
        return (type(self), self.context_id, self.message_id)


class MessageCreated(_AboutMessage):
    role: Role
    type: str


class ContentDelta(_AboutMessage):
    sequence: int


class ReasoningDelta(_AboutMessage):
    """A message that is being streamed has more reasoning."""

    sequence: int


class MessageCompleted(_AboutMessage):
    final_sequence: int


class MessageChanged(_AboutMessage):
    pass


class ContextChanged(BaseSignal):
    """Fields of a context have changed."""

    fields: tuple[str, ...]
    """The fields to fetch again; ("*",) for all. After "deleted" no more signals come."""


class ErrorRaised(BaseSignal, tag="Error"):
    reason: Reason


class SessionChanged(Value, tag_field="event", tag=True):
    """The session of a user has changed."""

    user_id: str
    version: int

    @property
    def topic(self) -> str:
        return session_topic(self.user_id)

    @property
    def key(self) -> tuple[object, ...]:
        return (type(self), self.user_id)


def session_topic(user: str) -> str:
    """The topic of a user's session. No context id contains a slash."""
    return f"session/{user}"


ContextSignal = (
    StateChanged
    | MessageCreated
    | ContentDelta
    | ReasoningDelta
    | MessageCompleted
    | MessageChanged
    | ContextChanged
    | ErrorRaised
)
Signal = ContextSignal | SessionChanged
