"""Contexts, messages and calls as clients are given them, joined from what the runtime has."""

from collections.abc import Sequence

import msgspec

from pilothouse.domain.branches import Branch
from pilothouse.domain.calls import CallRecord, display_name, fingerprint_of
from pilothouse.domain.deceptive_text import LOOKALIKE_LETTERS, lookalike_characters
from pilothouse.domain.errors import NotFound
from pilothouse.domain.forks import BranchFork
from pilothouse.domain.messages import Message, ToolCall, ToolRequest, ToolResult
from pilothouse.domain.rules import RuleOffer
from pilothouse.domain.shapes import (
    BranchShape,
    CallShape,
    ConfigShape,
    ContextShape,
    MessageShape,
    StreamingShape,
    ToolRequestShape,
    TurnShape,
)
from pilothouse.domain.values import MessageId, TurnId
from pilothouse.runtime.calls import preview_digest
from pilothouse.runtime.forks import read_forks
from pilothouse.runtime.live import Live
from pilothouse.runtime.runtime import Runtime

IDS_SHOWN = 100


async def context_shape(runtime: Runtime, live: Live) -> ContextShape:
    """One instant of a context: what changes while the ids are read is told by the next signal."""
    core, state, version, branches = live.core, live.state, live.version, dict(live.branches)
    outlet = live.writing
    turn = core.turn
    forks = await read_forks(live)
    return ContextShape(
        context_id=live.id,
        version=version,
        title=core.title,
        current_state=state,
        mode=core.mode,
        active_branch=core.active_branch,
        pending_tool_calls=await call_shapes(runtime, live.id, await runtime.pending_calls(live.id)),
        open_questions=await call_shapes(runtime, live.id, await runtime.open_questions(live.id)),
        branches={
            name: await branch_shape(
                runtime,
                live.id,
                branch,
                fork=forks.get(name),
                limit=0 if branch.original_of is not None else IDS_SHOWN,
            )
            for name, branch in branches.items()
        },
        workspace=core.workspace,
        config=ConfigShape(persona=core.persona, policy=core.policy, model=live.model, rules=core.rules),
        usage=core.usage,
        pins=core.pins,
        queued=len(core.queue),
        elevation=await runtime.elevation(live.id),
        turn=TurnShape(id=turn.id, branch=turn.branch, started_at=turn.started_at, round=turn.round) if turn else None,
        last_turn=core.last_turn,
        streaming=StreamingShape(message_id=outlet.message_id, sequence=outlet.flushed) if outlet is not None else None,
        parent=core.parent,
        waiting_below=tuple(sorted(child.id for child in live.waiting_below())),
        archived=core.archived,
        damage=(*live.damage, *runtime.rulebook.damage(core.owner)),
        created_at=core.created_at,
        updated_at=core.updated_at,
    )


async def branch_shape(
    runtime: Runtime,
    context_id: str,
    branch: Branch,
    *,
    fork: BranchFork | None = None,
    before: int | None = None,
    limit: int = IDS_SHOWN,
) -> BranchShape:
    stop = branch.length if before is None else min(before, branch.length)
    try:
        ids = await runtime.read_ids(context_id, branch.name, before=stop, limit=limit)
    except NotFound:  # it was deleted meanwhile: the next signal tells
        ids = []
    present = (await runtime.context(context_id)).branches.get(branch.name)
    if present is None or present.key != branch.key:  # compressed while we read: these may be of the other list
        ids = []
    return BranchShape(
        name=branch.name,
        key=branch.key,
        created_at=branch.created_at,
        parent_branch=branch.parent_branch,
        prompt_addition=branch.prompt_addition,
        length=branch.length,
        merged=branch.merged,
        compressed=branch.compressed,
        original_of=branch.original_of,
        fork=fork,
        message_ids=tuple(ids),
    )


async def call_shapes(
    runtime: Runtime, context_id: str, records: Sequence[CallRecord], *, with_results: bool = False
) -> tuple[CallShape, ...]:
    results: dict[MessageId, str] = {}
    if with_results:
        ids = [record.result_id for record in records if record.result_id is not None]
        found = await runtime.read_messages(context_id, ids=ids)
        results = {message.id: message.content for message in found if isinstance(message, ToolResult)}
    printed = (await runtime.context(context_id)).printed
    shapes = []
    for record in records:
        is_pending = record.status == "pending" and not record.is_question
        offers = await _offers(runtime, context_id, record) if is_pending else ()
        result = results.get(record.result_id) if record.result_id is not None else None
        output = printed[record.id].tail if record.id in printed else None
        shapes.append(_call_shape(record, offers, result, output))
    return tuple(shapes)


def edited_call_shape(edited: CallRecord) -> CallShape:
    """An edited call as it would be. No rule is offered for it; its digest names all that is shown."""
    shape = _call_shape(edited, (), None, None)
    return msgspec.structs.replace(shape, digest=preview_digest(edited))


async def _offers(runtime: Runtime, context_id: str, record: CallRecord) -> tuple[RuleOffer, ...]:
    try:
        return tuple(await runtime.rule_offers(context_id, record.id))
    except NotFound:  # decided meanwhile
        return ()


def _call_shape(record: CallRecord, offers: tuple[RuleOffer, ...], result: str | None, output: str | None) -> CallShape:
    return CallShape(
        id=record.id,
        message_id=record.message_id,
        tool=record.tool,
        display_name=record.display_name,
        arguments=record.arguments,
        digest=record.digest,
        preview=record.preview,
        touches=record.touches,
        effect=record.effect,
        read_only=record.effect == "read_only",
        dangerous=record.dangerous,
        lookalikes=lookalike_characters(record.arguments) if LOOKALIKE_LETTERS in record.dangerous else "",
        may_change=record.may_change,
        status=record.status,
        rule_offers=offers,
        requested_at=record.requested_at,
        decided_at=record.decided_at,
        decided_by=record.decided_by,
        started_at=record.started_at,
        finished_at=record.finished_at,
        edited=record.edited,
        confined=record.confined,
        output=output,
        reason=record.reason,
        exit_status=record.exit_status,
        result_id=record.result_id,
        result=result,
    )


async def message_shapes(runtime: Runtime, context_id: str, messages: Sequence[Message]) -> list[MessageShape]:
    """Messages with the records of their calls."""
    ids = [call.id for message in messages if isinstance(message, ToolRequest) for call in message.calls]
    records = await runtime.records_of(context_id, ids) if ids else {}
    shapes: list[MessageShape] = []
    for message in messages:
        if not isinstance(message, ToolRequest):
            shapes.append(message)
            continue
        known = [records.get(call.id) or _unread(message, call) for call in message.calls]
        shapes.append(_request_shape(message, await call_shapes(runtime, context_id, known)))
    return shapes


def _request_shape(message: ToolRequest, calls: tuple[CallShape, ...]) -> ToolRequestShape:
    return ToolRequestShape(
        id=message.id,
        timestamp=message.timestamp,
        role=message.role,
        metadata=message.metadata,
        content=message.content,
        calls=calls,
        chunks=message.chunks,
        finish_reason=message.finish_reason,
        usage=message.usage,
    )


def _unread(message: ToolRequest, call: ToolCall) -> CallRecord:
    """A call whose record is lost: only what the model sent is left."""
    try:
        arguments = msgspec.json.decode(call.arguments)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        arguments = call.arguments
    fingerprint = fingerprint_of(call.tool, arguments)
    return CallRecord(
        id=call.id,
        provider_id=call.provider_id,
        message_id=message.id,
        turn=message.metadata.turn or TurnId(""),
        round=message.metadata.round or 0,
        tool=call.tool,
        display_name=display_name(call.tool),
        arguments=arguments,
        digest="",
        fingerprint=fingerprint,
        effect="unknown",
        status="interrupted",
        requested_at=message.timestamp,
    )
