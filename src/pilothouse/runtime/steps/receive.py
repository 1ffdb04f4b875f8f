"""receive: the person's message is stored already. Their own processors see it now, files and images are read."""

import asyncio
from collections.abc import Sequence
from typing import Literal

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import PilothouseError
from pilothouse.domain.messages import FileReference, Image, Message, is_unresolved
from pilothouse.domain.states import EnhancingSystemPrompt, ResolvingFileReferences, State
from pilothouse.runtime.images import resolve_image
from pilothouse.runtime.turn import Turn
from pilothouse.tools.builtin.files import read_lines


async def receive(turn: Turn) -> State:
    before = turn.received
    try:
        turn.received = await _processed(turn)
    except PilothouseError as error:
        return await _refuse(turn, before, error.reason)
    if any(map(is_unresolved, turn.received)):
        turn.enter(ResolvingFileReferences())
        turn.received = tuple([await _resolved(turn, message) for message in turn.received])
    await _put_again(turn, before)
    return EnhancingSystemPrompt()


async def _processed(turn: Turn) -> tuple[Message, ...]:
    """Through the user's own processors, one after the other. Raises: PilothouseError where one refuses or fails."""
    messages: Sequence[Message] = [message for message in turn.received if message.metadata.held == "processing"]
    if not messages:
        return turn.received
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
    passed = {message.id: _held(message, None) for message in messages}
    return tuple(passed.get(message.id, message) for message in turn.received)


async def _refuse(turn: Turn, messages: Sequence[Message], reason: Reason) -> State:
    """It stays in the conversation, the model never sees it, and the turn ends: all in one commit."""
    async with turn.live.lock:
        turn.closing = turn.live.draft()
        turn.closing.messages += [_held(message, "refused") for message in messages]
    turn.received = ()
    return turn.give_up(reason, "error")


def _held(message: Message, how: Literal["refused"] | None) -> Message:
    return msgspec.structs.replace(message, metadata=msgspec.structs.replace(message.metadata, held=how))


async def _put_again(turn: Turn, before: Sequence[Message]) -> None:
    changed = [after for after, known in zip(turn.received, before, strict=True) if after != known]
    if changed:
        async with turn.live.lock:
            draft = turn.live.draft()
            draft.messages += changed
            await turn.commit(draft)
    turn.received = ()


async def _resolved(turn: Turn, message: Message) -> Message:
    match message:
        case FileReference(resolved_at=None):
            return await _resolve(turn, message)
        case Image(resolved_at=None):
            return await resolve_image(turn.live, message)
        case _:
            return message


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
