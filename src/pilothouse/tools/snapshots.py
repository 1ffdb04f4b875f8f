"""What a command changed in a workspace: two looks by git, in a repository of our own outside of it.

The person's own git is neither read nor written, and nothing that a folder brings (attributes, filters, hooks) is run.
"""

import asyncio
import contextlib
import hashlib
import os
import shutil
import stat
from pathlib import Path
from typing import NamedTuple

from pilothouse.sandbox.workspace import ABSENT, Workspace
from pilothouse.tools.artifacts import ArtifactStore, ChangedFile, ChangeEntry, make_private
from pilothouse.tools.survey import Seen, Survey, repositories_in, survey, touched

_SECONDS = 20
_FILE_AT_MOST = 50 * 1024 * 1024
_FILES_AT_MOST = 2000
_MADE = "info/attributes"  # written last
_LOCKS: dict[str, asyncio.Lock] = {}
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


class Look(NamedTuple):
    """What git sees, and what everything looks like from outside, where that is not too much."""

    tree: str
    survey: Survey | None


class Snapshots:
    """One repository for a workspace, whoever works in it. One look at a time."""

    def __init__(self, artifacts: ArtifactStore, workspace: Workspace, path: str) -> None:
        self._path = path
        self._artifacts = artifacts
        self._workspace = workspace
        name = hashlib.sha256(str(workspace.root).encode()).hexdigest()[:16]
        self._folder = artifacts.folder.parent / "snapshots" / f"{name}.git"
        self._too_large = self._folder.with_suffix(".too-large")

    async def look(self) -> Look:
        """Raises: Unkept."""
        if shutil.which("git", path=self._path) is None:
            raise Unkept("there is no git")
        async with _LOCKS.setdefault(str(self._folder), asyncio.Lock()):
            if self._too_large.exists():
                raise Unkept("the folder is too large to look at")
            if not (self._folder / _MADE).is_file():
                await self._begin()
            (self._folder / "index.lock").unlink(missing_ok=True)  # of one that was killed: nobody else is here
            # A repository inside would have a say in what its files are: it is left out, and noticed from outside.
            nested = await asyncio.to_thread(repositories_in, self._workspace.root)
            if nested is None:
                raise Unkept("the folder is too large to look at")
            if nested:  # also what was seen of it before it became one
                inside = [f":(literal){path}" for path in nested]
                await self._git("rm", "-r", "--cached", "--quiet", "--ignore-unmatch", "--", *inside)
            excluded = [f":(exclude,literal){path}" for path in nested]
            await self._git("add", "--all", "--", ".", *excluded)
            tree = (await self._git("write-tree")).decode().strip()
        return Look(tree, await asyncio.to_thread(self._survey))

    def _survey(self) -> Survey | None:
        """The workspace, and the folders beside it that may be written: there, nothing is kept, but noticed."""
        found: dict[str, Seen] = {}
        for root in self._workspace.writable():
            seen = survey(Path(root))
            if seen is None:
                return None
            beside = root != str(self._workspace.root)
            found |= {f"{root}/{path}" if beside else path: each for path, each in seen.items()}
        return found

    async def _begin(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)  # one that was only half made
        make_private(self._folder.parent)
        await self._git("init", "--quiet", "--bare", str(self._folder), bare=True)
        (self._folder / "info").mkdir(exist_ok=True)
        (self._folder / _MADE).write_text(_ATTRIBUTES)

    async def changes(self, before: Look, call_id: str, tool: str) -> ChangeEntry | None:
        """What is other than at an earlier look, with what was there then. None where nothing is.

        Raises: Unkept.
        """
        after = await self.look()
        listed = await self._git("diff-tree", "-r", "-z", "--no-renames", before.tree, after.tree)
        changed, unknown = _told_apart(_changed(listed), before)
        modes, lost = await self._unseen(before, after, {*unknown, *(change.path for change in changed)})
        files, contents = [], []
        for change in changed:
            content = await self._content(change.blob) if set(change.blob) != {"0"} else None
            files.append(await asyncio.to_thread(self._file, change, content, before, after))
            if content is not None:
                contents.append(content)
        files += [await asyncio.to_thread(self._only_mode, path, before, after) for path in modes]
        lost = lost or (f"it is not known what {', '.join(unknown[:5])} held before" if unknown else None)
        if not files and lost is None:
            return None
        entry = ChangeEntry(call=call_id, tool=tool, files=tuple(files), unkept=lost)
        await asyncio.to_thread(self._artifacts.note, entry, contents)
        return entry

    async def _unseen(self, before: Look, after: Look, seen: set[str]) -> tuple[list[str], str | None]:
        """Files of which only the mode was changed; and, in words, others that git does not look at."""
        if before.survey is None or after.survey is None:
            return [], "the folder has too many files to tell which of those that git ignores changed"
        modes, others = [], []
        for path in sorted(touched(before.survey, after.survey) - seen):
            old, new = before.survey.get(path), after.survey.get(path)
            if old is not None and new is not None and old[1:] == new[1:] and stat.S_ISREG(new.mode) and _is_text(path):
                modes.append(path)
            else:
                others.append(path)
        known = set(os.fsdecode(await self._git("ls-files", "-z")).split("\0")) if others else set()
        lost = [path for path in others if path not in known]  # the others hold what they held
        if not lost:
            return modes, None
        shown = ", ".join(path.encode("utf-8", "backslashreplace").decode() for path in lost[:5])
        return modes, f"files that git ignores, or of another repository: {shown}{' …' if len(lost) > 5 else ''}"

    def _file(self, change: "_Change", before: bytes | None, old: Look, new: Look) -> ChangedFile:
        held = hashlib.sha256(before).hexdigest() if before is not None else ABSENT
        after = self._workspace.basis(change.path)
        mode = _bits(old, change.path)
        if mode is None and before is not None and after == ABSENT:
            # Nobody knows how private it was: then it is only the person's.
            mode = 0o700 if change.was_executable else 0o600
        return ChangedFile(change.path, before=held, after=after, mode=mode, mode_after=_bits(new, change.path))

    def _only_mode(self, path: str, old: Look, new: Look) -> ChangedFile:
        content = self._workspace.basis(path)
        return ChangedFile(path, before=content, after=content, mode=_bits(old, path), mode_after=_bits(new, path))

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
            make_private(self._folder.parent)
            self._too_large.touch()
            raise Unkept(f"the folder is too large to look at in {_SECONDS} seconds") from None
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode:
            raise Unkept(errors.decode(errors="replace").strip()[:200] or "git failed")
        return output


_ALONE = {
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


class _Change(NamedTuple):
    path: str
    blob: str
    was_executable: bool


def _changed(listed: bytes) -> list[_Change]:
    """From `diff-tree -z`. Raises: Unkept for what cannot be put back."""
    parts = listed.split(b"\0")
    found = []
    for about, raw in zip(parts[0::2], parts[1::2], strict=False):
        old_mode, new_mode, blob, *_ = about.decode().lstrip(":").split()
        path = os.fsdecode(raw)
        if not _is_text(path):
            raise Unkept("a name that is no text")
        for mode, what in (("120000", "a link"), ("160000", "a repository of its own")):
            if mode in (old_mode, new_mode):
                raise Unkept(f"{path} is {what}")
        found.append(_Change(path, blob, old_mode == "100755"))
        if len(found) > _FILES_AT_MOST:
            raise Unkept(f"more than {_FILES_AT_MOST} files changed")
    return found


def _told_apart(changes: list[_Change], before: Look) -> tuple[list[_Change], list[str]]:
    """What can be put back; and what git did not look at before, though it was there, or may have been."""
    known, unknown = [], []
    for change in changes:
        is_new = set(change.blob) == {"0"}
        if is_new and (before.survey is None or change.path in before.survey):
            unknown.append(change.path)
        else:
            known.append(change)
    return known, unknown


def _bits(look: Look, path: str) -> int | None:
    known = look.survey.get(path) if look.survey is not None else None
    return known.bits if known is not None else None


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
