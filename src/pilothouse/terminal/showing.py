"""What happens in a conversation, as lines of a terminal."""

from collections.abc import Collection

from pilothouse.domain.codes import Code, Language, Reason, say
from pilothouse.domain.exit_status import describe_exit, is_failure
from pilothouse.domain.messages import ErrorMessage, Processing, SystemControl, Text, ToolRequest, ToolResult
from pilothouse.domain.states import TransientError
from pilothouse.domain.values import MessageId
from pilothouse.runtime.following import At, Cut, Event, Piece, Prints, Seen
from pilothouse.terminal.foreign_text import QuotedStream, quoted
from pilothouse.terminal.words import tell


def show_event(event: Event, language: Language, stream: QuotedStream, typed: Collection[MessageId] = ()) -> None:
    """`stream` prints the answer as it comes. `typed` are the messages that stand on the screen already, because the
    person has just typed them."""
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
            _show_what_became(message, language)
        case Prints(text=text):
            print(quoted("\n".join(f"  {line}" for line in text.splitlines())))
        case At(state=TransientError() as state):
            print(quoted(f"… {say(state.error_type, language)} ({state.retry_count}/{state.max_retries})"))


def _show_what_became(message: ToolResult | ErrorMessage | SystemControl | Processing, language: Language) -> None:
    match message:
        case ToolResult():
            has_failed = is_failure(message.exit_status)
            mark = "✓" if message.status == "executed" and not has_failed else "✗"
            told = message.content if message.error is None else say(message.error, language)
            ended = f"{describe_exit(message.exit_status or 0, language)}: " if has_failed else ""
            print(quoted(f"  {mark} {ended}{short(told)}"))
        case ErrorMessage():
            print(quoted(f"! {say(message.reason, language)}"))
        case Processing() if message.stage in set(Code):
            print(quoted(f"! {say(Reason(Code(message.stage), message.detail.get('params', {})), language)}"))
        case SystemControl(kind="summary", detail=detail):
            figures = {"count": detail["messages"], "before": detail["tokens_before"], "after": detail["tokens_after"]}
            print(quoted(f"— {tell('compressed', language, **figures)}"))
        case SystemControl(kind="branch_merge"):
            print(quoted(tell("merged", language, source=message.detail["source"], count=message.detail["merged"])))


def short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 160 else line[:157] + "…"
