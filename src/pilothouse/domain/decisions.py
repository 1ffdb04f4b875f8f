"""The decision about one tool call: pure, with its reason. The gate asks it at every start.

The strictest vote wins. Only a wait can be opened: by a person's approval of what they were shown, by an allow rule
(not where a mode elevates), or by an elevation (only where a mode elevates). Nothing opens a deny.
"""

from collections.abc import Mapping

import msgspec

from pilothouse.domain.calls import Approval, Effect
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.lines import CommandLine, Sure, is_led_by
from pilothouse.domain.modes import Mode, Verdict
from pilothouse.domain.places import reaches, stays_within
from pilothouse.domain.policies import Policy, is_left_to_the_person
from pilothouse.domain.rules import Rule, RuleId, fits, is_narrower, is_stand_in, rule_reason
from pilothouse.domain.values import Value


class CallFacts(Value):
    """What the gate knows of a call. `limit` is the hard limit that it breaks, if any; `ask` why only a person can let
    it run; `line` what stands in a command."""

    tool: str
    effect: Effect
    digest: str
    limit: Reason | None = None
    fingerprint: str = ""
    touches: tuple[str, ...] | None = None
    dangerous: tuple[str, ...] = ()
    ask: Reason | None = None
    line: CommandLine | None = None


class DirectoryMode(Value):
    """A folder below the workspace in which another mode holds too."""

    folder: str
    mode: Mode


class Standing(Value, kw_only=True):
    """All that decides calls at one instant. `denied` are tools that are off, with the reason; `waiting` those that
    wait for leave; each of the `command_lists` must hold a command that needs none; `depth` counts rounds since a
    person last decided; `above` is what stands for each ancestor of a sub-agent."""

    mode: Mode
    directories: tuple[DirectoryMode, ...] = ()
    rules: tuple[Rule, ...] = ()
    policies: tuple[Policy, ...] = ()
    depth: int = 0
    elevated: bool = False
    denied: Mapping[str, Reason] = {}
    waiting: frozenset[str] = frozenset()
    command_lists: tuple[tuple[tuple[str, ...], ...], ...] = ()
    above: tuple["Standing", ...] = ()

    @property
    def depends_on_folders(self) -> bool:
        """Whether where a call reaches decides anything."""
        return any(
            each.directories or each.mode.only_beneath or any(rule.scope.folder is not None for rule in each.rules)
            for each in (self, *self.above)
        )

    @property
    def modes(self) -> str:
        """Names the modes that hold: an approval counts only under the ones it was given under."""
        return " < ".join(standing.mode.name for standing in (self, *self.above))


class Decision(Value):
    """`wall` marks a denial by a mode that ends the turn, `rule` the rule that decided, `elevated` a run that counts as
    a call of an elevation."""

    verdict: Verdict
    reason: Reason
    wall: bool = False
    rule: RuleId | None = None
    elevated: bool = False


class _Vote(Value):
    """Whose it is decides what opens it: `own` is the mode's of the context itself, `elevates` that of a mode in which
    only a person says yes, `ask` a rule's; `doubt` is about what a program may start."""

    verdict: Verdict
    reason: Reason
    wall: bool = False
    own: bool = False
    elevates: bool = False
    ask: Rule | None = None
    doubt: bool = False


def decide(facts: CallFacts, standing: Standing, approval: Approval | None = None) -> Decision:
    """What may be done with a call now."""
    votes = _votes(facts, standing)
    strictest = _strictest(votes)
    is_approved = approval is not None and approval.digest == facts.digest and approval.mode == standing.modes
    if strictest.verdict is Verdict.RUN and not is_approved and _uses_elevation(facts, standing):
        return _elevated(standing, votes)
    if strictest.verdict is not Verdict.WAIT or facts.effect == "question":
        return _decision(strictest)
    if approval is not None and is_approved:
        code = Code.ELEVATED if standing.mode.elevates else Code.APPROVED
        return Decision(verdict=Verdict.RUN, reason=Reason(code, {"by": approval.by}))
    if standing.mode.elevates:
        return _elevated(standing, votes) if standing.elevated else _decision(strictest)
    return _opened_by_rule(facts, standing, votes) or _decision(strictest)


def _uses_elevation(facts: CallFacts, standing: Standing) -> bool:
    """While an elevation holds, every changing call runs by it, also of a tool that the mode lets run without one: the
    elevation frees that call from its confinement."""
    return facts.effect == "mutating" and standing.mode.elevates and standing.elevated


def _elevated(standing: Standing, votes: list[_Vote]) -> Decision:
    """As if the mode itself let it run; all other votes stand."""
    runs = _Vote(verdict=Verdict.RUN, reason=Reason(Code.ELEVATION_RUNS, {"mode": standing.mode.name}))
    strictest = _strictest([runs, *(vote for vote in votes if not vote.own)])
    decision = _decision(strictest)
    return msgspec.structs.replace(decision, elevated=decision.verdict is Verdict.RUN)


def _opened_by_rule(facts: CallFacts, standing: Standing, votes: list[_Vote]) -> Decision | None:
    allowing = sorted(
        (rule for rule in _rules(standing) if rule.effect == "allow" and speaks_of(rule, facts) == "yes"),
        key=lambda rule: rule.scope.width,
    )
    waits = [vote for vote in votes if vote.verdict is Verdict.WAIT]
    if not allowing or not all(_opens(allowing[0], vote) for vote in waits):
        return None
    reason = rule_reason(Code.RULE_ALLOWS, allowing[0])
    return Decision(verdict=Verdict.RUN, reason=reason, rule=allowing[0].id)


def _opens(allow: Rule, vote: _Vote) -> bool:
    # Where a mode asks for elevation only a person says yes; what a rule asks for, only a more particular one opens.
    if vote.doubt:  # who names the very command has thought of it
        return bool(allow.scope.words) or allow.scope.fingerprint is not None
    return not vote.elevates and (vote.ask is None or is_narrower(allow.scope, vote.ask.scope))


def _decision(vote: _Vote) -> Decision:
    rule = vote.reason.params.get("rule")
    return Decision(verdict=vote.verdict, reason=vote.reason, wall=vote.wall, rule=rule)


def _strictest(votes: list[_Vote]) -> _Vote:
    # max() keeps the first of equals: where several deny, the mode's wall is the one that is told.
    return max(votes, key=lambda vote: vote.verdict)


def _votes(facts: CallFacts, standing: Standing) -> list[_Vote]:
    votes = [_vote_of_mode(facts, standing.mode)]
    votes += [_vote_of_ancestor(facts, above.mode) for above in standing.above]
    if facts.limit is not None:
        votes.append(_Vote(verdict=Verdict.DENY, reason=facts.limit))
    if facts.ask is not None:
        votes.append(_Vote(verdict=Verdict.WAIT, reason=facts.ask, elevates=True))
    depth = 0
    for each in (standing, *standing.above):
        if facts.tool in each.denied:
            votes.append(_Vote(verdict=Verdict.DENY, reason=each.denied[facts.tool]))
        depth += each.depth  # a sub-agent's rounds count for whoever sent it, too
        if facts.effect != "question":
            votes += _votes_beside_the_mode(facts, each, depth)
    return votes


def _votes_beside_the_mode(facts: CallFacts, standing: Standing, depth: int) -> list[_Vote]:
    votes = [
        _vote_of_directory(facts, directory)
        for directory in standing.directories
        if reaches(facts.touches, directory.folder)
    ]
    for rule in standing.rules:
        sure = speaks_of(rule, facts) if rule.effect != "allow" else "no"
        if sure != "no":
            votes.append(_vote_of_rule(rule, sure))
    if _waits_by_settings(facts, standing):
        votes.append(_Vote(verdict=Verdict.WAIT, reason=Reason(Code.SETTINGS_WAIT, {"tool": facts.tool})))
    unknown = facts.effect == "mutating" and facts.touches is None
    votes += [
        _Vote(verdict=Verdict.WAIT, reason=Reason(Code.POLICY_WAITS, {"policy": policy.kind}))
        for policy in standing.policies
        if is_left_to_the_person(policy, tool=facts.tool, dangers=facts.dangerous, unknown=unknown, depth=depth)
    ]
    return votes


def _waits_by_settings(facts: CallFacts, standing: Standing) -> bool:
    if facts.tool in standing.waiting:
        return True
    line = facts.line
    if line is None:
        return False
    return not all(any(is_led_by(line, words) for words in listed) for listed in standing.command_lists)


def _verdict_of(facts: CallFacts, mode: Mode) -> Verdict:
    # A question goes to the person by itself, and what is unknown is denied by its limit: both meet the
    # mode only where it lets nothing through at all.
    if facts.tool in mode.withholds:
        return Verdict.DENY
    if facts.effect != "mutating" or facts.tool in mode.lets_run:
        return mode.read_only
    if mode.only_beneath and not stays_within(facts.touches, mode.only_beneath):
        return Verdict.DENY
    return mode.mutating


def _vote_of_mode(facts: CallFacts, mode: Mode) -> _Vote:
    verdict = _verdict_of(facts, mode)
    if verdict is Verdict.DENY:
        params = {"mode": mode.name, "tool": facts.tool, "hint": mode.denial_hint}
        return _Vote(verdict=verdict, reason=Reason(Code.MODE_DENIED, params), wall=mode.denial_ends_turn, own=True)
    if facts.effect == "question":
        return _Vote(verdict=Verdict.WAIT, reason=Reason(Code.QUESTION), own=True)
    code = Code.MODE_RUNS
    if verdict is Verdict.WAIT:
        code = Code.ELEVATION_OFFERED if mode.elevates else Code.MODE_WAITS
    return _Vote(verdict=verdict, reason=Reason(code, {"mode": mode.name}), own=True, elevates=mode.elevates)


def _vote_of_ancestor(facts: CallFacts, mode: Mode) -> _Vote:
    """A sub-agent is never freer than whoever sent it."""
    verdict = _verdict_of(facts, mode)
    code = Code.ANCESTOR_DENIED if verdict is Verdict.DENY else Code.ANCESTOR_WAITS
    wall = verdict is Verdict.DENY and mode.denial_ends_turn
    reason = Reason(code, {"mode": mode.name, "tool": facts.tool})
    return _Vote(verdict=verdict, reason=reason, wall=wall, elevates=mode.elevates)


def _vote_of_directory(facts: CallFacts, directory: DirectoryMode) -> _Vote:
    """What holds in a folder never ends a turn: the model is told, and goes on elsewhere."""
    verdict = _verdict_of(facts, directory.mode)
    params = {"folder": directory.folder, "mode": directory.mode.name, "tool": facts.tool}
    code = Code.DIRECTORY_DENIED if verdict is Verdict.DENY else Code.DIRECTORY_WAITS
    return _Vote(verdict=verdict, reason=Reason(code, params), elevates=directory.mode.elevates)


def _vote_of_rule(rule: Rule, sure: Sure) -> _Vote:
    if sure == "maybe":  # a program may start what the rule speaks of; nobody can tell but the person
        return _Vote(verdict=Verdict.WAIT, reason=rule_reason(Code.RULE_MAY_APPLY, rule), doubt=True)
    if rule.effect == "deny":
        return _Vote(verdict=Verdict.DENY, reason=rule_reason(Code.RULE_DENIES, rule))
    if is_stand_in(rule):  # a rule that allows may be one that was revoked: only a person says yes
        return _Vote(verdict=Verdict.WAIT, reason=Reason(Code.RULES_IN_DOUBT, {"rule": rule.id}), elevates=True)
    return _Vote(verdict=Verdict.WAIT, reason=rule_reason(Code.RULE_ASKS, rule), ask=rule)


def _rules(standing: Standing) -> list[Rule]:
    return [rule for each in (standing, *standing.above) for rule in each.rules]


def speaks_of(rule: Rule, facts: CallFacts) -> Sure:
    return fits(rule, tool=facts.tool, fingerprint=facts.fingerprint, touches=facts.touches, line=facts.line)


def is_denied_by_mode(tool: str, effect: Effect, standing: Standing) -> bool:
    """Whether no call of this effect can run as things stand, whatever its arguments are: then nothing has to be known
    of the call to deny it."""
    family = (standing, *standing.above)
    if any(tool in each.denied for each in family):
        return True
    facts = CallFacts(tool=tool, effect=effect, digest="")
    modes = [each.mode for each in family if effect != "mutating" or not each.mode.only_beneath]
    return any(_verdict_of(facts, mode) is Verdict.DENY for mode in modes)


def must_be_confined(facts: CallFacts, standing: Standing, approval: Approval | None) -> bool:
    """Whether a call may run only because it only reads: then the kernel must see to it that it does. Or because the
    mode lets just this tool run: then it does no more than it must."""
    # The elevation of an ancestor frees no call of a sub-agent.
    is_only_let = _only_lets(standing, facts.tool) and not standing.elevated
    if is_only_let or any(_only_lets(each, facts.tool) for each in standing.above):
        return approval is None
    if facts.effect != "read_only":
        return False
    as_if = decide(msgspec.structs.replace(facts, effect="mutating"), standing, approval)
    return as_if.verdict is not Verdict.RUN or as_if.elevated


def _only_lets(standing: Standing, tool: str) -> bool:
    mode = standing.mode
    return tool in mode.lets_run and mode.mutating is not Verdict.RUN


def is_offered(tool: str, effect: Effect, standing: Standing) -> bool:
    """Whether the model is told of a tool. The gate decides regardless of it."""
    return all(_offers(each, tool, effect) for each in (standing, *standing.above))


def _offers(standing: Standing, tool: str, effect: Effect) -> bool:
    mode = standing.mode
    if tool in standing.denied or tool in mode.withholds or mode.offers == "none":
        return False
    return mode.offers == "all" or tool in mode.offers_also or effect in ("read_only", "question", "delegating")
