"""receive: the person's message is stored already. Their own processors see it now, files that it names are read."""

import asyncio
from collections.abc import Sequence

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import PilothouseError
from pilothouse.domain.messages import FileReference, Message, Text
from pilothouse.domain.states import EnhancingSystemPrompt, ResolvingFileReferences, State
from pilothouse.runtime.turn import Turn
from pilothouse.tools.builtin.files import read_lines


async def receive(turn: Turn) -> State:
    before, refusal = turn.received, None
    if turn.is_new:
        try:
            turn.received = await _processed(turn)
        except PilothouseError as error:
            refusal = error.reason
            turn.received = tuple(_refused(turn, message, refusal) for message in before)
    elif not before:
        return EnhancingSystemPrompt()
    references = [message for message in turn.received if isinstance(message, FileReference)]
    if references and refusal is None:
        turn.enter(ResolvingFileReferences())
        resolved = {reference.id: await _resolve(turn, reference) for reference in references}
        turn.received = tuple(resolved.get(message.id, message) for message in turn.received)
    await _put_again(turn, before)
    if refusal is not None:
        return turn.give_up(refusal, "error")
    return EnhancingSystemPrompt()


async def _processed(turn: Turn) -> tuple[Message, ...]:
    """Through the user's own processors, one after the other. Raises: PilothouseError where one refuses or fails."""
    messages: Sequence[Message] = turn.received
    for process in turn.parts.processors:
        known = [message.id for message in messages]
        try:
            messages = await process(messages)
        except PilothouseError:
            raise
        except Exception as error:  # it is foreign code: what it raises ends the turn, not the runtime
            raise PilothouseError(Code.PROCESSOR_FAILED, detail=f"{type(error).__name__}: {error}") from error
        if [message.id for message in messages] != known:
            raise PilothouseError(Code.PROCESSOR_FAILED, detail="it gave other messages than it got")
    return tuple(messages)


def _refused(turn: Turn, message: Message, reason: Reason) -> Message:
    """It stays in the conversation, and the model never sees it."""
    if isinstance(message, Text):
        return msgspec.structs.replace(message, ended="refused")
    assert isinstance(message, FileReference)
    return msgspec.structs.replace(message, error=reason, resolved_at=turn.parts.now())


async def _put_again(turn: Turn, before: Sequence[Message]) -> None:
    changed = [after for after, known in zip(turn.received, before, strict=True) if after != known]
    if changed:
        async with turn.live.lock:
            draft = turn.live.draft()
            draft.messages += changed
            await turn.commit(draft)
    turn.received = ()


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
