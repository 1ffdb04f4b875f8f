"""The transition table of a context: which state may follow which. No other place decides that.

Three rules add the common edges: cancel, pause and failure. Recovery after a crash is no transition: recovery rewrites
the stored state before the machine runs again.
"""

from collections.abc import Mapping

from pilothouse.domain.states import (
    RESTING,
    WORKING,
    AwaitingLLMFirstChunk,
    AwaitingToolApproval,
    AwaitingUserAnswer,
    BaseState,
    Cancelling,
    CollectingToolResults,
    CompressingMessages,
    ConnectingToLLM,
    EnhancingSystemPrompt,
    ExecutingTool,
    Failed,
    GeneratingSummary,
    Idle,
    Initializing,
    LoadingMessages,
    MergingBranches,
    OptimizingContext,
    ParsingToolCalls,
    Paused,
    PreparingLLMRequest,
    ProcessingLLMResponse,
    ProcessingToolResults,
    ProcessingUserMessage,
    ResolvingFileReferences,
    SavingContext,
    SavingMessage,
    StreamingLLMResponse,
    SwitchingBranch,
    ToolAutoLoop,
    TransientError,
    WaitingForRecovery,
    name_of,
)

Row = frozenset[type[BaseState]]

_STARTS: set[type[BaseState]] = {
    ProcessingUserMessage,
    EnhancingSystemPrompt,
    ParsingToolCalls,
    SwitchingBranch,
    MergingBranches,
    CompressingMessages,
}

_EDGES: Mapping[type[BaseState], set[type[BaseState]]] = {
    # rest
    Idle: _STARTS,
    Failed: _STARTS,
    WaitingForRecovery: {Idle},
    AwaitingToolApproval: {
        AwaitingToolApproval,
        ExecutingTool,
        AwaitingUserAnswer,
        CollectingToolResults,
        SavingMessage,
        Paused,
    },
    AwaitingUserAnswer: {
        AwaitingUserAnswer,
        AwaitingToolApproval,
        ExecutingTool,
        CollectingToolResults,
        SavingMessage,
        Paused,
    },
    Paused: {
        EnhancingSystemPrompt,
        ExecutingTool,
        AwaitingToolApproval,
        AwaitingUserAnswer,
        CollectingToolResults,
        SavingMessage,
    },
    # message
    Initializing: {Idle},
    ProcessingUserMessage: {ResolvingFileReferences, EnhancingSystemPrompt, SavingMessage},
    ResolvingFileReferences: {EnhancingSystemPrompt},
    EnhancingSystemPrompt: {OptimizingContext},
    OptimizingContext: {LoadingMessages, CompressingMessages, PreparingLLMRequest},
    # window
    CompressingMessages: {GeneratingSummary, PreparingLLMRequest, SavingContext},
    GeneratingSummary: {CompressingMessages, PreparingLLMRequest, SavingContext},
    # model
    PreparingLLMRequest: {LoadingMessages, ConnectingToLLM, SavingMessage},
    LoadingMessages: {LoadingMessages, CompressingMessages, PreparingLLMRequest, ConnectingToLLM, SavingMessage},
    ConnectingToLLM: {AwaitingLLMFirstChunk, TransientError, SavingMessage},
    AwaitingLLMFirstChunk: {StreamingLLMResponse, ProcessingLLMResponse, TransientError, SavingMessage},
    StreamingLLMResponse: {StreamingLLMResponse, ProcessingLLMResponse, TransientError, SavingMessage},
    ProcessingLLMResponse: {ParsingToolCalls, SavingMessage},
    TransientError: {ConnectingToLLM, PreparingLLMRequest, EnhancingSystemPrompt, SavingMessage},
    # tools
    ParsingToolCalls: {
        ExecutingTool,
        AwaitingToolApproval,
        AwaitingUserAnswer,
        CollectingToolResults,
        SavingMessage,
    },
    ExecutingTool: {ExecutingTool, AwaitingToolApproval, AwaitingUserAnswer, CollectingToolResults},
    CollectingToolResults: {ProcessingToolResults, SavingMessage},
    ProcessingToolResults: {ToolAutoLoop},
    ToolAutoLoop: {EnhancingSystemPrompt, SavingMessage},
    # branches and storage
    SwitchingBranch: {SavingContext},
    MergingBranches: {SavingContext},
    SavingContext: {Idle},
    SavingMessage: {Idle},
    # ending
    Cancelling: {Idle},
}

STEP_OF: Mapping[type[BaseState], str] = {
    Initializing: "create",
    ProcessingUserMessage: "receive",
    ResolvingFileReferences: "receive",
    EnhancingSystemPrompt: "prepare",
    OptimizingContext: "fit",
    CompressingMessages: "compress",
    GeneratingSummary: "compress",
    PreparingLLMRequest: "request",
    LoadingMessages: "request",
    ConnectingToLLM: "stream",
    AwaitingLLMFirstChunk: "stream",
    StreamingLLMResponse: "stream",
    TransientError: "retry",
    ProcessingLLMResponse: "read",
    ParsingToolCalls: "gate",
    ExecutingTool: "execute",
    CollectingToolResults: "collect",
    ProcessingToolResults: "collect",
    ToolAutoLoop: "collect",
    SavingMessage: "finish",
    Cancelling: "stop",
    SwitchingBranch: "switch_branch",
    MergingBranches: "merge",
    SavingContext: "switch_branch",
}
"""The step of the turn, or the command, that runs while the context is in a working state."""

_OUTSIDE_A_TURN = {Initializing, SwitchingBranch, MergingBranches, SavingContext, Cancelling}


def _with_common_edges(state: type[BaseState], successors: set[type[BaseState]]) -> Row:
    edges: set[type[BaseState]] = {*successors, Failed, WaitingForRecovery}
    if state not in (Idle, Cancelling):
        edges.add(Cancelling)
    if state in WORKING and state not in _OUTSIDE_A_TURN:
        edges.add(Paused)
    return frozenset(edges)


TRANSITIONS: Mapping[type[BaseState], Row] = {
    state: _with_common_edges(state, successors) for state, successors in _EDGES.items()
}


class IllegalTransition(AssertionError):
    """A transition that the table does not allow: a bug in the runtime."""


def check(before: BaseState, after: BaseState) -> None:
    """Raises: IllegalTransition for an edge that is not in the table."""
    if type(after) not in TRANSITIONS[type(before)]:
        raise IllegalTransition(f"{name_of(before)} -> {name_of(after)}")


def diagram() -> str:
    """The table as a Mermaid diagram, without the common edges: the caption of the diagram names those."""
    lines = ["stateDiagram-v2", "    [*] --> Initializing"]
    for state, successors in _EDGES.items():
        names = sorted(successor.__name__ for successor in successors)
        lines += [f"    {state.__name__} --> {name}" for name in names]
    lines += [f"    note right of {state.__name__}: rests" for state in RESTING]
    return "\n".join(lines) + "\n"
