"""undo: takes back the agent's last change of files, unless somebody else has changed them since."""

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.artifacts import Undone, undo_last
from pilothouse.tools.base import Arguments, Category, Job, Prepared, in_thread


class UndoArguments(Arguments):
    pass


class Undo:
    name = "undo"
    description = (
        "Undo your own last change of files in this conversation: an edit, a written file, or what a command changed. "
        "Refused where somebody has changed the same files since."
    )
    category: Category = "file_system"
    effect: Effect = "mutating"
    parameters = UndoArguments

    async def prepare(self, arguments: UndoArguments, workspace: Workspace) -> Prepared:  # noqa: ARG002
        return Prepared(effect="mutating")

    async def run(self, arguments: UndoArguments, job: Job) -> str:  # noqa: ARG002
        if job.artifacts is None:
            raise ToolError(Code.NOTHING_TO_UNDO)
        # By itself it takes back only what it wrote itself: while a command ran, a person may have written, too.
        undone: Undone = await in_thread(undo_last, job.artifacts, job.workspace, not job.confined)
        for path in undone.paths:
            job.workspace.forget(path)
        left = f" Not put back: {undone.left}." if undone.left else ""
        return f"Undone: {', '.join(undone.paths)}.{left}"
