"""receive: the person's message is stored already; files that it names are read now."""

import asyncio

import msgspec

from pilothouse.domain.codes import Reason
from pilothouse.domain.errors import PilothouseError
from pilothouse.domain.messages import FileReference
from pilothouse.domain.states import EnhancingSystemPrompt, ResolvingFileReferences, State
from pilothouse.runtime.turn import Turn
from pilothouse.tools.builtin.files import read_lines


async def receive(turn: Turn) -> State:
    if turn.references:
        turn.enter(ResolvingFileReferences())
        resolved = [await _resolve(turn, reference) for reference in turn.references]
        async with turn.live.lock:
            draft = turn.live.draft()
            draft.messages += resolved
            await turn.commit(draft)
        turn.references = ()
    return EnhancingSystemPrompt()


async def _resolve(turn: Turn, reference: FileReference) -> FileReference:
    """With its content, or with the error: both are for the model to see, and neither stops the turn."""
    content: str | None = None
    error: Reason | None = None
    try:
        workspace = turn.live.workspace()
        lines = reference.range
        start, end = (lines.start_line, lines.end_line) if lines is not None else (None, None)
        error = workspace.limit(reference.path)
        if error is None:
            content = await asyncio.to_thread(read_lines, workspace, reference.path, start, end)
    except PilothouseError as failure:
        error = failure.reason
    at = turn.parts.now()
    return msgspec.structs.replace(reference, content=content, error=error, resolved_at=at)
