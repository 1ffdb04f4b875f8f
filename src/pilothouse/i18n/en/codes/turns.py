"""English texts of the codes about how a turn ends, and incomplete answers."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

TURNS: Mapping[Code, str] = {
    Code.INTERRUPTED: "Pilothouse was restarted during this turn. Continue?",
    Code.LIMIT_ROUNDS: "Stopped: the turn reached its limit of {limit} steps. Continue?",
    Code.LIMIT_REPEATED_CALL: (
        "Stopped: the model requested {tool} with the same arguments {count} times in a row and seems to be stuck, so "
        "the last request wasn't run. Tell it what to do differently, or continue to let it try again."
    ),
    Code.LIMIT_TURN_TIME: "Stopped: the turn took longer than its limit of {seconds} seconds. Continue?",
    Code.LIMIT_TOKENS: "Stopped: the turn used {used} tokens, and its limit is {limit}. Continue?",
    Code.EMPTY_ANSWER: "The model gave an empty answer. Continue to ask again.",
    Code.ANSWER_RESTARTED: (
        "The connection to the model was lost. The text so far is incomplete; the answer starts again."
    ),
    Code.ANSWER_TOO_LONG: "The answer is incomplete: the model reached its output limit. Continue to get the rest.",
    Code.ANSWER_FILTERED: (
        "The answer is incomplete: the provider's content filter stopped it. Continue to ask again, or rephrase your "
        "message."
    ),
    Code.ANSWER_REFUSED: "The model refused to answer. Continue to ask again, or rephrase your message.",
    Code.ARGUMENTS_CUT: (
        "Nothing was run: the model's output limit cut off the call of {tool} before its arguments were complete. Send "
        "it again with shorter arguments, in several calls if needed."
    ),
}
