"""The states of a context. A context is in exactly one state, which holds all that a client needs to display it."""

from typing import get_args

import msgspec

from pilothouse.domain.codes import Reason
from pilothouse.domain.value import CallId, MessageId, Timestamp, Value, snake_case


class BaseState(Value, tag_field="type", tag=snake_case):
    pass


# resting: nothing is held in memory, for any length of time


class Idle(BaseState):
    pass


class AwaitingToolApproval(BaseState):
    """Calls wait for a person's decision."""

    pending_requests: tuple[CallId, ...]
    tool_names: tuple[str, ...]
    total: int = 0
    """The number of pending calls where the lists are cut short, as in a signal."""


class AwaitingUserAnswer(BaseState):
    question_ids: tuple[CallId, ...]
    total: int = 0


class Paused(BaseState):
    resume_to: str


class WaitingForRecovery(BaseState):
    reason: Reason


class Failed(BaseState):
    error_message: Reason
    failed_at: Timestamp


# message


class Initializing(BaseState):
    pass


class ProcessingUserMessage(BaseState):
    pass


class ResolvingFileReferences(BaseState):
    pass


class EnhancingSystemPrompt(BaseState):
    pass


class OptimizingContext(BaseState):
    pass


# model


class PreparingLLMRequest(BaseState):
    pass


class ConnectingToLLM(BaseState):
    pass


class AwaitingLLMFirstChunk(BaseState):
    pass


class StreamingLLMResponse(BaseState):
    chunks_received: int
    chars_accumulated: int


class ProcessingLLMResponse(BaseState):
    pass


class TransientError(BaseState):
    error_type: Reason
    retry_count: int
    max_retries: int
    retry_at: Timestamp
    resume_to: str
    wait_seconds: float = 0
    """The time from the error to the retry."""


# tools


class ParsingToolCalls(BaseState):
    pass


class ExecutingTool(BaseState, kw_only=True):
    tool_name: str
    attempt: int = 1
    """2 while a call that only reads is tried again, because its connection was lost."""
    running: int
    done: int
    total: int


class CollectingToolResults(BaseState):
    pass


class ProcessingToolResults(BaseState):
    pass


class ToolAutoLoop(BaseState):
    depth: int
    tools_executed: int


# branches


class SwitchingBranch(BaseState):
    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")


class MergingBranches(BaseState):
    source: str
    target: str
    strategy: str


# storage


class SavingContext(BaseState):
    pass


class SavingMessage(BaseState):
    message_id: MessageId | None = None


class LoadingMessages(BaseState):
    loaded: int
    total: int


# window


class CompressingMessages(BaseState):
    messages_to_compress: int


class GeneratingSummary(BaseState):
    pass


# ending


class Cancelling(BaseState):
    pass


RestingState = Idle | AwaitingToolApproval | AwaitingUserAnswer | Paused | WaitingForRecovery | Failed
WorkingState = (
    Initializing
    | ProcessingUserMessage
    | ResolvingFileReferences
    | EnhancingSystemPrompt
    | OptimizingContext
    | PreparingLLMRequest
    | ConnectingToLLM
    | AwaitingLLMFirstChunk
    | StreamingLLMResponse
    | ProcessingLLMResponse
    | TransientError
    | ParsingToolCalls
    | ExecutingTool
    | CollectingToolResults
    | ProcessingToolResults
    | ToolAutoLoop
    | SwitchingBranch
    | MergingBranches
    | SavingContext
    | SavingMessage
    | LoadingMessages
    | CompressingMessages
    | GeneratingSummary
    | Cancelling
)
State = RestingState | WorkingState

RESTING: tuple[type[BaseState], ...] = get_args(RestingState)
WORKING: tuple[type[BaseState], ...] = get_args(WorkingState)


def is_resting(state: BaseState) -> bool:
    return isinstance(state, RESTING)


def name_of(state: BaseState | type[BaseState]) -> str:
    """The name on the wire: `streaming_llm_response`."""
    tag = state.__struct_config__.tag
    assert isinstance(tag, str)
    return tag
