"""`pilothouse run`: one turn for a script. No call is approved automatically; the exit code reports the outcome."""

import sys
from collections.abc import Sequence
from enum import IntEnum
from typing import Literal, TextIO

import msgspec

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Language, Reason
from pilothouse.domain.contexts import TurnEnd
from pilothouse.domain.deception.hidden_characters import visible
from pilothouse.domain.exit_status import is_failure
from pilothouse.domain.messages import ErrorMessage, Text, ToolRequest, ToolResult
from pilothouse.domain.states import (
    AwaitingToolApproval,
    AwaitingUserAnswer,
    Failed,
    Idle,
    State,
    WaitingForRecovery,
)
from pilothouse.domain.value import Value
from pilothouse.i18n import translate, translate_exit_status, ui_text
from pilothouse.runtime.context.snapshot import ContextSnapshot
from pilothouse.runtime.events.attend import Attendant
from pilothouse.runtime.events.turn_events import (
    AnswerCut,
    MessageAdded,
    QuestionAsked,
    ReasoningAdded,
    StateEntered,
    SubagentWaiting,
    TextAdded,
    ToolOutputAdded,
    TurnEvent,
    branch_end,
)
from pilothouse.runtime.runtime import Runtime
from pilothouse.terminal.event_lines import read_call_name, retry_line

OutputFormat = Literal["text", "json", "stream-json"]


class ExitCode(IntEnum):
    DONE = 0
    ERROR = 1
    USAGE = 2
    NOT_ALLOWED = 3
    CONFIGURATION = 4
    LIMIT = 53
    TRY_LATER = 75
    INTERRUPTED = 130


_EXIT_CODES: dict[TurnEnd, ExitCode] = {
    "complete": ExitCode.DONE,
    "rejected": ExitCode.NOT_ALLOWED,
    "denied": ExitCode.NOT_ALLOWED,
    "limit": ExitCode.LIMIT,
    "cancelled": ExitCode.INTERRUPTED,
    "interrupted": ExitCode.ERROR,
    "error": ExitCode.ERROR,
}
_TEMPORARY_ERRORS = frozenset(
    {Code.MODEL_CONNECT, Code.MODEL_TIMEOUT, Code.MODEL_CUT, Code.MODEL_RATE_LIMITED, Code.MODEL_OVERLOADED}
)


class Result(Value, tag_field="type", tag="result", omit_defaults=False):
    """The output of `--output-format json`, and the last line of `stream-json`."""

    context_id: str
    state: str
    mode: str
    text: str
    exit_code: int
    pending: tuple[str, ...] = ()
    error: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0


async def run(
    runtime: Runtime,
    context_id: str,
    prompt: str,
    *,
    mode: str | None,
    output: OutputFormat,
    language: Language,
    program: str = "pilothouse",
    out: TextIO = sys.stdout,
    err: TextIO = sys.stderr,
) -> ExitCode:
    """Run one turn. Raises: PilothouseError when the message is refused."""
    place = branch_end(await runtime.contexts.get(context_id))
    await runtime.messages.send(context_id, prompt, mode=mode)
    record, script = _TurnRecord(), _Script(context_id)
    async for event in runtime.events.attend(context_id, script, start=place, by="runtime"):
        record.take(event)
        retry = retry_line(event.state, language) if isinstance(event, StateEntered) else None
        if retry is not None and output != "stream-json":
            _print_note(err, retry)
        if output == "text":
            _print_text(event, out, err, language, await _name_of_failed_call(runtime, context_id, event))
        elif output == "stream-json":
            _print_line(_stream_record(event), out)
    result = await _result(runtime, await runtime.contexts.get(script.context_id), record, language)
    if output == "text":
        out.write("\n" if record.text and not record.text.endswith("\n") else "")
        _print_outcome(result, err, language, program)
    else:
        _print_line(result, out)
    return ExitCode(result.exit_code)


class _Script(Attendant):
    """A script can neither decide nor answer: it declines the questions of running calls, and leaves everything else
    pending for a person."""

    def __init__(self, context_id: str) -> None:
        self.context_id = context_id
        """The context that waits for a person in the end: the script's own, or a sub-agent."""

    async def decide(self, context: ContextSnapshot, calls: Sequence[CallRecord]) -> Literal["later"]:  # noqa: ARG002
        self.context_id = context.id
        return "later"

    async def answer(self, context: ContextSnapshot, question: CallRecord) -> Literal["decline", "later"]:
        return "decline" if question.asked_by is not None else await self.decide(context, [question])


class _TurnRecord:
    """The last text and the last error of a turn."""

    def __init__(self) -> None:
        self.text = ""
        self.error: Reason | None = None

    def take(self, event: TurnEvent) -> None:
        match event:
            case MessageAdded(message=Text(role="assistant") as message):
                self.text = message.content
            case MessageAdded(message=ErrorMessage() as message):
                self.error = message.reason


async def _result(runtime: Runtime, live: ContextSnapshot, record: _TurnRecord, language: Language) -> Result:
    pending = await runtime.calls.pending(live.id)
    error = _stop_reason(live.state) or record.error
    return Result(
        context_id=live.id,
        state=str(live.state.__struct_config__.tag),
        mode=live.core.mode,
        text=record.text,
        exit_code=_exit_code(live, record.error),
        pending=tuple(f"{call.display_name} {msgspec.json.encode(call.arguments).decode()}" for call in pending),
        error=translate(error, language) if error is not None else None,
        input_tokens=live.core.usage.input_tokens,
        output_tokens=live.core.usage.output_tokens,
    )


def _stop_reason(state: State) -> Reason | None:
    """Return the error of a state that stopped the turn; such an error has no message."""
    match state:
        case Failed(error_message=reason) | WaitingForRecovery(reason=reason):
            return reason
        case _:
            return None


def _exit_code(live: ContextSnapshot, error: Reason | None) -> ExitCode:
    if isinstance(live.state, AwaitingToolApproval | AwaitingUserAnswer):
        return ExitCode.NOT_ALLOWED
    if isinstance(live.state, WaitingForRecovery):
        return ExitCode.TRY_LATER
    if not isinstance(live.state, Idle):
        return ExitCode.ERROR
    if live.core.last_turn == "error" and error is not None:
        if error.code in _TEMPORARY_ERRORS:
            return ExitCode.TRY_LATER
        if error.code is Code.MODEL_AUTH:
            return ExitCode.CONFIGURATION
    return _EXIT_CODES[live.core.last_turn]


async def _name_of_failed_call(runtime: Runtime, context_id: str, event: TurnEvent) -> str:
    """Return the name of the call whose failure an event reports; an empty text for other events."""
    if not isinstance(event, MessageAdded) or not isinstance(event.message, ToolResult):
        return ""
    result = event.message
    if result.status == "executed" and not is_failure(result.exit_status):
        return ""
    return await read_call_name(runtime, context_id, result.call_id) or result.tool


def _print_text(event: TurnEvent, out: TextIO, err: TextIO, language: Language, failed: str) -> None:
    """Print text on a terminal as it arrives. Elsewhere, text of an attempt that was cut is omitted."""
    is_terminal = out.isatty()
    match event:
        case TextAdded(text=text) if is_terminal:
            out.write(visible(text))
            out.flush()
        case MessageAdded(message=Text(role="assistant") as message) if not is_terminal and message.ended != "cut":
            out.write(visible(message.content))
            out.flush()
        case AnswerCut():
            out.write("\n" if is_terminal else "")
            err.write(translate(Reason(Code.MODEL_CUT), language) + "\n")
        case MessageAdded(message=ToolRequest() as message):
            out.write("" if is_terminal else visible(message.content))
            out.write("\n" if message.content else "")
            for call in message.calls:
                err.write(visible(f"· {call.tool} {call.arguments}\n"))
        case MessageAdded(message=ToolResult(status=status) as message) if status != "executed":
            text = message.content if message.error is None else translate(message.error, language)
            err.write(visible(f"· {failed}: {text}\n"))
        case MessageAdded(message=ToolResult(exit_status=int(status))) if is_failure(status):
            err.write(visible(f"· {failed}: {translate_exit_status(status, language)}\n"))


def _print_outcome(result: Result, err: TextIO, language: Language, program: str) -> None:
    command = f"{program} --context {result.context_id}"
    if result.error is not None:
        _print_note(err, result.error)
    if result.exit_code == ExitCode.LIMIT:
        _print_note(err, ui_text("terminal", "go_on_with", language, command=command))
    for call in result.pending:
        _print_note(err, ui_text("terminal", "waits_for_approval", language, call=call))
    if result.pending:
        _print_note(err, ui_text("terminal", "decide_with", language, command=command))


def _print_note(err: TextIO, text: str) -> None:
    err.write(visible(text) + "\n")
    err.flush()


def _stream_record(event: TurnEvent) -> dict[str, object]:
    match event:
        case AnswerCut():
            return {"type": "cut", "message_id": event.message_id}
        case TextAdded():
            return {"type": "delta", "message_id": event.message_id, "text": event.text}
        case ReasoningAdded():
            return {"type": "reasoning", "message_id": event.message_id, "text": event.text}
        case MessageAdded():
            return {"type": "message", "message": event.message}
        case StateEntered():
            return {"type": "state", "state": event.state}
        case ToolOutputAdded():
            return {"type": "output", "call_id": event.call_id, "text": event.text}
        case QuestionAsked():
            return {"type": "asks", "call_id": event.call_id}
        case SubagentWaiting():
            return {"type": "child_waits", "context_id": event.context_id}


def _print_line(value: object, out: TextIO) -> None:
    out.write(msgspec.json.encode(value).decode() + "\n")
    out.flush()
