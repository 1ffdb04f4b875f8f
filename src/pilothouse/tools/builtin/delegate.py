"""delegate: a task for a sub-agent, in a conversation of its own. It is never freer than who sends it."""

from typing import Annotated

from msgspec import Meta

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import Arguments, Category, Job, Prepared


class DelegateArguments(Arguments):
    task: Annotated[str, Meta(min_length=1, max_length=100_000)]
    mode: str | None = None


class Delegate:
    """It touches nothing by itself: each call of the sub-agent is decided by its own gate, and by those above it."""

    name = "delegate"
    description = (
        "Let a sub-agent do a task in this workspace and get its final answer. It knows nothing of this conversation: "
        "say all that it needs. mode may make it stricter than you are (plan: it only reads), never freer."
    )
    category: Category = "interaction"
    effect: Effect = "delegating"
    parameters = DelegateArguments

    async def prepare(self, arguments: DelegateArguments, workspace: Workspace) -> Prepared:  # noqa: ARG002
        return Prepared(effect="delegating", touches=(), preview=arguments.task)

    async def run(self, arguments: DelegateArguments, job: Job) -> str:
        if job.delegate is None:
            raise ToolError(Code.TOOL_FAILED, tool=self.name, detail="there are no sub-agents here")
        return await job.delegate(arguments.task, arguments.mode)
