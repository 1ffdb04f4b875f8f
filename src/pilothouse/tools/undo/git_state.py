"""Where the repositories of a workspace stand: branch, commit, staging area, stash. Read from files, git is not run.

Undo puts files of the working tree back. What a command changed in a repository's own records stays, and is told.
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
from pilothouse.file_inspection import identity
from pilothouse.regular_file import open_regular_file
from pilothouse.sandbox.file_names import escape

_MAX_REPOSITORIES = 50
_MAX_REFERENCES = 2_000
_MAX_PACKED_BYTES = 4_000_000
_MAX_INDEX_BYTES = 20_000_000
_MAX_SMALL_BYTES = 65_536
_MAX_NAMES = 5
_MAX_HOOKS = 1_000
_INSIDE = re.compile(r"[\w.][\w./-]*+")
"""How git notes where the files of a submodule lie."""
_EXTENDED = 0x4000  # a second pair of bytes of flags follows
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_GIT_DIR = re.compile(rb"gitdir: ([^\0\n]{1,4096})\n?")
# Files whose presence or content tells of an unfinished merge, rebase, or a changed set-up.
_OTHER_FILES = (
    *("config", "config.worktree", "info/exclude", "info/attributes", "shallow"),
    *("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge/onto", "rebase-apply/onto"),
)


class GitState(NamedTuple):
    """One repository at one instant."""

    head: str
    """The checked-out branch (`refs/heads/main`), or a commit where none is."""
    references: Mapping[str, str]
    """Names of branches, tags and the stash with the commits they point to."""
    staged: str
    """Digest of what is staged; git rewrites the file itself also where nothing is."""
    index_stat: tuple[int, ...]
    """Status of the staging area's file: an equal one need not be read again."""
    others: str
    """Digest of the other files that matter."""
    programs: Mapping[str, str] = {}
    """Digests of what names programs that git runs, by file: hooks, and settings that are not plainly data."""

    @property
    def commit(self) -> str | None:
        return self.head if _COMMIT.fullmatch(self.head) else self.references.get(self.head)


def read_git_state(root: Path, folders: Sequence[str], known: Mapping[str, GitState]) -> dict[str, GitState]:
    """The state of the repositories in these folders of a workspace, and of the one that the workspace lies in."""
    found: dict[str, GitState] = {}
    names = folders if "" in folders else [*_above(root), *folders]
    for name in names[:_MAX_REPOSITORIES]:
        git_dir = _git_dir(root / name)
        if git_dir is not None and (state := _state(git_dir, known.get(escape(name)))) is not None:
            found[escape(name)] = state
    return found


def _above(root: Path) -> Iterator[str]:
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
        link = _GIT_DIR.fullmatch(_small(path) or b"") if stat.S_ISREG(status.st_mode) else None
    except OSError:
        return None
    return folder / os.fsdecode(link[1]) if link is not None else None


def _state(git_dir: Path, known: GitState | None) -> GitState | None:
    head = _small(git_dir / "HEAD")
    if head is None:
        return None
    # A worktree has a HEAD and a staging area of its own; branches and the stash are shared.
    shared = _small(git_dir / "commondir")
    common = git_dir / os.fsdecode(shared.strip()) if shared is not None and b"\0" not in shared else git_dir
    index_stat, index = _staged(git_dir / "index", known)
    digest = hashlib.sha256()
    for name in _OTHER_FILES:
        digest.update(_small(git_dir / name) or _small(common / name) or b"\0")
    name = head.decode(errors="replace").strip().removeprefix("ref: ")
    if not (name.startswith("refs/") or _COMMIT.fullmatch(name)):
        return None  # the folder is no repository, whatever leads to it
    return GitState(name, _references(common), index, index_stat, digest.hexdigest(), _programs(git_dir, common))


def _programs(git_dir: Path, common: Path) -> dict[str, str]:
    """Digests of the hooks and of the settings that may name programs."""
    found: dict[str, str] = {}
    for folder, name in ((common, "config"), (git_dir, "config.worktree"), (common, "info/attributes")):
        data = _small(folder / name) or b""
        lines = b"\n".join(_program_lines(data))
        rest = identity(str(folder / name)) if len(data) == _MAX_SMALL_BYTES else ""
        if lines or rest:
            found[name] = hashlib.sha256(lines + rest.encode()).hexdigest()
    try:
        with os.scandir(common / "hooks") as entries:
            hooks = [entry for entry in islice(entries, _MAX_HOOKS) if not entry.name.endswith(".sample")]
            stats = [(entry.name, entry.stat(follow_symlinks=False)) for entry in hooks]
    except OSError:
        stats = []
    for name, status in stats:
        # The time of modification can be put back; that of the change of the inode cannot.
        change = (status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        found[f"hooks/{escape(name)}"] = str(change)
    return found


def _program_lines(config: bytes) -> Iterator[bytes]:
    """The lines of a configuration but those that plainly hold data or the address of a repository."""
    for setting in parse(config):
        # `::` stands behind the name of a program that transports data.
        if not _is_data(setting) or b"::" in setting.line:
            yield setting.line


def _is_data(setting: Setting) -> bool:
    if setting.name == "core.worktree":
        return _INSIDE.fullmatch(setting.value or "") is not None
    return setting.kind is Kind.ADDRESS or starts_nothing(setting.name, setting.value)


def changed_programs(before: Mapping[str, GitState], after: Mapping[str, GitState]) -> Iterator[str]:
    """The hooks of git, and the files with settings that name programs, which have changed or are new."""
    for repository, state in after.items():
        old = before[repository].programs if repository in before else {}
        changed = (name for name in {**old, **state.programs} if old.get(name) != state.programs.get(name))
        yield from (os.path.join(repository, ".git", name) for name in sorted(changed))


def _staged(path: Path, known: GitState | None) -> tuple[tuple[int, ...], str]:
    """The status of a staging area's file, and the digest of what it means."""
    try:
        status = os.stat(path, follow_symlinks=False)
    except OSError:
        return (), ""
    index_stat = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    if known is not None and known.index_stat == index_stat:
        return index_stat, known.staged
    data = _small(path, _MAX_INDEX_BYTES + 1) or b""
    if len(data) <= _MAX_INDEX_BYTES:
        try:
            return index_stat, index_digest(data)
        except (struct.error, ValueError):
            pass
    return index_stat, str(index_stat)  # a form that is not known: any rewriting counts as a change


def index_digest(data: bytes) -> str:
    """Digest of the modes, contents and paths in a staging area, without the times that `git status` refreshes.

    Raises: struct.error, ValueError for a form that is not known.
    """
    signature, version, count = struct.unpack_from(">4sII", data)
    if signature != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("not a staging area")
    digest, at = hashlib.sha256(), 12
    for _ in range(count):
        (flags,) = struct.unpack_from(">H", data, at + 60)
        start = at + (64 if version > 2 and flags & _EXTENDED else 62)
        end = data.index(b"\0", start)
        if version == 4:  # how much of the path before is left out stands before the path, in up to a few bytes
            while data[start] & 0x80:
                start += 1
            end = data.index(b"\0", start + 1)
        digest.update(data[at + 24 : at + 28] + data[at + 40 : end + 1])
        at = end + 1 if version == 4 else at + (end - at + 8) // 8 * 8
    return digest.hexdigest()


def _references(common: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    packed = _small(common / "packed-refs", _MAX_PACKED_BYTES)
    for line in (packed or b"").decode(errors="replace").splitlines():
        commit, _, name = line.partition(" ")
        if _COMMIT.fullmatch(commit) and name:
            found[name] = commit
    if (common / "refs").is_symlink():
        return found
    count = 0
    for folder, subfolders, names in os.walk(common / "refs"):
        count += len(subfolders)
        subfolders[:] = sorted(subfolders) if count <= _MAX_REFERENCES else []
        for name in sorted(names):
            count += 1
            if count > _MAX_REFERENCES:
                return found
            path = os.path.join(folder, name)
            commit = (_small(Path(path)) or b"").decode(errors="replace").strip()
            if _COMMIT.fullmatch(commit):
                found[escape(os.path.relpath(path, common))] = commit
    return found


def _small(path: Path, limit: int = _MAX_SMALL_BYTES) -> bytes | None:
    """The beginning of a regular file, None where there is none."""
    try:
        with open_regular_file(path) as file:
            return file.read(limit)
    except (OSError, ValueError):  # a path that a file named may hold a NUL
        return None


def git_changes(before: Mapping[str, GitState], after: Mapping[str, GitState]) -> list[Reason]:
    """What changed in the records of repositories, which undo leaves as it is."""
    reasons: list[Reason] = []
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        where = name or "."
        if old is None or new is None:
            reasons.append(Reason(Code.GIT_CREATED if old is None else Code.GIT_REMOVED, {"repository": where}))
        elif old != new:
            reasons += _differences(where, old, new)
    return reasons


def _differences(where: str, old: GitState, new: GitState) -> Iterator[Reason]:
    if old.head != new.head:
        yield Reason(Code.GIT_SWITCHED, {"repository": where, "before": _short(old.head), "after": _short(new.head)})
    elif old.commit != new.commit:
        commits = {"before": (old.commit or "-")[:12], "after": (new.commit or "-")[:12]}
        yield Reason(Code.GIT_MOVED, {"repository": where, "branch": _short(old.head), **commits})
    changed = [
        _short(name)
        for name in sorted({*old.references, *new.references} - {old.head, new.head})
        if old.references.get(name) != new.references.get(name)
    ]
    if changed:
        more = " …" if len(changed) > _MAX_NAMES else ""
        yield Reason(Code.GIT_REFERENCES, {"repository": where, "names": ", ".join(changed[:_MAX_NAMES]) + more})
    if old.staged != new.staged:
        yield Reason(Code.GIT_INDEX, {"repository": where})
    if old.others != new.others:
        yield Reason(Code.GIT_OTHER, {"repository": where})


def _short(name: str) -> str:
    """A branch by its plain name, a commit by its first letters; nothing that could imitate other text."""
    plain = name[:12] if _COMMIT.fullmatch(name) else name.removeprefix("refs/").removeprefix("heads/")
    return "".join(letter if letter.isprintable() else "?" for letter in plain)[:100]
