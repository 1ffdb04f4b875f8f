"""receive: run the configured processors on the person's stored message, and read its files and images."""

import asyncio
from collections.abc import Sequence
from typing import Literal

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import PilothouseError
from pilothouse.domain.messages import FileReference, Image, Message, is_unresolved
from pilothouse.domain.states import EnhancingSystemPrompt, ResolvingFileReferences
from pilothouse.runtime.request.images import resolve_image
from pilothouse.runtime.turn.round import Next, Round
from pilothouse.runtime.turn.turn import Turn
from pilothouse.tools.builtin.read_file import read_lines


async def receive(turn: Turn, round_: Round) -> Next:
    try:
        messages = await _run_processors(turn, round_.incoming)
    except PilothouseError as error:
        return await _refuse(turn, round_, error.reason)
    if any(map(is_unresolved, messages)):
        turn.live.enter(ResolvingFileReferences())
        messages = [await _resolved_message(turn, message) for message in messages]
    if messages is not round_.incoming:
        await _commit_changes(turn, round_.incoming, messages)
    return Next(EnhancingSystemPrompt())


async def _run_processors(turn: Turn, incoming: Sequence[Message]) -> Sequence[Message]:
    """The messages after the configured processors, one after the other. Raises: PilothouseError where a processor
    refuses or fails."""
    messages: Sequence[Message] = [message for message in incoming if message.metadata.held == "processing"]
    if not messages:
        return incoming
    for process in turn.dependencies.processors:
        ids = [message.id for message in messages]
        try:
            messages = await process(messages)
        except PilothouseError:
            raise
        except Exception as error:  # processors are foreign code: their exceptions end the turn, not the runtime
            raise PilothouseError(Code.PROCESSOR_FAILED, detail=f"{type(error).__name__}: {error}") from error
        if [message.id for message in messages] != ids:
            raise PilothouseError(
                Code.PROCESSOR_FAILED, detail="the processor returned other messages than it received"
            )
    processed = {message.id: _with_hold(message, None) for message in messages}
    return [processed.get(message.id, message) for message in incoming]


async def _refuse(turn: Turn, round_: Round, reason: Reason) -> Next:
    """End the turn and mark its messages as refused, in one commit. They stay in the conversation, but the model never
    sees them."""
    async with turn.live.lock:
        draft = turn.live.draft()
        draft.messages += [_with_hold(message, "refused") for message in round_.incoming]
        return await turn.close_with_error(draft, turn.error_message(reason, round_), "error")


def _with_hold(message: Message, hold: Literal["refused"] | None) -> Message:
    return msgspec.structs.replace(message, metadata=msgspec.structs.replace(message.metadata, held=hold))


async def _commit_changes(turn: Turn, originals: Sequence[Message], messages: Sequence[Message]) -> None:
    changed = [message for message, original in zip(messages, originals, strict=True) if message != original]
    if changed:
        async with turn.live.lock:
            draft = turn.live.draft()
            draft.messages += changed
            await turn.commit(draft)


async def _resolved_message(turn: Turn, message: Message) -> Message:
    match message:
        case FileReference(resolved_at=None):
            return await _resolve_file_reference(turn, message)
        case Image(resolved_at=None):
            return await resolve_image(turn.live, message)
        case _:
            return message


async def _resolve_file_reference(turn: Turn, reference: FileReference) -> FileReference:
    """A file reference with its content or the error. The model sees either, and the error does not stop the turn."""
    content: str | None = None
    error: Reason | None = None
    try:
        workspace = turn.live.files.workspace()
        lines = reference.range
        start, end = (lines.start_line, lines.end_line) if lines is not None else (None, None)
        error = workspace.violation(reference.path)
        if error is None:
            content = await asyncio.to_thread(read_lines, workspace, reference.path, start, end)
    except PilothouseError as failure:
        error = failure.reason
    at = turn.dependencies.now()
    return msgspec.structs.replace(reference, content=content, error=error, resolved_at=at)
