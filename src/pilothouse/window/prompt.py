"""The system prompt of one round: who the model is, what its tools can do, which mode holds, where it works."""

from collections.abc import Sequence
from typing import Literal

from pilothouse.domain.modes import Mode
from pilothouse.domain.offers import ToolOffer
from pilothouse.domain.values import Value

PartName = Literal["persona", "tools", "mode", "workspace", "branch", "overview", "open_files"]

_TOOLS = "You can use these tools:"
_NO_TOOLS = "You have no tools in this mode."
_MANNERS = "A result that says a call was rejected or denied is the person's decision: do not try the same call again."


class PromptPart(Value):
    name: PartName
    text: str


def prompt_parts(
    mode: Mode,
    tools: Sequence[ToolOffer],
    *,
    persona: str,
    above: Sequence[Mode] = (),
    left_out: int = 0,
    workspace: str | None,
    addition: str | None,
    overview: str | None = None,
    open_files: Sequence[str] = (),
) -> tuple[PromptPart, ...]:
    """In their order. `above` are the modes of the conversations that sent a sub-agent: they bind it too. `left_out`
    tools are more than can be offered."""
    parts = [
        PromptPart("persona", persona),
        PromptPart("tools", _tools(tools, left_out)),
        PromptPart("mode", _mode(mode, above)),
    ]
    if workspace is not None and tools:
        place = f"The workspace is {workspace}. Paths are relative to it; nothing outside can be reached."
        parts.append(PromptPart("workspace", place))
    if addition:
        parts.append(PromptPart("branch", addition))
    if overview:
        parts.append(PromptPart("overview", overview))
    if open_files:
        parts.append(
            PromptPart("open_files", "\n".join(["Open in the person's editor:", *(f"- {file}" for file in open_files)]))
        )
    return tuple(parts)


def joined(parts: Sequence[PromptPart]) -> str:
    return "\n\n".join(part.text for part in parts)


def _tools(tools: Sequence[ToolOffer], left_out: int) -> str:
    if not tools:
        return _NO_TOOLS
    lines = [_TOOLS, *(f"- {tool.name}: {tool.description}" for tool in tools)]
    if left_out:
        lines.append(f"There are {left_out} more than can be offered; the person can switch some off.")
    return "\n".join(lines) + f"\n\n{_MANNERS}"


def _mode(mode: Mode, above: Sequence[Mode]) -> str:
    bound = "You are a sub-agent; mode {name!r} of who sent you binds you too. {prompt}"
    own = f"The mode that now holds is {mode.name!r}. {mode.prompt}".rstrip()
    return "\n\n".join([own, *(bound.format(name=each.name, prompt=each.prompt).rstrip() for each in above)])
