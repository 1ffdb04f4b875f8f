"""Commands about tool calls: approve, reject, edit, answer questions, read records."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from pilothouse.domain.calls import OPEN_STATUSES, Approval, CallRecord, Status, call_digest, fingerprint_of
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import ContextQuery
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, StoreDamaged, StoreRefused
from pilothouse.domain.explanations import Explanation, explain
from pilothouse.domain.modes import Verdict
from pilothouse.domain.payloads import check_text
from pilothouse.domain.rules import (
    Rule,
    RuleOption,
)
from pilothouse.domain.states import Failed, Idle, ParsingToolCalls, WaitingForRecovery, name_of
from pilothouse.domain.value import CallId, ContextId, Value
from pilothouse.runtime.authorization.authorization import (
    can_start,
    check_decidable,
    decide_call,
    end_call,
    redecide_pending,
    restart_round_count,
    start_calls,
    state_after_decisions,
)
from pilothouse.runtime.authorization.call_inspection import reinspect_call
from pilothouse.runtime.authorization.policy_snapshot import snapshot_for_commit
from pilothouse.runtime.commands.audit import read_audit
from pilothouse.runtime.commands.command_group import CommandGroup
from pilothouse.runtime.commands.modes import redecide_descendants
from pilothouse.runtime.commands.proposed_calls import ProposedCall, check_proposal, open_proposal
from pilothouse.runtime.commands.rules import chosen_rule, put_rule, released_by
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.context.snapshot import own_copy
from pilothouse.runtime.pool import ContextPool
from pilothouse.tools.base import CallPreview

_MAX_CALLS_SEARCHED = 1000


class PersonsDecision(Value):
    """A person's decision about one call."""

    id: str
    verdict: Literal["approve", "reject"]
    digest: str | None = None
    """The digest of the call that the person saw."""
    arguments: dict[str, Any] | None = None
    """The arguments as the person edited them."""
    reason: str | None = None
    """The person's explanation of a rejection, which the model gets."""
    always: RuleOption | None = None
    """The rule option that the person chose with the approval, which gives that rule too."""
    edited_digest: str | None = None
    """The `preview_digest` of the edited call that the person saw."""


def _chosen_rules(live: LiveContext, decisions: Sequence[PersonsDecision], by: str) -> list[Rule]:
    """The rules chosen with decisions. Raises: InvalidInput for an option that is not offered, or with edited
    arguments."""
    rules = []
    for decision in decisions:
        if decision.always is None:
            continue
        call = live.calls[CallId(decision.id)]
        if decision.verdict != "approve" or decision.arguments not in (None, call.arguments):
            raise InvalidInput(Code.RULE_WITH_EDIT)
        rules.append(chosen_rule(live, call, decision.always, by=by))
    return rules


def _put_context_rules(
    live: LiveContext, draft: Draft, rules: Sequence[Rule], by: str, shown: Collection[str] | None
) -> None:
    """Put the rules of this context into the decision's draft. Permanent rules are stored after its commit."""
    context_rules = [rule for rule in rules if rule.lifetime.context is not None]
    for rule in context_rules:
        put_rule(live, draft, rule, by)
    if context_rules:
        redecide_pending(live, draft, by, releases=released_by(context_rules, shown))


def preview_digest(edited: CallRecord) -> str:
    """A digest of everything that a person sees of an edited call, and of the files behind the preview."""
    fields = [getattr(edited, name) for name in CallPreview.__struct_fields__]
    return hashlib.sha256(msgspec.json.encode([edited.digest, fields], order="sorted")).hexdigest()


async def _inspect_edits(
    live: LiveContext, decisions: Sequence[PersonsDecision], previewed: Mapping[str, CallRecord]
) -> dict[str, CallRecord]:
    """The calls that the person approves with edited arguments, inspected with those arguments.

    Raises: Conflict for a call that is no longer as the person saw it.
    """
    edited = {}
    for decision in decisions:
        record = live.calls.get(CallId(decision.id))
        if record is not None and decision.arguments is not None and decision.arguments != record.arguments:
            preview = previewed.get(decision.id)
            if preview is None or not _is_preview_of(preview, live, record, decision.arguments):
                preview = await reinspect_call(live, record, deepcopy(decision.arguments))
            if decision.edited_digest not in (None, preview_digest(preview)):
                raise Conflict(Code.DIGEST_CHANGED, call_id=decision.id)
            edited[decision.id] = own_copy(preview)
    return edited


def _is_preview_of(preview: CallRecord, live: LiveContext, record: CallRecord, arguments: dict[str, Any]) -> bool:
    """Whether a preview shows a call of the context with these arguments: the caller may have changed the arguments of
    the preview since, or those of the decision with them."""
    fingerprint = fingerprint_of(record.tool, arguments)
    digest = call_digest(live.id, record.id, live.core.workspace, fingerprint)
    return preview.digest == digest and preview.arguments == arguments


async def _decisions_for_pending(
    pool: ContextPool,
    context_id: str,
    verdict: Literal["approve", "reject"],
    ids: Sequence[str] | None,
    reason: str | None = None,
) -> list[PersonsDecision]:
    if ids is not None:
        return [PersonsDecision(id=call_id, verdict=verdict, reason=reason) for call_id in ids]
    return [
        PersonsDecision(id=call.id, verdict=verdict, digest=call.digest, reason=reason)
        for call in await CallCommands(pool).pending(context_id)
    ]


class CallPage(Value):
    items: tuple[CallRecord, ...]
    next: str | None = None
    """The cursor of the next page; None at the end."""


async def _check_decision(live: LiveContext, decision: PersonsDecision) -> None:
    """Raises: NotFound, Conflict: also for a repeated decision, with the outcome of the first one."""
    record = live.calls.get(CallId(decision.id)) or await live.storage.call(CallId(decision.id))
    if record.is_question:
        raise NotFound(Code.UNKNOWN_CALL, call_id=decision.id)
    if record.status != "pending" or record.id not in live.calls:
        raise _already_decided(record)
    if decision.digest is not None and decision.digest != record.digest:
        raise Conflict(Code.DIGEST_CHANGED, call_id=decision.id)
    check_text(decision.reason or "")


async def _subagents_of(pool: ContextPool, live: LiveContext) -> list[ContextId]:
    """The sub-agents below a context, ended ones included."""
    children: dict[ContextId | None, list[ContextId]] = {}
    for summary in await pool.dependencies.store.contexts(ContextQuery(owner=live.core.owner)):
        children.setdefault(summary.parent, []).append(summary.context_id)
    subagents = list(children.get(live.id, ()))
    for subagent in subagents:  # grows while it is read
        subagents += [each for each in children.get(subagent, ()) if each not in subagents]
    return subagents


_VERDICTS: dict[Status, str] = {"rejected": "rejected", "denied": "denied", "cancelled": "cancelled"}


def _already_decided(call: CallRecord) -> Conflict:
    """The error for a call that is decided already, with the decision, who made it and when."""
    at = call.decided_at or call.finished_at
    verdict = _VERDICTS.get(call.status) or ("approved" if call.decided_at is not None else call.status)
    details = {"status": call.status, "verdict": verdict, "decided_by": call.decided_by or "runtime", "decided_at": at}
    exit_status = {} if call.exit_status is None else {"exit_status": call.exit_status}
    return Conflict(Code.CALL_DECIDED, call_id=call.id, **details, **exit_status)


def _check_once_each(decisions: Sequence[PersonsDecision]) -> None:
    verdicts: dict[str, str] = {}
    for decision in decisions:
        if decision.id in verdicts:
            raise InvalidInput(Code.INVALID_REQUEST, detail=f"there are two decisions about the call {decision.id}")
        verdicts[decision.id] = decision.verdict


def _approve(live: LiveContext, draft: Draft, record: CallRecord, by: str) -> None:
    snapshot = snapshot_for_commit(live, draft)
    at = live.dependencies.now()
    approval = Approval(by=by, at=at, digest=record.digest, mode=snapshot.modes)
    record = msgspec.structs.replace(record, approval=approval)
    decision = decide_call(record, snapshot)
    if decision.verdict is not Verdict.ALLOW:
        # The edited arguments break a limit, or the policy has become stricter since the person saw the call.
        raise InvalidInput(decision.reason.code, **decision.reason.params)
    draft.calls[record.id] = msgspec.structs.replace(
        record, status="approved", decided_at=at, decided_by=by, reason=decision.reason
    )
    _note_decision(draft, record, by, snapshot.modes, "approved", decision.reason)
    restart_round_count(draft)
    if snapshot.mode.elevates:
        draft.note("elevated", by, call=record.id, tool=record.tool, scope="this call")


def _reject(live: LiveContext, draft: Draft, decision: PersonsDecision, by: str) -> None:
    record = live.calls[CallId(decision.id)]
    explanation = (decision.reason or "").strip()
    reason = Reason(Code.REJECTED, {"because": f": {explanation}" if explanation else "", "reason": explanation})
    draft.change_call(record.id, decided_at=live.dependencies.now(), decided_by=by)
    _note_decision(draft, record, by, live.core.mode, "rejected", reason)
    end_call(draft, live, record.id, "rejected", reason=reason, by=by)


def _note_decision(draft: Draft, record: CallRecord, by: str, mode: str, outcome: str, reason: Reason) -> None:
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


class CallCommands(CommandGroup):
    """Tool calls and questions: read, decide and answer them."""

    async def decide(
        self,
        context_id: str,
        decisions: Sequence[PersonsDecision],
        *,
        shown: Collection[str] | None = None,
        previewed: Mapping[str, CallRecord] = MappingProxyType({}),
        by: str = "local",
    ) -> list[CallRecord]:
        """Decide pending calls in one commit: all of them, or none. The commit starts the approved ones. A rule that is
        given with a decision starts only those other pending calls whose digests are in `shown`; None: all. `previewed`
        holds, by id, edited calls as `preview_edit` returned them: they run only on the files that were shown then.

        Raises: NotFound, Conflict (already decided, or changed), InvalidInput (edited arguments), StoreError. A
        permanent rule is stored after the decision: if the store refuses the rule, the decision stands.
        """
        # Before the lock: a tool's inspection of edited arguments may take long, and must not delay a cancel.
        edited = await _inspect_edits(await self._pool.owned(context_id), decisions, previewed)
        async with self._pool.locked(context_id) as live:
            for decision in decisions:
                await _check_decision(live, decision)
            _check_once_each(decisions)
            check_decidable(live)
            draft = live.draft()
            new_rules = _chosen_rules(live, decisions, by)
            for decision in decisions:
                if decision.verdict == "approve":
                    _approve(live, draft, edited.get(decision.id) or live.calls[CallId(decision.id)], by)
                else:
                    _reject(live, draft, decision, by)
            if new_rules:
                _put_context_rules(live, draft, new_rules, by, shown)
            if can_start(live):
                start_calls(live, draft)
            await live.commit(draft, state_after_decisions(live, draft), then=lambda: self._pool.drive(live))
            records = [own_copy(draft.call(CallId(decision.id))) for decision in decisions]
        for rule in new_rules:
            if rule.lifetime.context is None:
                await self._pool.user_rules.give(live.core.owner, rule, by=by)
        if new_rules:
            await redecide_descendants(self._pool, self._pool.in_memory(), by, releases=released_by(new_rules, shown))
        return records

    async def propose(
        self, context_id: str, calls: Sequence[ProposedCall], *, origin: str, by: str = "local"
    ) -> list[CallRecord]:
        """Put calls through the gate that no model sent. `origin` says who proposes them, for example
        `workflow:release`; people see it with each call, and the model with the results.

        The calls open a turn of their own, and are decided like calls of the model. The turn ends with their results,
        without a request to the model. Returns the records once the turn rests: each call has ended, or waits for the
        person. A caller that is cancelled leaves the turn running. Raises: InvalidInput, NotFound, Conflict (a turn is
        open), StoreError; after a StoreError the calls may have run.
        """
        check_proposal(calls, origin)
        async with self._pool.locked(context_id) as live:
            if not isinstance(live.state, Idle | Failed):
                raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))
            draft = live.draft()
            turn, request = open_proposal(live, draft, calls, origin)
            ids = [call.id for call in request.calls]
            draft.note("calls_proposed", by, origin=origin, calls=ids)

            def start() -> None:
                live.pending.messages.append(request)
                self._pool.drive(live, turn)

            await live.commit(draft, ParsingToolCalls(), then=start)
        await turn.settled.wait()
        if isinstance(live.state, WaitingForRecovery):
            raise StoreRefused(live.state.reason.code, **live.state.reason.params)
        records = await self.records(context_id, ids)
        if len(records) < len(ids):  # a failed turn that could not be closed
            raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))
        return [records[call_id] for call_id in ids]

    async def preview_edit(self, context_id: str, call_id: str, arguments: dict[str, Any]) -> CallRecord:
        """A pending call, inspected with other arguments. Nothing is stored. Raises: NotFound, Conflict."""
        live = await self._pool.owned(context_id)
        record = live.calls.get(CallId(call_id)) or await live.storage.call(CallId(call_id))
        if record.is_question:
            raise NotFound(Code.UNKNOWN_CALL, call_id=call_id)
        if record.status != "pending" or record.id not in live.calls:
            raise _already_decided(record)
        return await reinspect_call(live, record, deepcopy(arguments))

    async def approve_all(
        self, context_id: str, *, ids: Sequence[str] | None = None, by: str = "local"
    ) -> list[CallRecord]:
        """Approve all pending calls, or those named. Nothing happens where no call is pending."""
        decisions = await _decisions_for_pending(self._pool, context_id, "approve", ids)
        return await self.decide(context_id, decisions, by=by) if decisions else []

    async def reject_all(
        self,
        context_id: str,
        *,
        ids: Sequence[str] | None = None,
        reason: str | None = None,
        by: str = "local",
    ) -> list[CallRecord]:
        """Reject all pending calls, or those named, with one reason. Nothing happens where no call is pending."""
        decisions = await _decisions_for_pending(self._pool, context_id, "reject", ids, reason)
        return await self.decide(context_id, decisions, by=by) if decisions else []

    async def check_undecided(self, context_id: str, ids: Sequence[CallId]) -> None:
        """Check that none of these calls is decided, whether of the context or of its sub-agents. Unknown calls pass.

        Raises: NotFound, Conflict with the decision, StoreError.
        """
        live = await self._pool.find(context_id)
        for member in (live.id, *await _subagents_of(self._pool, live)):
            with suppress(StoreDamaged):  # of a sub-agent
                for record in (await self.records(member, ids)).values():
                    if record.status != "pending" and not record.is_question:
                        raise _already_decided(record)

    async def pending(self, context_id: str) -> list[CallRecord]:
        """The calls that wait for a decision, in the order of the request, without questions."""
        live = await self._pool.find(context_id)
        pending = (call for call in live.draft().round_calls() if call.status == "pending")
        return [own_copy(call) for call in pending if not call.is_question]

    async def open_questions(self, context_id: str) -> list[CallRecord]:
        """The `ask_user` calls that wait for an answer, and the questions of running calls, as calls."""
        live = await self._pool.find(context_id)
        pending = (call for call in live.draft().round_calls() if call.status == "pending")
        return [own_copy(call) for call in pending if call.is_question]

    async def get(self, context_id: str, call_id: str) -> CallRecord:
        """A call of a context, open or ended. Raises: NotFound."""
        live = await self._pool.find(context_id)
        record = live.calls.get(CallId(call_id))
        return own_copy(record or await live.storage.call(CallId(call_id)))

    async def read(
        self, context_id: str, *, status: Status | None = None, cursor: str | None = None, limit: int = 50
    ) -> CallPage:
        """The calls of a context, newest last; all, or those of one status. A page may hold fewer than `limit`."""
        live = await self._pool.find(context_id)
        if status in OPEN_STATUSES:  # every open call belongs to the open turn
            calls = [call for call in live.draft().round_calls() if call.status == status]
            return CallPage(tuple(own_copy(call) for call in calls if status != "pending" or not call.is_question))
        ids = [
            call_id
            for call_id in await self._pool.dependencies.store.call_ids(live.id)
            if cursor is None or call_id > cursor
        ]
        page_ids = ids[: limit if status is None else _MAX_CALLS_SEARCHED]
        stored = await live.storage.calls(page_ids)
        items = tuple(own_copy(call) for call in stored if status is None or call.status == status)[:limit]
        last_id = items[-1].id if len(items) == limit else page_ids[-1] if page_ids else None
        return CallPage(items, next=last_id if last_id is not None and last_id != ids[-1] else None)

    async def records(self, context_id: str, ids: Sequence[CallId]) -> dict[CallId, CallRecord]:
        """The records of calls, as far as they can be read."""
        live = await self._pool.find(context_id)
        in_memory = {call_id: live.calls[call_id] for call_id in ids if call_id in live.calls}
        other_ids = [call_id for call_id in ids if call_id not in in_memory]
        stored = await live.storage.calls(other_ids) if other_ids else []
        return {call.id: own_copy(call) for call in (*in_memory.values(), *stored)}

    async def decline(self, context_id: str, *, call_id: str | None = None, by: str = "local") -> None:
        """Decline a question of a running call: the oldest, or the one named. The asking server is informed.

        Raises: Conflict where no such question is open, StoreError.
        """
        async with self._pool.locked(context_id) as live:
            questions = [call for call in live.calls_with_questions() if call_id in (None, call.id)]
            if not questions:
                raise Conflict(Code.NO_QUESTION)
            draft = live.draft()
            draft.change_call(questions[0].id, decided_at=live.dependencies.now(), decided_by=by)
            end_call(draft, live, questions[0].id, "rejected", reason=Reason(Code.NOT_RUN), by=by)
            await live.commit(draft)

    async def answer(
        self, context_id: str, answers: Sequence[str], *, call_id: str | None = None, by: str = "local"
    ) -> None:
        """Answer the oldest open `ask_user` call, or the one named: one answer for each of its questions, in their
        order.

        Raises: Conflict when no question is open, InvalidInput, StoreError.
        """
        for text in answers:
            check_text(text)
        async with self._pool.locked(context_id) as live:
            open_calls = [call for call in live.calls.values() if call.status == "pending" and call.is_question]
            candidates = [call for call in open_calls if call_id in (None, call.id)]
            if not candidates:
                raise Conflict(Code.NO_QUESTION)
            questions = candidates[0].arguments["questions"]
            if len(answers) != len(questions):
                raise InvalidInput(Code.INVALID_ANSWERS, given=len(answers), asked=len(questions))
            lines = [f"{question['question']}\n{text}" for question, text in zip(questions, answers, strict=True)]
            check_decidable(live)
            draft = live.draft()
            draft.change_call(
                candidates[0].id, decided_at=live.dependencies.now(), decided_by=by, answers=tuple(answers)
            )
            draft.note("question_answered", by, call=candidates[0].id)
            end_call(draft, live, candidates[0].id, "executed", content="\n\n".join(lines), by=by)
            await live.commit(draft, state_after_decisions(live, draft), then=lambda: self._pool.drive(live))

    async def output(self, context_id: str, call_id: str) -> Path:
        """The file with the whole output of a call whose result is shortened. Raises: NotFound, also where the result
        is the whole output."""
        live = await self._pool.find(context_id)
        record = await self.get(context_id, call_id)
        path = live.files.artifacts.output_of(record.id) if live.files.artifacts is not None else None
        if path is None or not path.is_file():
            raise NotFound(Code.NO_OUTPUT, call_id=call_id)
        return path

    async def explain(self, context_id: str, call_id: str) -> Explanation:
        """Why a call ran, waited or did not run, from the audit. Raises: NotFound for a call that never existed."""
        live = await self._pool.find(context_id)
        explanation = explain(await read_audit(self._pool, live.id), call_id)
        if not explanation.steps:
            raise NotFound(Code.UNKNOWN_CALL, call_id=call_id)
        return explanation
