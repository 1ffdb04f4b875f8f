"""English texts of the codes about requests and commands that cannot be done."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

REQUESTS: Mapping[Code, str] = {
    Code.UNKNOWN_MODE: "Unknown mode {mode!r}. Choose one of: {allowed}.",
    Code.UNKNOWN_CONTEXT: "The conversation {context_id!r} doesn't exist. It may have been deleted.",
    Code.UNKNOWN_MESSAGE: "The branch {branch!r} has no message {message_id!r}.",
    Code.UNKNOWN_CALL: "This action doesn't exist, or it no longer needs approval.",
    Code.UNKNOWN_BRANCH: "Unknown branch {branch!r}. Choose one of: {allowed}.",
    Code.UNKNOWN_MODEL: "Unknown model {model!r}. Choose one of: {allowed}.",
    Code.INVALID_ID: "Invalid ID {value!r}. Use 1 to 64 letters, digits, '-' and '_'.",
    Code.INVALID_NAME: "Invalid name {value!r}. Use 1 to 100 characters, without control characters.",
    Code.INVALID_PAYLOAD: "The message can't be read: {detail}. Use one of these payload types: {allowed}.",
    Code.EMPTY_MESSAGE: "The message is empty. Send some text or an attachment.",
    Code.TEXT_TOO_LARGE: "The text is too long: it has {size} bytes, and at most {limit} are allowed. Shorten it.",
    Code.NOT_TEXT: "The text isn't valid Unicode ({detail}). Send text that can be encoded as UTF-8.",
    Code.UNSUPPORTED_PAYLOAD: "Payloads of type {type!r} aren't supported yet. Use one of: {allowed}.",
    Code.INVALID_WORKSPACE: (
        "Can't open the project folder {path!r}. Check that it exists, is a folder and is accessible."
    ),
    Code.ENVIRONMENT_TOO_LONG: (
        "Commands can't get the environment of your client: PATH and the listed variables have {size} characters, most "
        "of them in {name}; at most {most} are allowed. Shorten {name}, or list fewer variables."
    ),
    Code.PATH_TOO_LONG: (
        "Commands can't get the environment of your client: its PATH has {count} folders, and at most {most} are "
        "allowed. Shorten it."
    ),
    Code.ENVIRONMENT_NOT_TEXT: (
        "Commands can't get the environment of your client: no program can get the value of {name}. Set it to text "
        "without NUL characters."
    ),
    Code.INVALID_ANSWERS: (
        "There are {asked} questions, but {given} answers were given. Give one answer to each question."
    ),
    Code.MISSING_KEY: (
        "The model {model!r} needs an API key. Set {variable}, or use the model 'demo', which needs none."
    ),
    Code.TURN_ACTIVE: (
        "The current turn isn't finished. Wait until it ends, handle its pending actions and questions, continue it, "
        "or cancel it."
    ),
    Code.NOT_CONTINUABLE: "Nothing to continue.",
    Code.NOTHING_TO_CANCEL: "Nothing to cancel: no turn is running.",
    Code.NOTHING_TO_RETRY: "Nothing to retry.",
    Code.NO_QUESTION: "No question is waiting for an answer. It may already be answered.",
    Code.CALL_DECIDED: (
        "Your decision had no effect: the action was already decided ({verdict} by {decided_by}, "
        "{decided_at}; now {status})."
    ),
    Code.DIGEST_CHANGED: "The action has changed since it was shown. Review it again, then decide.",
    Code.BRANCH_EXISTS: "The branch {branch!r} already exists. Choose another name.",
    Code.CONTEXT_EXISTS: "The conversation {context_id!r} already exists. Choose another ID.",
    Code.MESSAGE_INCOMPLETE: (
        "Can't branch from the message {message_id!r}: it's still being written. Choose a complete message."
    ),
    Code.RUNTIME_CLOSED: "Pilothouse has been stopped. Start it again.",
}
