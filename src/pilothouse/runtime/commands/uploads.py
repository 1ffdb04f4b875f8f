"""Commands about uploads: files that a person adds to a conversation. They belong to the outermost context, and its
sub-agents read them too. The workspace only ever has copies."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, StoreRefused, ToolError, os_error_text
from pilothouse.domain.payloads import MAX_UPLOAD_BYTES
from pilothouse.domain.value import Value
from pilothouse.runtime.commands.command_group import CommandGroup
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.pool import ContextPool
from pilothouse.runtime.shield import run_to_completion_in_thread
from pilothouse.sandbox.workspace import ABSENT, Workspace
from pilothouse.tools.artifacts import UPLOADS
from pilothouse.tools.uploads import UploadStore, numbered_name, safe_name

_TAKEN_PATH_CODES = frozenset({Code.FILE_CHANGED, Code.NOT_A_FILE, Code.FILE_TOO_LARGE})
_MAX_COPIES = 1000


class Upload(Value):
    path: str
    """The path by which messages and file tools refer to the upload: `uploads/NAME`."""
    size: int


class UploadCopy(Value):
    path: str
    """The path of the copy in the workspace."""


class UploadCommands(CommandGroup):
    """Files that a person uploads to a conversation."""

    async def add(self, context_id: str, name: str, data: bytes) -> Upload:
        """Store a file with the conversation. The workspace does not change.

        Raises: InvalidInput, NotFound, Conflict, StoreRefused.
        """
        clean_name = safe_name(name)
        if len(data) > MAX_UPLOAD_BYTES:
            raise InvalidInput(Code.BODY_TOO_LARGE, limit=MAX_UPLOAD_BYTES)
        async with _conversation(self._pool, context_id) as live:
            with _as_request_errors(clean_name):
                root = live.files.workspace().root
                stored_name = await run_to_completion_in_thread(
                    # The name of an upload takes precedence, so it must differ from those of the workspace's own files.
                    lambda: _store(live).add(
                        clean_name, data, lambda candidate: os.path.lexists(root / UPLOADS / candidate)
                    )
                )
        return Upload(path=f"{UPLOADS}/{stored_name}", size=len(data))

    async def copy(self, context_id: str, name: str, path: str | None = None, *, by: str = "local") -> UploadCopy:
        """Copy an upload into the workspace, as the person's own action. The copy never replaces another file; an
        existing file with the same content counts as the copy. Without a path, the copy gets the upload's name, or a
        free variant.

        Raises: NotFound, Conflict for a path that is taken, protected, outside or cannot be written, StoreError.
        """
        async with _conversation(self._pool, context_id) as live:
            with _as_request_errors(name):
                workspace = live.files.workspace()
                data = await asyncio.to_thread(_store(live).read, name)
                copy_path, is_new = await run_to_completion_in_thread(lambda: _copy(workspace, name, data, path))
            if is_new:
                workspace.forget_read(copy_path)
                draft = live.draft()
                draft.note("upload_copied", by, name=name, path=copy_path)
                await live.commit(draft)
        return UploadCopy(copy_path)

    async def remove(self, context_id: str, name: str, *, by: str = "local") -> None:
        """Delete an upload. Messages that were sent keep the content that they hold of it.

        Raises: NotFound, StoreError.
        """
        async with _conversation(self._pool, context_id) as live:
            with _as_request_errors(name):
                await run_to_completion_in_thread(lambda: _store(live).remove(name))
            draft = live.draft()
            draft.note("upload_removed", by, name=name)
            await live.commit(draft)


@asynccontextmanager
async def _conversation(pool: ContextPool, context_id: str) -> AsyncIterator[LiveContext]:
    """The outermost context with its lock held, since a sub-agent's uploads are those of its conversation."""
    live = await pool.find(context_id)
    async with pool.locked(live.ancestors[-1].id if live.ancestors else live.id) as root:
        yield root


def _store(live: LiveContext) -> UploadStore:
    if live.files.uploads is None:
        raise Conflict(Code.UPLOADS_NOT_KEPT)
    return live.files.uploads


@contextmanager
def _as_request_errors(name: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise NotFound(Code.UNKNOWN_UPLOAD, name=name[:200]) from error
    except OSError as error:
        raise StoreRefused(Code.UPLOAD_NOT_STORED, name=name, detail=os_error_text(error)) from error
    except ToolError as error:
        raise Conflict(error.reason.code, **error.reason.params) from error


def _copy(workspace: Workspace, name: str, data: bytes, path: str | None) -> tuple[str, bool]:
    """The path of the copy, and whether this call wrote it. Raises: ToolError."""
    if path is not None:  # before the path's type is read, which would disclose the folders elsewhere
        _check_limit(workspace, path)
    if path is None:
        candidates = [numbered_name(name, number) for number in range(1, _MAX_COPIES)]
    elif path.endswith("/") or os.path.isdir(workspace.root / path):
        candidates = [os.path.join(path, name)]
    else:
        candidates = [path]
    for candidate in candidates:
        _check_limit(workspace, candidate)
        try:
            workspace.write(candidate, data, expected=ABSENT)
        except ToolError as error:
            if error.reason.code not in _TAKEN_PATH_CODES:
                raise
            if not _holds(workspace, candidate, data):
                continue
            return workspace.touched_paths(candidate)[0], False
        return workspace.touched_paths(candidate)[0], True
    raise ToolError(Code.FILE_EXISTS, path=candidates[0])


def _check_limit(workspace: Workspace, path: str) -> None:
    """Raises: ToolError for a path that is outside the workspace or protected."""
    reason = workspace.violation(path, writing=True)
    if reason is not None:
        raise ToolError(reason.code, **reason.params)


def _holds(workspace: Workspace, path: str, data: bytes) -> bool:
    try:
        return workspace.read(path, MAX_UPLOAD_BYTES) == data
    except ToolError:
        return False
