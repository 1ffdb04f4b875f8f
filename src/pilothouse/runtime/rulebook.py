"""The rules that users gave for good. They are what each user's log adds up to, so that log and rules cannot differ."""

import asyncio
import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec

from pilothouse.domain.audit import AuditDraft, AuditEntry, AuditHead, Kind, chain, first_break
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import Conflict, NotFound
from pilothouse.domain.rules import RULES_PER_USER, Origin, Rule, RuleId, Scope
from pilothouse.runtime.finishing import finish
from pilothouse.runtime.parts import Parts
from pilothouse.storage.base import UserLog


class Rulebook:
    """Loaded for a user when their first context is opened; from then on known without waiting."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._logs: dict[str, UserLog] = {}
        self._rules: dict[str, dict[RuleId, Rule]] = {}
        self._lock = asyncio.Lock()

    async def load(self, user: str) -> None:
        """Raises: StoreError; without their rules nothing of a user may be decided."""
        if user not in self._logs:
            log = await self._parts.store.user_log(user)
            if user not in self._logs:  # else somebody was faster, and may have given a rule since
                self._take(user, log)

    def rules(self, user: str) -> tuple[Rule, ...]:
        return tuple(self._rules.get(user, {}).values())

    def log(self, user: str) -> UserLog:
        return self._logs[user]

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
            await self._append(user, "rule_revoked", by, rule=rule)

    async def _append(self, user: str, kind: Kind, by: str, **detail: Any) -> None:
        log = self._logs[user]
        head = AuditHead(count=log.entries[-1].sequence, hash=log.entries[-1].hash) if log.entries else AuditHead()
        draft = AuditDraft(kind=kind, at=self._parts.now(), by=by, detail=msgspec.to_builtins(detail))
        _, entries = chain(head, [draft])

        async def append() -> None:
            version = await self._parts.store.append_user_log(user, entries, expected=log.version)
            self._take(user, msgspec.structs.replace(log, entries=(*log.entries, *entries), version=version))

        await finish(append())  # who gives it may leave: what is on disk is then known here too

    def _take(self, user: str, log: UserLog) -> None:
        rules = _folded(log.entries)
        broken = first_break(log.entries)
        damage = [reason for reason in log.damage if reason.code is not Code.TAIL_CUT]
        if broken is not None and not damage:
            damage.append(Reason(Code.AUDIT_BROKEN, {"sequence": broken}))
        for reason in damage:
            standin = _in_place_of(reason)
            if not _is_revoked(standin.id, log.entries):
                rules[standin.id] = standin
        self._logs[user], self._rules[user] = log, rules


def _folded(entries: Iterable[AuditEntry]) -> dict[RuleId, Rule]:
    rules: dict[RuleId, Rule] = {}
    for entry in entries:
        rule = msgspec.convert(entry.detail["rule"], Rule)
        if entry.kind == "rule_given":
            rules[rule.id] = rule
        else:
            rules.pop(rule.id, None)
    return rules


def _in_place_of(damage: Reason) -> Rule:
    """A rule that cannot be read may have forbidden anything: until the person has looked, everything waits."""
    digest = hashlib.sha256(msgspec.json.encode(damage)).hexdigest()[:12]
    return Rule(id=RuleId(f"damaged-{digest}"), effect="ask", scope=Scope(), origin=Origin(by="runtime"))


def _is_revoked(rule_id: RuleId, entries: Iterable[AuditEntry]) -> bool:
    return any(entry.kind == "rule_revoked" and entry.detail["rule"]["id"] == rule_id for entry in entries)
