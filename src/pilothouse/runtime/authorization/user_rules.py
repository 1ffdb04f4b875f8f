"""`UserRules`: users' permanent rules, folded from each user's log, so that log and rules cannot differ."""

import asyncio
from collections.abc import Iterable
from typing import Any

import msgspec

from pilothouse.domain.audit import AuditDraft, AuditEntry, Kind, chain
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import Conflict, NotFound, StoreDamaged
from pilothouse.domain.rules import MAX_RULES_PER_USER, Rule, RuleId, is_substitute, substitute_rule
from pilothouse.runtime.dependencies import RuntimeDependencies
from pilothouse.runtime.shield import run_to_completion
from pilothouse.storage.base import UserLog


class UserRules:
    """Users' rules in memory. A user's rules are loaded when their first context is opened."""

    def __init__(self, dependencies: RuntimeDependencies) -> None:
        self._dependencies = dependencies
        self._logs: dict[str, UserLog] = {}
        self._rules: dict[str, dict[RuleId, Rule]] = {}
        self._damage: dict[str, tuple[Reason, ...]] = {}
        """By user: damage of the log. Computed once a load, since it hashes the whole log and every view shows it."""
        self._revoked_substitutes: set[tuple[str, RuleId]] = set()
        """Substitute rules that users have revoked in this process. Revoking the last one accepts the log."""
        self._lock = asyncio.Lock()

    async def load(self, user: str) -> None:
        """Load a user's rules, without which no call of the user may be decided. Raises: StoreError."""
        if user not in self._logs:
            log = await self._dependencies.store.user_log(user)
            _check_log(log)
            if user not in self._logs:  # otherwise a concurrent load was faster, and a rule may have been added since
                self._set_log(user, log)

    def rules(self, user: str) -> tuple[Rule, ...]:
        return tuple(self._rules.get(user, {}).values())

    def damage(self, user: str) -> tuple[Reason, ...]:
        """Damage of a user's log that the user has not accepted yet, and incomplete entries that were cut off."""
        return tuple(
            reason
            for reason in self._damage.get(user, ())
            if reason.code is Code.TAIL_CUT or (user, substitute_rule(reason).id) not in self._revoked_substitutes
        )

    def _has_other_substitute(self, user: str, *, but_for: RuleId) -> bool:
        """Whether the log has another substitute rule than this one."""
        return any(is_substitute(rule) and rule.id != but_for for rule in self._rules[user].values())

    async def give(self, user: str, rule: Rule, *, by: str) -> None:
        """Add a permanent rule, durably. Raises: Conflict when there are too many rules, StoreError."""
        await self.load(user)
        async with self._lock:
            if len(self._rules[user]) >= MAX_RULES_PER_USER:
                raise Conflict(Code.TOO_MANY_RULES, limit=MAX_RULES_PER_USER)
            await self._append(user, "rule_given", by, rule=rule)

    async def revoke(self, user: str, rule_id: RuleId, *, by: str) -> None:
        """Raises: NotFound, StoreError."""
        await self.load(user)
        async with self._lock:
            rule = self._rules[user].get(rule_id)
            if rule is None:
                raise NotFound(Code.UNKNOWN_RULE, rule=rule_id)
            if not is_substitute(rule):
                await self._append(user, "rule_revoked", by, rule=rule)
            elif self._has_other_substitute(user, but_for=rule_id):
                await self._append(user, "rule_revoked", by, rule=rule)
                self._revoked_substitutes.add((user, rule_id))
                self._set_log(user, self._logs[user])
            else:
                await run_to_completion(self._accept(user, rule, by))

    async def _accept(self, user: str, substitute: Rule, by: str) -> None:
        """Revoke the last substitute rule, which accepts the log, in one commit.

        Raises: StoreError; then nothing has changed.
        """
        log = self._logs[user]
        (record,) = self._chain(log, "rule_revoked", by, rule=substitute)
        await self._dependencies.store.record_accepted_log(user, record, expected=log.version)
        self._revoked_substitutes.add((user, substitute.id))
        self._set_log(user, await self._dependencies.store.user_log(user))

    async def _append(self, user: str, kind: Kind, by: str, **detail: Any) -> None:
        log = self._logs[user]
        entries = self._chain(log, kind, by, **detail)

        async def append() -> None:
            version = await self._dependencies.store.append_user_log(user, entries, expected=log.version)
            self._set_log(user, msgspec.structs.replace(log, entries=(*log.entries, *entries), version=version))

        await run_to_completion(append())  # also if the caller is cancelled: memory must match the stored log

    def _chain(self, log: UserLog, kind: Kind, by: str, **detail: Any) -> tuple[AuditEntry, ...]:
        draft = AuditDraft(kind=kind, at=self._dependencies.now(), by=by, detail=msgspec.to_builtins(detail))
        return chain(log.end, [draft])[1]

    def _set_log(self, user: str, log: UserLog) -> None:
        self._logs[user], self._rules[user], self._damage[user] = log, _fold(log.entries), tuple(_damage(log))
        for reason in self.damage(user):
            if reason.code is not Code.TAIL_CUT:
                rule = substitute_rule(reason)
                self._rules[user][rule.id] = rule


def _damage(log: UserLog) -> list[Reason]:
    """The damage of a log. Each reason stays equal while the log grows, since it determines the id of its substitute
    rule."""
    damage = list(log.damage)
    broken_at = log.check().broken_at
    if broken_at is not None and not log.is_cut and all(reason.code is Code.TAIL_CUT for reason in damage):
        damage.append(Reason(Code.AUDIT_BROKEN, {"sequence": broken_at}))
    if log.is_cut and log.noted is not None:
        damage.append(Reason(Code.RULES_CUT, {"known": log.noted.count, "hash": log.noted.hash}))
    return damage


def _check_log(log: UserLog) -> None:
    """Raises: StoreDamaged for a log that Pilothouse cannot have written."""
    try:
        count = len(_fold(log.entries))
    except (KeyError, TypeError, msgspec.ValidationError) as error:
        raise StoreDamaged(Code.RULES_DAMAGED, detail=f"an entry contains no valid rule: {error}") from error
    if count > MAX_RULES_PER_USER:
        raise StoreDamaged(
            Code.RULES_DAMAGED, detail=f"there are {count} rules, and at most {MAX_RULES_PER_USER} are allowed"
        )


def _fold(entries: Iterable[AuditEntry]) -> dict[RuleId, Rule]:
    rules: dict[RuleId, Rule] = {}
    for entry in entries:
        rule = msgspec.convert(entry.detail["rule"], Rule)
        if entry.kind == "rule_given":
            rules[rule.id] = rule
        else:
            rules.pop(rule.id, None)
    return rules
