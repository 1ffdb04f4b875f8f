"""The persona's part of the system prompt."""

from pilothouse.domain.personas import Persona

DEFAULT_IDENTITY = (
    "You are an agent in Pilothouse, working for one person on their own machine. "
    "Be brief and exact. Use tools to find out instead of guessing, and say what you did."
)


def persona_text(persona: Persona | None) -> str:
    """Omits empty fields. A persona without an identity gets the default one."""
    if persona is None:
        return DEFAULT_IDENTITY
    role = f" Your role: {persona.role}." if persona.role else ""
    parts = [f"Your name is {persona.name}.{role}", persona.identity.strip() or DEFAULT_IDENTITY]
    if persona.communication_style.strip():
        parts.append(f"How you speak: {persona.communication_style.strip()}")
    principles = [f"- {principle.strip()}" for principle in persona.principles if principle.strip()]
    if principles:
        parts.append("\n".join(["Your principles:", *principles]))
    if persona.prompt.strip():
        parts.append(persona.prompt.strip())
    return "\n\n".join(parts)
