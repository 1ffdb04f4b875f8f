"""The system prompt of one request: persona, tools, mode, workspace, branch, overview and open files."""

from collections.abc import Sequence
from typing import Literal

from pilothouse.domain.modes import Mode
from pilothouse.domain.tool_offers import ToolDescription
from pilothouse.domain.value import Value

PartName = Literal["persona", "tools", "mode", "workspace", "branch", "overview", "open_files"]

_TOOLS = "You can use these tools:"
_NO_TOOLS = "You have no tools in this mode."
_REJECTION_RULE = (
    "A result that says a call was rejected or denied is the person's decision: do not try the same call again."
)


class PromptPart(Value):
    name: PartName
    text: str


def prompt_parts(
    mode: Mode,
    tools: Sequence[ToolDescription],
    *,
    persona: str,
    ancestor_modes: Sequence[Mode] = (),
    left_out: int = 0,
    workspace: str | None,
    addition: str | None,
    overview: str | None = None,
    open_files: Sequence[str] = (),
) -> tuple[PromptPart, ...]:
    """The parts of the prompt in order.

    `above` are the modes of the ancestors of a sub-agent, which bind the sub-agent too. `left_out` is the number of
    tools that exceed the maximum of a request.
    """
    parts = [
        PromptPart("persona", persona),
        PromptPart("tools", _tools_text(tools, left_out)),
        PromptPart("mode", _mode_text(mode, ancestor_modes)),
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


def join_parts(parts: Sequence[PromptPart]) -> str:
    return "\n\n".join(part.text for part in parts)


def _tools_text(tools: Sequence[ToolDescription], left_out: int) -> str:
    if not tools:
        return _NO_TOOLS
    lines = [_TOOLS, *(f"- {tool.name}: {tool.description}" for tool in tools)]
    if left_out:
        lines.append(f"There are {left_out} more than can be offered; the person can switch some off.")
    return "\n".join(lines) + f"\n\n{_REJECTION_RULE}"


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
