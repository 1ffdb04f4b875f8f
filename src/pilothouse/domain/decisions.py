"""The decision about one tool call: pure, with its reason. The gate asks it at every start.

The strictest vote wins; only a wait can be opened, and only by a person. Nothing opens a deny.
"""

from collections.abc import Collection

from pilothouse.domain.calls import Approval, Effect
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.modes import Mode, Verdict
from pilothouse.domain.values import Value


class CallFacts(Value):
    """What the gate knows of a call. `limit` is the hard limit that it breaks, if any."""

    tool: str
    effect: Effect
    digest: str
    limit: Reason | None = None


class Decision(Value):
    """`wall` marks a denial by a mode that ends the turn."""

    verdict: Verdict
    reason: Reason
    wall: bool = False


def decide(facts: CallFacts, *, mode: Mode, approval: Approval | None = None) -> Decision:
    """What may be done with a call now."""
    strictest = max(_votes(facts, mode), key=lambda vote: vote.verdict)
    if strictest.verdict is Verdict.WAIT and approval is not None and _opens(approval, facts, mode):
        code = Code.ELEVATED if mode.elevates else Code.APPROVED
        return Decision(verdict=Verdict.RUN, reason=Reason(code, {"by": approval.by}))
    return strictest


def _votes(facts: CallFacts, mode: Mode) -> list[Decision]:
    # max() keeps the first of equals: where both deny, the mode's wall is the one that is told.
    votes = [_vote_of_mode(facts, mode)]
    if facts.limit is not None:
        votes.append(Decision(verdict=Verdict.DENY, reason=facts.limit))
    return votes


def _vote_of_mode(facts: CallFacts, mode: Mode) -> Decision:
    # A question goes to the person by itself, and what is unknown is denied by its limit: both meet the
    # mode only where it lets nothing through at all.
    if facts.tool in mode.withholds:
        verdict = Verdict.DENY
    elif facts.effect == "mutating":
        verdict = mode.mutating
    else:
        verdict = mode.read_only
    if verdict is Verdict.DENY:
        params = {"mode": mode.name, "tool": facts.tool, "hint": mode.denial_hint}
        return Decision(verdict=verdict, reason=Reason(Code.MODE_DENIED, params), wall=mode.denial_ends_turn)
    if facts.effect == "question":
        return Decision(verdict=Verdict.WAIT, reason=Reason(Code.QUESTION))
    if verdict is Verdict.WAIT:
        code = Code.ELEVATION_OFFERED if mode.elevates else Code.MODE_WAITS
        return Decision(verdict=verdict, reason=Reason(code, {"mode": mode.name}))
    return Decision(verdict=verdict, reason=Reason(Code.MODE_RUNS, {"mode": mode.name}))


def _opens(approval: Approval, facts: CallFacts, mode: Mode) -> bool:
    # An approval counts only in the mode in which it was given: leave to run under supervision is no
    # elevation in review. A question is answered, never approved.
    return approval.digest == facts.digest and approval.mode == mode.name and facts.effect != "question"


def is_offered(tool: str, effect: Effect, mode: Mode, *, disabled: Collection[str] = ()) -> bool:
    """Whether the model is told of a tool. The gate decides regardless of it."""
    if tool in disabled or tool in mode.withholds or mode.offers == "none":
        return False
    return mode.offers == "all" or effect in ("read_only", "question")
