"""The system prompt of one request: persona, use of tools, mode, workspace, branch and overview.

Requests with the same prompt share a prefix, which providers bill at a fraction: nothing in the prompt changes by
itself from request to request.
"""

from collections.abc import Sequence
from typing import Literal

from pilothouse.domain.modes import Mode, Verdict
from pilothouse.domain.personas import Persona
from pilothouse.domain.tool_offers import ToolDescription
from pilothouse.domain.value import Value

PartName = Literal["persona", "tools", "mode", "workspace", "branch", "overview"]

DEFAULT_IDENTITY = (
    "You are an agent in Pilothouse, working for one person on their own machine. "
    "Be brief and exact. Use tools to find out instead of guessing, and say what you did."
)
_TOOLS = "Your tools are the ones that the request defines."
_NO_TOOLS = "You have no tools now."
_REJECTION_RULE = (
    "A result that says a call was rejected or denied is the person's decision: do not try the same call again."
)


class OfferedTool(Value):
    """A tool of a request, and what the modes decide about its calls."""

    description: ToolDescription
    verdict: Verdict
    """The verdict on a call with the strongest effect that the tool may have."""
    reads_freely: bool = False
    """Whether calls that only read are allowed, although `verdict` is stricter."""


class PromptPart(Value):
    name: PartName
    text: str


def prompt_parts(
    mode: Mode,
    tools: Sequence[OfferedTool],
    *,
    persona: str,
    ancestor_modes: Sequence[Mode] = (),
    left_out: int = 0,
    workspace: str | None,
    addition: str | None,
    overview: str | None = None,
    max_description_characters: int | None = None,
) -> tuple[PromptPart, ...]:
    """The parts of the prompt in order.

    `ancestor_modes` are the modes of the ancestors of a sub-agent, which bind the sub-agent too. `left_out` is the
    number of tools that exceed the maximum of a request. The definitions of the tools cut descriptions longer than
    `max_description_characters`.
    """
    parts = [
        PromptPart("persona", persona),
        PromptPart("tools", _tools_text(tools, left_out, max_description_characters)),
        PromptPart("mode", _mode_text(mode, ancestor_modes)),
    ]
    if workspace is not None and tools:
        place = f"The workspace is {workspace}. Paths are relative to it; nothing outside can be reached."
        parts.append(PromptPart("workspace", place))
    if addition:
        parts.append(PromptPart("branch", addition))
    if overview:
        parts.append(PromptPart("overview", overview))
    return tuple(parts)


def join_parts(parts: Sequence[PromptPart]) -> str:
    return "\n\n".join(part.text for part in parts)


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


def _tools_text(tools: Sequence[OfferedTool], left_out: int, max_description_characters: int | None) -> str:
    if not tools:
        return _NO_TOOLS
    sentences = [_TOOLS, *_permissions(tools)]
    if left_out:
        sentences.append(f"There are {left_out} more than can be offered; the person can switch some off.")
    sentences.append(_REJECTION_RULE)
    return "\n\n".join([" ".join(sentences), *_cut_descriptions(tools, max_description_characters)])


def _permissions(tools: Sequence[OfferedTool]) -> list[str]:
    """Sentences about the calls that the modes allow, where the modes treat the tools differently."""
    free = [tool.description.name for tool in tools if tool.verdict is Verdict.ALLOW]
    if len(free) == len(tools) or all(tool.verdict is Verdict.ASK and not tool.reads_freely for tool in tools):
        return []
    sentences = [f"Calls of these run without approval: {', '.join(free)}."] if free else []
    reading = [tool.description.name for tool in tools if tool.reads_freely]
    if reading:
        sentences.append(f"So do calls that only read of these: {', '.join(reading)}.")
    denied = [tool.description.name for tool in tools if tool.verdict is Verdict.DENY]
    if len(denied) == len(tools) - len(free):
        return [*sentences, "Every other call is denied."]
    sentences += [f"Other calls of these are denied: {', '.join(denied)}."] if denied else []
    return [*sentences, "Every other call waits for the person's approval."]


def _cut_descriptions(tools: Sequence[OfferedTool], max_characters: int | None) -> list[str]:
    """The full descriptions of the tools whose definitions are cut."""
    descriptions = [tool.description for tool in tools]
    return [
        f"The full description of {tool.name}:\n{tool.description}"
        for tool in descriptions
        if max_characters is not None and len(tool.description) > max_characters
    ]


def _mode_text(mode: Mode, ancestor_modes: Sequence[Mode]) -> str:
    bound = "You are a sub-agent; mode {name!r} of who sent you binds you too. {prompt}"
    own = f"The mode that now holds is {mode.name!r}. {mode.prompt}".rstrip()
    return "\n\n".join(
        [
            own,
            *(
                bound.format(name=ancestor_mode.name, prompt=ancestor_mode.prompt).rstrip()
                for ancestor_mode in ancestor_modes
            ),
        ]
    )
