"""Inspection of calls before the decision: predicted effect, touched paths, violations, deceptive text."""

import asyncio
import itertools
from collections.abc import Callable, Collection
from functools import partial
from typing import Any, TypeVar

import msgspec

from pilothouse.domain.calls import CallRecord, call_digest, display_name, fingerprint_of
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.deception.deceptive_text import deception_marks, is_quick
from pilothouse.domain.decisions import PolicySnapshot, is_denied_by_mode
from pilothouse.domain.errors import ToolError, tool_failure
from pilothouse.domain.messages import ToolCall, ToolRequest
from pilothouse.domain.value import CallId
from pilothouse.runtime.authorization.authorization import current_turn, end_call
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.sandbox.command_environment import CommandEnvironment
from pilothouse.sandbox.file_names import with_bytes_escaped
from pilothouse.sandbox.known_names import is_program_or_path
from pilothouse.tools.base import CallPreview, parse_arguments

MAX_ARGUMENTS_CHARACTERS = 1_000_000
_MAX_SHOWN_CHARACTERS = 2_000
_MAX_CHARACTERS_ON_LOOP = 20_000
T = TypeVar("T")


EarlierPreview = dict[str, bytes]
"""By path: contents that the earlier calls of an answer would write. See `Workspace.planned`."""


async def inspect_calls(
    live: LiveContext, request: ToolRequest, environment: CommandEnvironment, denied: Collection[CallId] = ()
) -> list[CallRecord]:
    """The records of an answer's calls, inspected for the environment in which their commands would run. `denied` are
    calls that the mode denies independently of their arguments."""
    earlier: EarlierPreview = {}
    return [
        await inspect_call(live, request, call, environment, earlier, is_denied=call.id in denied)
        for call in request.calls
    ]


async def inspect_call(
    live: LiveContext,
    request: ToolRequest,
    call: ToolCall,
    environment: CommandEnvironment,
    earlier: EarlierPreview,
    *,
    is_denied: bool = False,
) -> CallRecord:
    """The record of a new call: pending, with everything that a decision needs.

    `is_denied`: the mode denies the call independently of its arguments, so the call is not prepared. The caller checks
    before deciding that the mode is still the same.
    """
    size = len(call.arguments)
    arguments, unreadable_preview = await _off_loop(size, lambda: _decode_arguments(call))
    if unreadable_preview is not None and request.finish_reason == "length":
        unreadable_preview = CallPreview(effect="unknown", violation=Reason(Code.ARGUMENTS_CUT, {"tool": call.tool}))
    denied_preview = (
        CallPreview(effect=live.dependencies.registry.effect_of(call.tool, live.core.workspace)) if is_denied else None
    )
    preview = unreadable_preview or denied_preview
    if preview is None:
        preview = await _prepare_with_marks(live, call.tool, arguments, environment, earlier)
    return await _off_loop(size, lambda: _record(live, request, call, arguments, preview))


async def _off_loop(characters: int, work: Callable[[], T]) -> T:
    """Do work on large arguments in a thread, so that it does not block the event loop."""
    return await asyncio.to_thread(work) if characters > _MAX_CHARACTERS_ON_LOOP else work()


def is_always_denied(live: LiveContext, name: str, snapshot: PolicySnapshot) -> bool:
    """Whether the mode denies every call of a tool, independently of the arguments."""
    tool = live.dependencies.registry.find(name, live.core.workspace)
    if tool is None or getattr(tool, "effect_varies", False):
        return False
    return is_denied_by_mode(name, tool.effect, snapshot)


def _record(
    live: LiveContext, request: ToolRequest, call: ToolCall, arguments: Any, preview: CallPreview
) -> CallRecord:
    fingerprint = fingerprint_of(call.tool, arguments)
    turn = current_turn(live)
    return CallRecord(
        id=call.id,
        provider_id=call.provider_id,
        message_id=request.id,
        turn=turn.id,
        round=turn.round,
        tool=call.tool,
        display_name=display_name(call.tool),
        arguments=arguments,
        digest=call_digest(live.id, call.id, live.core.workspace, fingerprint),
        fingerprint=fingerprint,
        status="pending",
        requested_at=live.dependencies.now(),
        origin=request.metadata.origin,
        **_preview_fields(preview),
    )


def close_unseen_calls(draft: Draft, live: LiveContext, reason: Reason) -> None:
    """Give the pending calls, which have not been inspected yet, a record and a result."""
    for request in live.pending.requests:
        for call in request.calls:
            draft.calls[call.id] = _record(live, request, call, call.arguments, CallPreview(effect="unknown"))
            end_call(draft, live, call.id, "cancelled", reason=reason)


async def reinspect_call(live: LiveContext, record: CallRecord, arguments: Any) -> CallRecord:
    """The record of a call after a new inspection, perhaps with other arguments, under a new digest.

    A person who edits a call has seen the call's files as of the first inspection. The record therefore keeps its
    content hash where the edited call runs or changes the same files.
    """
    size = len(msgspec.json.encode(arguments))
    if size > MAX_ARGUMENTS_CHARACTERS:
        preview = _invalid_arguments(record.tool, _too_long_detail(size))
    else:
        environment = live.files.environment
        earlier = await _earlier_preview(live, record, environment)
        preview = await _prepare_with_marks(live, record.tool, arguments, environment, earlier)

    def changed() -> CallRecord:
        fingerprint = fingerprint_of(record.tool, arguments)
        fields = _preview_fields(preview)
        if record.waited and _has_same_files(record, preview, arguments):
            fields["content_hash"] = record.content_hash
        return msgspec.structs.replace(
            record,
            arguments=arguments,
            edited=record.edited or arguments != record.arguments,
            display_name=display_name(record.tool),
            fingerprint=fingerprint,
            digest=call_digest(live.id, record.id, live.core.workspace, fingerprint),
            **fields,
        )

    return await _off_loop(size, changed)


async def _earlier_preview(live: LiveContext, record: CallRecord, environment: CommandEnvironment) -> EarlierPreview:
    """The contents that earlier calls of the round, which have not run yet, would write."""
    earlier: EarlierPreview = {}
    if record.touches is None and record.violation is None:
        return earlier
    for call in itertools.takewhile(lambda other: other.id != record.id, live.draft().round_calls()):
        if (
            call.status in ("pending", "approved")
            and call.effect == "mutating"
            and call.content_hash
            and call.command_line is None
        ):
            await prepare(live, call.tool, call.arguments, environment, earlier)
    return earlier


def _has_same_files(record: CallRecord, preview: CallPreview, arguments: Any) -> bool:
    if record.command_line is not None:  # a command's files follow from the line and the working directory
        return all(arguments.get(name) == record.arguments.get(name) for name in ("command", "cwd"))
    return preview.touches is not None and preview.touches == record.touches


def _preview_fields(preview: CallPreview) -> dict[str, Any]:
    return {name: getattr(preview, name) for name in CallPreview.__struct_fields__}


async def _prepare_with_marks(
    live: LiveContext, name: str, arguments: Any, environment: CommandEnvironment, earlier: EarlierPreview
) -> CallPreview:
    """Prepare a call that a person may see, and mark deceptive text in its arguments."""
    preview = await prepare(live, name, arguments, environment, earlier)
    is_known_name = partial(is_program_or_path, folder=live.core.workspace, path=environment.path)
    tool = live.dependencies.registry.find(name, live.core.workspace)
    contents: frozenset[str] = getattr(tool, "content_arguments", frozenset())
    if is_quick(arguments):
        marks = deception_marks(arguments, is_known_name, contents)
    else:
        marks = await asyncio.to_thread(deception_marks, arguments, is_known_name, contents)
    return msgspec.structs.replace(preview, dangerous=(*preview.dangerous, *marks))


def _decode_arguments(call: ToolCall) -> tuple[Any, CallPreview | None]:
    if len(call.arguments) > MAX_ARGUMENTS_CHARACTERS:
        return call.arguments[:_MAX_SHOWN_CHARACTERS], _invalid_arguments(
            call.tool, _too_long_detail(len(call.arguments))
        )
    try:
        arguments = msgspec.json.decode(call.arguments or "{}")
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        return call.arguments, _invalid_arguments(call.tool, f"not valid JSON: {error}")
    if not isinstance(arguments, dict):
        return arguments, _invalid_arguments(call.tool, "an object was expected")
    return arguments, None


def _too_long_detail(size: int) -> str:
    return f"they have {size:,} characters, and at most {MAX_ARGUMENTS_CHARACTERS:,} are allowed"


def _invalid_arguments(tool: str, detail: str) -> CallPreview:
    violation = Reason(Code.INVALID_ARGUMENTS, {"tool": tool, "detail": detail})
    return CallPreview(effect="unknown", violation=violation)


async def prepare(
    live: LiveContext,
    name: str,
    arguments: Any,
    environment: CommandEnvironment,
    earlier: EarlierPreview | None = None,
) -> CallPreview:
    """The tool's preview of a call. A failure of the tool becomes a violation."""
    registry = live.dependencies.registry
    tool = registry.find(name, live.core.workspace)
    if tool is None:
        allowed = ", ".join(registry.tools_in(live.core.workspace))
        return CallPreview(effect="unknown", violation=Reason(Code.UNKNOWN_TOOL, {"tool": name, "allowed": allowed}))
    try:
        parsed = parse_arguments(name, tool.parameters, arguments)
        workspace = live.files.workspace(environment).with_planned({} if earlier is None else earlier)
        preview = await tool.prepare(parsed, workspace)
        return msgspec.convert(_with_clean_texts(preview), CallPreview)
    except ToolError as error:
        return CallPreview(effect=tool.effect, violation=error.reason)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        return CallPreview(effect=tool.effect, violation=tool_failure(name, "the tool cancelled itself"))
    except Exception as error:  # tools are foreign code: their exceptions fail the call, not the turn
        detail = with_bytes_escaped(f"{type(error).__name__}: {error}")
        return CallPreview(effect=tool.effect, violation=tool_failure(name, detail))


def _with_clean_texts(preview: Any) -> Any:
    """A tool's preview as plain data to be validated, since foreign code made it and it will be stored."""
    return _cleaned(msgspec.to_builtins(preview))


def _cleaned(data: Any) -> Any:
    match data:
        case str():
            return with_bytes_escaped(data)
        case dict():
            return {key: _cleaned(value) for key, value in data.items()}
        case list() | tuple():
            return [_cleaned(value) for value in data]
        case _:
            return data
