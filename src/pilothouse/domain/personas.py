"""Personas: a role of the model, with the tools it may use and the mode in which its conversations begin."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Literal

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.modes import Mode, Modes, is_looser
from pilothouse.domain.sampling import Sampling
from pilothouse.domain.value import Value

NO_PERSONA = "none"
"""The reserved word that deselects the persona."""


class ToolPolicy(Value):
    """The tools of a persona. Denials take precedence. Any allowed name or category forbids all others."""

    allowed: frozenset[str] = frozenset()
    denied: frozenset[str] = frozenset()
    allowed_categories: frozenset[str] = frozenset()
    denied_categories: frozenset[str] = frozenset()

    def permits(self, tool: str, category: str) -> bool:
        if tool in self.denied or category in self.denied_categories:
            return False
        is_open = not self.allowed and not self.allowed_categories
        return is_open or tool in self.allowed or category in self.allowed_categories


class Persona(Value):
    """A persona, as its file defines it."""

    id: str
    name: str = ""
    role: str = ""
    identity: str = ""
    communication_style: str = ""
    principles: tuple[str, ...] = ()
    prompt: str = ""
    model: str | None = None
    default_mode: str | None = None
    sampling: Sampling = Sampling()
    tools: ToolPolicy = ToolPolicy()
    origin: Literal["user", "project"] = "user"
    """Whose file defines the persona: the person's, or that of a trusted project."""

    def __post_init__(self) -> None:
        if not self.name:
            msgspec.structs.force_setattr(self, "name", self.id)


class Personas(Mapping[str, Persona]):
    """The personas of a workspace by id: the person's own first, then those of the project."""

    def __init__(self, own: Iterable[Persona] = (), project: Iterable[Persona] = ()) -> None:
        users = {persona.id: persona for persona in own}
        projects = {persona.id: persona for persona in project}
        self.hidden = tuple(persona for name, persona in projects.items() if name in users)
        """Personas of the project that are replaced by one of the person's own with the same id."""
        self._all = {**users, **{name: persona for name, persona in projects.items() if name not in users}}

    def __getitem__(self, name: str) -> Persona:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


def tool_refusal(
    disabled: Collection[str], chosen: str | None, personas: Mapping[str, Persona], *, tool: str, category: str
) -> Reason | None:
    """Why a tool is switched off, if it is. Both the settings and the chosen persona must permit the tool. A persona
    that no longer exists permits none."""
    if tool in disabled or category in disabled:
        return Reason(Code.TOOL_DISABLED, {"tool": tool})
    if chosen is None:
        return None
    persona = personas.get(chosen)
    if persona is None or not persona.tools.permits(tool, category):
        return Reason(Code.PERSONA_DENIED, {"persona": chosen, "tool": tool})
    return None


def initial_mode(persona: Persona | None, default: Mode, modes: Modes) -> Mode:
    """The mode in which a conversation begins without an explicit choice: that of the persona, or `default`. A persona
    of a project can only choose a stricter mode than `default`. Raises: InvalidInput for an unknown mode."""
    if persona is None or persona.default_mode is None:
        return default
    proposed = modes.named(persona.default_mode)
    return default if persona.origin == "project" and is_looser(proposed, default) else proposed
