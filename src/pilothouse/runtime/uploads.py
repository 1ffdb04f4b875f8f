"""Commands about uploads: files that a person gives to a conversation. They belong to the conversation that the person
sees; its sub-agents read them, too. Only a copy lies in the workspace."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, StoreRefused, ToolError
from pilothouse.domain.payloads import MAX_UPLOAD_BYTES
from pilothouse.domain.values import Value
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.finishing import finish_in_thread
from pilothouse.runtime.live import Live
from pilothouse.sandbox.workspace import ABSENT, Workspace
from pilothouse.tools.artifacts import UPLOADS
from pilothouse.tools.uploads import UploadStore, numbered, safe_name

_TAKEN = frozenset({Code.FILE_CHANGED, Code.NOT_A_FILE, Code.FILE_TOO_LARGE})
_MAX_COPIES = 1000


class Upload(Value):
    path: str
    """How messages and file tools name it: `uploads/NAME`."""
    size: int


class UploadCopy(Value):
    path: str
    """Where the copy lies in the workspace."""


async def add_file(contexts: Contexts, context_id: str, name: str, data: bytes) -> Upload:
    """Store a file with the conversation. The workspace stays as it is.

    Raises: InvalidInput, NotFound, Conflict, StoreRefused.
    """
    safe = safe_name(name)
    if len(data) > MAX_UPLOAD_BYTES:
        raise InvalidInput(Code.BODY_TOO_LARGE, limit=MAX_UPLOAD_BYTES)
    async with _conversation(contexts, context_id) as live:
        with _as_request_errors(safe):
            root = live.workspace().root
            stored = await finish_in_thread(
                # A name means the upload before the workspace's own file: no upload hides one.
                lambda: _store(live).add(safe, data, lambda each: os.path.lexists(root / UPLOADS / each))
            )
    return Upload(path=f"{UPLOADS}/{stored}", size=len(data))


async def copy_upload(
    contexts: Contexts, context_id: str, name: str, path: str | None = None, *, by: str = "local"
) -> UploadCopy:
    """Put a copy of an upload into the workspace: the person's own act. It never replaces another file; a file that has
    the same content already counts as the copy. Without a path, the copy gets the upload's name, or a free one like it.

    Raises: NotFound, Conflict for a path that is taken, protected, outside or cannot be written, StoreError.
    """
    async with _conversation(contexts, context_id) as live:
        with _as_request_errors(name):
            workspace = live.workspace()
            data = await asyncio.to_thread(_store(live).read, name)
            copied, is_new = await finish_in_thread(lambda: _copy(workspace, name, data, path))
        if is_new:
            workspace.forget(copied)
            draft = live.draft()
            draft.note("upload_copied", by, name=name, path=copied)
            await live.commit(draft)
    return UploadCopy(copied)


async def remove_upload(contexts: Contexts, context_id: str, name: str, *, by: str = "local") -> None:
    """Delete an upload, whether it was sent or not: a message that was sent keeps what it held of it.

    Raises: NotFound, StoreError.
    """
    async with _conversation(contexts, context_id) as live:
        with _as_request_errors(name):
            await finish_in_thread(lambda: _store(live).remove(name))
        draft = live.draft()
        draft.note("upload_removed", by, name=name)
        await live.commit(draft)


@asynccontextmanager
async def _conversation(contexts: Contexts, context_id: str) -> AsyncIterator[Live]:
    """The context that the person sees, held: a sub-agent's uploads are those of its conversation."""
    live = await contexts.find(context_id)
    async with contexts.locked(live.above[-1].id if live.above else live.id) as root:
        yield root


def _store(live: Live) -> UploadStore:
    if live.uploads is None:
        raise Conflict(Code.UPLOADS_NOT_KEPT)
    return live.uploads


@contextmanager
def _as_request_errors(name: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise NotFound(Code.UNKNOWN_UPLOAD, name=name[:200]) from error
    except OSError as error:
        raise StoreRefused(Code.UPLOAD_NOT_STORED, name=name, detail=error.strerror or str(error)) from error
    except ToolError as error:
        raise Conflict(error.reason.code, **error.reason.params) from error


def _copy(workspace: Workspace, name: str, data: bytes, path: str | None) -> tuple[str, bool]:
    """Where the copy lies, and whether it was written now. Raises: ToolError."""
    if path is not None:  # before its kind is looked at: nobody learns which folders exist elsewhere
        _check_limit(workspace, path)
    if path is None:
        candidates = [numbered(name, number) for number in range(1, _MAX_COPIES)]
    elif path.endswith("/") or os.path.isdir(workspace.root / path):
        candidates = [os.path.join(path, name)]
    else:
        candidates = [path]
    for candidate in candidates:
        _check_limit(workspace, candidate)
        try:
            workspace.write(candidate, data, basis=ABSENT)
        except ToolError as error:
            if error.reason.code not in _TAKEN:
                raise
            if not _holds(workspace, candidate, data):
                continue
            return workspace.touched(candidate)[0], False
        return workspace.touched(candidate)[0], True
    raise ToolError(Code.FILE_EXISTS, path=candidates[0])


def _check_limit(workspace: Workspace, path: str) -> None:
    """Raises: ToolError for what is outside or protected."""
    reason = workspace.limit(path, writing=True)
    if reason is not None:
        raise ToolError(reason.code, **reason.params)


def _holds(workspace: Workspace, path: str, data: bytes) -> bool:
    try:
        return workspace.read(path, MAX_UPLOAD_BYTES) == data
    except ToolError:
        return False
