"""Events of a conversation, printed as terminal lines."""

import math
from collections.abc import Collection
from typing import Any

import msgspec

from pilothouse.domain.calls import CallRecord, display_name
from pilothouse.domain.codes import Code, Language, Reason
from pilothouse.domain.exit_status import is_failure
from pilothouse.domain.messages import (
    UNDO,
    ErrorMessage,
    FileReference,
    Processing,
    SystemControl,
    Text,
    ToolRequest,
    ToolResult,
    shown_text,
    undone_paths,
)
from pilothouse.domain.states import ExecutingTool, State, TransientError
from pilothouse.domain.value import CallId, MessageId
from pilothouse.i18n import translate, translate_exit_status, ui_text
from pilothouse.runtime.events.turn_events import (
    AnswerCut,
    MessageAdded,
    StateEntered,
    TextAdded,
    ToolOutputAdded,
    TurnEvent,
)
from pilothouse.runtime.runtime import Runtime
from pilothouse.terminal.foreign_text import QuotedStream, quoted

_SUBJECT_ARGUMENTS = ("command", "pattern", "path", "uri", "url", "query", "task")
"""Arguments that name the subject of a call, in order of preference: the first one present is shown."""
_MAX_SUBJECT_CHARACTERS = 60


def show_event(
    event: TurnEvent,
    language: Language,
    stream: QuotedStream,
    typed: Collection[MessageId] = (),
    name: str | None = None,
) -> None:
    """Print an event. `stream` prints the answer as it arrives. `typed` holds the messages that are already on the
    screen because the person has just typed them. `name` is the name of the call to which a result or an output
    belongs; None omits the name."""
    retry = retry_line(event.state, language) if isinstance(event, StateEntered) else None
    if isinstance(event, AnswerCut | MessageAdded | ToolOutputAdded) or retry is not None:
        stream.end()
    match event:
        case TextAdded(text=text):
            stream.write(text)
        case MessageAdded(message=Text(role="user") | FileReference() as message) if message.id not in typed:
            print("\n" + quoted(f"» {shorten(shown_text(message))}"))
        case MessageAdded(message=ToolRequest() as message):
            for call in message.calls:
                print(quoted(f"· {call.tool} {shorten(call.arguments)}"))
        case MessageAdded(message=ToolResult() | ErrorMessage() | SystemControl() | Processing() as message):
            _show_outcome(message, language, name)
        case ToolOutputAdded(text=text):
            if name is not None:
                print(quoted(f"· {name}"))
            print(quoted("\n".join(f"  {line}" for line in text.splitlines())))
        case StateEntered() if retry is not None:
            print(quoted(f"… {retry}"))


def retry_line(state: State, language: Language) -> str | None:
    """Describe an error and its retry, of a request or of a call; None for a state that is no retry."""
    match state:
        case TransientError():
            figures = {
                "count": state.retry_count,
                "total": state.max_retries,
                "seconds": math.ceil(state.wait_seconds),
            }
            return ui_text("terminal", "retry", language, error=translate(state.error_type, language), **figures)
        case ExecutingTool(attempt=attempt) if attempt > 1:
            return ui_text("terminal", "second_attempt", language, tool=display_name(state.tool_name))
        case _:
            return None


async def read_call_name(runtime: Runtime, context_id: str, call_id: CallId) -> str | None:
    """Return the name of a call; None if the call's record cannot be read."""
    records = await runtime.calls.records(context_id, [call_id])
    return call_name(records[call_id]) if call_id in records else None


def call_name(call: CallRecord) -> str:
    """Return the tool and the subject of a call, on a short line."""
    subject = shorten(_subject(call.arguments), _MAX_SUBJECT_CHARACTERS)
    return f"{call.tool} {subject}" if subject else call.tool


def _subject(arguments: Any) -> str:
    if not isinstance(arguments, dict):
        return ""
    subjects = [value for value in map(arguments.get, _SUBJECT_ARGUMENTS) if isinstance(value, str)]
    if subjects:
        return subjects[0]
    return msgspec.json.encode(arguments).decode() if arguments else ""


def _show_outcome(
    message: ToolResult | ErrorMessage | SystemControl | Processing, language: Language, name: str | None
) -> None:
    match message:
        case ToolResult():
            has_failed = is_failure(message.exit_status)
            mark = "✓" if message.status == "executed" and not has_failed else "✗"
            text = message.content if message.error is None else translate(message.error, language)
            ended = f"{translate_exit_status(message.exit_status or 0, language)}: " if has_failed else ""
            print(quoted(f"  {mark} {name or message.tool}: {ended}{shorten(text)}"))
        case ErrorMessage():
            print(quoted(f"! {translate(message.reason, language)}"))
        case Processing() if message.stage in set(Code):
            print(quoted(f"! {translate(Reason(Code(message.stage), message.detail.get('params', {})), language)}"))
        case SystemControl(kind="summary", detail=detail):
            figures = {"count": detail["messages"], "before": detail["tokens_before"], "after": detail["tokens_after"]}
            print(quoted(f"— {ui_text('terminal', 'compressed', language, **figures)}"))
        case SystemControl() if message.detail.get("about") == UNDO:
            print(quoted(ui_text("terminal", "undone", language, paths=", ".join(undone_paths(message.detail)))))
        case SystemControl(kind="branch_merge"):
            source, count = message.detail["source"], message.detail["merged"]
            print(quoted(ui_text("terminal", "merged", language, source=source, count=count)))


def shorten(text: str, limit: int = 160) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
