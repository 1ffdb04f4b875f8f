"""Approval policies: a preference that makes a mode stricter, never looser."""

from collections.abc import Collection
from typing import Literal

from pilothouse.domain.values import Value

PolicyKind = Literal["auto_approve", "manual", "white_list", "limited_auto"]
Danger = Literal["delete", "overwrite", "network", "privilege"]


class Policy(Value, kw_only=True):
    """`tools` are those that a white list lets run, `depth` is how many rounds run by themselves, `always_ask` names
    effects that wait in any case."""

    kind: PolicyKind = "auto_approve"
    tools: frozenset[str] = frozenset()
    depth: int = 5
    always_ask: frozenset[Danger] = frozenset()


def is_left_to_the_person(policy: Policy, *, tool: str, dangers: Collection[str], unknown: bool, depth: int) -> bool:
    """Whether a policy lets a call wait. What nobody can tell the effects of counts as having them all."""
    if policy.always_ask and (unknown or not policy.always_ask.isdisjoint(dangers)):
        return True
    match policy.kind:
        case "auto_approve":
            return False
        case "manual":
            return True
        case "white_list":
            return tool not in policy.tools
        case "limited_auto":
            return depth >= policy.depth
