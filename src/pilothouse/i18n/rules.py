"""Describe a rule on one line."""

from pilothouse.domain.codes import Language
from pilothouse.domain.rules import Rule, is_substitute, rule_params
from pilothouse.i18n.translate import ui_text


def translate_rule(rule: Rule, language: Language = "en", *, origin: bool = True, arguments: str | None = None) -> str:
    """Return effect, scope, lifetime and, with `origin`, origin of a rule on one line. `arguments` are those of the
    call for which an exact rule is offered: the rule itself stores only their beginning."""
    if is_substitute(rule):
        return ui_text("rules", "stand_in", language)
    params = rule_params(rule)
    if arguments is not None and rule.scope.fingerprint is not None:
        params["where"] = arguments
    parts = [f"{ui_text('rules', rule.effect, language)} {params['tool']} [{params['where']}]"]
    if rule.lifetime.context is not None:
        parts.append(ui_text("rules", "this_context", language))
    elif rule.lifetime.until is None:
        parts.append(ui_text("rules", "permanent", language))
    if rule.lifetime.until is not None:
        parts.append(ui_text("rules", "until", language, until=rule.lifetime.until))
    if rule.scope.workspace is not None:
        parts.append(ui_text("rules", "workspace", language, workspace=rule.scope.workspace))
    if origin:
        parts.append(ui_text("rules", "origin", language, given=params["given"]))
    return " · ".join(parts)
