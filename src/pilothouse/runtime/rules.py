"""Commands about rules: what there is, what a call that is shown may be answered with, giving, revoking, explaining."""

from collections.abc import Collection, Iterable
from contextlib import suppress

import msgspec

from pilothouse.ambient import timestamp
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.decisions import Decision, decide
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, ToolError
from pilothouse.domain.explaining import Explanation, explain
from pilothouse.domain.modes import Verdict
from pilothouse.domain.rules import (
    RULES_PER_CONTEXT,
    Lifetime,
    Origin,
    Rule,
    RuleEffect,
    RuleId,
    RuleOffer,
    Rung,
    Scope,
    check_scope,
    ladder,
    stand_in,
)
from pilothouse.domain.values import CallId, ContextId
from pilothouse.runtime.audit_reads import read_audit
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.deciding import Opener, facts_of, nothing, only_shown
from pilothouse.runtime.draft import Draft
from pilothouse.runtime.live import Live
from pilothouse.runtime.modes import follow, restand
from pilothouse.runtime.standing import rules_of, standing_of

_MINUTES_AT_MOST = 60 * 24 * 3650


async def rules(contexts: Contexts, context_id: str | None = None, *, user: str = "local") -> list[Rule]:
    """Those that a user gave for good; with a context, all that count in it now, its own and the files' too."""
    if context_id is None:
        await contexts.rulebook.load(user)
        return list(contexts.rulebook.rules(user))
    live = await contexts.find(context_id)
    return [rule for each in (live, *live.above) for rule in rules_of(each, Draft(each))]


async def rule_offers(contexts: Contexts, context_id: str, call_id: str) -> list[RuleOffer]:
    """The rules with which a pending call may be allowed from now on, narrowest first: those that would let it run.

    Raises: NotFound.
    """
    live = await contexts.find(context_id)
    call = live.calls.get(CallId(call_id))
    if call is None:
        raise NotFound(Code.UNKNOWN_CALL, call_id=call_id)
    return offers_for(live, call, by=live.core.owner)


def offers_for(live: Live, call: CallRecord, *, by: str) -> list[RuleOffer]:
    """Built here from the call that was shown; a client only names the rung. None where no rule could open it."""
    origin = Origin(by=by, at=live.parts.now(), call=call.id, context=live.id)
    arguments = msgspec.json.encode(call.arguments).decode()
    offers = ladder(
        call.tool,
        call.fingerprint,
        arguments,
        call.touches,
        words=call.line.leading if call.line is not None else (),
        workspace=live.core.workspace,
        origin=origin,
    )
    return [offer for offer in offers if _decided_with(live, offer.rule, call).verdict is Verdict.RUN]


def _decided_with(live: Live, rule: Rule, call: CallRecord) -> Decision:
    """How a call would be decided if the rule were given."""
    standing = standing_of(live)
    return decide(facts_of(call), msgspec.structs.replace(standing, rules=(*standing.rules, rule)))


async def would_allow(contexts: Contexts, context_id: str, rule: Rule) -> list[CallRecord]:
    """The waiting calls of a context that a rule would let run, for clients that show them before they give the rule.

    Raises: NotFound.
    """
    live = await contexts.find(context_id)
    waiting = [call for call in live.draft().round_calls() if call.status == "pending" and not call.is_question]
    decided = [(call, _decided_with(live, rule, call)) for call in waiting]
    return [call for call, decision in decided if decision.verdict is Verdict.RUN and decision.rule == rule.id]


def chosen_rule(live: Live, call: CallRecord, rung: Rung, *, by: str) -> Rule:
    """The rule of a rung, with its id. Raises: InvalidInput for one that is not offered."""
    offers = {offer.scope: offer.rule for offer in offers_for(live, call, by=by)}
    rule = offers.get(rung)
    if rule is None:
        raise InvalidInput(Code.RULE_NOT_OFFERED, scope=rung, allowed=", ".join(offers) or "-")
    named: Rule = msgspec.structs.replace(rule, id=RuleId(live.parts.ambient.new_id()))
    return named


def put_rule(live: Live, draft: Draft, rule: Rule, by: str) -> None:
    """A rule of this context; those whose time is up make room. Raises: Conflict when there are too many."""
    now = live.parts.now()
    known = [each for each in draft.value("rules") if each.lifetime.until is None or now < each.lifetime.until]
    if len(known) >= RULES_PER_CONTEXT:
        raise Conflict(Code.TOO_MANY_RULES, limit=RULES_PER_CONTEXT)
    draft.core["rules"] = (*known, rule)
    draft.note("rule_given", by, rule=rule)


async def give_rule(
    contexts: Contexts,
    effect: RuleEffect,
    scope: Scope,
    *,
    context_id: str | None = None,
    minutes: float | None = None,
    shown: Collection[str] | None = None,
    user: str = "local",
    by: str = "local",
) -> Rule:
    """A rule for one context, or for all of a user's; with `minutes`, until then. What has not started is decided anew;
    with `shown`, of the calls that wait only those with these digests start.

    Raises: InvalidInput, NotFound, Conflict, StoreError.
    """
    check_scope(scope)
    if minutes is not None and not 0 < minutes <= _MINUTES_AT_MOST:
        raise InvalidInput(Code.RULE_MINUTES, limit=_MINUTES_AT_MOST)
    parts = contexts.parts
    until = timestamp(parts.ambient.now() + minutes * 60) if minutes is not None else None
    rule = Rule(
        id=RuleId(parts.ambient.new_id()),
        effect=effect,
        scope=scope,
        lifetime=Lifetime(context=ContextId(context_id) if context_id is not None else None, until=until),
        origin=Origin(by=by, at=parts.now()),
    )
    if context_id is not None:
        live = await contexts.find(context_id)
        if scope.folder is not None:
            with suppress(ToolError):  # what is touched is told by where it really lies, too
                real = live.workspace().touched(scope.folder)[-1]
                rule = msgspec.structs.replace(rule, scope=msgspec.structs.replace(scope, folder=real))

        def change(live: Live, draft: Draft) -> None:
            put_rule(live, draft, rule, by)

        await restand(contexts, context_id, change, by=by, opens=opened_by([rule], shown))
    else:
        await contexts.rulebook.give(user, rule, by=by)
        await _follow_all(contexts, user, by, opened_by([rule], shown))
    return rule


def opened_by(rules: Iterable[Rule], shown: Collection[str] | None) -> Opener:
    """Only what these rules open, as far as the person has read it."""
    ids = {rule.id for rule in rules}
    return only_shown(lambda _, decision: decision.rule in ids, shown)


async def revoke_rule(
    contexts: Contexts, rule_id: str, *, context_id: str | None = None, user: str = "local", by: str = "local"
) -> None:
    """When this returns, nothing starts by the rule any more.

    Raises: NotFound, Conflict for a rule that stands in a file, StoreError.
    """
    if context_id is not None:
        live = await contexts.find(context_id)
        in_file = [rule for rule in contexts.parts.steering(live.core.workspace).rules if rule.id == rule_id]
        if in_file:
            raise Conflict(Code.RULE_IN_FILE, file=in_file[0].origin.file)
        if any(rule.id == rule_id for rule in live.core.rules):
            await restand(contexts, context_id, lambda _, draft: _drop_rule(draft, rule_id, by), by=by, opens=nothing)
            return
        cut = [reason for reason in live.damage if stand_in(reason, live.id).id == rule_id]
        if cut:
            await _accept_audit(contexts, live, cut[0], by)
            return
        user = live.core.owner
    await contexts.rulebook.revoke(user, RuleId(rule_id), by=by)
    await _follow_all(contexts, user, by, nothing)


async def _accept_audit(contexts: Contexts, live: Live, cut: Reason, by: str) -> None:
    """The person has looked at a conversation whose audit was cut or rewritten, and goes on with what is there.

    Every call waits until the acceptance is noted: sub-agents read the damage of this context without its lock.
    """
    async with contexts.locked(live.id) as live:
        draft = live.draft()
        draft.accepts_audit = True
        draft.note("rule_revoked", by, rule=stand_in(cut, live.id))
        draft.audit.insert(0, draft.audit.pop())  # right behind what is accepted

        def forget_damage() -> None:
            live.damage = tuple(reason for reason in live.damage if reason != cut)

        await live.commit(draft, then=forget_damage)
    await follow(contexts, (live,), by, opens=nothing)


def _drop_rule(draft: Draft, rule_id: str, by: str) -> None:
    gone = [rule for rule in draft.value("rules") if rule.id == rule_id]
    if not gone:
        raise NotFound(Code.UNKNOWN_RULE, rule=rule_id)
    draft.core["rules"] = tuple(rule for rule in draft.value("rules") if rule.id != rule_id)
    draft.note("rule_revoked", by, rule=gone[0])


async def _follow_all(contexts: Contexts, user: str, by: str, opens: Opener) -> None:
    lives = tuple(live for live in contexts.in_memory() if live.core.owner == user)
    await follow(contexts, lives, by, opens=opens)


async def explain_call(contexts: Contexts, context_id: str, call_id: str) -> Explanation:
    """Why a call ran, waited or did not run, from the audit. Raises: NotFound for a call that there never was."""
    live = await contexts.find(context_id)
    explanation = explain(await read_audit(contexts, live.id), call_id)
    if not explanation.steps:
        raise NotFound(Code.UNKNOWN_CALL, call_id=call_id)
    return explanation
