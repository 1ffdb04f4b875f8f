"""ask_user: questions to the person. The gate rests instead of running the call; the answers become its result."""

from typing import Annotated

from msgspec import Meta

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import Arguments, CallPreview, Category, ToolContext


class Question(Arguments):
    question: Annotated[str, Meta(min_length=1)]
    options: list[str] = []
    multiple: bool = False


class AskUserArguments(Arguments):
    questions: Annotated[list[Question], Meta(min_length=1, max_length=10)]


class AskUser:
    name = "ask_user"
    description = "Ask the person one or more questions, each free or with options, and wait for the answers."
    category: Category = "interaction"
    effect: Effect = "question"
    parameters = AskUserArguments

    async def prepare(self, arguments: AskUserArguments, workspace: Workspace) -> CallPreview:  # noqa: ARG002
        return CallPreview(effect="question")

    async def run(self, arguments: AskUserArguments, context: ToolContext) -> str:  # noqa: ARG002
        raise ToolError(Code.TOOL_FAILED, tool=self.name, detail="the user answers questions; this tool isn't run")
