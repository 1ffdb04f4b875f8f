"""The rules that users gave for good. They are what each user's log adds up to, so that log and rules cannot differ."""

import asyncio
from collections.abc import Iterable
from typing import Any

import msgspec

from pilothouse.domain.audit import AuditDraft, AuditEntry, Kind, chain
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import Conflict, NotFound, StoreDamaged
from pilothouse.domain.rules import RULES_PER_USER, Rule, RuleId, is_stand_in, stand_in
from pilothouse.runtime.finishing import finish
from pilothouse.runtime.parts import Parts
from pilothouse.storage.base import UserLog


class Rulebook:
    """Loaded for a user when their first context is opened; from then on known without waiting."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._logs: dict[str, UserLog] = {}
        self._rules: dict[str, dict[RuleId, Rule]] = {}
        self._damage: dict[str, tuple[Reason, ...]] = {}
        """Computed when a log is taken: that hashes the whole log, and every view of a context shows the damage."""
        self._revoked_stand_ins: set[tuple[str, RuleId]] = set()
        """Which stand-ins users revoked since this process began. A log is accepted with the last of them."""
        self._lock = asyncio.Lock()

    async def load(self, user: str) -> None:
        """Raises: StoreError; without their rules nothing of a user may be decided."""
        if user not in self._logs:
            log = await self._parts.store.user_log(user)
            _check(log)
            if user not in self._logs:  # else somebody was faster, and may have given a rule since
                self._take(user, log)

    def rules(self, user: str) -> tuple[Rule, ...]:
        return tuple(self._rules.get(user, {}).values())

    def damage(self, user: str) -> tuple[Reason, ...]:
        """What is wrong with a user's log and not accepted by them yet, and what was cut off it as never finished."""
        return tuple(
            reason
            for reason in self._damage.get(user, ())
            if reason.code is Code.TAIL_CUT or (user, stand_in(reason).id) not in self._revoked_stand_ins
        )

    def _is_in_doubt(self, user: str, *, but_for: RuleId) -> bool:
        """Whether the log has another stand-in than this one."""
        return any(is_stand_in(rule) and rule.id != but_for for rule in self._rules[user].values())

    async def give(self, user: str, rule: Rule, *, by: str) -> None:
        """Durable when it returns. Raises: Conflict when there are too many, StoreError."""
        await self.load(user)
        async with self._lock:
            if len(self._rules[user]) >= RULES_PER_USER:
                raise Conflict(Code.TOO_MANY_RULES, limit=RULES_PER_USER)
            await self._append(user, "rule_given", by, rule=rule)

    async def revoke(self, user: str, rule_id: RuleId, *, by: str) -> None:
        """Raises: NotFound, StoreError."""
        await self.load(user)
        async with self._lock:
            rule = self._rules[user].get(rule_id)
            if rule is None:
                raise NotFound(Code.UNKNOWN_RULE, rule=rule_id)
            if not is_stand_in(rule):
                await self._append(user, "rule_revoked", by, rule=rule)
            elif self._is_in_doubt(user, but_for=rule_id):
                await self._append(user, "rule_revoked", by, rule=rule)
                self._revoked_stand_ins.add((user, rule_id))
                self._take(user, self._logs[user])
            else:
                await finish(self._accept(user, rule, by))

    async def _accept(self, user: str, last: Rule, by: str) -> None:
        """The log is accepted with the last of its stand-ins, in the commit that records the revocation.

        Raises: StoreError; then nothing has changed.
        """
        log = self._logs[user]
        (record,) = self._chained(log, "rule_revoked", by, rule=last)
        await self._parts.store.record_accepted_log(user, record, expected=log.version)
        self._revoked_stand_ins.add((user, last.id))
        self._take(user, await self._parts.store.user_log(user))

    async def _append(self, user: str, kind: Kind, by: str, **detail: Any) -> None:
        log = self._logs[user]
        entries = self._chained(log, kind, by, **detail)

        async def append() -> None:
            version = await self._parts.store.append_user_log(user, entries, expected=log.version)
            self._take(user, msgspec.structs.replace(log, entries=(*log.entries, *entries), version=version))

        await finish(append())  # who gives it may leave: what is on disk is then known here too

    def _chained(self, log: UserLog, kind: Kind, by: str, **detail: Any) -> tuple[AuditEntry, ...]:
        draft = AuditDraft(kind=kind, at=self._parts.now(), by=by, detail=msgspec.to_builtins(detail))
        return chain(log.end, [draft])[1]

    def _take(self, user: str, log: UserLog) -> None:
        self._logs[user], self._rules[user], self._damage[user] = log, _folded(log.entries), tuple(_damage(log))
        for reason in self.damage(user):
            if reason.code is not Code.TAIL_CUT:
                rule = stand_in(reason)
                self._rules[user][rule.id] = rule


def _damage(log: UserLog) -> list[Reason]:
    """Each reason stays the same while the log goes on: the rule that stands for it is known by it."""
    damage = list(log.damage)
    broken_at = log.check().broken_at
    if broken_at is not None and not log.is_cut and all(reason.code is Code.TAIL_CUT for reason in damage):
        damage.append(Reason(Code.AUDIT_BROKEN, {"sequence": broken_at}))
    if log.is_cut and log.noted is not None:
        damage.append(Reason(Code.RULES_CUT, {"known": log.noted.count, "hash": log.noted.hash}))
    return damage


def _check(log: UserLog) -> None:
    """Raises: StoreDamaged for a log that no process of ours has written."""
    try:
        count = len(_folded(log.entries))
    except (KeyError, TypeError, msgspec.ValidationError) as error:
        raise StoreDamaged(Code.RULES_DAMAGED, detail=f"an entry holds no rule: {error}") from error
    if count > RULES_PER_USER:
        raise StoreDamaged(Code.RULES_DAMAGED, detail=f"{count} rules, of {RULES_PER_USER} at most")


def _folded(entries: Iterable[AuditEntry]) -> dict[RuleId, Rule]:
    rules: dict[RuleId, Rule] = {}
    for entry in entries:
        rule = msgspec.convert(entry.detail["rule"], Rule)
        if entry.kind == "rule_given":
            rules[rule.id] = rule
        else:
            rules.pop(rule.id, None)
    return rules
