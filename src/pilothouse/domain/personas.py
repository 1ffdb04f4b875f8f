"""Personas: who the model is asked to be, which tools it may use then, and which mode a conversation begins in."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Literal

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.modes import Mode, Modes, is_looser
from pilothouse.domain.values import Value

NO_PERSONA = "none"  # what a person says to have none; no persona is called so


class ToolPolicy(Value):
    """What is denied wins. Where anything is allowed by name or category, the rest is not."""

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
    """`origin` says whose file it is: the person's, or a project's that they trust."""

    id: str
    name: str = ""
    role: str = ""
    identity: str = ""
    communication_style: str = ""
    principles: tuple[str, ...] = ()
    prompt: str = ""
    model: str | None = None
    default_mode: str | None = None
    tools: ToolPolicy = ToolPolicy()
    origin: Literal["user", "project"] = "user"

    def __post_init__(self) -> None:
        if not self.name:
            msgspec.structs.force_setattr(self, "name", self.id)


class Personas(Mapping[str, Persona]):
    """Those of one workspace, by id. `hidden` are a project's that a person's own of the same id stands before."""

    def __init__(self, own: Iterable[Persona] = (), project: Iterable[Persona] = ()) -> None:
        mine = {persona.id: persona for persona in own}
        theirs = {persona.id: persona for persona in project}
        self.hidden = tuple(persona for name, persona in theirs.items() if name in mine)
        self._all = {**mine, **{name: persona for name, persona in theirs.items() if name not in mine}}

    def __getitem__(self, name: str) -> Persona:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


def refusal(
    disabled: Collection[str], chosen: str | None, personas: Mapping[str, Persona], *, tool: str, category: str
) -> Reason | None:
    """Why a tool is off, if it is: what the settings switch off and what the chosen persona permits, merged. Either one
    is enough to refuse, neither gives back what the other takes. A persona that is gone permits nothing."""
    if tool in disabled or category in disabled:
        return Reason(Code.TOOL_DISABLED, {"tool": tool})
    if chosen is None:
        return None
    persona = personas.get(chosen)
    if persona is None or not persona.tools.permits(tool, category):
        return Reason(Code.PERSONA_DENIED, {"persona": chosen, "tool": tool})
    return None


def first_mode(persona: Persona | None, usual: Mode, modes: Modes) -> Mode:
    """The mode that a conversation begins in, where nobody names one. A person's own persona is their choice; a
    project's can only make it stricter. Raises: InvalidInput for a mode that there is not."""
    if persona is None or persona.default_mode is None:
        return usual
    proposed = modes.named(persona.default_mode)
    return usual if persona.origin == "project" and is_looser(proposed, usual) else proposed
