"""The tool call routes: list, preview, approve, reject and explain."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta

from pilothouse.api.views import AuditedPage, CallView, Page
from pilothouse.domain.calls import CallRecord, Status
from pilothouse.domain.codes import Reason
from pilothouse.domain.rules import RuleOption
from pilothouse.domain.value import Timestamp, Value
from pilothouse.i18n import translate
from pilothouse.runtime.commands.calls import PersonsDecision
from pilothouse.server.queries import CallDigest, Cursor, Id, Ids, Limit, ShownDigests
from pilothouse.server.state import RequestContext
from pilothouse.server.view_builder import call_views, edited_call_view

RejectionReason = Annotated[str, Meta(max_length=10_000)]


class CallsQuery(Value):
    status: Status | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


class Edit(Value, kw_only=True):
    arguments: dict[str, Any]


class EditPreview(Value, kw_only=True, omit_defaults=False):
    """A pending call with edited arguments."""

    call: CallView
    """The edited call. To approve it, send its digest as `edited_digest`."""
    refusal: Reason | None = None
    """Why the edited call cannot run."""


class Approve(Value, kw_only=True):
    digest: CallDigest | None = None
    """The digest of the call that the person has read."""
    arguments: dict[str, Any] | None = None
    """Edited arguments."""
    edited_digest: CallDigest | None = None
    """The digest of the edited call's preview that the person has read. If the edited call has changed since, nothing
    runs."""
    always: RuleOption | None = None
    """The scope of one of the call's `rule_offers`: similar calls are allowed from now on."""


class Reject(Value, kw_only=True):
    reason: RejectionReason | None = None


class ApproveAll(Value, kw_only=True):
    ids: Ids | None = None
    """The calls; all pending ones by default."""


class RejectAll(Value, kw_only=True):
    ids: Ids | None = None
    reason: RejectionReason | None = None


class CallDecision(Value, kw_only=True):
    """A decision about one of several calls. The fields are those of the requests about a single call."""

    id: Id
    verdict: Literal["approve", "reject"]
    digest: CallDigest | None = None
    """The digest of the call that the person has read."""
    arguments: dict[str, Any] | None = None
    """Edited arguments."""
    edited_digest: CallDigest | None = None
    """The digest of the edited call's preview that the person has read."""
    reason: RejectionReason | None = None
    """The reason of a rejection, for the model."""
    always: RuleOption | None = None
    """The scope of one of the call's `rule_offers`: similar calls are allowed from now on."""


class Decide(Value, kw_only=True):
    decisions: Annotated[tuple[CallDecision, ...], Meta(min_length=1, max_length=1000)]
    shown: ShownDigests | None = None
    """The digests of the calls that the person has read: a new rule starts none but these."""


class WhyStep(Value, kw_only=True):
    """An event in the history of a call, in the user's language."""

    at: Timestamp
    by: str
    what: str
    why: str | None = None


async def read(request: RequestContext, context_id: str, query: CallsQuery) -> Page[CallView]:
    page = await request.runtime.calls.read(context_id, status=query.status, cursor=query.cursor, limit=query.limit)
    return Page(await call_views(request.runtime, context_id, page.items, with_results=True), page.next)


async def read_one(request: RequestContext, context_id: str, call_id: str) -> CallView:
    record = await request.runtime.calls.get(context_id, call_id)
    (view,) = await call_views(request.runtime, context_id, [record], with_results=True)
    return view


async def preview(request: RequestContext, context_id: str, call_id: str, body: Edit) -> EditPreview:
    edited = await request.runtime.calls.preview_edit(context_id, call_id, body.arguments)
    return EditPreview(call=edited_call_view(edited), refusal=edited.violation)


async def approve(request: RequestContext, context_id: str, call_id: str, body: Approve) -> CallView:
    decision = PersonsDecision(
        id=call_id,
        verdict="approve",
        digest=body.digest,
        arguments=body.arguments,
        always=body.always,
        edited_digest=body.edited_digest,
    )
    (view,) = await _call_views(
        request, context_id, await request.runtime.calls.decide(context_id, [decision], by=request.user)
    )
    return view


async def reject(request: RequestContext, context_id: str, call_id: str, body: Reject) -> CallView:
    decision = PersonsDecision(id=call_id, verdict="reject", reason=body.reason)
    (view,) = await _call_views(
        request, context_id, await request.runtime.calls.decide(context_id, [decision], by=request.user)
    )
    return view


async def approve_all(request: RequestContext, context_id: str, body: ApproveAll) -> Page[CallView]:
    records = await request.runtime.calls.approve_all(context_id, ids=body.ids, by=request.user)
    return Page(await _call_views(request, context_id, records))


async def reject_all(request: RequestContext, context_id: str, body: RejectAll) -> Page[CallView]:
    records = await request.runtime.calls.reject_all(context_id, ids=body.ids, reason=body.reason, by=request.user)
    return Page(await _call_views(request, context_id, records))


async def decide(request: RequestContext, context_id: str, body: Decide) -> Page[CallView]:
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
    records = await request.runtime.calls.decide(context_id, decisions, shown=body.shown, by=request.user)
    return Page(await _call_views(request, context_id, records))


async def _call_views(request: RequestContext, context_id: str, records: Sequence[CallRecord]) -> tuple[CallView, ...]:
    return await call_views(request.runtime, context_id, records)


async def explain(request: RequestContext, context_id: str, call_id: str) -> AuditedPage[WhyStep]:
    explanation = await request.runtime.calls.explain(context_id, call_id)
    items = tuple(
        WhyStep(
            at=step.at,
            by=step.by,
            what=translate(step.event, request.language),
            why=translate(step.why, request.language) if step.why is not None else None,
        )
        for step in explanation.steps
    )
    return AuditedPage(items=items, chain=explanation.chain)
