"""What a command changed in a workspace: two looks by git, in a repository of our own outside of it.

The person's own git is neither read nor written, and nothing that a folder brings (attributes, filters, hooks) is run.
"""

import asyncio
import contextlib
import hashlib
import os
import shutil
from collections.abc import Sequence

from pilothouse.domain.values import Value
from pilothouse.sandbox.workspace import ABSENT, Workspace
from pilothouse.tools.keeping import ChangedFile, ChangeEntry, Keeping

_SECONDS = 20
_FILE_AT_MOST = 50 * 1024 * 1024
_FILES_AT_MOST = 2000
_SETTINGS = (
    *("core.fsmonitor=false", "core.hooksPath=/dev/null", "core.autocrlf=false", "core.safecrlf=false"),
    *("core.excludesFile=/dev/null", "core.attributesFile=/dev/null", "core.compression=1", "core.looseCompression=1"),
    *(
        "gc.auto=0",
        "core.symlinks=true",
        "core.untrackedCache=keep",
        "core.bigFileThreshold=8m",
        "advice.addEmbeddedRepo=false",
    ),
)
# The highest of all attributes: no conversion, no filter, whatever the folder's own say.
_ATTRIBUTES = "* -text -filter -ident -working-tree-encoding -diff -merge\n"


class Unkept(Exception):
    """A look was not possible; its text says why."""


class Look(Value):
    tree: str


class Snapshots:
    """One repository for a context and its workspace."""

    def __init__(self, keeping: Keeping, workspace: Workspace, path: str) -> None:
        self._path = path
        self._keeping = keeping
        self._workspace = workspace
        self._folder = keeping.folder / "snapshots.git"

    async def look(self) -> Look:
        """Raises: Unkept."""
        if shutil.which("git", path=self._path) is None:
            raise Unkept("there is no git")
        if not self._folder.is_dir():
            await self._begin()
        await self._git("add", "--all", "--ignore-errors", ".")
        return Look((await self._git("write-tree")).decode().strip())

    async def _begin(self) -> None:
        self._keeping.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        await self._git("init", "--quiet", "--bare", str(self._folder), bare=True)
        (self._folder / "info").mkdir(exist_ok=True)
        (self._folder / "info" / "attributes").write_text(_ATTRIBUTES)

    async def changes(self, before: Look, call_id: str, tool: str) -> ChangeEntry | None:
        """What is other than at an earlier look, with what was there then kept. None where nothing is.

        Raises: Unkept.
        """
        after = await self.look()
        if after.tree == before.tree:
            return None
        listed = await self._git("diff-tree", "-r", "-z", "--no-renames", before.tree, after.tree)
        files, contents = [], []
        for old_mode, old_id, path in _changed(listed):
            if old_mode in ("120000", "160000"):
                raise Unkept(f"{path} is a link")
            content = await self._content(old_id) if set(old_id) != {"0"} else None
            file = await asyncio.to_thread(self._file, path, content, old_mode)
            files.append(file)
            if content is not None:
                contents.append(content)
        entry = ChangeEntry(call=call_id, tool=tool, files=tuple(files))
        await asyncio.to_thread(self._keeping.note, entry, contents)
        return entry

    def _file(self, path: str, before: bytes | None, mode: str) -> ChangedFile:
        held = hashlib.sha256(before).hexdigest() if before is not None else ABSENT
        bits = None if before is None else 0o755 if mode == "100755" else 0o644
        return ChangedFile(path, before=held, after=self._workspace.basis(path), mode=bits)

    async def _content(self, blob: str) -> bytes:
        size = int(await self._git("cat-file", "-s", blob))
        if size > _FILE_AT_MOST:
            raise Unkept(f"a file of {size} bytes")
        return await self._git("cat-file", "blob", blob)

    async def _git(self, *arguments: str, bare: bool = False) -> bytes:
        """Raises: Unkept."""
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        places = {} if bare else {"GIT_DIR": str(self._folder), "GIT_WORK_TREE": str(self._workspace.root)}
        process = await asyncio.create_subprocess_exec(
            *("git", *settings, *arguments),
            cwd=self._workspace.root,
            env={"PATH": self._path, **_ALONE, **places},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(_SECONDS):
                output, errors = await process.communicate()
        except TimeoutError:
            raise Unkept(f"the folder is too large to look at in {_SECONDS} seconds") from None
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
                (self._folder / "index.lock").unlink(missing_ok=True)
        if process.returncode and arguments[0] != "add":  # a file that cannot be read is left out
            raise Unkept(errors.decode(errors="replace").strip()[:200] or "git failed")
        return output


_ALONE = {
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


def _changed(listed: bytes) -> Sequence[tuple[str, str, str]]:
    """Old mode, old blob, path: from `diff-tree -z`."""
    parts = listed.split(b"\0")
    found = []
    for about, path in zip(parts[0::2], parts[1::2], strict=False):
        old_mode, _, old_id, *_ = about.decode().lstrip(":").split()
        found.append((old_mode, old_id, os.fsdecode(path)))
        if len(found) > _FILES_AT_MOST:
            raise Unkept(f"more than {_FILES_AT_MOST} files changed")
    return found
