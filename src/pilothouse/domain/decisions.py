"""The decision about one tool call, with its reason: a pure function that the gate calls at every start.

Modes, limits, settings, policies and rules vote, and the strictest vote wins. Only `ASK` can be overridden: by a
person's approval of the call as it was previewed, by an allow rule (not in a mode that elevates) or by an elevation
(only in a mode that elevates). Nothing overrides `DENY`.
"""

from collections.abc import Mapping

import msgspec

from pilothouse.domain.calls import Approval, Effect
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.command_line import Certainty, CommandLine, starts_with_words
from pilothouse.domain.modes import Mode, Verdict
from pilothouse.domain.policies import Policy, requires_approval
from pilothouse.domain.rules import Rule, RuleId, is_narrower, is_substitute, matches, rule_reason
from pilothouse.domain.touched_paths import may_touch, stays_within
from pilothouse.domain.value import Value


class CallFacts(Value):
    """The properties of a call that decisions depend on."""

    tool: str
    effect: Effect
    digest: str
    """Identifies this call with these arguments: an approval counts only for the same digest."""
    violation: Reason | None = None
    """The hard limit that the call breaks, if any."""
    fingerprint: str = ""
    """Identifies the tool and the arguments: exact rules refer to it."""
    touches: tuple[str, ...] | None = None
    """The paths that the call touches; None where the tool cannot tell."""
    dangerous: tuple[str, ...] = ()
    """Marks of dangerous effects and of deceptive text."""
    ask: Reason | None = None
    """Why only a person can allow the call, if so."""
    command_line: CommandLine | None = None
    """The parsed command line of a command."""


class FolderMode(Value):
    """A folder below the workspace in which a second mode applies, beside that of the context."""

    folder: str
    mode: Mode


class PolicySnapshot(Value, kw_only=True):
    """Everything that decides calls at one instant."""

    mode: Mode
    folder_modes: tuple[FolderMode, ...] = ()
    rules: tuple[Rule, ...] = ()
    policies: tuple[Policy, ...] = ()
    depth: int = 0
    """The number of rounds since a person last decided a call."""
    elevated: bool = False
    """Whether an elevation is active."""
    denied: Mapping[str, Reason] = {}
    """Tools that are switched off, with the reason."""
    always_ask: frozenset[str] = frozenset()
    """Tools whose calls require approval by the settings."""
    command_lists: tuple[tuple[tuple[str, ...], ...], ...] = ()
    """Lists of leading words, one list a settings file. A command that is in all of them requires no approval."""
    ancestors: tuple["PolicySnapshot", ...] = ()
    """The snapshots of the contexts above a sub-agent."""

    @property
    def depends_on_folders(self) -> bool:
        """Whether a decision can depend on the paths that a call touches."""
        return any(
            member.folder_modes
            or member.mode.only_beneath
            or any(rule.scope.folder is not None for rule in member.rules)
            for member in (self, *self.ancestors)
        )

    @property
    def modes(self) -> str:
        """The names of the modes of this context and its ancestors. An approval counts only under the same modes."""
        return " < ".join(member.mode.name for member in (self, *self.ancestors))


class Decision(Value):
    """The gate's verdict on a call, with its reason."""

    verdict: Verdict
    reason: Reason
    ends_turn: bool = False
    """Whether a mode denies the call and the denial ends the turn."""
    rule: RuleId | None = None
    """The rule that decided, if one did."""
    elevated: bool = False
    """Whether the call runs by an elevation and is counted by it."""


class _Vote(Value):
    """The verdict of one voter. The kind of the voter decides which allow rules and elevations override the vote."""

    verdict: Verdict
    reason: Reason
    ends_turn: bool = False
    """Whether the denial ends the turn."""
    is_own_mode: bool = False
    """Whether the voter is the mode of the context itself: an elevation replaces its vote."""
    needs_person: bool = False
    """Whether only a person can allow the call: no rule overrides the vote."""
    ask_rule: Rule | None = None
    """The ask rule behind the vote: only a narrower rule overrides it."""
    is_about_started_programs: bool = False
    """Whether the vote is about other programs that a program may start: a rule for the very command overrides it."""


def decide(facts: CallFacts, snapshot: PolicySnapshot, approval: Approval | None = None) -> Decision:
    """Decide a call by the rules of one instant."""
    votes = _votes(facts, snapshot)
    strictest = _strictest_vote(votes)
    is_approved = approval is not None and approval.digest == facts.digest and approval.mode == snapshot.modes
    if strictest.verdict is Verdict.ALLOW and not is_approved and _uses_elevation(facts, snapshot):
        return _elevated(snapshot, votes)
    if strictest.verdict is not Verdict.ASK or facts.effect == "question":
        return _decision_from(strictest)
    if approval is not None and is_approved:
        code = Code.ELEVATED if snapshot.mode.elevates else Code.APPROVED
        return Decision(verdict=Verdict.ALLOW, reason=Reason(code, {"by": approval.by}))
    if snapshot.mode.elevates:
        return _elevated(snapshot, votes) if snapshot.elevated else _decision_from(strictest)
    return _allowed_by_rule(facts, snapshot, votes) or _decision_from(strictest)


def _uses_elevation(facts: CallFacts, snapshot: PolicySnapshot) -> bool:
    """Whether a call runs by the active elevation. Every mutating call does, also that of a tool which the mode allows
    without an elevation: the elevation frees the call from its confinement."""
    return facts.effect == "mutating" and snapshot.mode.elevates and snapshot.elevated


def _elevated(snapshot: PolicySnapshot, votes: list[_Vote]) -> Decision:
    """The decision as if the mode itself allowed the call; all other votes count."""
    allowed = _Vote(verdict=Verdict.ALLOW, reason=Reason(Code.ELEVATION_RUNS, {"mode": snapshot.mode.name}))
    strictest = _strictest_vote([allowed, *(vote for vote in votes if not vote.is_own_mode)])
    decision = _decision_from(strictest)
    return msgspec.structs.replace(decision, elevated=decision.verdict is Verdict.ALLOW)


def _allowed_by_rule(facts: CallFacts, snapshot: PolicySnapshot, votes: list[_Vote]) -> Decision | None:
    allowing = sorted(
        (rule for rule in _rules_of_family(snapshot) if rule.effect == "allow" and rule_match(rule, facts) == "yes"),
        key=lambda rule: rule.scope.width,
    )
    asking = [vote for vote in votes if vote.verdict is Verdict.ASK]
    if not allowing or not all(_overrides(allowing[0], vote) for vote in asking):
        return None
    reason = rule_reason(Code.RULE_ALLOWS, allowing[0])
    return Decision(verdict=Verdict.ALLOW, reason=reason, rule=allowing[0].id)


def _overrides(allow: Rule, vote: _Vote) -> bool:
    # In a mode that elevates only a person allows calls. Only a narrower allow rule overrides an ask rule.
    if vote.is_about_started_programs:  # the author of a rule for this very command has considered them
        return bool(allow.scope.words) or allow.scope.fingerprint is not None
    return not vote.needs_person and (vote.ask_rule is None or is_narrower(allow.scope, vote.ask_rule.scope))


def _decision_from(vote: _Vote) -> Decision:
    rule = vote.reason.params.get("rule")
    return Decision(verdict=vote.verdict, reason=vote.reason, ends_turn=vote.ends_turn, rule=rule)


def _strictest_vote(votes: list[_Vote]) -> _Vote:
    # max() returns the first of equals: where several votes deny, the reason shown is that of the mode.
    return max(votes, key=lambda vote: vote.verdict)


def _votes(facts: CallFacts, snapshot: PolicySnapshot) -> list[_Vote]:
    votes = [_vote_of_mode(facts, snapshot.mode)]
    votes += [_vote_of_ancestor(facts, ancestor.mode) for ancestor in snapshot.ancestors]
    if facts.violation is not None:
        votes.append(_Vote(verdict=Verdict.DENY, reason=facts.violation))
    if facts.ask is not None:
        votes.append(_Vote(verdict=Verdict.ASK, reason=facts.ask, needs_person=True))
    depth = 0
    for member in (snapshot, *snapshot.ancestors):
        if facts.tool in member.denied:
            votes.append(_Vote(verdict=Verdict.DENY, reason=member.denied[facts.tool]))
        depth += member.depth  # the rounds of a sub-agent count for its ancestors too
        if facts.effect != "question":
            votes += _votes_of_policies_and_rules(facts, member, depth)
    return votes


def _votes_of_policies_and_rules(facts: CallFacts, snapshot: PolicySnapshot, depth: int) -> list[_Vote]:
    votes = [
        _vote_of_folder_mode(facts, folder_mode)
        for folder_mode in snapshot.folder_modes
        if may_touch(facts.touches, folder_mode.folder)
    ]
    for rule in snapshot.rules:
        certainty = rule_match(rule, facts) if rule.effect != "allow" else "no"
        if certainty != "no":
            votes.append(_vote_of_rule(rule, certainty))
    if _requires_approval_by_settings(facts, snapshot):
        votes.append(_Vote(verdict=Verdict.ASK, reason=Reason(Code.SETTINGS_WAIT, {"tool": facts.tool})))
    unknown = facts.effect == "mutating" and facts.touches is None
    votes += [
        _Vote(verdict=Verdict.ASK, reason=Reason(Code.POLICY_WAITS, {"policy": policy.kind}))
        for policy in snapshot.policies
        if requires_approval(policy, tool=facts.tool, dangers=facts.dangerous, unknown=unknown, depth=depth)
    ]
    return votes


def _requires_approval_by_settings(facts: CallFacts, snapshot: PolicySnapshot) -> bool:
    if facts.tool in snapshot.always_ask:
        return True
    line = facts.command_line
    if line is None:
        return False
    return not all(any(starts_with_words(line, words) for words in entries) for entries in snapshot.command_lists)


def _verdict_of(facts: CallFacts, mode: Mode) -> Verdict:
    # A question always goes to the person, and the limit of an unknown tool denies its calls: for both, the mode
    # matters only where it denies reading.
    if facts.tool in mode.withholds:
        return Verdict.DENY
    if facts.effect != "mutating" or facts.tool in mode.allowed_tools:
        return mode.read_only
    if mode.only_beneath and not stays_within(facts.touches, mode.only_beneath):
        return Verdict.DENY
    return mode.mutating


def _vote_of_mode(facts: CallFacts, mode: Mode) -> _Vote:
    verdict = _verdict_of(facts, mode)
    if verdict is Verdict.DENY:
        params = {"mode": mode.name, "tool": facts.tool, "hint": mode.denial_hint}
        return _Vote(
            verdict=verdict, reason=Reason(Code.MODE_DENIED, params), ends_turn=mode.denial_ends_turn, is_own_mode=True
        )
    if facts.effect == "question":
        return _Vote(verdict=Verdict.ASK, reason=Reason(Code.QUESTION), is_own_mode=True)
    code = Code.MODE_RUNS
    if verdict is Verdict.ASK:
        code = Code.ELEVATION_OFFERED if mode.elevates else Code.MODE_WAITS
    return _Vote(
        verdict=verdict, reason=Reason(code, {"mode": mode.name}), is_own_mode=True, needs_person=mode.elevates
    )


def _vote_of_ancestor(facts: CallFacts, mode: Mode) -> _Vote:
    """A sub-agent is never less restricted than its ancestors."""
    verdict = _verdict_of(facts, mode)
    code = Code.ANCESTOR_DENIED if verdict is Verdict.DENY else Code.ANCESTOR_WAITS
    ends_turn = verdict is Verdict.DENY and mode.denial_ends_turn
    reason = Reason(code, {"mode": mode.name, "tool": facts.tool})
    return _Vote(verdict=verdict, reason=reason, ends_turn=ends_turn, needs_person=mode.elevates)


def _vote_of_folder_mode(facts: CallFacts, folder_mode: FolderMode) -> _Vote:
    """A denial in a folder never ends the turn: the model gets the reason as a result and can go on elsewhere."""
    verdict = _verdict_of(facts, folder_mode.mode)
    params = {"folder": folder_mode.folder, "mode": folder_mode.mode.name, "tool": facts.tool}
    code = Code.DIRECTORY_DENIED if verdict is Verdict.DENY else Code.DIRECTORY_WAITS
    return _Vote(verdict=verdict, reason=Reason(code, params), needs_person=folder_mode.mode.elevates)


def _vote_of_rule(rule: Rule, certainty: Certainty) -> _Vote:
    if certainty == "maybe":  # a program may start the command that the rule names: only a person can judge that
        return _Vote(verdict=Verdict.ASK, reason=rule_reason(Code.RULE_MAY_APPLY, rule), is_about_started_programs=True)
    if rule.effect == "deny":
        return _Vote(verdict=Verdict.DENY, reason=rule_reason(Code.RULE_DENIES, rule))
    if is_substitute(rule):  # an allow rule may be among the revoked ones: only a person can allow the call
        return _Vote(verdict=Verdict.ASK, reason=Reason(Code.RULES_IN_DOUBT, {"rule": rule.id}), needs_person=True)
    return _Vote(verdict=Verdict.ASK, reason=rule_reason(Code.RULE_ASKS, rule), ask_rule=rule)


def _rules_of_family(snapshot: PolicySnapshot) -> list[Rule]:
    return [rule for member in (snapshot, *snapshot.ancestors) for rule in member.rules]


def rule_match(rule: Rule, facts: CallFacts) -> Certainty:
    """Whether a rule applies to a call."""
    return matches(rule, tool=facts.tool, fingerprint=facts.fingerprint, touches=facts.touches, line=facts.command_line)


def verdict_of_modes(tool: str, effect: Effect, snapshot: PolicySnapshot) -> Verdict:
    """The verdict of the modes alone on calls of a tool with this effect, outside folders that a mode exempts."""
    facts = CallFacts(tool=tool, effect=effect, digest="")
    return max(
        member.mode.mutating
        if effect == "mutating" and member.mode.only_beneath and tool not in member.mode.withholds
        else _verdict_of(facts, member.mode)
        for member in (snapshot, *snapshot.ancestors)
    )


def is_denied_by_mode(tool: str, effect: Effect, snapshot: PolicySnapshot) -> bool:
    """Whether every call of this tool with this effect is denied now, whatever its arguments are. The gate then denies
    the call without inspecting it."""
    family = (snapshot, *snapshot.ancestors)
    if any(tool in member.denied for member in family):
        return True
    facts = CallFacts(tool=tool, effect=effect, digest="")
    modes = [member.mode for member in family if effect != "mutating" or not member.mode.only_beneath]
    return any(_verdict_of(facts, mode) is Verdict.DENY for mode in modes)


def must_be_confined(facts: CallFacts, snapshot: PolicySnapshot, approval: Approval | None) -> bool:
    """Whether a call runs in the kernel's sandbox: because the call is allowed only for being read-only, which the
    kernel then enforces, or because the mode exempts this one tool, which then gets no more rights than necessary."""
    # The elevation of an ancestor frees no call of a sub-agent.
    is_exempted = _exempts_tool(snapshot, facts.tool) and not snapshot.elevated
    if is_exempted or any(_exempts_tool(member, facts.tool) for member in snapshot.ancestors):
        return approval is None
    if facts.effect != "read_only":
        return False
    as_mutating = decide(msgspec.structs.replace(facts, effect="mutating"), snapshot, approval)
    return as_mutating.verdict is not Verdict.ALLOW or as_mutating.elevated


def _exempts_tool(snapshot: PolicySnapshot, tool: str) -> bool:
    """Whether the mode allows this tool although it does not allow mutating calls."""
    mode = snapshot.mode
    return tool in mode.allowed_tools and mode.mutating is not Verdict.ALLOW


def is_offered(tool: str, effect: Effect, snapshot: PolicySnapshot) -> bool:
    """Whether a request offers a tool to the model. The gate decides independently of this."""
    return all(_offers(member, tool, effect) for member in (snapshot, *snapshot.ancestors))


def _offers(snapshot: PolicySnapshot, tool: str, effect: Effect) -> bool:
    mode = snapshot.mode
    if tool in snapshot.denied or tool in mode.withholds or mode.offers == "none":
        return False
    return mode.offers == "all" or tool in mode.also_offered_tools or effect in ("read_only", "question", "delegating")
