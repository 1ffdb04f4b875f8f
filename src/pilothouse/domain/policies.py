"""Approval policies: a preference that makes a mode stricter, never looser."""

from collections.abc import Collection
from typing import Literal

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.value import Value

PolicyKind = Literal["auto_approve", "manual", "white_list", "limited_auto"]
MAX_POLICY_TOOLS = 500
MAX_TOOL_NAME_CHARACTERS = 100
Danger = Literal["delete", "overwrite", "network", "privilege"]


class Policy(Value, kw_only=True):
    """An approval policy."""

    kind: PolicyKind = "auto_approve"
    tools: frozenset[str] = frozenset()
    """The tools that `white_list` allows without approval."""
    depth: int = 5
    """The number of rounds that `limited_auto` allows without approval."""
    always_ask: frozenset[Danger] = frozenset()
    """Effects that require approval under every kind of policy."""


def check_policy(policy: Policy) -> None:
    """Raises: InvalidInput."""
    if policy.depth < 1:
        raise InvalidInput(Code.POLICY_DEPTH)
    if len(policy.tools) > MAX_POLICY_TOOLS or any(len(name) > MAX_TOOL_NAME_CHARACTERS for name in policy.tools):
        raise InvalidInput(Code.POLICY_TOOLS, limit=MAX_POLICY_TOOLS, length=MAX_TOOL_NAME_CHARACTERS)


def requires_approval(policy: Policy, *, tool: str, dangers: Collection[str], unknown: bool, depth: int) -> bool:
    """Whether a policy requires approval of a call. A call with `unknown` effects counts as having all of them."""
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
