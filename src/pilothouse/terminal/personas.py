"""`pilothouse personas`: those that can be chosen in a folder, and what each says to the model."""

import argparse

from pilothouse.domain.codes import Code, Language
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.hidden_characters import visible
from pilothouse.domain.personas import Persona, Personas, ToolPolicy
from pilothouse.terminal.showing import short
from pilothouse.terminal.words import tell
from pilothouse.window.persona import persona_text


def personas_command(
    options: argparse.Namespace, personas: Personas, language: Language, *, has_untrusted: bool
) -> int:
    """`has_untrusted` says that the folder brings some that do not count. Raises: InvalidInput for an unknown one."""
    if options.action == "show":
        persona = personas.get(options.id)
        if persona is None:
            raise InvalidInput(Code.UNKNOWN_PERSONA, persona=options.id, allowed=", ".join(personas) or "-")
        print(visible(persona_text(persona)))
        print(visible(f"\n[{_tools(persona.tools, language)}]"))
        return 0
    lines = persona_lines(personas, language)
    if has_untrusted:
        lines.append(tell("personas_untrusted", language))
    print(visible("\n".join(lines or [tell("no_personas", language)])))
    return 0


def persona_lines(personas: Personas, language: Language) -> list[str]:
    """One line for each, those that another one hides at the end."""
    shown = [_line(persona, language) for persona in personas.values()]
    return shown + [f"{_line(each, language)}  ({tell('persona_hidden', language)})" for each in personas.hidden]


def _line(persona: Persona, language: Language) -> str:
    who = ", ".join(text for text in (persona.name, persona.role) if text)
    facts = [tell(f"persona_of_{persona.origin}", language)]
    if persona.default_mode is not None:
        facts.append(tell("persona_mode", language, mode=persona.default_mode))
    if persona.model is not None:
        facts.append(tell("persona_model", language, model=persona.model))
    facts.append(_tools(persona.tools, language))
    return f"{persona.id:<12} {short(who)}  ({'; '.join(facts)})"


def _tools(policy: ToolPolicy, language: Language) -> str:
    allowed = ", ".join(sorted(policy.allowed | policy.allowed_categories))
    denied = ", ".join(sorted(policy.denied | policy.denied_categories))
    parts = [tell("tools_only", language, tools=allowed) if allowed else tell("tools_all", language)]
    if denied:
        parts.append(tell("tools_not", language, tools=denied))
    return ", ".join(parts)
