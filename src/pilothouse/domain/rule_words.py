"""A rule in words, in English and Chinese."""

from pilothouse.domain.codes import Language
from pilothouse.domain.rules import Rule, is_stand_in, rule_params

_EFFECTS = {"allow": ("allow", "允许"), "ask": ("ask before", "先询问"), "deny": ("deny", "拒绝")}


def say_rule(rule: Rule, language: Language = "en", *, origin: bool = True, arguments: str | None = None) -> str:
    """Effect, scope, lifetime and, unless it is only offered, origin on one line. `arguments` are those of the call
    for which an exact rule is offered: the rule itself stores only their beginning."""
    chinese = language == "zh"
    if is_stand_in(rule):
        return (
            "所有工具都先询问 · 记录被截断、改写或无法读取 · 检查规则后撤销此条"
            if chinese
            else "ask about every tool · a record was cut, rewritten or unreadable · revoke this once you have looked"
        )
    params = rule_params(rule)
    if arguments is not None and rule.scope.fingerprint is not None:
        params["where"] = arguments
    parts = [f"{_EFFECTS[rule.effect][chinese]} {params['tool']} [{params['where']}]"]
    if rule.lifetime.context is not None:
        parts.append("仅此对话" if chinese else "in this conversation")
    elif rule.lifetime.until is None:
        parts.append("长期" if chinese else "for good")
    if rule.lifetime.until is not None:
        parts.append(f"直到 {rule.lifetime.until}" if chinese else f"until {rule.lifetime.until}")
    if rule.scope.workspace is not None:
        parts.append(f"在 {rule.scope.workspace}" if chinese else f"in {rule.scope.workspace}")
    if origin:
        parts.append(f"来自 {params['given']}" if chinese else f"given by {params['given']}")
    return " · ".join(parts)
