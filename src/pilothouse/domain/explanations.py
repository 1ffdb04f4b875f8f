"""Explanations: the steps of a call in the audit, as reasons that `i18n` can translate."""

from collections.abc import Iterable

from pilothouse.domain.audit import AuditChain, AuditEntry, CheckedAudit
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.value import Timestamp, Value

# The words of stored entries (`Verdict.audit_word`), and those of a person's decision.
_VERDICT_CODES = {
    "run": Code.WHY_RUN,
    "wait": Code.WHY_WAIT,
    "deny": Code.WHY_DENY,
    "approved": Code.WHY_APPROVED,
    "rejected": Code.WHY_REJECTED,
}


class Step(Value):
    """An event in the history of a call."""

    at: Timestamp
    by: str
    event: Reason
    """The event."""
    why: Reason | None = None
    """The reason of the event, where the entry holds one."""


class Explanation(Value):
    steps: tuple[Step, ...]
    chain: AuditChain
    """The check of the audit that the steps were read from."""


def explain(audit: CheckedAudit, call_id: str) -> Explanation:
    entries = (entry for entry in audit.entries if entry.detail.get("call") == call_id)
    return Explanation(tuple(step for entry in entries for step in _steps(entry)), audit.chain)


def _steps(entry: AuditEntry) -> Iterable[Step]:
    detail = entry.detail
    params = {"by": entry.by, "mode": detail.get("mode", ""), "status": detail.get("status", "")}
    match entry.kind:
        case "call_decided":
            code = _VERDICT_CODES.get(str(detail.get("verdict")))
            if code is None:
                return
            event = Reason(code, params)
        case "call_started":
            event = Reason(Code.WHY_STARTED, params)
        case "call_ended":
            exit_status = {name: value for name, value in detail.items() if name == "exit_status"}
            event = Reason(Code.WHY_ENDED, {**params, **exit_status})
        case _:
            return
    yield Step(at=entry.at, by=entry.by, event=event, why=_reason(detail.get("reason")))


def _reason(data: object) -> Reason | None:
    if not isinstance(data, dict) or data.get("code") not in Code.__members__.values():
        return None
    params = data.get("params", {})
    return Reason(Code(data["code"]), params if isinstance(params, dict) else {})
