"""Files that a person gives to a conversation: put into its workspace, where its tools can read them."""

import asyncio
import unicodedata
from pathlib import PurePosixPath

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, InvalidInput, StoreRefused, ToolError
from pilothouse.domain.values import Value
from pilothouse.runtime.contexts import Contexts
from pilothouse.sandbox.workspace import ABSENT, Workspace

FOLDER = "uploads"
_NAME_AT_MOST = 100
_TRIES = 1000
_TAKEN = frozenset({Code.FILE_CHANGED, Code.NOT_A_FILE, Code.FILE_TOO_LARGE})
_UNSAFE = frozenset('<>:"|?*\\/')


class Upload(Value):
    """Where it lies in the workspace: to be named in a message."""

    path: str
    size: int


async def add_file(contexts: Contexts, context_id: str, name: str, data: bytes) -> Upload:
    """Never over a file that is there. Raises: InvalidInput, NotFound, Conflict, StoreRefused."""
    safe = safe_name(name)
    try:
        async with contexts.locked(context_id) as live:  # two of the same name at once are two files
            path = await asyncio.to_thread(_put, live.workspace(), safe, data)
    except ToolError as error:
        kind = StoreRefused if error.reason.code is Code.FILE_UNREADABLE else Conflict
        raise kind(error.reason.code, **error.reason.params) from error
    return Upload(path=path, size=len(data))


def safe_name(name: str) -> str:
    """The last part of a name, without what could hide, surprise or lead elsewhere. Raises: InvalidInput."""
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rsplit("/", 1)[-1]
    kept = "".join(each for each in last if each.isprintable() and each not in _UNSAFE).strip(" .")
    if not kept or len(name) > 200:
        raise InvalidInput(Code.UPLOAD_NAME, name=name[:200])
    path = PurePosixPath(kept)
    while len(kept.encode()) > _NAME_AT_MOST:
        stem = path.stem[:-1]
        if not stem:
            raise InvalidInput(Code.UPLOAD_NAME, name=name[:200])
        path = path.with_stem(stem)
        kept = path.name
    return kept


def _put(workspace: Workspace, name: str, data: bytes) -> str:
    path = PurePosixPath(name)
    for number in range(1, _TRIES):
        candidate = f"{FOLDER}/{name if number == 1 else path.with_stem(f'{path.stem}-{number}').name}"
        try:
            workspace.write(candidate, data, basis=ABSENT)
        except ToolError as error:
            if error.reason.code not in _TAKEN:
                raise
            continue
        return candidate
    raise ToolError(Code.FILE_CHANGED, path=f"{FOLDER}/{name}")
