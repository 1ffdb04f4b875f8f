"""delegate: a task for a sub-agent in a conversation of its own. A sub-agent never has more rights than its parent."""

from typing import Annotated

from msgspec import Meta

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import Arguments, CallPreview, Category, ToolContext


class DelegateArguments(Arguments):
    task: Annotated[str, Meta(min_length=1, max_length=100_000)]
    mode: str | None = None


class Delegate:
    """The call itself touches nothing: each call of the sub-agent passes the sub-agent's own gate and those of its
    ancestors."""

    name = "delegate"
    description = (
        "Let a sub-agent do a task in this workspace and get its final answer. It knows nothing of this conversation: "
        "say all that it needs. mode may make it stricter than you are (plan: it only reads), never freer."
    )
    category: Category = "interaction"
    effect: Effect = "delegating"
    parameters = DelegateArguments

    async def prepare(self, arguments: DelegateArguments, workspace: Workspace) -> CallPreview:  # noqa: ARG002
        return CallPreview(effect="delegating", touches=(), preview=arguments.task, shown_arguments=("task",))

    async def run(self, arguments: DelegateArguments, context: ToolContext) -> str:
        if context.delegate is None:
            raise ToolError(Code.TOOL_FAILED, tool=self.name, detail="sub-agents aren't available here")
        return await context.delegate(arguments.task, arguments.mode)
