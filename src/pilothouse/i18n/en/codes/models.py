"""English texts of the codes about models, their providers and scripts."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

MODELS: Mapping[Code, str] = {
    Code.MODEL_CONNECT: "Can't connect to {address}: {detail}.",
    Code.MODEL_TIMEOUT: "The model didn't answer within {seconds} seconds.",
    Code.MODEL_CUT: "The connection was lost in the middle of the answer.",
    Code.MODEL_RATE_LIMITED: "Rate limited by the provider: {detail}",
    Code.MODEL_OVERLOADED: "Provider error ({status}): {detail}",
    Code.MODEL_REFUSED: "The provider refused the request ({status}): {detail}",
    Code.MODEL_AUTH: "Invalid API key ({status}): {detail}",
    Code.MODEL_GARBLED: "The provider sent an invalid response: {detail}",
    Code.MODEL_ENDLESS: "The answer was cut off because it exceeded {limit} characters.",
    Code.SCRIPT_EXHAUSTED: "The script has no answer left for the purpose {purpose!r} (it had {count}).",
    Code.SCRIPT_INVALID: "The script isn't valid: {detail}",
}
