"""Formats personas as lines for a terminal."""

from pilothouse.domain.codes import Language
from pilothouse.domain.personas import Persona, Personas, ToolPolicy
from pilothouse.i18n import catalog_of, ui_text
from pilothouse.terminal.event_lines import shorten


def persona_lines(personas: Personas, language: Language) -> list[str]:
    """Return a line for each persona. Personas that are hidden by another persona come last."""
    lines = [_line(persona, language) for persona in personas.values()]
    hidden = ui_text("terminal", "persona_hidden", language)
    return lines + [f"{_line(each, language)}  ({hidden})" for each in personas.hidden]


def _line(persona: Persona, language: Language) -> str:
    name_and_role = ", ".join(text for text in (persona.name, persona.role) if text)
    facts = [ui_text("terminal", f"persona_of_{persona.origin}", language)]
    if persona.default_mode is not None:
        title = catalog_of(language).mode_titles.get(persona.default_mode, persona.default_mode)
        facts.append(ui_text("terminal", "persona_mode", language, mode=title))
    if persona.model is not None:
        facts.append(ui_text("terminal", "persona_model", language, model=persona.model))
    facts.append(describe_tools(persona.tools, language))
    return f"{persona.id:<12} {shorten(name_and_role)}  ({ui_text('joins', 'promises', language).join(facts)})"


def describe_tools(policy: ToolPolicy, language: Language) -> str:
    allowed = ", ".join(sorted(policy.allowed | policy.allowed_categories))
    denied = ", ".join(sorted(policy.denied | policy.denied_categories))
    parts = [ui_text("terminal", "tools_only" if allowed else "tools_all", language, tools=allowed)]
    if denied:
        parts.append(ui_text("terminal", "tools_not", language, tools=denied))
    return ui_text("terminal", "comma", language).join(parts)
