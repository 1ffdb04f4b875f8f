"""Policy snapshots: everything that decides a context's calls at one instant, collected from its sources."""

from collections.abc import Mapping, Sequence

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.decisions import PolicySnapshot
from pilothouse.domain.elevations import Elevation, ElevationEnd
from pilothouse.domain.personas import tool_refusal
from pilothouse.domain.policies import Policy
from pilothouse.domain.rules import Rule, applicable_rules, covers_whole_tool, rule_reason, substitute_rule
from pilothouse.domain.workspace_policy import WorkspacePolicy
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.context.live_context import LiveContext

DELEGATE_TOOL = "delegate"


def snapshot_for_commit(live: LiveContext, draft: Draft) -> PolicySnapshot:
    """The policy as of the commit of a draft. An expired elevation is ended in the draft."""
    settle_elevation(live, draft)
    return current_snapshot(live, draft)


def current_snapshot(live: LiveContext, draft: Draft | None = None) -> PolicySnapshot:
    own_snapshot = _own_snapshot(live, draft or Draft(live))
    ancestors = [_own_snapshot(ancestor, Draft(ancestor)) for ancestor in live.ancestors]
    if live.is_orphan:  # the missing parent's permissions are unknown, so mode `ask` denies every call
        ancestors.append(PolicySnapshot(mode=live.dependencies.modes.all["ask"]))
    return msgspec.structs.replace(own_snapshot, ancestors=tuple(ancestors))


def _own_snapshot(live: LiveContext, draft: Draft) -> PolicySnapshot:
    workspace_policy = live.dependencies.workspace_policy(live.core.workspace)
    rules = tuple(_rules(live, draft, workspace_policy))
    policy: Policy | None = draft.value("policy")
    turn = draft.value("turn")
    return PolicySnapshot(
        mode=live.dependencies.modes.stored(draft.value("mode")),
        folder_modes=workspace_policy.folder_modes,
        rules=rules,
        policies=(policy or workspace_policy.preference, *workspace_policy.policies),
        depth=turn.round - 1 - turn.decided_round if turn is not None else 0,
        elevated=draft.value("elevation") is not None,
        denied=_denied_tools(live, draft, workspace_policy, rules),
        always_ask=_expand_categories(live, workspace_policy.always_ask),
        command_lists=workspace_policy.command_lists,
    )


def _rules(live: LiveContext, draft: Draft, workspace_policy: WorkspacePolicy) -> list[Rule]:
    """The rules in force: from configuration files, of the user, of the context; and a substitute for a damaged
    audit."""
    substitutes = [substitute_rule(reason, live.id) for reason in live.damage if reason.code is Code.AUDIT_CUT]
    candidates = (
        *workspace_policy.rules,
        *live.services.user_rules.rules(live.core.owner),
        *draft.value("rules"),
        *substitutes,
    )
    return applicable_rules(candidates, contexts=[live.id], workspace=live.core.workspace, now=live.dependencies.now())


def _expand_categories(live: LiveContext, names: frozenset[str]) -> frozenset[str]:
    """Names of tools and categories, with the names of the categories' tools added."""
    tools = live.dependencies.registry.tools_in(live.core.workspace).values()
    return names | {tool.name for tool in tools if tool.category in names} if names else names


def _denied_tools(
    live: LiveContext, draft: Draft, workspace_policy: WorkspacePolicy, rules: Sequence[Rule]
) -> Mapping[str, Reason]:
    persona: str | None = draft.value("persona")
    personas = live.dependencies.personas(live.core.workspace) if persona is not None else {}
    denied = {name: Reason(Code.TOOL_DISABLED, {"tool": name}) for name in workspace_policy.disabled}
    for tool in live.dependencies.registry.tools_in(live.core.workspace).values():
        reason = tool_refusal(workspace_policy.disabled, persona, personas, tool=tool.name, category=tool.category)
        if reason is not None:
            denied[tool.name] = reason
    # A rule that denies a whole tool switches the tool off, so that it is not offered to the model.
    for rule in rules:
        if rule.effect == "deny" and covers_whole_tool(rule.scope):
            denied.setdefault(rule.scope.tool, rule_reason(Code.RULE_DENIES, rule))
    depth = len(live.ancestors)
    if depth >= live.dependencies.limits.delegation_depth:
        denied[DELEGATE_TOOL] = Reason(Code.DELEGATION_TOO_DEEP, {"depth": depth})
    return denied


def settle_elevation(live: LiveContext, draft: Draft) -> None:
    """End an expired elevation in a draft."""
    elevation: Elevation | None = draft.value("elevation")
    if elevation is None:
        return
    turn = draft.value("turn")
    end = elevation.end_reason(
        runtime=live.dependencies.runtime_id,
        turn=turn.id if turn is not None else None,
        clock=live.dependencies.ambient.monotonic(),
    )
    if end is not None:
        end_elevation(draft, end, "runtime")


def end_elevation(draft: Draft, end: ElevationEnd, by: str) -> None:
    if draft.value("elevation") is not None:
        draft.core["elevation"] = None
        draft.note("elevation_ended", by, how=end)


def use_elevation(live: LiveContext, draft: Draft) -> None:
    """Count one more call that starts by the elevation."""
    elevation: Elevation | None = draft.value("elevation")
    assert elevation is not None
    draft.core["elevation"] = elevation.after_call()
    settle_elevation(live, draft)
