"""Looking at a call before it is decided: what it would do, what it would touch, which hard limit it breaks."""

import asyncio
import itertools
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec

from pilothouse.domain.calls import CallRecord, digest_of, display_name, fingerprint_of
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.deceptive_text import deceptions, is_quick
from pilothouse.domain.decisions import Standing, is_denied_by_mode
from pilothouse.domain.errors import ToolError
from pilothouse.domain.messages import Message, ToolCall, ToolRequest
from pilothouse.domain.values import CallId
from pilothouse.runtime.draft import Draft
from pilothouse.runtime.live import Live
from pilothouse.runtime.results import end_call, open_turn
from pilothouse.sandbox.file_names import with_bytes_escaped
from pilothouse.sandbox.known_names import is_program_or_path
from pilothouse.tools.base import Prepared, parse_arguments

MAX_ARGUMENTS_CHARACTERS = 1_000_000
_MAX_SHOWN_CHARACTERS = 2_000
_MAX_CHARACTERS_ON_LOOP = 20_000
T = TypeVar("T")


Planned = dict[str, bytes]
"""What the earlier calls of an answer will make of files: see `Workspace.planned`."""


async def look_at_all(live: Live, request: ToolRequest, denied: Collection[CallId] = ()) -> list[CallRecord]:
    """The records of an answer's calls. `denied` are calls that the mode denies whatever their arguments are."""
    planned: Planned = {}
    return [await look_at(live, request, call, planned, is_denied=call.id in denied) for call in request.calls]


async def look_at(
    live: Live, request: ToolRequest, call: ToolCall, planned: Planned, *, is_denied: bool = False
) -> CallRecord:
    """A record of a call that was just sent: pending, with everything that a decision needs.

    `is_denied`: the mode denies the call whatever its arguments are, so that the call is not prepared. Whoever decides
    makes sure that the mode is still the same.
    """
    size = len(call.arguments)
    arguments, unreadable = await _off_loop(size, lambda: _decoded(call))
    if unreadable is not None and request.finish_reason == "length":
        unreadable = Prepared(effect="unknown", limit=Reason(Code.ARGUMENTS_CUT, {"tool": call.tool}))
    unprepared = Prepared(effect=live.parts.registry.effect_of(call.tool, live.core.workspace)) if is_denied else None
    prepared = unreadable or unprepared or await _prepare_marked(live, call.tool, arguments, planned)
    return await _off_loop(size, lambda: _record(live, request, call, arguments, prepared))


async def _off_loop(characters: int, work: Callable[[], T]) -> T:
    """Do in a thread what takes long for large arguments."""
    return await asyncio.to_thread(work) if characters > _MAX_CHARACTERS_ON_LOOP else work()


def is_always_denied(live: Live, name: str, standing: Standing) -> bool:
    """Whether the mode denies every call of a tool, whatever its arguments are."""
    tool = live.parts.registry.find(name, live.core.workspace)
    if tool is None or getattr(tool, "effect_varies", False):
        return False
    return is_denied_by_mode(name, tool.effect, standing)


def _record(live: Live, request: ToolRequest, call: ToolCall, arguments: Any, prepared: Prepared) -> CallRecord:
    fingerprint = fingerprint_of(call.tool, arguments)
    turn = open_turn(live)
    return CallRecord(
        id=call.id,
        provider_id=call.provider_id,
        message_id=request.id,
        turn=turn.id,
        round=turn.round,
        tool=call.tool,
        display_name=display_name(call.tool),
        arguments=arguments,
        digest=digest_of(live.id, call.id, live.core.workspace, fingerprint),
        fingerprint=fingerprint,
        status="pending",
        requested_at=live.parts.now(),
        **_seen(prepared),
    )


def close_unseen_calls(draft: Draft, live: Live, outbox: Sequence[Message], reason: Reason) -> None:
    """Calls that were asked for, but that nobody has looked at yet, get their record and their result too."""
    for request in [message for message in outbox if isinstance(message, ToolRequest)]:
        for call in request.calls:
            draft.calls[call.id] = _record(live, request, call, call.arguments, Prepared(effect="unknown"))
            end_call(draft, live, call.id, "cancelled", reason=reason)


async def look_again(live: Live, record: CallRecord, arguments: Any) -> CallRecord:
    """The same call, perhaps with other arguments: shown anew, under a digest of its own.

    A person who edits a call has seen its files as they were when the call was shown: a call that still runs or changes
    the same files is compared with those.
    """
    size = len(msgspec.json.encode(arguments))
    if size > MAX_ARGUMENTS_CHARACTERS:
        prepared = _broken(record.tool, _too_long(size))
    else:
        prepared = await _prepare_marked(live, record.tool, arguments, await _planned_before(live, record))

    def changed() -> CallRecord:
        fingerprint = fingerprint_of(record.tool, arguments)
        seen = _seen(prepared)
        if record.waited and _has_same_files(record, prepared, arguments):
            seen["basis"] = record.basis
        return msgspec.structs.replace(
            record,
            arguments=arguments,
            edited=record.edited or arguments != record.arguments,
            display_name=display_name(record.tool),
            fingerprint=fingerprint,
            digest=digest_of(live.id, record.id, live.core.workspace, fingerprint),
            **seen,
        )

    return await _off_loop(size, changed)


async def _planned_before(live: Live, record: CallRecord) -> Planned:
    """What the calls of the round that were asked for before this one, and have not run, will make of files."""
    planned: Planned = {}
    if record.touches is None and record.limit is None:
        return planned
    for call in itertools.takewhile(lambda other: other.id != record.id, live.draft().round_calls()):
        if call.status in ("pending", "approved") and call.effect == "mutating" and call.basis and call.line is None:
            await prepare(live, call.tool, call.arguments, planned)
    return planned


def _has_same_files(record: CallRecord, prepared: Prepared, arguments: Any) -> bool:
    if record.line is not None:  # a command: the line and its working directory decide
        return all(arguments.get(name) == record.arguments.get(name) for name in ("command", "cwd"))
    return prepared.touches is not None and prepared.touches == record.touches


def _seen(prepared: Prepared) -> dict[str, Any]:
    return {name: getattr(prepared, name) for name in Prepared.__struct_fields__}


async def _prepare_marked(live: Live, name: str, arguments: Any, planned: Planned) -> Prepared:
    """Prepare a call that a person may see: what may deceive them in its arguments is marked."""
    prepared = await prepare(live, name, arguments, planned)
    is_known = partial(is_program_or_path, folder=live.core.workspace)
    tool = live.parts.registry.find(name, live.core.workspace)
    contents: frozenset[str] = getattr(tool, "content_arguments", frozenset())
    if is_quick(arguments):
        marks = deceptions(arguments, is_known, contents)
    else:
        marks = await asyncio.to_thread(deceptions, arguments, is_known, contents)
    return msgspec.structs.replace(prepared, dangerous=(*prepared.dangerous, *marks))


def _decoded(call: ToolCall) -> tuple[Any, Prepared | None]:
    if len(call.arguments) > MAX_ARGUMENTS_CHARACTERS:
        return call.arguments[:_MAX_SHOWN_CHARACTERS], _broken(call.tool, _too_long(len(call.arguments)))
    try:
        arguments = msgspec.json.decode(call.arguments or "{}")
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        return call.arguments, _broken(call.tool, f"not valid JSON: {error}")
    if not isinstance(arguments, dict):
        return arguments, _broken(call.tool, "an object was expected")
    return arguments, None


def _too_long(size: int) -> str:
    return f"they hold {size:,} characters; {MAX_ARGUMENTS_CHARACTERS:,} are the most"


def _broken(tool: str, detail: str) -> Prepared:
    limit = Reason(Code.INVALID_ARGUMENTS, {"tool": tool, "detail": detail})
    return Prepared(effect="unknown", limit=limit)


async def prepare(live: Live, name: str, arguments: Any, planned: Planned | None = None) -> Prepared:
    registry = live.parts.registry
    tool = registry.find(name, live.core.workspace)
    if tool is None:
        allowed = ", ".join(registry.within(live.core.workspace))
        return Prepared(effect="unknown", limit=Reason(Code.UNKNOWN_TOOL, {"tool": name, "allowed": allowed}))
    try:
        parsed = parse_arguments(name, tool.parameters, arguments)
        prepared = await tool.prepare(parsed, live.workspace().with_planned({} if planned is None else planned))
        return msgspec.convert(_with_texts_cleaned(prepared), Prepared)
    except ToolError as error:
        return Prepared(effect=tool.effect, limit=error.reason)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        limit = Reason(Code.TOOL_FAILED, {"tool": name, "detail": "it was cancelled from inside"})
        return Prepared(effect=tool.effect, limit=limit)
    except Exception as error:  # a tool is foreign code: what it raises is the call's failure, not the turn's
        detail = with_bytes_escaped(f"{type(error).__name__}: {error}")
        return Prepared(effect=tool.effect, limit=Reason(Code.TOOL_FAILED, {"tool": name, "detail": detail}))


def _with_texts_cleaned(prepared: Any) -> Any:
    """What a tool says of a call, as data to be checked: it is foreign, and it will be stored."""
    return _cleaned(msgspec.to_builtins(prepared))


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
