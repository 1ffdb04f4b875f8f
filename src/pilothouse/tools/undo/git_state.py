"""The state of a workspace's repositories: branch, commit, index, stash. Read from files; git is never run.

Undo restores files of the working tree. Changes in a repository's own records stay, and are reported.
"""

import hashlib
import os
import re
import stat
import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.git_configuration import Kind, Setting, parse, starts_nothing
from pilothouse.sandbox.file_names import escape
from pilothouse.system.file_inspection import identity
from pilothouse.system.regular_file import open_regular_file

_MAX_REPOSITORIES = 50
_MAX_REFERENCES = 2_000
_MAX_PACKED_BYTES = 4_000_000
_MAX_INDEX_BYTES = 20_000_000
_MAX_SMALL_BYTES = 65_536
_MAX_NAMES = 5
_MAX_HOOKS = 1_000
_RELATIVE_PATH = re.compile(r"[\w.][\w./-]*+")
"""The form in which git stores the working tree of a submodule."""
_EXTENDED_FLAG = 0x4000  # two more bytes of flags follow
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_GIT_DIR = re.compile(rb"gitdir: ([^\0\n]{1,4096})\n?")
# Files that change with an unfinished merge or rebase, or with the configuration.
_STATE_FILES = (
    *("config", "config.worktree", "info/exclude", "info/attributes", "shallow"),
    *("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge/onto", "rebase-apply/onto"),
)


class GitState(NamedTuple):
    """The state of one repository."""

    head: str
    """The checked-out branch (`refs/heads/main`), or the commit of a detached HEAD."""
    references: Mapping[str, str]
    """The commits of branches, tags and the stash, by name."""
    staged: str
    """Digest of the staged contents; git may rewrite the index file without a change of contents."""
    index_stat: tuple[int, ...]
    """Status of the index file: while the status is equal, the file need not be read again."""
    others: str
    """Digest of the files in `_STATE_FILES`."""
    programs: Mapping[str, str] = {}
    """Digests of the files that name programs run by git: hooks, and settings that are not plainly data."""

    @property
    def commit(self) -> str | None:
        return self.head if _COMMIT.fullmatch(self.head) else self.references.get(self.head)


def read_git_state(root: Path, folders: Sequence[str], previous: Mapping[str, GitState]) -> dict[str, GitState]:
    """The state of the repositories in these folders of a workspace, and of the repository around the workspace.
    `previous` are the states of the last snapshot."""
    states: dict[str, GitState] = {}
    names = folders if "" in folders else [*_parent_repository(root), *folders]
    for name in names[:_MAX_REPOSITORIES]:
        git_dir = _git_dir(root / name)
        if git_dir is not None and (state := _state(git_dir, previous.get(escape(name)))) is not None:
            states[escape(name)] = state
    return states


def _parent_repository(root: Path) -> Iterator[str]:
    for number, folder in enumerate(root.parents, start=1):
        if os.path.lexists(folder / ".git"):
            yield "/".join([".."] * number)
            return


def _git_dir(folder: Path) -> Path | None:
    path = folder / ".git"
    try:
        status = path.lstat()
        if stat.S_ISDIR(status.st_mode):
            return path
        link = _GIT_DIR.fullmatch(_read_small(path) or b"") if stat.S_ISREG(status.st_mode) else None
    except OSError:
        return None
    return folder / os.fsdecode(link[1]) if link is not None else None


def _state(git_dir: Path, previous: GitState | None) -> GitState | None:
    head = _read_small(git_dir / "HEAD")
    if head is None:
        return None
    # A worktree has a HEAD and an index of its own; branches and the stash are shared.
    shared = _read_small(git_dir / "commondir")
    common = git_dir / os.fsdecode(shared.strip()) if shared is not None and b"\0" not in shared else git_dir
    index_stat, index = _index_state(git_dir / "index", previous)
    digest = hashlib.sha256()
    for name in _STATE_FILES:
        digest.update(_read_small(git_dir / name) or _read_small(common / name) or b"\0")
    name = head.decode(errors="replace").strip().removeprefix("ref: ")
    if not (name.startswith("refs/") or _COMMIT.fullmatch(name)):
        return None  # not a repository
    return GitState(name, _references(common), index, index_stat, digest.hexdigest(), _programs(git_dir, common))


def _programs(git_dir: Path, common: Path) -> dict[str, str]:
    """Digests of the hooks, and of the settings that may name programs."""
    digests: dict[str, str] = {}
    for folder, name in ((common, "config"), (git_dir, "config.worktree"), (common, "info/attributes")):
        data = _read_small(folder / name) or b""
        lines = b"\n".join(_program_lines(data))
        rest = identity(str(folder / name)) if len(data) == _MAX_SMALL_BYTES else ""
        if lines or rest:
            digests[name] = hashlib.sha256(lines + rest.encode()).hexdigest()
    try:
        with os.scandir(common / "hooks") as entries:
            hooks = [entry for entry in islice(entries, _MAX_HOOKS) if not entry.name.endswith(".sample")]
            stats = [(entry.name, entry.stat(follow_symlinks=False)) for entry in hooks]
    except OSError:
        stats = []
    for name, status in stats:
        # A program can reset mtime, but not ctime.
        change = (status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        digests[f"hooks/{escape(name)}"] = str(change)
    return digests


def _program_lines(config: bytes) -> Iterator[bytes]:
    """The lines of a configuration except those that plainly hold data or a repository's address."""
    for setting in parse(config):
        # `NAME::` in an address selects a transport program.
        if not _is_data(setting) or b"::" in setting.line:
            yield setting.line


def _is_data(setting: Setting) -> bool:
    if setting.name == "core.worktree":
        return _RELATIVE_PATH.fullmatch(setting.value or "") is not None
    return setting.kind is Kind.ADDRESS or starts_nothing(setting.name, setting.value)


def changed_programs(before: Mapping[str, GitState], after: Mapping[str, GitState]) -> Iterator[str]:
    """The hooks, and the files with settings that name programs, which are new or changed."""
    for repository, state in after.items():
        old = before[repository].programs if repository in before else {}
        changed = (name for name in {**old, **state.programs} if old.get(name) != state.programs.get(name))
        yield from (os.path.join(repository, ".git", name) for name in sorted(changed))


def _index_state(path: Path, previous: GitState | None) -> tuple[tuple[int, ...], str]:
    """The status of the index file, and the digest of its meaning."""
    try:
        status = os.stat(path, follow_symlinks=False)
    except OSError:
        return (), ""
    index_stat = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    if previous is not None and previous.index_stat == index_stat:
        return index_stat, previous.staged
    data = _read_small(path, _MAX_INDEX_BYTES + 1) or b""
    if len(data) <= _MAX_INDEX_BYTES:
        try:
            return index_stat, index_digest(data)
        except (struct.error, ValueError):
            pass
    return index_stat, str(index_stat)  # an unknown format: any rewriting counts as a change


def index_digest(data: bytes) -> str:
    """Digest of the modes, contents and paths in an index file, without the times that `git status` refreshes.

    Raises: struct.error, ValueError for an unknown format.
    """
    signature, version, count = struct.unpack_from(">4sII", data)
    if signature != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("not a staging area")
    digest, offset = hashlib.sha256(), 12
    for _ in range(count):
        (flags,) = struct.unpack_from(">H", data, offset + 60)
        start = offset + (64 if version > 2 and flags & _EXTENDED_FLAG else 62)
        end = data.index(b"\0", start)
        if version == 4:  # a varint before the path: the bytes to drop from the end of the previous path
            while data[start] & 0x80:
                start += 1
            end = data.index(b"\0", start + 1)
        digest.update(data[offset + 24 : offset + 28] + data[offset + 40 : end + 1])
        offset = end + 1 if version == 4 else offset + (end - offset + 8) // 8 * 8
    return digest.hexdigest()


def _references(common: Path) -> dict[str, str]:
    references: dict[str, str] = {}
    packed = _read_small(common / "packed-refs", _MAX_PACKED_BYTES)
    for line in (packed or b"").decode(errors="replace").splitlines():
        commit, _, name = line.partition(" ")
        if _COMMIT.fullmatch(commit) and name:
            references[name] = commit
    if (common / "refs").is_symlink():
        return references
    count = 0
    for folder, subfolders, names in os.walk(common / "refs"):
        count += len(subfolders)
        subfolders[:] = sorted(subfolders) if count <= _MAX_REFERENCES else []
        for name in sorted(names):
            count += 1
            if count > _MAX_REFERENCES:
                return references
            path = os.path.join(folder, name)
            commit = (_read_small(Path(path)) or b"").decode(errors="replace").strip()
            if _COMMIT.fullmatch(commit):
                references[escape(os.path.relpath(path, common))] = commit
    return references


def _read_small(path: Path, limit: int = _MAX_SMALL_BYTES) -> bytes | None:
    """The beginning of a regular file, None where there is none."""
    try:
        with open_regular_file(path) as file:
            return file.read(limit)
    except (OSError, ValueError):  # ValueError: a path read from a file may contain NUL
        return None


def git_changes(before: Mapping[str, GitState], after: Mapping[str, GitState]) -> list[Reason]:
    """The changes in the records of repositories, which undo does not revert."""
    reasons: list[Reason] = []
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        repository = name or "."
        if old is None or new is None:
            reasons.append(Reason(Code.GIT_CREATED if old is None else Code.GIT_REMOVED, {"repository": repository}))
        elif old != new:
            reasons += _differences(repository, old, new)
    return reasons


def _differences(repository: str, old: GitState, new: GitState) -> Iterator[Reason]:
    if old.head != new.head:
        yield Reason(
            Code.GIT_SWITCHED,
            {"repository": repository, "before": _label(old.head), "after": _label(new.head)},
        )
    elif old.commit != new.commit:
        commits = {"before": (old.commit or "-")[:12], "after": (new.commit or "-")[:12]}
        yield Reason(Code.GIT_MOVED, {"repository": repository, "branch": _label(old.head), **commits})
    changed = [
        _label(name)
        for name in sorted({*old.references, *new.references} - {old.head, new.head})
        if old.references.get(name) != new.references.get(name)
    ]
    if changed:
        more = " …" if len(changed) > _MAX_NAMES else ""
        yield Reason(Code.GIT_REFERENCES, {"repository": repository, "names": ", ".join(changed[:_MAX_NAMES]) + more})
    if old.staged != new.staged:
        yield Reason(Code.GIT_INDEX, {"repository": repository})
    if old.others != new.others:
        yield Reason(Code.GIT_OTHER, {"repository": repository})


def _label(name: str) -> str:
    """A branch by its short name, a commit by its first characters, without characters that could imitate other
    text."""
    plain = name[:12] if _COMMIT.fullmatch(name) else name.removeprefix("refs/").removeprefix("heads/")
    return "".join(character if character.isprintable() else "?" for character in plain)[:100]
