"""Why a call ran, waited or did not run: told from the audit, step by step, as reasons that can be put into words."""

from collections.abc import Iterable

from pilothouse.domain.audit import AuditChain, AuditEntry, CheckedAudit
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.values import Timestamp, Value

_DECIDED = {
    "run": Code.WHY_RUN,
    "wait": Code.WHY_WAIT,
    "deny": Code.WHY_DENY,
    "approved": Code.WHY_APPROVED,
    "rejected": Code.WHY_REJECTED,
}


class Step(Value):
    """What happened, and why where that was noted."""

    at: Timestamp
    by: str
    what: Reason
    why: Reason | None = None


class Explanation(Value):
    steps: tuple[Step, ...]
    chain: AuditChain
    """Whether the audit that the steps were read from can be relied on."""


def explain(audit: CheckedAudit, call_id: str) -> Explanation:
    told = (entry for entry in audit.entries if entry.detail.get("call") == call_id)
    return Explanation(tuple(step for entry in told for step in _steps(entry)), audit.chain)


def _steps(entry: AuditEntry) -> Iterable[Step]:
    detail = entry.detail
    params = {"by": entry.by, "mode": detail.get("mode", ""), "status": detail.get("status", "")}
    match entry.kind:
        case "call_decided":
            decided = _DECIDED.get(str(detail.get("verdict")))
            if decided is None:
                return
            what = Reason(decided, params)
        case "call_started":
            what = Reason(Code.WHY_STARTED, params)
        case "call_ended":
            what = Reason(Code.WHY_ENDED, params)
        case _:
            return
    yield Step(at=entry.at, by=entry.by, what=what, why=_reason(detail.get("reason")))


def _reason(data: object) -> Reason | None:
    if not isinstance(data, dict) or data.get("code") not in Code.__members__.values():
        return None
    params = data.get("params", {})
    return Reason(Code(data["code"]), params if isinstance(params, dict) else {})
