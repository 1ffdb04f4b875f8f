"""What happens in a conversation, as lines of a terminal."""

import math
from collections.abc import Collection
from typing import Any

import msgspec

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Language, Reason, say
from pilothouse.domain.exit_status import describe_exit, is_failure
from pilothouse.domain.messages import (
    UNDO,
    ErrorMessage,
    Processing,
    SystemControl,
    Text,
    ToolRequest,
    ToolResult,
    undone_paths,
)
from pilothouse.domain.states import TransientError
from pilothouse.domain.values import CallId, MessageId
from pilothouse.runtime.following import At, Cut, Event, Piece, Prints, Seen
from pilothouse.runtime.runtime import Runtime
from pilothouse.terminal.foreign_text import QuotedStream, quoted
from pilothouse.terminal.words import tell

_SUBJECT_ARGUMENTS = ("command", "pattern", "path", "uri", "url", "query", "task")
"""Which argument says what a call is about: the first of these that the call has."""
_MAX_SUBJECT_CHARACTERS = 60


def show_event(
    event: Event,
    language: Language,
    stream: QuotedStream,
    typed: Collection[MessageId] = (),
    name: str | None = None,
) -> None:
    """`stream` prints the answer as it comes. `typed` are the messages that stand on the screen already, because the
    person has just typed them. `name` is that of the call to which a result or an output belongs, where it is shown."""
    if isinstance(event, Cut | Seen | Prints) or (isinstance(event, At) and isinstance(event.state, TransientError)):
        stream.end()
    match event:
        case Piece(text=text):
            stream.write(text)
        case Seen(message=Text(role="user") as message) if message.id not in typed:
            print("\n" + quoted(f"» {short(message.content)}"))
        case Seen(message=ToolRequest() as message):
            for call in message.calls:
                print(quoted(f"· {call.tool} {short(call.arguments)}"))
        case Seen(message=ToolResult() | ErrorMessage() | SystemControl() | Processing() as message):
            _show_what_became(message, language, name)
        case Prints(text=text):
            if name is not None:
                print(quoted(f"· {name}"))
            print(quoted("\n".join(f"  {line}" for line in text.splitlines())))
        case At(state=TransientError() as state):
            print(quoted(f"… {retry_line(state, language)}"))


def retry_line(state: TransientError, language: Language) -> str:
    """What failed, and when it is tried again."""
    figures = {"count": state.retry_count, "total": state.max_retries, "seconds": math.ceil(state.wait_seconds)}
    return tell("retry", language, error=say(state.error_type, language), **figures)


async def read_call_name(runtime: Runtime, context_id: str, call_id: CallId) -> str | None:
    """None for a call whose record cannot be read."""
    records = await runtime.records_of(context_id, [call_id])
    return call_name(records[call_id]) if call_id in records else None


def call_name(call: CallRecord) -> str:
    """The tool of a call and what the call is about, on a short line."""
    subject = short(_subject(call.arguments), _MAX_SUBJECT_CHARACTERS)
    return f"{call.tool} {subject}" if subject else call.tool


def _subject(arguments: Any) -> str:
    if not isinstance(arguments, dict):
        return ""
    found = [value for value in map(arguments.get, _SUBJECT_ARGUMENTS) if isinstance(value, str)]
    if found:
        return found[0]
    return msgspec.json.encode(arguments).decode() if arguments else ""


def _show_what_became(
    message: ToolResult | ErrorMessage | SystemControl | Processing, language: Language, name: str | None
) -> None:
    match message:
        case ToolResult():
            has_failed = is_failure(message.exit_status)
            mark = "✓" if message.status == "executed" and not has_failed else "✗"
            told = message.content if message.error is None else say(message.error, language)
            ended = f"{describe_exit(message.exit_status or 0, language)}: " if has_failed else ""
            print(quoted(f"  {mark} {name or message.tool}: {ended}{short(told)}"))
        case ErrorMessage():
            print(quoted(f"! {say(message.reason, language)}"))
        case Processing() if message.stage in set(Code):
            print(quoted(f"! {say(Reason(Code(message.stage), message.detail.get('params', {})), language)}"))
        case SystemControl(kind="summary", detail=detail):
            figures = {"count": detail["messages"], "before": detail["tokens_before"], "after": detail["tokens_after"]}
            print(quoted(f"— {tell('compressed', language, **figures)}"))
        case SystemControl() if message.detail.get("about") == UNDO:
            print(quoted(tell("undone", language, paths=", ".join(undone_paths(message.detail)))))
        case SystemControl(kind="branch_merge"):
            print(quoted(tell("merged", language, source=message.detail["source"], count=message.detail["merged"])))


def short(text: str, limit: int = 160) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
