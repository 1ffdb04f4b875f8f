"""`pilothouse personas`: list the personas of a folder, or show the instructions and tools of a persona."""

import argparse

from pilothouse.domain.codes import Code, Language
from pilothouse.domain.deception.hidden_characters import visible
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.personas import Personas
from pilothouse.i18n import ui_text
from pilothouse.terminal.persona_lines import describe_tools, persona_lines
from pilothouse.window.prompt import persona_text


def personas_command(
    options: argparse.Namespace, personas: Personas, language: Language, *, has_untrusted: bool
) -> int:
    """List the personas, or show one. `has_untrusted` adds a note that the folder has personas that are ignored until
    the folder is trusted. Raises: InvalidInput for an unknown persona."""
    if options.action == "show":
        persona = personas.get(options.id)
        if persona is None:
            raise InvalidInput(Code.UNKNOWN_PERSONA, persona=options.id, allowed=", ".join(personas) or "-")
        print(visible(persona_text(persona)))
        print(visible(f"\n[{describe_tools(persona.tools, language)}]"))
        return 0
    lines = persona_lines(personas, language)
    if has_untrusted:
        lines.append(ui_text("terminal", "personas_untrusted", language))
    print(visible("\n".join(lines or [ui_text("terminal", "no_personas", language)])))
    return 0
