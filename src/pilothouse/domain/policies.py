"""Approval policies: a preference that makes a mode stricter, never looser."""

from collections.abc import Collection
from typing import Literal

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.values import Value

PolicyKind = Literal["auto_approve", "manual", "white_list", "limited_auto"]
TOOLS_AT_MOST = 500
NAME_AT_MOST = 100
Danger = Literal["delete", "overwrite", "network", "privilege"]


class Policy(Value, kw_only=True):
    """`tools` are those that a white list lets run, `depth` is how many rounds run by themselves, `always_ask` names
    effects that wait in any case."""

    kind: PolicyKind = "auto_approve"
    tools: frozenset[str] = frozenset()
    depth: int = 5
    always_ask: frozenset[Danger] = frozenset()


def check_policy(policy: Policy) -> None:
    """Raises: InvalidInput."""
    if policy.depth < 1:
        raise InvalidInput(Code.POLICY_DEPTH)
    if len(policy.tools) > TOOLS_AT_MOST or any(len(name) > NAME_AT_MOST for name in policy.tools):
        raise InvalidInput(Code.POLICY_TOOLS, limit=TOOLS_AT_MOST, length=NAME_AT_MOST)


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
