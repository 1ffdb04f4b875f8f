"""Builds the views of contexts, branches, messages and calls from the runtime's records."""

from collections.abc import Sequence

import msgspec

from pilothouse.api.views import (
    BranchView,
    CallView,
    ConfigView,
    ContextView,
    MessageView,
    StreamingView,
    ToolRequestView,
    TurnView,
)
from pilothouse.domain.branches import Branch
from pilothouse.domain.calls import CallRecord, display_name, fingerprint_of
from pilothouse.domain.deception.deceptive_text import lookalike_characters
from pilothouse.domain.deception.value_marks import LOOKALIKE_LETTERS
from pilothouse.domain.errors import NotFound
from pilothouse.domain.forks import BranchFork
from pilothouse.domain.messages import Message, Text, ToolCall, ToolRequest, ToolResult
from pilothouse.domain.rules import RuleOptionOffer
from pilothouse.domain.value import MessageId, TurnId
from pilothouse.runtime.commands.calls import preview_digest
from pilothouse.runtime.context.snapshot import ContextSnapshot
from pilothouse.runtime.runtime import Runtime

MAX_LISTED_IDS = 100


async def context_view(runtime: Runtime, live: ContextSnapshot) -> ContextView:
    """Build the view of a context at one instant. The next signal reports changes that happen while ids are read."""
    core, state, version, branches = live.core, live.state, live.version, dict(live.branches)
    writer = live.streaming
    turn = core.turn
    forks = await runtime.contexts.forks(live.id)
    model = await runtime.contexts.model(live.id)
    return ContextView(
        context_id=live.id,
        version=version,
        title=core.title,
        current_state=state,
        mode=core.mode,
        active_branch=core.active_branch,
        pending_tool_calls=await call_views(runtime, live.id, await runtime.calls.pending(live.id)),
        open_questions=await call_views(runtime, live.id, await runtime.calls.open_questions(live.id)),
        branches={
            name: await branch_view(
                runtime,
                live.id,
                branch,
                fork=forks.get(name),
                limit=0 if branch.original_of is not None else MAX_LISTED_IDS,
            )
            for name, branch in branches.items()
        },
        workspace=core.workspace,
        config=ConfigView(
            persona=core.persona,
            policy=core.policy,
            model=model,
            temperature=core.sampling.temperature if core.sampling is not None else None,
            max_output_tokens=core.sampling.max_output_tokens if core.sampling is not None else None,
            rules=core.rules,
        ),
        usage=core.usage,
        pins=core.pins,
        queued=len(core.queue),
        elevation=await runtime.modes.elevation(live.id),
        turn=TurnView(id=turn.id, branch=turn.branch, started_at=turn.started_at, round=turn.round) if turn else None,
        last_turn=core.last_turn,
        streaming=StreamingView(
            message_id=writer.message_id, sequence=writer.sequence, reasoning_sequence=writer.reasoning_sequence
        )
        if writer is not None
        else None,
        parent=core.parent,
        waiting_below=tuple(sorted(child.id for child in live.waiting_subagents)),
        archived=core.archived,
        damage=(*live.damage, *runtime.rules.damage(core.owner)),
        created_at=core.created_at,
        updated_at=core.updated_at,
    )


async def branch_view(
    runtime: Runtime,
    context_id: str,
    branch: Branch,
    *,
    fork: BranchFork | None = None,
    before: int | None = None,
    limit: int = MAX_LISTED_IDS,
) -> BranchView:
    stop = branch.length if before is None else min(before, branch.length)
    try:
        ids = await runtime.messages.read_ids(context_id, branch.name, before=stop, limit=limit)
    except NotFound:  # the branch has just been deleted: the next signal reports it
        ids = []
    current = (await runtime.contexts.get(context_id)).branches.get(branch.name)
    if current is None or current.key != branch.key:  # compressed during the read: the ids may be of either list
        ids = []
    return BranchView(
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


async def call_views(
    runtime: Runtime, context_id: str, records: Sequence[CallRecord], *, with_results: bool = False
) -> tuple[CallView, ...]:
    results: dict[MessageId, str] = {}
    if with_results:
        ids = [record.result_id for record in records if record.result_id is not None]
        messages = await runtime.messages.read(context_id, ids=ids)
        results = {message.id: message.content for message in messages if isinstance(message, ToolResult)}
    output_tails = (await runtime.contexts.get(context_id)).output_tails
    views = []
    for record in records:
        is_pending = record.status == "pending" and not record.is_question
        offers = await _offers(runtime, context_id, record) if is_pending else ()
        result = results.get(record.result_id) if record.result_id is not None else None
        output = output_tails.get(record.id)
        views.append(_call_view(record, offers, result, output))
    return tuple(views)


def edited_call_view(edited: CallRecord) -> CallView:
    """Build the view of an edited call, without rule offers. The digest covers everything that the person sees."""
    view = _call_view(edited, (), None, None)
    return msgspec.structs.replace(view, digest=preview_digest(edited))


async def _offers(runtime: Runtime, context_id: str, record: CallRecord) -> tuple[RuleOptionOffer, ...]:
    try:
        return tuple(await runtime.rules.offers(context_id, record.id))
    except NotFound:  # the call has just been decided
        return ()


def _call_view(
    record: CallRecord, offers: tuple[RuleOptionOffer, ...], result: str | None, output: str | None
) -> CallView:
    return CallView(
        id=record.id,
        message_id=record.message_id,
        tool=record.tool,
        display_name=record.display_name,
        arguments=record.arguments,
        digest=record.digest,
        preview=record.preview,
        preview_kind=record.preview_kind,
        shown_arguments=record.shown_arguments,
        touches=record.touches,
        effect=record.effect,
        read_only=record.effect == "read_only",
        dangerous=record.dangerous,
        lookalikes=lookalike_characters(record.arguments) if LOOKALIKE_LETTERS in record.dangerous else "",
        may_change=record.may_change,
        status=record.status,
        rule_offers=offers,
        origin=record.origin,
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


async def message_views(runtime: Runtime, context_id: str, messages: Sequence[Message]) -> list[MessageView]:
    """Build the views of messages; tool requests include the records of their calls."""
    ids = [call.id for message in messages if isinstance(message, ToolRequest) for call in message.calls]
    records = await runtime.calls.records(context_id, ids) if ids else {}
    views: list[MessageView] = []
    for message in messages:
        if not isinstance(message, ToolRequest):
            views.append(_without_opaque_parts(message))
            continue
        call_records = [records.get(call.id) or _fallback_record(message, call) for call in message.calls]
        views.append(_tool_request_view(message, await call_views(runtime, context_id, call_records)))
    return views


def _without_opaque_parts(message: MessageView) -> MessageView:
    """The message without its provider's signatures and encrypted reasoning, which clients cannot use."""
    if not isinstance(message, Text) or not message.opaque:
        return message
    return msgspec.structs.replace(message, opaque=())


def _tool_request_view(message: ToolRequest, calls: tuple[CallView, ...]) -> ToolRequestView:
    return ToolRequestView(
        id=message.id,
        timestamp=message.timestamp,
        role=message.role,
        metadata=message.metadata,
        content=message.content,
        calls=calls,
        chunks=message.chunks,
        finish_reason=message.finish_reason,
        reasoning=message.reasoning,
        usage=message.usage,
    )


def _fallback_record(message: ToolRequest, call: ToolCall) -> CallRecord:
    """Make a record for a call whose own record is lost, from the model's message."""
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
