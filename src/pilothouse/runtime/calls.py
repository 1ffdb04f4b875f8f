"""Commands about tool calls: the person's decisions, their answers, and what there is to decide."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from pilothouse.domain.calls import OPEN, Approval, CallRecord, Status
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound
from pilothouse.domain.modes import Verdict
from pilothouse.domain.payloads import check_text
from pilothouse.domain.rules import Rule, Rung
from pilothouse.domain.values import CallId, Value
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.deciding import (
    after_decisions,
    can_start,
    check_decidable,
    decide_anew,
    decide_call,
    note_approved_round,
    start_calls,
)
from pilothouse.runtime.draft import Draft
from pilothouse.runtime.live import Live
from pilothouse.runtime.looking import look_again
from pilothouse.runtime.modes import follow
from pilothouse.runtime.results import end_call
from pilothouse.runtime.rules import chosen_rule, opened_by, put_rule
from pilothouse.runtime.standing import present
from pilothouse.runtime.turn import turn_of
from pilothouse.tools.base import Prepared

_LOOKED_THROUGH = 1000


class PersonsDecision(Value):
    """What the person decided about one call. `digest` names what they were shown; `always` names the rung of the
    ladder that they were shown with it, and gives that rule too. `edited_digest` names the call with their `arguments`
    as it was shown, by `preview_digest`."""

    id: str
    verdict: Literal["approve", "reject"]
    digest: str | None = None
    arguments: dict[str, Any] | None = None
    reason: str | None = None
    always: Rung | None = None
    edited_digest: str | None = None


async def decide(
    contexts: Contexts,
    context_id: str,
    decisions: Sequence[PersonsDecision],
    *,
    shown: Collection[str] | None = None,
    previewed: Mapping[str, CallRecord] = MappingProxyType({}),
    by: str = "local",
) -> list[CallRecord]:
    """Decide some pending calls in one commit: all of them, or none. Approved ones start with it. With `shown`, a rule
    that is given with them starts no other waiting call than those with these digests. `previewed` holds, by their ids,
    edited calls as `preview_edit` gave them: they run only on the files that were shown then.

    Raises: NotFound, Conflict (decided or changed meanwhile), InvalidInput (edited arguments), StoreError. A rule for
    good is given after the decision: if the store refuses it then, the decision stands.
    """
    # A tool may take its time to look at edited arguments: that must not hold up a cancel.
    edited = await _look_at_edits(await contexts.find(context_id), decisions, previewed)
    async with contexts.locked(context_id) as live:
        for decision in decisions:
            await _check(live, decision)
        _check_once_each(decisions)
        check_decidable(live)
        draft = live.draft()
        given = _chosen_rules(live, decisions, by)
        for decision in decisions:
            if decision.verdict == "approve":
                _approve(live, draft, edited.get(decision.id) or live.calls[CallId(decision.id)], by)
            else:
                _reject(live, draft, decision, by)
        _give_here(live, draft, given, by, shown)
        if can_start(live):
            start_calls(turn_of(live), draft)
        await live.commit(draft, after_decisions(live, draft), then=lambda: contexts.drive(live))
        decided = [draft.call(CallId(decision.id)) for decision in decisions]
    for rule in given:
        if rule.lifetime.context is None:
            await contexts.rulebook.give(live.core.owner, rule, by=by)
    if given:
        await follow(contexts, contexts.in_memory(), by, opens=opened_by(given, shown))
    return decided


def _chosen_rules(live: Live, decisions: Sequence[PersonsDecision], by: str) -> list[Rule]:
    """Raises: InvalidInput for a rung that is not offered, or for one with other arguments than were shown."""
    rules = []
    for decision in decisions:
        if decision.always is None:
            continue
        call = live.calls[CallId(decision.id)]
        if decision.verdict != "approve" or decision.arguments not in (None, call.arguments):
            raise InvalidInput(Code.RULE_WITH_EDIT)
        rules.append(chosen_rule(live, call, decision.always, by=by))
    return rules


def _give_here(live: Live, draft: Draft, rules: Sequence[Rule], by: str, shown: Collection[str] | None) -> None:
    """The rules of this context go with the decision; those for good are given when it is made."""
    here = [rule for rule in rules if rule.lifetime.context is not None]
    for rule in here:
        put_rule(live, draft, rule, by)
    if here:
        decide_anew(live, draft, by, opens=opened_by(here, shown))


async def preview_edit(contexts: Contexts, context_id: str, call_id: str, arguments: dict[str, Any]) -> CallRecord:
    """A pending call as it would be with other arguments. Nothing is stored. Raises: NotFound, Conflict."""
    live = await contexts.find(context_id)
    known = live.calls.get(CallId(call_id)) or await contexts.parts.store.call(live.id, CallId(call_id))
    if known.is_question:
        raise NotFound(Code.UNKNOWN_CALL, call_id=call_id)
    if known.status != "pending" or known.id not in live.calls:
        raise _decided(known)
    return await look_again(live, known, arguments)


def preview_digest(edited: CallRecord) -> str:
    """Names everything that a person is shown of an edited call, and the content of the files that it was made from."""
    shown = [getattr(edited, name) for name in Prepared.__struct_fields__]
    return hashlib.sha256(msgspec.json.encode([edited.digest, shown], order="sorted")).hexdigest()


async def _look_at_edits(
    live: Live, decisions: Sequence[PersonsDecision], previewed: Mapping[str, CallRecord]
) -> dict[str, CallRecord]:
    """The calls that the person approves with other arguments, as they would then be.

    Raises: Conflict for one that is no longer as it was shown.
    """
    edited = {}
    for decision in decisions:
        known = live.calls.get(CallId(decision.id))
        if known is not None and decision.arguments is not None and decision.arguments != known.arguments:
            preview = previewed.get(decision.id)
            if preview is None or preview.arguments != decision.arguments:
                preview = await look_again(live, known, decision.arguments)
            if decision.edited_digest not in (None, preview_digest(preview)):
                raise Conflict(Code.DIGEST_CHANGED, call_id=decision.id)
            edited[decision.id] = preview
    return edited


async def approve_all(
    contexts: Contexts, context_id: str, *, ids: Sequence[str] | None = None, by: str = "local"
) -> list[CallRecord]:
    """All that are pending, or those named."""
    return await decide(contexts, context_id, await _pending(contexts, context_id, "approve", ids), by=by)


async def reject_all(
    contexts: Contexts,
    context_id: str,
    *,
    ids: Sequence[str] | None = None,
    reason: str | None = None,
    by: str = "local",
) -> list[CallRecord]:
    """All that are pending, or those named, with one reason."""
    return await decide(contexts, context_id, await _pending(contexts, context_id, "reject", ids, reason), by=by)


async def _pending(
    contexts: Contexts,
    context_id: str,
    verdict: Literal["approve", "reject"],
    ids: Sequence[str] | None,
    reason: str | None = None,
) -> list[PersonsDecision]:
    if ids is not None:
        return [PersonsDecision(id=call_id, verdict=verdict, reason=reason) for call_id in ids]
    return [
        PersonsDecision(id=call.id, verdict=verdict, digest=call.digest, reason=reason)
        for call in await pending_calls(contexts, context_id)
    ]


async def pending_calls(contexts: Contexts, context_id: str) -> list[CallRecord]:
    """The calls that wait for a decision, in the order asked. Questions are not among them."""
    live = await contexts.find(context_id)
    return [call for call in live.draft().round_calls() if call.status == "pending" and not call.is_question]


async def open_questions(contexts: Contexts, context_id: str) -> list[CallRecord]:
    live = await contexts.find(context_id)
    return [call for call in live.draft().round_calls() if call.status == "pending" and call.is_question]


async def call(contexts: Contexts, context_id: str, call_id: str) -> CallRecord:
    """Any call of a context. Raises: NotFound."""
    live = await contexts.find(context_id)
    known = live.calls.get(CallId(call_id))
    return known or await contexts.parts.store.call(live.id, CallId(call_id))


class CallPage(Value):
    """`next` is where the next page begins, or None at the end."""

    items: tuple[CallRecord, ...]
    next: str | None = None


async def read_calls(
    contexts: Contexts, context_id: str, *, status: Status | None = None, cursor: str | None = None, limit: int = 50
) -> CallPage:
    """The calls of a context, newest last; all of them, or those of a status. A page may have fewer than `limit`."""
    live = await contexts.find(context_id)
    if status in OPEN:  # those are all of the open turn
        found = [call for call in live.draft().round_calls() if call.status == status]
        return CallPage(tuple(call for call in found if status != "pending" or not call.is_question))
    ids = [each for each in await contexts.parts.store.call_ids(live.id) if cursor is None or each > cursor]
    looked_at = ids[: limit if status is None else _LOOKED_THROUGH]
    stored = await contexts.parts.store.calls(live.id, looked_at)
    fitting = tuple(call for call in stored if status is None or call.status == status)[:limit]
    last = fitting[-1].id if len(fitting) == limit else looked_at[-1] if looked_at else None
    return CallPage(fitting, next=last if last is not None and last != ids[-1] else None)


async def records_of(contexts: Contexts, context_id: str, ids: Sequence[CallId]) -> dict[CallId, CallRecord]:
    """What became of these calls, as far as it can be read."""
    live = await contexts.find(context_id)
    known = {call_id: live.calls[call_id] for call_id in ids if call_id in live.calls}
    others = [call_id for call_id in ids if call_id not in known]
    stored = await contexts.parts.store.calls(live.id, others) if others else []
    return {**known, **{call.id: call for call in stored}}


async def _check(live: Live, decision: PersonsDecision) -> None:
    """Raises: NotFound, Conflict: also for the same decision once more, with what was decided then."""
    known = live.calls.get(CallId(decision.id)) or await live.parts.store.call(live.id, CallId(decision.id))
    if known.is_question:
        raise NotFound(Code.UNKNOWN_CALL, call_id=decision.id)
    if known.status != "pending" or known.id not in live.calls:
        raise _decided(known)
    if decision.digest is not None and decision.digest != known.digest:
        raise Conflict(Code.DIGEST_CHANGED, call_id=decision.id)
    check_text(decision.reason or "")


_VERDICTS: dict[Status, str] = {"rejected": "rejected", "denied": "denied", "cancelled": "cancelled"}


def _decided(call: CallRecord) -> Conflict:
    """What was decided about a call, by whom and when."""
    at = call.decided_at or call.finished_at
    verdict = _VERDICTS.get(call.status) or ("approved" if call.decided_at is not None else call.status)
    told = {"status": call.status, "verdict": verdict, "decided_by": call.decided_by or "runtime", "decided_at": at}
    return Conflict(Code.CALL_DECIDED, call_id=call.id, **told)


def _check_once_each(decisions: Sequence[PersonsDecision]) -> None:
    seen: dict[str, str] = {}
    for decision in decisions:
        if decision.id in seen:
            raise InvalidInput(Code.INVALID_REQUEST, detail=f"the call {decision.id} is decided twice")
        seen[decision.id] = decision.verdict


def _approve(live: Live, draft: Draft, record: CallRecord, by: str) -> None:
    standing = present(live, draft)
    at = live.parts.now()
    approval = Approval(by=by, at=at, digest=record.digest, mode=standing.modes)
    record = msgspec.structs.replace(record, approval=approval)
    decided = decide_call(record, standing)
    if decided.verdict is not Verdict.RUN:
        # Edited arguments that break a limit, or something that was forbidden since it was shown.
        raise InvalidInput(decided.reason.code, **decided.reason.params)
    draft.calls[record.id] = msgspec.structs.replace(
        record, status="approved", decided_at=at, decided_by=by, reason=decided.reason
    )
    _note(draft, record, by, standing.modes, "approved", decided.reason)
    note_approved_round(draft)
    if standing.mode.elevates:
        draft.note("elevated", by, call=record.id, tool=record.tool, scope="this call")


def _reject(live: Live, draft: Draft, decision: PersonsDecision, by: str) -> None:
    record = live.calls[CallId(decision.id)]
    said = (decision.reason or "").strip()
    reason = Reason(Code.REJECTED, {"because": f": {said}" if said else "", "reason": said})
    draft.change_call(record.id, decided_at=live.parts.now(), decided_by=by)
    _note(draft, record, by, live.core.mode, "rejected", reason)
    end_call(draft, live, record.id, "rejected", reason=reason, by=by)


def _note(draft: Draft, record: CallRecord, by: str, mode: str, outcome: str, reason: Reason) -> None:
    draft.note(
        "call_decided",
        by,
        call=record.id,
        tool=record.tool,
        mode=mode,
        verdict=outcome,
        reason=reason,
        digest=record.digest,
        edited=record.edited,
    )


async def decline(contexts: Contexts, context_id: str, *, call_id: str | None = None, by: str = "local") -> None:
    """Do not answer a question of a running call, the oldest or this one: who asked is told so.

    Raises: Conflict where it is not open, StoreError.
    """
    async with contexts.locked(context_id) as live:
        asked = [call for call in live.asked_by_calls() if call_id in (None, call.id)]
        if not asked:
            raise Conflict(Code.NO_QUESTION)
        draft = live.draft()
        draft.change_call(asked[0].id, decided_at=live.parts.now(), decided_by=by)
        end_call(draft, live, asked[0].id, "rejected", reason=Reason(Code.NOT_RUN), by=by)
        await live.commit(draft)


async def answer(
    contexts: Contexts, context_id: str, answers: Sequence[str], *, call_id: str | None = None, by: str = "local"
) -> None:
    """Answer the oldest open `ask_user` call, or this one: one answer for each of its questions, in their order.

    Raises: Conflict when nothing was asked, InvalidInput, StoreError.
    """
    for text in answers:
        check_text(text)
    async with contexts.locked(context_id) as live:
        open_ones = [call for call in live.calls.values() if call.status == "pending" and call.is_question]
        asked = [call for call in open_ones if call_id in (None, call.id)]
        if not asked:
            raise Conflict(Code.NO_QUESTION)
        questions = asked[0].arguments["questions"]
        if len(answers) != len(questions):
            raise InvalidInput(Code.INVALID_ANSWERS, given=len(answers), asked=len(questions))
        lines = [f"{question['question']}\n{text}" for question, text in zip(questions, answers, strict=True)]
        check_decidable(live)
        draft = live.draft()
        draft.change_call(asked[0].id, decided_at=live.parts.now(), decided_by=by, answers=tuple(answers))
        draft.note("question_answered", by, call=asked[0].id)
        end_call(draft, live, asked[0].id, "executed", content="\n\n".join(lines), by=by)
        await live.commit(draft, after_decisions(live, draft), then=lambda: contexts.drive(live))
