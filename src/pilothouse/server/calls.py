"""Tool calls: which there are, and the person's decisions about them."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta

from pilothouse.domain.calls import CallRecord, Status
from pilothouse.domain.codes import Reason, say
from pilothouse.domain.rules import Rung
from pilothouse.domain.shapes import AuditedPage, CallShape, Page
from pilothouse.domain.values import Timestamp, Value
from pilothouse.runtime.calls import PersonsDecision
from pilothouse.server.inputs import CallDigest, Cursor, Id, Ids, Limit, Shown
from pilothouse.server.serving import Call
from pilothouse.server.views import call_shapes, edited_call_shape

Words = Annotated[str, Meta(max_length=10_000)]


class CallsQuery(Value):
    status: Status | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


class Edit(Value, kw_only=True):
    arguments: dict[str, Any]


class EditPreview(Value, kw_only=True, omit_defaults=False):
    """A pending call as it would be with other arguments. The digest of the call is the `edited_digest` to approve."""

    call: CallShape
    refusal: Reason | None = None
    """Why the edited call could not run."""


class Approve(Value, kw_only=True):
    """`digest` is that of the call which was shown; `always` is a scope of its `rule_offers`. With `arguments`,
    `edited_digest` is that of the preview which was shown: where the call would be another one by now, nothing runs."""

    digest: CallDigest | None = None
    arguments: dict[str, Any] | None = None
    edited_digest: CallDigest | None = None
    always: Rung | None = None


class Reject(Value, kw_only=True):
    reason: Words | None = None


class ApproveAll(Value, kw_only=True):
    """All that are pending, or those named."""

    ids: Ids | None = None


class RejectAll(Value, kw_only=True):
    ids: Ids | None = None
    reason: Words | None = None


class OneDecision(Value, kw_only=True):
    id: Id
    verdict: Literal["approve", "reject"]
    digest: CallDigest | None = None
    arguments: dict[str, Any] | None = None
    edited_digest: CallDigest | None = None
    reason: Words | None = None
    always: Rung | None = None


class Decide(Value, kw_only=True):
    """With `shown`, the digests of calls that the person has read, a rule that is given starts no other call."""

    decisions: Annotated[tuple[OneDecision, ...], Meta(min_length=1, max_length=1000)]
    shown: Shown | None = None


class WhyStep(Value, kw_only=True):
    """A step of what became of a call, in words."""

    at: Timestamp
    by: str
    what: str
    why: str | None = None


async def read(call: Call, context_id: str, query: CallsQuery) -> Page[CallShape]:
    found = await call.runtime.read_calls(context_id, status=query.status, cursor=query.cursor, limit=query.limit)
    return Page(await call_shapes(call.runtime, context_id, found.items, with_results=True), found.next)


async def read_one(call: Call, context_id: str, call_id: str) -> CallShape:
    found = await call.runtime.call(context_id, call_id)
    (shape,) = await call_shapes(call.runtime, context_id, [found], with_results=True)
    return shape


async def preview(call: Call, context_id: str, call_id: str, body: Edit) -> EditPreview:
    edited = await call.runtime.preview_edit(context_id, call_id, body.arguments)
    return EditPreview(call=edited_call_shape(edited), refusal=edited.limit)


async def approve(call: Call, context_id: str, call_id: str, body: Approve) -> CallShape:
    decision = PersonsDecision(
        id=call_id,
        verdict="approve",
        digest=body.digest,
        arguments=body.arguments,
        always=body.always,
        edited_digest=body.edited_digest,
    )
    (shape,) = await _decided(call, context_id, await call.runtime.decide(context_id, [decision], by=call.user))
    return shape


async def reject(call: Call, context_id: str, call_id: str, body: Reject) -> CallShape:
    decision = PersonsDecision(id=call_id, verdict="reject", reason=body.reason)
    (shape,) = await _decided(call, context_id, await call.runtime.decide(context_id, [decision], by=call.user))
    return shape


async def approve_all(call: Call, context_id: str, body: ApproveAll) -> Page[CallShape]:
    decided = await call.runtime.approve_all(context_id, ids=body.ids, by=call.user)
    return Page(await _decided(call, context_id, decided))


async def reject_all(call: Call, context_id: str, body: RejectAll) -> Page[CallShape]:
    decided = await call.runtime.reject_all(context_id, ids=body.ids, reason=body.reason, by=call.user)
    return Page(await _decided(call, context_id, decided))


async def decide(call: Call, context_id: str, body: Decide) -> Page[CallShape]:
    decisions = [
        PersonsDecision(
            id=each.id,
            verdict=each.verdict,
            digest=each.digest,
            arguments=each.arguments,
            reason=each.reason,
            always=each.always,
            edited_digest=each.edited_digest,
        )
        for each in body.decisions
    ]
    decided = await call.runtime.decide(context_id, decisions, shown=body.shown, by=call.user)
    return Page(await _decided(call, context_id, decided))


async def _decided(call: Call, context_id: str, records: Sequence[CallRecord]) -> tuple[CallShape, ...]:
    return await call_shapes(call.runtime, context_id, records)


async def explain(call: Call, context_id: str, call_id: str) -> AuditedPage[WhyStep]:
    explanation = await call.runtime.explain_call(context_id, call_id)
    items = tuple(
        WhyStep(
            at=step.at,
            by=step.by,
            what=say(step.what, call.language),
            why=say(step.why, call.language) if step.why is not None else None,
        )
        for step in explanation.steps
    )
    return AuditedPage(items=items, chain=explanation.chain)
