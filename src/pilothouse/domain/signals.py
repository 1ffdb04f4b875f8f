"""Signals: small notices that something changed. They carry no content; what changed is pulled."""

from pilothouse.domain.codes import Reason
from pilothouse.domain.messages import Role
from pilothouse.domain.states import State
from pilothouse.domain.values import ContextId, MessageId, Value

DELETED = "deleted"


class BaseSignal(Value, tag_field="event", tag=True):
    context_id: ContextId
    version: int

    @property
    def topic(self) -> str:
        """Whose subscribers get it."""
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


class MessageCompleted(_AboutMessage):
    final_sequence: int


class MessageChanged(_AboutMessage):
    pass


class ContextChanged(BaseSignal):
    """`fields` says what to pull again; ("*",) is everything. After "deleted" nothing more comes."""

    fields: tuple[str, ...]


class ErrorRaised(BaseSignal, tag="Error"):
    reason: Reason


class SessionChanged(Value, tag_field="event", tag=True):
    """The session of a user: no context may have such a topic."""

    user_id: str
    version: int

    @property
    def topic(self) -> str:
        return session_topic(self.user_id)

    @property
    def key(self) -> tuple[object, ...]:
        return (type(self), self.user_id)


def session_topic(user: str) -> str:
    return f"session/{user}"


ContextSignal = (
    StateChanged | MessageCreated | ContentDelta | MessageCompleted | MessageChanged | ContextChanged | ErrorRaised
)
Signal = ContextSignal | SessionChanged
