"""`ContextSnapshot`: a context at one instant, as the façade returns it. A snapshot does not change."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from types import MappingProxyType

import msgspec

from pilothouse.domain.branches import Branch
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Reason
from pilothouse.domain.contexts import ContextCore
from pilothouse.domain.states import State, is_resting
from pilothouse.domain.value import CallId, ContextId, MessageId, Value
from pilothouse.runtime.context.live_context import LiveContext


class StreamingMessage(Value):
    """A message that the model is writing."""

    message_id: MessageId
    sequence: int
    """How many deltas of its text are stored and signalled."""
    reasoning_sequence: int = 0
    """How many deltas of its reasoning are stored and signalled."""


def own_copy(record: CallRecord) -> CallRecord:
    """A record with arguments of its own. Whoever changes the arguments must not change what runs."""
    copied: CallRecord = msgspec.structs.replace(record, arguments=deepcopy(record.arguments))
    return copied


@dataclass(frozen=True, slots=True, eq=False)
class ContextSnapshot:
    """A context at one instant."""

    core: ContextCore
    state: State
    version: int
    branches: Mapping[str, Branch]
    _records: tuple[CallRecord, ...]
    """The runtime's own records of the open turn's calls."""
    damage: tuple[Reason, ...]
    """Damage of the stored data. Until a person accepts it, every call asks."""
    is_driven: bool
    """Whether a task works on the context."""
    is_waiting: bool
    """Whether a person must decide a call or answer a question."""
    has_questions: bool
    """Whether a running call has an open question."""
    streaming: StreamingMessage | None
    output_tails: Mapping[CallId, str]
    """By running call: the last characters of its output."""
    waiting_subagents: tuple["ContextSnapshot", ...]
    """The sub-agents on any level that wait for a person."""

    @property
    def id(self) -> ContextId:
        return self.core.context_id

    @property
    def calls(self) -> dict[CallId, CallRecord]:
        """The calls of the open turn."""
        return {record.id: own_copy(record) for record in self._records}

    @property
    def is_resting(self) -> bool:
        return is_resting(self.state)


def snapshot_of(live: LiveContext) -> ContextSnapshot:
    writer = live.delta_writer
    return ContextSnapshot(
        core=live.core,
        state=live.state,
        version=live.version,
        branches=MappingProxyType(dict(live.branches)),
        _records=tuple(live.calls.values()),
        damage=live.damage,
        is_driven=live.task is not None,
        is_waiting=live.is_waiting(),
        has_questions=bool(live.calls_with_questions()),
        streaming=StreamingMessage(writer.message_id, writer.flushed, writer.reasoning_flushed)
        if writer is not None
        else None,
        output_tails=MappingProxyType({call_id: output.tail for call_id, output in live.live_outputs.items()}),
        waiting_subagents=tuple(snapshot_of(child) for child in live.subagents_waiting()),
    )
