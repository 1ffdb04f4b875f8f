"""Invariants of every history, judged from the order of the commits alone.

The oracle keeps its own account of modes, rules, policies, elevations, pauses and approvals, and judges each start by
the sentence of the specification as `tests.domain.decision_oracle` spells it out. The oracle shares no code with the
gate.
"""

import copy
from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from pilothouse.domain.audit import AuditEntry
from pilothouse.domain.calls import Effect
from pilothouse.domain.contexts import Change
from pilothouse.domain.decisions import CallFacts, FolderMode, PolicySnapshot
from pilothouse.domain.modes import Modes
from pilothouse.domain.policies import Policy
from pilothouse.domain.rules import Rule
from pilothouse.domain.value import ContextId
from pilothouse.storage.memory import MemoryStore
from tests.domain.decision_oracle import oracle

MODES = Modes()
DIRECTORIES = (
    FolderMode(folder="deploy", mode=MODES.named("plan")),
    FolderMode(folder="careful", mode=MODES.named("supervised")),
)
EFFECTS: Mapping[str, Effect] = {
    "look": "read_only",
    "change": "mutating",
    "held_look": "read_only",
    "held_change": "mutating",
}


class OrderedStore(MemoryStore):
    """Remembers in which order things became durable, over all contexts and users."""

    def __init__(self) -> None:
        super().__init__()
        self.order: list[tuple[str, AuditEntry]] = []

    async def create(self, change: Change) -> int:
        version = await super().create(change)
        self.order += [(change.core.context_id, entry) for entry in change.audit]
        return version

    async def commit(self, context_id: Any, change: Change, **options: Any) -> int:
        version = await super().commit(context_id, change, **options)
        self.order += [(context_id, entry) for entry in change.audit]
        return version

    async def append_user_log(self, user: str, entries: Any, **options: Any) -> int:
        version = await super().append_user_log(user, entries, **options)
        self.order += [("", entry) for entry in entries]
        return version

    def note_restart(self) -> None:
        """Elevations end with the process, which can no longer record it."""
        self.order.append(("", AuditEntry(sequence=0, kind="recovered", at="", by="", previous="", hash="")))


class _Account:
    """The policy of one context."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.rules: dict[str, Rule] = {}
        self.policy = Policy()
        self.calls_left: int | None = None
        self.until: str | None = None
        self.elevated = False
        self.paused = False

    def copy(self) -> "_Account":
        copied = copy.copy(self)
        copied.rules = dict(self.rules)
        return copied

    def is_elevated(self, at: str) -> bool:
        return self.elevated and self.calls_left != 0 and (self.until is None or at < self.until)


class Oracle:
    def __init__(self, store: OrderedStore) -> None:
        self.store = store
        self.accounts: dict[str, _Account] = {}
        self.user_rules: dict[str, Rule] = {}
        self.granted: dict[str, tuple[str, ...]] = {}
        self.started: Counter[str] = Counter()
        self._read = 0
        self._before: dict[str, _Account] = {}

    def judge(self) -> None:
        """Replay the commits since the last time. Commands of one step are concurrent: the policy above
        a call counts from when its command has returned, at the latest from the next step on."""
        self._before = {context_id: account.copy() for context_id, account in self.accounts.items()}
        for context_id, entry in self.store.order[self._read :]:
            if entry.kind in ("rule_given", "rule_revoked"):
                self._take_rule(context_id, entry)
            elif context_id == "":
                for account in self.accounts.values():
                    account.elevated = False
            else:
                self._take(ContextId(context_id), entry)
        self._read = len(self.store.order)
        assert all(count == 1 for count in self.started.values()), "a call started twice"

    def _take_rule(self, context_id: str, entry: AuditEntry) -> None:
        rule = msgspec.convert(entry.detail["rule"], Rule)
        rules = self.accounts[context_id].rules if context_id else self.user_rules
        if entry.kind == "rule_given":
            rules[rule.id] = rule
        else:
            del rules[rule.id]

    def _take(self, context_id: ContextId, entry: AuditEntry) -> None:
        detail = entry.detail
        if entry.kind == "context_created":
            self.accounts[context_id] = _Account(detail["mode"])
            return
        account = self.accounts[context_id]
        match entry.kind:
            case "mode_switched":
                account.mode = detail["target"]
            case "policy_set":
                account.policy = msgspec.convert(detail["policy"], Policy)
            case "elevation_started":
                account.elevated, account.calls_left = True, detail["calls"]
                minutes = detail["minutes"]
                account.until = _later(entry.at, minutes) if minutes is not None else None
            case "elevation_ended":
                account.elevated = False
            case "turn_paused":
                account.paused = True
            case "turn_resumed" | "turn_cancelled":
                account.paused = False
            case "call_decided" if detail["verdict"] == "approved":
                self.granted[detail["call"]] = self._modes(context_id)
            case "call_started":
                self._judge_start(context_id, entry)

    def _judge_start(self, context_id: ContextId, entry: AuditEntry) -> None:
        call_id = entry.detail["call"]
        self.started[call_id] += 1
        call = self.store._contexts[context_id].calls[call_id]
        if call.tool == "delegate":
            assert self.accounts[context_id].mode != "ask"
            return
        path = call.arguments.get("path")
        facts = CallFacts(
            tool=call.tool,
            effect=EFFECTS[call.tool],
            digest="",
            fingerprint=call.fingerprint,
            touches=None if path is None else (path,),
        )
        approved = self.granted.get(call_id) == self._modes(context_id)
        standing = self._standing(context_id, entry.at)
        verdict = oracle(facts, standing, approved)
        if verdict != 0:
            verdict = oracle(facts, self._standing(context_id, entry.at, self._before), approved)
        assert verdict == 0, f"{call.tool} {call.arguments} started in {standing.modes}: {verdict}"
        for each in self._line(context_id):
            above = self._before.get(each, self.accounts[each]) if each != context_id else self.accounts[each]
            is_paused = self.accounts[each].paused and above.paused
            assert not is_paused, "a call started while its turn was paused"
        account = self.accounts[context_id]
        if entry.detail["reason"]["code"] == "elevation_runs" and account.calls_left is not None:
            account.calls_left -= 1

    def _line(self, context_id: ContextId) -> list[ContextId]:
        line = [context_id]
        while (parent := self.store._contexts[line[-1]].core.parent) is not None:
            line.append(parent)
        return line

    def _modes(self, context_id: ContextId) -> tuple[str, ...]:
        return tuple(self.accounts[each].mode for each in self._line(context_id))

    def _standing(self, context_id: ContextId, at: str, before: dict[str, "_Account"] | None = None) -> PolicySnapshot:
        """With the ancestors' policy `before`, if requested."""
        accounts = {**self.accounts, **(before or {}), context_id: self.accounts[context_id]}
        own, *above = [self._one(accounts[each], at) for each in self._line(context_id)]
        return msgspec.structs.replace(own, ancestors=tuple(above))

    def _one(self, account: "_Account", at: str) -> PolicySnapshot:
        rules = [*self.user_rules.values(), *account.rules.values()]
        in_force = [rule for rule in rules if rule.lifetime.until is None or at < rule.lifetime.until]
        return PolicySnapshot(
            mode=MODES.named(account.mode),
            folder_modes=DIRECTORIES,
            rules=tuple(in_force),
            policies=(account.policy,),
            elevated=account.is_elevated(at),
        )


def _later(at: str, minutes: float) -> str:
    moment = datetime.fromisoformat(at) + timedelta(minutes=minutes)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
