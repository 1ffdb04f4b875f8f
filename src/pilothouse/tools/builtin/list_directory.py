"""list_directory and glob: searches by name. `open_search_roots` opens the folders of any search."""

import contextlib
import heapq
import itertools
import os
import stat
from collections.abc import Callable, Iterator
from typing import Annotated, NamedTuple

from msgspec import Meta

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox import gitignore, openat
from pilothouse.sandbox import walk as sandbox_walk
from pilothouse.sandbox.file_names import escape, printable
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import Arguments, CallPreview, Category, PathText, ToolContext
from pilothouse.tools.builtin import patterns
from pilothouse.tools.builtin.read_file import prepare_reading
from pilothouse.tools.threads import until_cancelled

MAX_LISTED_ENTRIES = 1000
_MAX_GLOB_MATCHES = 1000
_MAX_IGNORE_FILES_NAMED = 3
KIND_SUFFIXES = {"folder": "/", "link": "@", "file": "", "other": ""}


class ListDirectoryArguments(Arguments):
    path: PathText = "."
    depth: Annotated[int, Meta(ge=1, le=5)] = 1


class ListDirectory:
    name = "list_directory"
    description = (
        "List a folder of the workspace. Folders end in '/', links in '@'. depth goes from 1 to 5; from 2 on, what "
        "ignore files leave out is not shown. Bytes of a name that are not UTF-8 are written \\xNN."
    )
    category: Category = "file_system"
    effect: Effect = "read_only"
    parameters = ListDirectoryArguments

    async def prepare(self, arguments: ListDirectoryArguments, workspace: Workspace) -> CallPreview:
        return await prepare_reading(arguments.path, workspace)

    async def run(self, arguments: ListDirectoryArguments, context: ToolContext) -> str:
        return await until_cancelled(
            lambda stopped: _list_folder(context.workspace, arguments.path, arguments.depth, stopped)
        )


def _list_folder(workspace: Workspace, path: str, depth: int, stopped: Callable[[], bool]) -> str:
    kinds: dict[str, sandbox_walk.Kind] = {}
    ignored_count = 0
    remarks: list[str] = []
    with _open_folders(workspace, path) as roots:
        for root in roots:
            walk = sandbox_walk.Walk(root.workspace, root.fd, root.real, root.levels if depth > 1 else None)
            parent = root.below(roots[0])
            entries = walk.entries(lambda _: True, stopped, max(1, depth - parent.count("/")))
            for entry in itertools.islice(entries, MAX_LISTED_ENTRIES + 1):
                if parent:
                    kinds[parent[:-1]] = "folder"
                if depth > parent.count("/"):
                    kinds[parent + entry.path] = entry.kind
            entries.close()
            ignored_count += walk.ignored
            remarks += over_limit(walk)
    if len(roots) > 1:
        kinds = dict(sorted(kinds.items(), key=lambda item: item[0].split("/")))
    lines = [printable(name) + KIND_SUFFIXES[kind] for name, kind in kinds.items()]
    if len(lines) > MAX_LISTED_ENTRIES:
        lines[MAX_LISTED_ENTRIES:] = [
            f"[cut: only the first {MAX_LISTED_ENTRIES} entries are shown; glob finds files by name]"
        ]
    if ignored_count:
        lines.append(f"[{ignored_count} ignored entries left out]")
    lines += remarks
    return "\n".join(lines) or "[empty]"


class GlobArguments(Arguments):
    pattern: Annotated[str, Meta(min_length=1, max_length=1000)]
    path: PathText = "."


class Glob:
    name = "glob"
    description = (
        "Find files of the workspace by name, newest first. The pattern knows *, ?, [...], {a,b} and ** for any "
        "folders; one without a slash matches names at any depth, one with a slash paths below path. What ignore "
        "files leave out is not found, unless path names such a folder. Links end in '@'."
    )
    category: Category = "file_system"
    effect: Effect = "read_only"
    parameters = GlobArguments

    async def prepare(self, arguments: GlobArguments, workspace: Workspace) -> CallPreview:
        return await prepare_reading(arguments.path, workspace)

    async def run(self, arguments: GlobArguments, context: ToolContext) -> str:
        matches = await until_cancelled(lambda _: patterns.glob_matcher(self.name, arguments.pattern))
        return await until_cancelled(lambda stopped: _match_glob(context.workspace, arguments.path, matches, stopped))


def _match_glob(workspace: Workspace, path: str, matches: gitignore.Matcher, stopped: Callable[[], bool]) -> str:
    files: dict[str, tuple[int, sandbox_walk.Kind]] = {}
    remarks: list[str] = []
    with _open_folders(workspace, path) as roots:
        for root in roots:
            walk = sandbox_walk.Walk(root.workspace, root.fd, root.real, root.levels)
            for entry in walk.entries(root.matches(matches, roots[0]), stopped):
                if entry.kind in ("file", "link"):
                    files[root.prefix + entry.path] = (_age(entry), entry.kind)
            remarks += notes(walk)
    newest = heapq.nsmallest(_MAX_GLOB_MATCHES, files.items(), key=lambda item: (item[1][0], item[0]))
    lines = [printable(name) + KIND_SUFFIXES[kind] for name, (_, kind) in newest]
    if len(files) > len(lines):
        lines.append(f"[cut: the newest {len(lines)} of {len(files)} files are shown; narrow the pattern or the path]")
    return "\n".join((lines or ["No files match."]) + remarks)


def _age(entry: sandbox_walk.Entry) -> int:
    try:
        return -entry.dir_entry.stat(follow_symlinks=False).st_mtime_ns
    except OSError:
        return 0


def notes(walk: sandbox_walk.Walk) -> list[str]:
    """Lines about the entries that a walk did not see."""
    lines = []
    if walk.cut:
        lines.append(
            f"[cut: more than {sandbox_walk.MAX_WALK_ENTRIES} entries, too deep, or ignore files that take too long to "
            "apply; give a path below this one]"
        )
    lines += over_limit(walk)
    if walk.unread:
        lines.append(f"[{walk.unread} folders could not be opened]")
    return lines


def over_limit(walk: sandbox_walk.Walk) -> list[str]:
    """A line about ignore files that were not applied, if any."""
    paths = list(dict.fromkeys(walk.rules.over_limit))
    names = ", ".join(printable(os.fsdecode(path.encode("latin-1"))) for path in paths[:_MAX_IGNORE_FILES_NAMED])
    more = f" and {len(paths) - _MAX_IGNORE_FILES_NAMED} more" if len(paths) > _MAX_IGNORE_FILES_NAMED else ""
    kilobytes = gitignore.MAX_IGNORE_BYTES // 1024
    limits = f"{gitignore.MAX_RULES} rules, {gitignore.MAX_WILDCARDS} wildcards, {kilobytes} kB"
    return [f"[ignore files not applied, over the limit of {limits}: {names}{more}]"] if paths else []


# opening the folders to search


class SearchRoot(NamedTuple):
    """A folder opened for a search, or the folder of a single file to search."""

    workspace: Workspace
    fd: int
    prefix: str
    """The folder as the person writes it, with a slash; "" for the root."""
    real: str
    """The absolute path of the folder."""
    name: str | None
    """The single file to search; None for the whole folder."""
    levels: tuple[gitignore.IgnoreFile, ...]
    """The ignore rules of the folders above."""

    def below(self, named: "SearchRoot") -> str:
        """The path from the named folder to this one, with a slash; "" for the named folder itself."""
        return self.prefix[len(named.prefix) :]

    def matches(self, matcher: gitignore.Matcher, named: "SearchRoot") -> gitignore.Matcher:
        """A matcher for paths of this folder, from a matcher for paths of the named folder."""
        parent = self.below(named)
        return (lambda path: matcher(parent + path)) if parent else matcher

    def shown(self, path: str) -> str:
        """A path of the walk as the person would write it."""
        return printable(self.prefix + path)


@contextlib.contextmanager
def open_search_roots(workspace: Workspace, path: str) -> Iterator[list[SearchRoot]]:
    """The folder or file to search, and the conversation's own folders mounted in it. Raises: ToolError."""
    with open_search_root(workspace, path) as root, contextlib.ExitStack() as stack:
        folders = workspace.mounts_in(path) if root.name is None else []
        yield [root, *(stack.enter_context(open_search_root(folder, ".")) for folder in folders)]


@contextlib.contextmanager
def _open_folders(workspace: Workspace, path: str) -> Iterator[list[SearchRoot]]:
    with open_search_roots(workspace, path) as roots:
        if roots[0].name is not None:
            raise ToolError(Code.NOT_A_DIRECTORY, path=path)
        yield roots


@contextlib.contextmanager
def open_search_root(workspace: Workspace, path: str) -> Iterator[SearchRoot]:
    """Open a folder or file for a search. Raises: ToolError for a path that is missing, outside or protected."""
    reason = workspace.violation(path)
    if reason is not None:
        raise ToolError(reason.code, **reason.params)
    owner, path_inside = workspace.redirect(path) or (workspace, path)
    relative_path = owner.relative(path_inside)
    real_path = os.path.relpath(os.path.realpath(owner.root / relative_path), owner.root)
    folder, name = (real_path, None) if os.path.isdir(owner.root / real_path) else os.path.split(real_path)
    with owner.directory(escape(folder) or ".") as fd:
        if name is not None:
            _require_file(fd, name, path)
            relative_path = os.path.dirname(relative_path) if os.path.basename(relative_path) == name else folder
        prefix = "" if relative_path in ("", ".") else f"{relative_path}/"
        real = _real_path(fd, owner, folder)
        yield SearchRoot(owner, fd, owner.prefix + prefix, real, name, _levels_above(owner, real))


def _require_file(fd: int, name: str, path: str) -> None:
    try:
        mode = os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode
    except FileNotFoundError as error:
        raise ToolError(Code.FILE_MISSING, path=path) from error
    if not stat.S_ISREG(mode):
        raise ToolError(Code.NOT_A_FILE, path=path)


def _real_path(fd: int, workspace: Workspace, folder: str) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return os.path.realpath(workspace.root / folder)


def _levels_above(workspace: Workspace, real: str) -> tuple[gitignore.IgnoreFile, ...]:
    """The ignore rules that apply to a folder by the ignore files above it. A named folder that is itself ignored gets
    none."""
    levels: tuple[gitignore.IgnoreFile, ...] = ()
    parts = [] if real == str(workspace.root) else os.path.relpath(real, workspace.root).split("/")
    with workspace.directory(".") as root_fd, contextlib.ExitStack() as stack:
        fd, path = root_fd, ""
        for part in parts:
            levels = gitignore.read_ignore_files(fd, path, levels)
            path = f"{path}/{gitignore.latin1_name(part)}" if path else gitignore.latin1_name(part)
            if part == ".git" or gitignore.is_ignored(levels, path, is_folder=True):
                return ()
            try:
                fd = os.open(part, openat.FOLDER_FLAGS, dir_fd=fd)
            except OSError:
                break
            stack.callback(os.close, fd)
    return levels
