"""undo: reverts the agent's last change of files, except files that somebody else has changed since."""

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.i18n import translate_all
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import Arguments, CallPreview, Category, ToolContext
from pilothouse.tools.threads import in_thread
from pilothouse.tools.undo.revert import UndoResult, undo_last


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

    async def prepare(self, arguments: UndoArguments, workspace: Workspace) -> CallPreview:  # noqa: ARG002
        return CallPreview(effect="mutating")

    async def run(self, arguments: UndoArguments, context: ToolContext) -> str:  # noqa: ARG002
        if context.artifacts is None:
            raise ToolError(Code.NOTHING_TO_UNDO)
        # Without approval, undo reverts the writes of the file tools only: while a command ran, a person may have
        # written to the same files.
        log, include_commands = context.artifacts.changes, not context.confined
        result: UndoResult = await in_thread(
            lambda: undo_last(log, context.workspace, include_commands=include_commands)
        )
        for path in result.paths:
            context.workspace.forget_read(path)
        return f"Undone: {', '.join(result.paths) or 'no file'}. {translate_all(result.left)}".rstrip()
