"""The card of a call in the terminal, which shows the complete effect of the call."""

from collections.abc import Iterator
from typing import Any

import msgspec

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Language
from pilothouse.domain.deception.deceptive_text import lookalike_characters
from pilothouse.domain.deception.hidden_characters import exact_line, with_codes
from pilothouse.domain.deception.value_marks import LOOKALIKE_LETTERS
from pilothouse.domain.rules import Rule
from pilothouse.i18n import translate, translate_dangers, translate_rule, ui_text, without_padding
from pilothouse.terminal.foreign_text import quoted

_DIFF_TOOLS = frozenset({"write_file", "edit_file", "notebook_edit"})
"""Tools whose preview is a diff with the complete effect, whatever the arguments."""
_LABELLED_ARGUMENTS = {"cwd": "card_folder", "timeout": "card_timeout", "mode": "card_mode"}
"""Arguments of `execute` and `delegate` beside the main one, with the keys of their labels."""


def call_card(call: CallRecord, language: Language, rule: Rule | None = None) -> str:
    """Format the card of a call: its complete effect as quoted text, then the reason why the call waits, or the rule
    that allows it.

    Every label is a row of its own without the mark of foreign text, so that no argument can imitate a label.
    """
    rows = [f"\n▸ {exact_line(call.display_name)}", *_effect(call, language)]
    for target in (call.touches or ())[1:]:  # the first is the path as written, the others its targets
        rows += [ui_text("terminal", "card_link", language), quoted_line(target, call, language)]
    if call.reason is not None and rule is None:
        rows += [ui_text("terminal", "card_reason", language)]
        rows += [quoted_line(translate(call.reason, language), call, language)]
    if call.dangerous:
        dangers = exact_line(translate_dangers(call.dangerous, language))
        rows.append(ui_text("terminal", "dangerous", language, what=dangers))
    if call.origin is not None:
        rows.append(ui_text("terminal", "proposed_by", language, origin=exact_line(call.origin)))
    if call.may_change:
        rows.append(ui_text("terminal", "may_change", language))
    if rule is not None:
        rows.append(ui_text("terminal", "allowed_by_rule", language))
        rows.append(quoted_line(translate_rule(rule, language, origin=False), call, language))
    return "\n".join(rows)


def quoted_exactly(text: str, call: CallRecord) -> str:
    """Quote a text exactly, with its code after each look-alike letter of a call that is marked for look-alikes."""
    characters = lookalike_characters(call.arguments) if LOOKALIKE_LETTERS in call.dangerous else ""
    return quoted(with_codes(text, characters), is_exact=True)


def quoted_line(text: str, call: CallRecord, language: Language) -> str:
    """Like `quoted_exactly`, for a value of one line: its line ends are written out."""
    return quoted_exactly(exact_line(without_padding(text, language)), call)


def _effect(call: CallRecord, language: Language) -> Iterator[str]:
    """The rows for the preview, and for the arguments that the preview does not show."""
    arguments = call.arguments if isinstance(call.arguments, dict) else {}
    if call.tool == "execute" and isinstance(arguments.get("command"), str):
        yield quoted_exactly(f"$ {without_padding(arguments['command'], language)}", call)
        yield from _arguments(call, {"command"}, language)
    elif not call.preview:
        yield quoted_exactly(_json(call.arguments), call)
    else:
        yield quoted_exactly(call.preview, call)
        shown = set([name for name, value in arguments.items() if value == call.preview][:1])
        if call.tool not in _DIFF_TOOLS and not _repeats(call.preview, arguments):
            yield from _arguments(call, shown, language)


def _arguments(call: CallRecord, shown: set[str], language: Language) -> Iterator[str]:
    """The rows for the arguments that are not shown yet."""
    others = {name: value for name, value in call.arguments.items() if name not in shown and value is not None}
    if call.tool in ("execute", "delegate") and others.keys() <= _LABELLED_ARGUMENTS.keys():
        for name, value in others.items():
            yield ui_text("terminal", _LABELLED_ARGUMENTS[name], language)
            yield quoted_line(value if isinstance(value, str) else _json(value), call, language)
    elif others:
        yield ui_text("terminal", "card_arguments", language)
        yield quoted_exactly(_json(others), call)


def _repeats(preview: str, arguments: dict[str, Any]) -> bool:
    """Whether the preview of a tool of an MCP server ends with all arguments as JSON."""
    return preview.endswith(msgspec.json.format(msgspec.json.encode(arguments), indent=2).decode())


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
