"""The card of a call in the terminal, which shows the complete effect of the call."""

import msgspec

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Language
from pilothouse.domain.deception.deceptive_text import LOOKALIKE_LETTERS, lookalike_characters
from pilothouse.domain.deception.hidden_characters import visible_line, with_codes
from pilothouse.domain.rules import Rule
from pilothouse.i18n import translate, translate_dangers, translate_rule, ui_text, without_padding
from pilothouse.terminal.foreign_text import quoted


def call_card(call: CallRecord, language: Language, rule: Rule | None = None) -> str:
    """Format the card of a call: its complete effect as quoted text, then the reason why the call waits, or the rule
    that allows it."""
    parts = []
    if call.preview and call.tool != "execute":
        parts.append(call.preview)
    elif call.tool == "execute":
        parts.append(f"$ {without_padding(call.arguments['command'], language)}")
        parts += [f"{name}: {call.arguments[name]}" for name in ("cwd", "timeout") if name in call.arguments]
    else:
        parts.append(msgspec.json.encode(call.arguments).decode())
    if call.touches is not None and len(call.touches) > 1:  # the first is the path as written, the others its targets
        parts.append("→ " + ", ".join(call.touches[1:]))
    if call.reason is not None and rule is None:
        parts.append(translate(call.reason, language))
    body = quoted_exactly("\n".join(parts), call)
    card = f"\n▸ {visible_line(call.display_name)}\n{body}"
    if call.dangerous:
        dangers = visible_line(translate_dangers(call.dangerous, language))
        card += "\n" + ui_text("terminal", "dangerous", language, what=dangers)
    if call.may_change:
        card += "\n" + ui_text("terminal", "may_change", language)
    if rule is not None:
        text = quoted_exactly(translate_rule(rule, language, origin=False), call)
        card += f"\n{ui_text('terminal', 'allowed_by_rule', language)}\n{text}"
    return card


def quoted_exactly(text: str, call: CallRecord) -> str:
    """Quote a text exactly, with its code after each look-alike letter of a call that is marked for look-alikes."""
    characters = lookalike_characters(call.arguments) if LOOKALIKE_LETTERS in call.dangerous else ""
    return quoted(with_codes(text, characters), is_exact=True)
