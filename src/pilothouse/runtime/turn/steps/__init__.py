"""`STEPS`: the step for each working state. Resting states have no step."""

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
    TransientError,
)
from pilothouse.runtime.turn.round import Next, Round
from pilothouse.runtime.turn.steps.execute import collect, execute
from pilothouse.runtime.turn.steps.finish import finish, stop
from pilothouse.runtime.turn.steps.gate import gate
from pilothouse.runtime.turn.steps.read import read
from pilothouse.runtime.turn.steps.receive import receive
from pilothouse.runtime.turn.steps.request import compress, fit, prepare, request
from pilothouse.runtime.turn.steps.stream import retry, stream
from pilothouse.runtime.turn.turn import Turn

Step = Callable[[Turn, Round], Awaitable[Next]]

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
