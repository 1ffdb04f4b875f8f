"""The system prompt of one round: who the model is, what its tools can do, which mode holds, where it works."""

from collections.abc import Sequence

from pilothouse.domain.modes import Mode
from pilothouse.domain.offers import ToolOffer

_IDENTITY = (
    "You are an agent in Pilothouse, working for one person on their own machine. "
    "Be brief and exact. Use tools to find out instead of guessing, and say what you did."
)
_TOOLS = "You can use these tools:"
_NO_TOOLS = "You have no tools in this mode."
_MANNERS = "A result that says a call was rejected or denied is the person's decision: do not try the same call again."


def system_prompt(
    mode: Mode,
    tools: Sequence[ToolOffer],
    *,
    above: Sequence[Mode] = (),
    workspace: str | None,
    addition: str | None,
) -> str:
    """`above` are the modes of the conversations that sent a sub-agent: they bind it too."""
    parts = [_IDENTITY]
    if tools:
        parts.append("\n".join([_TOOLS, *(f"- {tool.name}: {tool.description}" for tool in tools)]))
        parts.append(_MANNERS)
    else:
        parts.append(_NO_TOOLS)
    parts.append(f"The mode that now holds is {mode.name!r}. {mode.prompt}".rstrip())
    bound = "You are a sub-agent; mode {name!r} of who sent you binds you too. {prompt}"
    parts += [bound.format(name=each.name, prompt=each.prompt).rstrip() for each in above]
    if workspace is not None and tools:
        parts.append(f"The workspace is {workspace}. Paths are relative to it; nothing outside can be reached.")
    if addition:
        parts.append(addition)
    return "\n\n".join(parts)
