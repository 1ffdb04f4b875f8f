"""What stands at this instant: everything that decides a context's calls, gathered from where each part is kept."""

from collections.abc import Mapping, Sequence

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.decisions import Standing
from pilothouse.domain.elevations import Elevation, End
from pilothouse.domain.personas import refusal
from pilothouse.domain.policies import Policy
from pilothouse.domain.rules import Rule, in_force, is_of_whole_tool, rule_reason, stand_in
from pilothouse.domain.steering import Steering
from pilothouse.runtime.draft import Draft
from pilothouse.runtime.live import Live

DELEGATE = "delegate"


def present(live: Live, draft: Draft) -> Standing:
    """What stands if the draft is committed. An elevation that has come to its end is ended in the draft."""
    settle_elevation(live, draft)
    return standing_of(live, draft)


def standing_of(live: Live, draft: Draft | None = None) -> Standing:
    own = _standing(live, draft or Draft(live))
    above = [_standing(each, Draft(each)) for each in live.above]
    if live.is_orphan:  # nobody knows how free it may be
        above.append(Standing(mode=live.parts.modes.all["ask"]))
    return msgspec.structs.replace(own, above=tuple(above))


def _standing(live: Live, draft: Draft) -> Standing:
    steering = live.parts.steering(live.core.workspace)
    rules = tuple(rules_of(live, draft))
    policy: Policy | None = draft.value("policy")
    turn = draft.value("turn")
    return Standing(
        mode=live.parts.modes.stored(draft.value("mode")),
        directories=steering.directories,
        rules=rules,
        policies=(policy or steering.preference, *steering.policies),
        depth=turn.round - 1 - turn.decided_round if turn is not None else 0,
        elevated=draft.value("elevation") is not None,
        denied=_denied(live, draft, steering, rules),
        waiting=_named(live, steering.waiting),
        command_lists=steering.command_lists,
    )


def rules_of(live: Live, draft: Draft) -> list[Rule]:
    """Of the files, of the person, of the context: those that count now."""
    steering = live.parts.steering(live.core.workspace)
    in_doubt = [stand_in(reason, live.id) for reason in live.damage if reason.code is Code.AUDIT_CUT]
    known = (*steering.rules, *live.home.rulebook.rules(live.core.owner), *draft.value("rules"), *in_doubt)
    return in_force(known, contexts=[live.id], workspace=live.core.workspace, now=live.parts.now())


def _named(live: Live, names: frozenset[str]) -> frozenset[str]:
    """Tools by their own names and by that of their category."""
    tools = live.parts.registry.within(live.core.workspace).values()
    return names | {tool.name for tool in tools if tool.category in names} if names else names


def _denied(live: Live, draft: Draft, steering: Steering, rules: Sequence[Rule]) -> Mapping[str, Reason]:
    chosen: str | None = draft.value("persona")
    personas = live.parts.personas(live.core.workspace) if chosen is not None else {}
    denied = {name: Reason(Code.TOOL_DISABLED, {"tool": name}) for name in steering.disabled}
    for tool in live.parts.registry.within(live.core.workspace).values():
        reason = refusal(steering.disabled, chosen, personas, tool=tool.name, category=tool.category)
        if reason is not None:
            denied[tool.name] = reason
    # A rule that denies a whole tool switches it off: the model need not be told of it.
    for rule in rules:
        if rule.effect == "deny" and is_of_whole_tool(rule.scope):
            denied.setdefault(rule.scope.tool, rule_reason(Code.RULE_DENIES, rule))
    depth = len(live.above)
    if depth >= live.parts.limits.delegation_depth:
        denied[DELEGATE] = Reason(Code.DELEGATION_TOO_DEEP, {"depth": depth})
    return denied


def settle_elevation(live: Live, draft: Draft) -> None:
    """Note the end of an elevation that no longer holds."""
    elevation: Elevation | None = draft.value("elevation")
    if elevation is None:
        return
    turn = draft.value("turn")
    ended = elevation.ended(
        runtime=live.parts.runtime_id,
        turn=turn.id if turn is not None else None,
        clock=live.parts.ambient.monotonic(),
    )
    if ended is not None:
        end_elevation(draft, ended, "runtime")


def end_elevation(draft: Draft, how: End, by: str) -> None:
    if draft.value("elevation") is not None:
        draft.core["elevation"] = None
        draft.note("elevation_ended", by, how=how)


def use_elevation(live: Live, draft: Draft) -> None:
    """One more call starts by it."""
    elevation: Elevation | None = draft.value("elevation")
    assert elevation is not None
    draft.core["elevation"] = elevation.used()
    settle_elevation(live, draft)
