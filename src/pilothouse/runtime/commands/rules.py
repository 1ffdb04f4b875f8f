"""Commands about rules: list, offer options for a call, give, revoke, explain a decision."""

from collections.abc import Collection, Iterable
from contextlib import suppress

import msgspec

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.decisions import Decision, decide
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, ToolError
from pilothouse.domain.modes import Verdict
from pilothouse.domain.rules import (
    MAX_RULES_PER_CONTEXT,
    Lifetime,
    Origin,
    Rule,
    RuleEffect,
    RuleId,
    RuleOption,
    RuleOptionOffer,
    Scope,
    check_scope,
    rule_options,
    substitute_rule,
)
from pilothouse.domain.value import CallId, ContextId
from pilothouse.runtime.authorization.authorization import ReleaseFilter, facts_of, release_none, release_shown
from pilothouse.runtime.authorization.policy_snapshot import current_snapshot
from pilothouse.runtime.commands.command_group import CommandGroup
from pilothouse.runtime.commands.modes import change_policy, redecide_descendants
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.context.snapshot import own_copy
from pilothouse.runtime.pool import ContextPool
from pilothouse.system.ambient import timestamp

_MAX_MINUTES = 60 * 24 * 3650


class RuleCommands(CommandGroup):
    """Rules that allow calls, deny them, or make them ask."""

    def damage(self, user: str) -> tuple[Reason, ...]:
        """The damage of a user's stored rules. Until the user accepts it, every call asks."""
        return tuple(self._pool.user_rules.damage(user))

    async def read(self, context_id: str | None = None, *, user: str = "local") -> list[Rule]:
        """A user's permanent rules; with a context, all rules in force there, including its own and those of files."""
        if context_id is None:
            await self._pool.user_rules.load(user)
            return list(self._pool.user_rules.rules(user))
        live = await self._pool.find(context_id)
        snapshot = current_snapshot(live)
        return [rule for member in (snapshot, *snapshot.ancestors) for rule in member.rules]

    async def offers(self, context_id: str, call_id: str) -> list[RuleOptionOffer]:
        """The rules that would allow a pending call from now on, narrowest first.

        Raises: NotFound.
        """
        live = await self._pool.find(context_id)
        call = live.calls.get(CallId(call_id))
        if call is None:
            raise NotFound(Code.UNKNOWN_CALL, call_id=call_id)
        return offers_for(live, call, by=live.core.owner)

    async def would_allow(self, context_id: str, rule: Rule) -> list[CallRecord]:
        """The pending calls of a context that a rule would allow, for clients that show them before they give the rule.

        Raises: NotFound.
        """
        live = await self._pool.find(context_id)
        pending = [call for call in live.draft().round_calls() if call.status == "pending" and not call.is_question]
        decisions = [(call, _decide_with(live, rule, call)) for call in pending]
        return [
            own_copy(call)
            for call, decision in decisions
            if decision.verdict is Verdict.ALLOW and decision.rule == rule.id
        ]

    async def give(
        self,
        effect: RuleEffect,
        scope: Scope,
        *,
        context_id: str | None = None,
        minutes: float | None = None,
        shown: Collection[str] | None = None,
        user: str = "local",
        by: str = "local",
    ) -> Rule:
        """Give a rule for one context, or for all of a user's contexts; with `minutes`, for a limited time. All calls
        that have not started are decided again; with `shown`, only pending calls with these digests start.

        Raises: InvalidInput, NotFound, Conflict, StoreError.
        """
        check_scope(scope)
        if minutes is not None and not 0 < minutes <= _MAX_MINUTES:
            raise InvalidInput(Code.RULE_MINUTES, limit=_MAX_MINUTES)
        dependencies = self._pool.dependencies
        until = timestamp(dependencies.ambient.now() + minutes * 60) if minutes is not None else None
        rule = Rule(
            id=RuleId(dependencies.ambient.new_id()),
            effect=effect,
            scope=scope,
            lifetime=Lifetime(context=ContextId(context_id) if context_id is not None else None, until=until),
            origin=Origin(by=by, at=dependencies.now()),
        )
        if context_id is not None:
            live = await self._pool.find(context_id)
            if scope.folder is not None:
                with suppress(ToolError):  # calls report the resolved paths that they touch
                    real_folder = live.files.workspace().touched_paths(scope.folder)[-1]
                    rule = msgspec.structs.replace(rule, scope=msgspec.structs.replace(scope, folder=real_folder))

            def change(live: LiveContext, draft: Draft) -> None:
                put_rule(live, draft, rule, by)

            await change_policy(self._pool, context_id, change, by=by, releases=released_by([rule], shown))
        else:
            await self._pool.user_rules.give(user, rule, by=by)
            await _redecide_all_of_user(self._pool, user, by, released_by([rule], shown))
        return rule

    async def revoke(
        self, rule_id: str, *, context_id: str | None = None, user: str = "local", by: str = "local"
    ) -> None:
        """Revoke a rule. When this returns, no call starts by the rule any more.

        Raises: NotFound, Conflict for a rule of a file, StoreError.
        """
        if context_id is not None:
            live = await self._pool.find(context_id)
            in_file = [
                rule
                for rule in self._pool.dependencies.workspace_policy(live.core.workspace).rules
                if rule.id == rule_id
            ]
            if in_file:
                raise Conflict(Code.RULE_IN_FILE, file=in_file[0].origin.file)
            if any(rule.id == rule_id for rule in live.core.rules):
                await change_policy(
                    self._pool,
                    context_id,
                    lambda _, draft: _drop_rule(draft, rule_id, by),
                    by=by,
                    releases=release_none,
                )
                return
            audit_damage = [reason for reason in live.damage if substitute_rule(reason, live.id).id == rule_id]
            if audit_damage:
                await _accept_audit(self._pool, live, audit_damage[0], by)
                return
            user = live.core.owner
        await self._pool.user_rules.revoke(user, RuleId(rule_id), by=by)
        await _redecide_all_of_user(self._pool, user, by, release_none)


def offers_for(live: LiveContext, call: CallRecord, *, by: str) -> list[RuleOptionOffer]:
    """The rule options for a call. The server builds them, and a client only names one. Empty where no rule could allow
    the call."""
    origin = Origin(by=by, at=live.dependencies.now(), call=call.id, context=live.id)
    arguments = msgspec.json.encode(call.arguments).decode()
    offers = rule_options(
        call.tool,
        call.fingerprint,
        arguments,
        call.touches,
        words=call.command_line.leading if call.command_line is not None else (),
        workspace=live.core.workspace,
        origin=origin,
    )
    return [offer for offer in offers if _decide_with(live, offer.rule, call).verdict is Verdict.ALLOW]


def _decide_with(live: LiveContext, rule: Rule, call: CallRecord) -> Decision:
    """The decision on a call if a rule were given."""
    snapshot = current_snapshot(live)
    return decide(facts_of(call), msgspec.structs.replace(snapshot, rules=(*snapshot.rules, rule)))


def chosen_rule(live: LiveContext, call: CallRecord, option: RuleOption, *, by: str) -> Rule:
    """The rule of an option, with a new id. Raises: InvalidInput for an option that is not offered."""
    offers = {offer.scope: offer.rule for offer in offers_for(live, call, by=by)}
    rule = offers.get(option)
    if rule is None:
        raise InvalidInput(Code.RULE_NOT_OFFERED, scope=option, allowed=", ".join(offers) or "-")
    named: Rule = msgspec.structs.replace(rule, id=RuleId(live.dependencies.ambient.new_id()))
    return named


def put_rule(live: LiveContext, draft: Draft, rule: Rule, by: str) -> None:
    """Put a rule of this context into a draft; expired rules are removed. Raises: Conflict when there are too many."""
    now = live.dependencies.now()
    unexpired = [
        existing
        for existing in draft.value("rules")
        if existing.lifetime.until is None or now < existing.lifetime.until
    ]
    if len(unexpired) >= MAX_RULES_PER_CONTEXT:
        raise Conflict(Code.TOO_MANY_RULES, limit=MAX_RULES_PER_CONTEXT)
    draft.core["rules"] = (*unexpired, rule)
    draft.note("rule_given", by, rule=rule)


def released_by(rules: Iterable[Rule], shown: Collection[str] | None) -> ReleaseFilter:
    """A filter that releases only calls that these rules allow, and that the person has seen."""
    ids = {rule.id for rule in rules}
    return release_shown(lambda _, decision: decision.rule in ids, shown)


async def _accept_audit(pool: ContextPool, live: LiveContext, damage: Reason, by: str) -> None:
    """Accept the remaining audit of a conversation, whose audit was cut or rewritten, in the person's name.

    Every call asks until the acceptance is stored: sub-agents read the damage of this context without its lock.
    """
    async with pool.locked(live.id) as live:
        draft = live.draft()
        draft.accepts_audit = True
        draft.note("rule_revoked", by, rule=substitute_rule(damage, live.id))
        draft.audit.insert(0, draft.audit.pop())  # directly behind the accepted entries

        def forget_damage() -> None:
            live.accept_damage(damage)

        await live.commit(draft, then=forget_damage)
    await redecide_descendants(pool, (live,), by, releases=release_none)


def _drop_rule(draft: Draft, rule_id: str, by: str) -> None:
    dropped = [rule for rule in draft.value("rules") if rule.id == rule_id]
    if not dropped:
        raise NotFound(Code.UNKNOWN_RULE, rule=rule_id)
    draft.core["rules"] = tuple(rule for rule in draft.value("rules") if rule.id != rule_id)
    draft.note("rule_revoked", by, rule=dropped[0])


async def _redecide_all_of_user(pool: ContextPool, user: str, by: str, releases: ReleaseFilter) -> None:
    lives = tuple(live for live in pool.in_memory() if live.core.owner == user)
    await redecide_descendants(pool, lives, by, releases=releases)
