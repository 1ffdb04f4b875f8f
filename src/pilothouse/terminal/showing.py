"""What happens in a conversation, as lines of a terminal."""

from collections.abc import Collection

from pilothouse.domain.codes import Code, Language, Reason, say
from pilothouse.domain.exit_status import describe_exit, is_failure
from pilothouse.domain.hidden_characters import visible
from pilothouse.domain.messages import ErrorMessage, Processing, SystemControl, Text, ToolRequest, ToolResult
from pilothouse.domain.states import TransientError
from pilothouse.domain.values import MessageId
from pilothouse.runtime.following import At, Cut, Event, Piece, Prints, Seen
from pilothouse.terminal.words import tell


def show_event(event: Event, language: Language, typed: Collection[MessageId] = ()) -> None:
    """`typed` are the messages that stand on the screen already, because the person has just typed them."""
    match event:
        case Piece(text=text):
            print(visible(text), end="", flush=True)
        case Cut() | Seen(message=Text(role="assistant", ended="complete" | "interrupted" | "cancelled")):
            print()
        case Seen(message=Text(role="user") as message) if message.id not in typed:
            print(visible(f"\n» {short(message.content)}"))
        case Seen(message=ToolRequest() as message):
            print(end="\n" if message.content else "")
            for call in message.calls:
                print(visible(f"· {call.tool} {short(call.arguments)}"))
        case Seen(message=ToolResult() | ErrorMessage() | SystemControl() | Processing() as message):
            _show_what_became(message, language)
        case Prints(text=text):
            print(visible("\n".join(f"  │ {line}" for line in text.splitlines())))
        case At(state=TransientError() as state):
            print(visible(f"… {say(state.error_type, language)} ({state.retry_count}/{state.max_retries})"))


def _show_what_became(message: ToolResult | ErrorMessage | SystemControl | Processing, language: Language) -> None:
    match message:
        case ToolResult():
            has_failed = is_failure(message.exit_status)
            mark = "✓" if message.status == "executed" and not has_failed else "✗"
            told = message.content if message.error is None else say(message.error, language)
            ended = f"{describe_exit(message.exit_status or 0, language)}: " if has_failed else ""
            print(visible(f"  {mark} {ended}{short(told)}"))
        case ErrorMessage():
            print(visible(f"! {say(message.reason, language)}"))
        case Processing() if message.stage in set(Code):
            print(visible(f"! {say(Reason(Code(message.stage), message.detail.get('params', {})), language)}"))
        case SystemControl(kind="summary", detail=detail):
            figures = {"count": detail["messages"], "before": detail["tokens_before"], "after": detail["tokens_after"]}
            print(visible(f"— {tell('compressed', language, **figures)}"))
        case SystemControl(kind="branch_merge"):
            print(visible(tell("merged", language, source=message.detail["source"], count=message.detail["merged"])))


def short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 160 else line[:157] + "…"
