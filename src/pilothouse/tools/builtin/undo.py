"""undo: takes back the agent's last change of files, but for files that somebody else has changed since."""

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code, say_all
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import Arguments, Category, Job, Prepared
from pilothouse.tools.threads import in_thread
from pilothouse.tools.undo.revert import Undone, undo_last


class UndoArguments(Arguments):
    pass


class Undo:
    name = "undo"
    description = (
        "Undo your own last change of files in this conversation: an edit, a written file, or what a command changed. "
        "Files that somebody else has changed since stay as they are and are named; the next undo goes further back."
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
        log, of_commands = job.artifacts.changes, not job.confined
        undone: Undone = await in_thread(lambda: undo_last(log, job.workspace, of_commands=of_commands))
        for path in undone.paths:
            job.workspace.forget(path)
        return f"Undone: {', '.join(undone.paths) or 'no file'}. {say_all(undone.left)}".rstrip()
