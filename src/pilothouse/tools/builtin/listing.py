"""Finding by name: list_directory and glob. Also how a folder is opened for any search."""

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
from pilothouse.sandbox import beneath, walking
from pilothouse.sandbox.file_names import escape, printable
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import Arguments, Category, Job, PathText, Prepared
from pilothouse.tools.builtin import patterns
from pilothouse.tools.builtin.files import prepare_reading
from pilothouse.tools.threads import until_cancelled

LISTED_AT_MOST = 1000
_FOUND_AT_MOST = 1000
_IGNORE_FILES_NAMED = 3
MARKS = {"folder": "/", "link": "@", "file": "", "other": ""}


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

    async def prepare(self, arguments: ListDirectoryArguments, workspace: Workspace) -> Prepared:
        return await prepare_reading(arguments.path, workspace)

    async def run(self, arguments: ListDirectoryArguments, job: Job) -> str:
        return await until_cancelled(lambda stopped: _listing(job.workspace, arguments.path, arguments.depth, stopped))


def _listing(workspace: Workspace, path: str, depth: int, stopped: Callable[[], bool]) -> str:
    listed: dict[str, walking.Kind] = {}
    ignored = 0
    told: list[str] = []
    with _open_folders(workspace, path) as places:
        for place in places:
            walk = walking.Walk(place.workspace, place.fd, place.real, place.levels if depth > 1 else None)
            above = place.below(places[0])
            entries = walk.entries(lambda _: True, stopped, max(1, depth - above.count("/")))
            for entry in itertools.islice(entries, LISTED_AT_MOST + 1):
                if above:
                    listed[above[:-1]] = "folder"
                if depth > above.count("/"):
                    listed[above + entry.path] = entry.kind
            entries.close()
            ignored += walk.ignored
            told += over_limit(walk)
    if len(places) > 1:
        listed = dict(sorted(listed.items(), key=lambda one: one[0].split("/")))
    lines = [printable(name) + MARKS[kind] for name, kind in listed.items()]
    if len(lines) > LISTED_AT_MOST:
        lines[LISTED_AT_MOST:] = [f"[cut: only the first {LISTED_AT_MOST} entries are shown; glob finds files by name]"]
    if ignored:
        lines.append(f"[{ignored} ignored entries left out]")
    lines += told
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

    async def prepare(self, arguments: GlobArguments, workspace: Workspace) -> Prepared:
        return await prepare_reading(arguments.path, workspace)

    async def run(self, arguments: GlobArguments, job: Job) -> str:
        wanted = await until_cancelled(lambda _: patterns.glob_matcher(self.name, arguments.pattern))
        return await until_cancelled(lambda stopped: _found(job.workspace, arguments.path, wanted, stopped))


def _found(workspace: Workspace, path: str, wanted: walking.Matches, stopped: Callable[[], bool]) -> str:
    found: dict[str, tuple[int, walking.Kind]] = {}
    told: list[str] = []
    with _open_folders(workspace, path) as places:
        for place in places:
            walk = walking.Walk(place.workspace, place.fd, place.real, place.levels)
            for entry in walk.entries(place.matches(wanted, places[0]), stopped):
                if entry.kind in ("file", "link"):
                    found[place.written + entry.path] = (_age(entry), entry.kind)
            told += notes(walk)
    newest = heapq.nsmallest(_FOUND_AT_MOST, found.items(), key=lambda one: (one[1][0], one[0]))
    lines = [printable(name) + MARKS[kind] for name, (_, kind) in newest]
    if len(found) > len(lines):
        lines.append(f"[cut: the newest {len(lines)} of {len(found)} files are shown; narrow the pattern or the path]")
    return "\n".join((lines or ["No files match."]) + told)


def _age(entry: walking.Entry) -> int:
    try:
        return -entry.place.stat(follow_symlinks=False).st_mtime_ns
    except OSError:
        return 0


def notes(walk: walking.Walk) -> list[str]:
    """What a walk did not see, as lines."""
    said = []
    if walk.cut:
        said.append(
            f"[cut: more than {walking.ENTRIES_AT_MOST} entries, too deep, or ignore files that take too long to "
            "apply; give a path below this one]"
        )
    said += over_limit(walk)
    if walk.unread:
        said.append(f"[{walk.unread} folders could not be opened]")
    return said


def over_limit(walk: walking.Walk) -> list[str]:
    """Which ignore files were not applied, as lines."""
    paths = list(dict.fromkeys(walk.rules.over_limit))
    shown = ", ".join(printable(os.fsdecode(path.encode("latin-1"))) for path in paths[:_IGNORE_FILES_NAMED])
    more = f" and {len(paths) - _IGNORE_FILES_NAMED} more" if len(paths) > _IGNORE_FILES_NAMED else ""
    limits = f"{walking.MAX_RULES} rules, {walking.MAX_WILDCARDS} wildcards, {walking.MAX_IGNORE_BYTES // 1024} kB"
    return [f"[ignore files not applied, over the limit of {limits}: {shown}{more}]"] if paths else []


# opening what is to be searched


class Place(NamedTuple):
    """A folder that was opened for a search, or the folder of the one file `name`. `workspace` is the one it lies in,
    `written` how the person calls it, with a slash ("" for the root); `real` is where it lies."""

    workspace: Workspace
    fd: int
    written: str
    real: str
    name: str | None
    levels: tuple[walking.Ignores, ...]

    def below(self, first: "Place") -> str:
        """The path from the folder that was named to this one, with a slash; "" for that folder itself."""
        return self.written[len(first.written) :]

    def matches(self, wanted: walking.Matches, first: "Place") -> walking.Matches:
        """The same for paths of this folder, as `wanted` is for those of the folder that was named."""
        above = self.below(first)
        return (lambda path: wanted(above + path)) if above else wanted

    def shown(self, path: str) -> str:
        """A path of the walk as the person may write it."""
        return printable(self.written + path)


@contextlib.contextmanager
def open_places(workspace: Workspace, path: str) -> Iterator[list[Place]]:
    """What is to be searched, and the conversation's own folders that show in it. Raises: ToolError."""
    with open_place(workspace, path) as place, contextlib.ExitStack() as held:
        folders = workspace.mounts_in(path) if place.name is None else []
        yield [place, *(held.enter_context(open_place(folder, ".")) for folder in folders)]


@contextlib.contextmanager
def _open_folders(workspace: Workspace, path: str) -> Iterator[list[Place]]:
    with open_places(workspace, path) as places:
        if places[0].name is not None:
            raise ToolError(Code.NOT_A_DIRECTORY, path=path)
        yield places


@contextlib.contextmanager
def open_place(workspace: Workspace, path: str) -> Iterator[Place]:
    """Raises: ToolError for what is missing, outside or protected."""
    reason = workspace.limit(path)
    if reason is not None:
        raise ToolError(reason.code, **reason.params)
    home, inside = workspace.elsewhere(path) or (workspace, path)
    written = home.relative(inside)
    inner = os.path.relpath(os.path.realpath(home.root / written), home.root)
    folder, name = (inner, None) if os.path.isdir(home.root / inner) else os.path.split(inner)
    with home.directory(escape(folder) or ".") as fd:
        if name is not None:
            _require_file(fd, name, path)
            written = os.path.dirname(written) if os.path.basename(written) == name else folder
        prefix = "" if written in ("", ".") else f"{written}/"
        real = _where(fd, home, folder)
        yield Place(home, fd, home.prefix + prefix, real, name, _levels_above(home, real))


def _require_file(fd: int, name: str, path: str) -> None:
    try:
        mode = os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode
    except FileNotFoundError as error:
        raise ToolError(Code.FILE_MISSING, path=path) from error
    if not stat.S_ISREG(mode):
        raise ToolError(Code.NOT_A_FILE, path=path)


def _where(fd: int, workspace: Workspace, folder: str) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return os.path.realpath(workspace.root / folder)


def _levels_above(workspace: Workspace, real: str) -> tuple[walking.Ignores, ...]:
    """What holds in a folder by the ignore files above it. Inside a folder that is itself ignored, and was named
    all the same, they say nothing more."""
    levels: tuple[walking.Ignores, ...] = ()
    parts = [] if real == str(workspace.root) else os.path.relpath(real, workspace.root).split("/")
    with workspace.directory(".") as root_fd, contextlib.ExitStack() as held:
        fd, path = root_fd, ""
        for part in parts:
            levels = walking.levels_in(fd, path, levels)
            path = f"{path}/{walking.plain(part)}" if path else walking.plain(part)
            if part == ".git" or walking.is_ignored(levels, path, is_folder=True):
                return ()
            try:
                fd = os.open(part, beneath.FOLDER, dir_fd=fd)
            except OSError:
                break
            held.callback(os.close, fd)
    return levels
