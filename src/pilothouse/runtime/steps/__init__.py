"""The steps of a turn, by the state that they begin in. Resting states have none."""

from collections.abc import Awaitable, Callable, Mapping

from pilothouse.domain.states import (
    BaseState,
    Cancelling,
    CollectingToolResults,
    CompressingMessages,
    ConnectingToLLM,
    EnhancingSystemPrompt,
    ExecutingTool,
    OptimizingContext,
    ParsingToolCalls,
    PreparingLLMRequest,
    ProcessingLLMResponse,
    ProcessingUserMessage,
    SavingMessage,
    State,
    TransientError,
)
from pilothouse.runtime.steps.collect import collect
from pilothouse.runtime.steps.compress import compress
from pilothouse.runtime.steps.execute import execute
from pilothouse.runtime.steps.finish import finish, stop
from pilothouse.runtime.steps.fit import fit
from pilothouse.runtime.steps.gate import gate
from pilothouse.runtime.steps.prepare import prepare
from pilothouse.runtime.steps.read import read
from pilothouse.runtime.steps.receive import receive
from pilothouse.runtime.steps.request import request
from pilothouse.runtime.steps.retry import retry
from pilothouse.runtime.steps.stream import stream
from pilothouse.runtime.turn import Turn

Step = Callable[[Turn], Awaitable[State]]

STEPS: Mapping[type[BaseState], Step] = {
    ProcessingUserMessage: receive,
    EnhancingSystemPrompt: prepare,
    OptimizingContext: fit,
    CompressingMessages: compress,
    PreparingLLMRequest: request,
    ConnectingToLLM: stream,
    TransientError: retry,
    ProcessingLLMResponse: read,
    ParsingToolCalls: gate,
    ExecutingTool: execute,
    CollectingToolResults: collect,
    SavingMessage: finish,
    Cancelling: stop,
}
