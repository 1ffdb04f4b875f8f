"""The specification's rule for a call, implemented independently of the code:

verdict = the strictest of: hard limits, mode, directory modes, the user's deny and ask rules, approval policy. Only a
ask can become an allow: by a person's approval, by an allow rule (not in review), or by an elevation (only in review).
"""

from pilothouse.domain.decisions import CallFacts, FolderMode, PolicySnapshot
from pilothouse.domain.policies import Policy
from pilothouse.domain.rules import Rule, is_narrower

# From the specification's table: (read-only call, mutating call).
TABLE = {"agent": (0, 0), "supervised": (1, 1), "review": (0, 1), "plan": (0, 2), "ask": (2, 2)}


def within(path: str, folder: str) -> bool:
    return folder == "." or path == folder or path.startswith(folder + "/")


def rule_fits(rule: Rule, call: CallFacts) -> bool:
    scope = rule.scope
    if scope.tool not in ("*", call.tool) or (scope.fingerprint or call.fingerprint) != call.fingerprint:
        return False
    if scope.folder is None:
        return True
    if rule.effect == "allow":
        return bool(call.touches) and all(within(path, scope.folder) for path in call.touches or ())
    return call.touches is None or any(
        within(path, scope.folder) or within(scope.folder, path) for path in call.touches
    )


def mode_vote(name: str, call: CallFacts) -> int:
    if name == "plan" and call.tool == "execute":
        return 2
    return TABLE[name][call.effect == "mutating"]


def hits(folder_mode: FolderMode, call: CallFacts) -> bool:
    if call.touches is None:
        return True
    return any(within(path, folder_mode.folder) or within(folder_mode.folder, path) for path in call.touches)


def policy_waits(policy: Policy, call: CallFacts, depth: int) -> bool:
    unknown = call.effect == "mutating" and call.touches is None
    return (
        (bool(policy.always_ask) and (unknown or bool(policy.always_ask & set(call.dangerous))))
        or policy.kind == "manual"
        or (policy.kind == "white_list" and call.tool not in policy.tools)
        or (policy.kind == "limited_auto" and depth >= policy.depth)
    )


def oracle(call: CallFacts, standing: PolicySnapshot, approved: bool) -> int:
    """0 allow, 1 ask, 2 deny; from the sentence above, with a list of votes for each source."""
    family = (standing, *standing.ancestors)
    own = mode_vote(standing.mode.name, call)
    folders = [folder_mode.mode for each in family for folder_mode in each.folder_modes if hits(folder_mode, call)]
    modes = [*(each.mode for each in standing.ancestors), *folders]
    rules = [rule for each in family for rule in each.rules if rule_fits(rule, call)]
    others = [mode_vote(mode.name, call) for mode in modes]
    others += [{"allow": 0, "ask": 1, "deny": 2}[rule.effect] for rule in rules]
    depths = [sum(each.depth for each in family[: place + 1]) for place in range(len(family))]
    pairs = [(policy, depth) for each, depth in zip(family, depths, strict=True) for policy in each.policies]
    others += [int(policy_waits(policy, call, depth)) for policy, depth in pairs]
    others += [2 for each in family if call.tool in each.denied]
    others += [2 for limit in [call.violation] if limit is not None]
    worst = max([own, *others])
    if worst != 1 or approved:
        return worst if worst != 1 else 0
    if standing.elevated and standing.mode.elevates:
        return max([0, *others])
    elevating = any(mode.elevates and mode_vote(mode.name, call) == 1 for mode in (standing.mode, *modes))
    asks = [rule for rule in rules if rule.effect == "ask"]
    allows = [rule for rule in rules if rule.effect == "allow"]
    opened = any(all(is_narrower(allow.scope, ask.scope) for ask in asks) for allow in allows)
    return 0 if opened and not elevating and not standing.mode.elevates else 1
