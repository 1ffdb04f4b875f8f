"""Walking beneath a folder without a race, past what `.gitignore` and `.ignore` files leave out, as git reads them.

Each folder is opened from its parent's descriptor and no link is followed, so a folder that is swapped for a link
while the walk goes on leads nowhere. Patterns become regular expressions that cannot run away: every star but the last
is tried once (an atomic group): the first place where its rest fits is as good as any later one.
"""

import itertools
import os
import re
from collections.abc import Callable, Collection, Generator, Iterator
from typing import Literal, NamedTuple

from pilothouse.domain.codes import Code
from pilothouse.sandbox.workspace import Workspace

ENTRIES_AT_MOST, DEEPEST = 200_000, 100
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_IGNORE_FILES = (".gitignore", ".ignore")  # the later one is asked first
_LARGEST, _RULES_AT_MOST = 1024 * 1024, 2000

_CLASSES = (
    r" alnum=0-9A-Za-z alpha=A-Za-z blank=\x20\t cntrl=\x00-\x1f\x7f digit=0-9 graph=!-~ lower=a-z print=\x20-~"
    r" punct=!-/:-@\[-`{-~ space=\x20\t-\r upper=A-Z xdigit=0-9A-Fa-f"
)

Kind = Literal["file", "folder", "link", "other"]
Matches = Callable[[str], object]


class BadPattern(Exception):
    """The pattern means nothing."""


def translate(pattern: str) -> str:
    """A pattern for a whole path, `**` included, as a regular expression. Raises: BadPattern."""
    segments = _segments(pattern)
    segments = [part for at, part in enumerate(segments) if part != "**" or segments[at - 1 : at] != ["**"]]
    runs: list[str] = [""]
    for number, segment in enumerate(segments):
        last = number == len(segments) - 1
        if segment != "**":
            runs[-1] += translate_name(segment) + ("" if last else "/")
        elif last:
            runs[-1] += ".+" if number else ".*"
        else:
            runs.append("")
    # What stands between two `**` is found at the first place where it fits; the end of the path must fit too.
    first, *rest = runs
    middle = "".join(f"(?>(?:.*?/)??{run})" for run in rest[:-1])
    return first + middle + "".join(f"(?:.*/)?{run}" for run in rest[-1:])


def _segments(pattern: str) -> list[str]:
    cuts, at = [-1], 0
    while at < len(pattern):
        cuts += [at] if pattern[at] == "/" else []  # one in a class does not count
        at, _ = _piece(pattern, at)
    return [pattern[left + 1 : right] for left, right in itertools.pairwise([*cuts, len(pattern)])]


def translate_name(segment: str) -> str:
    """One name with `*`, `?`, `[...]` and backslashes. Raises: BadPattern."""
    parts: list[str] = [""]
    at = 0
    while at < len(segment):
        at, piece = _piece(segment, at)
        if piece != "*":
            parts[-1] += piece
        elif parts[-1] or len(parts) == 1:
            parts.append("")
    first, *rest = parts
    middle = "".join(f"(?>[^/]*?{part})" for part in rest[:-1])
    return first + middle + "".join(f"[^/]*{part}" for part in rest[-1:])


def _piece(segment: str, at: int) -> tuple[int, str]:
    """Where the next thing in a name ends, and it; "*" for a star."""
    sign = segment[at]
    if sign == "*":
        return at + 1, "*"
    if sign == "?":
        return at + 1, "[^/]"
    if sign == "[":
        return _class(segment, at + 1)
    if sign != "\\":
        return at + 1, re.escape(sign)
    if at + 1 == len(segment):
        raise BadPattern("it ends in a backslash")
    return at + 2, re.escape(segment[at + 1])


def _class(segment: str, at: int) -> tuple[int, str]:
    negated = segment[at : at + 1] in ("!", "^")
    at += negated
    items: list[str] = []
    start = at
    while at == start or segment[at : at + 1] != "]":
        at, item = _class_item(segment, at)
        items.append(item)
    return at + 1, f"[^/{''.join(items)}]" if negated else f"(?!/)[{''.join(items)}]"


def _class_item(segment: str, at: int) -> tuple[int, str]:
    end = segment.find("]", at + 2)
    if segment.startswith("[:", at) and segment[at + 2 : end].endswith(":"):
        known = re.search(rf" {re.escape(segment[at + 2 : end - 1])}=(\S+)", _CLASSES)
        if known is None:
            raise BadPattern("a class in '[[:…:]]' is not known")
        return end + 1, known[1]
    at, low = _class_sign(segment, at)
    if segment[at : at + 1] == "-" and segment[at + 1 : at + 2] not in ("]", ""):
        at, high = _class_sign(segment, at + 1)
        # A range the wrong way round still holds its first character for git.
        return at, f"{re.escape(low)}-{re.escape(high)}" if low <= high else re.escape(low)
    return at, re.escape(low)


def _class_sign(segment: str, at: int) -> tuple[int, str]:
    at += segment[at : at + 1] == "\\"
    if at >= len(segment):
        raise BadPattern("a '[' is not closed")
    return at + 1, segment[at]


def any_of(expressions: list[str]) -> Matches:
    return re.compile("|".join(f"(?:{one})" for one in expressions) or "(?!)", re.DOTALL).fullmatch


class _Rule(NamedTuple):
    matches: Matches
    by_name: bool
    keeps: bool
    folders_only: bool


class Ignores:
    """What one ignore file says. `base` is the folder it stands in, as `plain` text below the root."""

    def __init__(self, base: str, text: str) -> None:
        self._skip = len(base) + 1 if base else 0
        found = [rule for rule in map(_rule, text.removeprefix("ï»¿").split("\n")[:_RULES_AT_MOST]) if rule]
        self._rules = [rule for rule, _ in reversed(found)]
        # Most paths are meant by no rule: one look each tells.
        self._any_name = any_of([text for rule, text in found if rule.by_name])
        self._any_path = any_of([text for rule, text in found if not rule.by_name])

    def says(self, path: str, is_folder: bool) -> bool | None:
        """Whether a path is left out; None where nothing is said about it."""
        inner, name = path[self._skip :], path.rpartition("/")[2]
        if self._any_name(name) or self._any_path(inner):
            for rule in self._rules:
                if (is_folder or not rule.folders_only) and rule.matches(name if rule.by_name else inner):
                    return not rule.keeps
        return None


def _rule(line: str) -> tuple[_Rule, str] | None:
    line = _without_spaces(line.removesuffix("\r"))
    keeps = line.startswith("!")
    folders_only = line.endswith("/")
    body = line[keeps : -1 if folders_only else None]
    by_name = "/" not in body
    body = body.removeprefix("/")
    if not body or line.startswith("#"):
        return None
    try:
        text = translate_name(body) if by_name else translate(body)
        return _Rule(any_of([text]), by_name, keeps, folders_only), text
    except (BadPattern, re.error):
        return None


def _without_spaces(line: str) -> str:
    """Spaces at the end say nothing, unless a backslash stands before them."""
    end = len(line.rstrip(" "))
    slashes = end - len(line[:end].rstrip("\\"))
    return line[: end + slashes % 2]


def plain(name: str) -> str:
    """A name as one character a byte: git compares bytes."""
    return name if name.isascii() else os.fsencode(name).decode("latin-1")


def read_ignores(dir_fd: int, base: str, names: Collection[str] = _IGNORE_FILES) -> tuple[Ignores, ...]:
    """The ignore files of an open folder, of those `names`. A link is not one, as for git."""
    return tuple(Ignores(base, _content(dir_fd, name)) for name in _IGNORE_FILES if name in names)


def _content(dir_fd: int, name: str) -> str:
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=dir_fd)
        with open(fd, "rb") as file:
            return (file.read(_LARGEST) or b"").decode("latin-1")
    except OSError:
        return ""


def is_ignored(levels: tuple[Ignores, ...], path: str, *, is_folder: bool) -> bool:
    """The nearest ignore file that says something about a path decides."""
    return next((said for level in reversed(levels) if (said := level.says(path, is_folder)) is not None), False)


class Entry(NamedTuple):
    """`path` is below the folder where the walk began; `place` tells its status while the walk is there."""

    path: str
    kind: Kind
    place: "os.DirEntry[str]"


class _Frame:
    """A folder in which the walk is, held open until all below it is done."""

    def __init__(self, fd: int, path: str, plainly: str, levels: tuple[Ignores, ...]) -> None:
        self.fd, self.path, self.plain, self.levels = fd, path, plainly, levels
        self.entries: Iterator[os.DirEntry[str]] = iter(())


class Walk:
    """One walk beneath an open folder that really lies at `real`; `levels` is what ignore files above it say, None
    for no ignore rules at all. `cut`: there was more than may be looked at. `ignored`: how many entries were left
    out. `unread`: how many folders could not be opened. Files and links are given where `wanted` says so."""

    def __init__(self, workspace: Workspace, fd: int, real: str, levels: tuple[Ignores, ...] | None) -> None:
        self.workspace, self._fd, self._real, self._levels = workspace, fd, real, levels
        self._base = os.path.relpath(real, workspace.root) + "/" if real != str(workspace.root) else ""
        self.left = ENTRIES_AT_MOST
        self.cut = False
        self.ignored = self.unread = 0

    def entries(
        self, wanted: Matches, stopped: Callable[[], bool], depth: int = DEEPEST
    ) -> Generator[Entry, None, None]:
        """Depth first, each folder by name, before what it holds."""
        if stopped():  # the folder may be closed already
            return
        stack = [_Frame(os.dup(self._fd), "", plain(self._base), self._levels or ())]
        try:
            self._fill(stack[-1])
            while stack and not stopped():
                frame = stack[-1]
                entry = next(frame.entries, None)
                if entry is None:
                    os.close(stack.pop().fd)
                    continue
                path, kind = frame.path + entry.name, _kind(entry)
                if (kind == "folder" or wanted(path)) and self._may_give(frame, path, entry.name, kind):
                    yield Entry(path, kind, entry)
                    if kind == "folder" and len(stack) < depth:
                        self._enter(stack, entry.name)
                    self.cut = self.cut or (kind == "folder" and len(stack) >= DEEPEST)
        finally:
            for frame in stack:
                os.close(frame.fd)

    def _enter(self, stack: list[_Frame], name: str) -> None:
        above = stack[-1]
        try:
            fd = os.open(name, FOLDER, dir_fd=above.fd)
        except OSError:
            self.unread += 1
            return
        stack.append(_Frame(fd, f"{above.path}{name}/", f"{above.plain}{plain(name)}/", above.levels))
        self._fill(stack[-1])

    def _fill(self, frame: _Frame) -> None:
        with os.scandir(frame.fd) as found:
            entries = list(itertools.islice(found, self.left + 1))
        self.cut = self.cut or len(entries) > self.left
        del entries[self.left :]
        self.left -= len(entries)
        if self._levels is not None:
            frame.levels += read_ignores(frame.fd, frame.plain[:-1], {entry.name for entry in entries})
        frame.entries = iter(sorted(entries, key=lambda entry: entry.name))

    def _may_give(self, frame: _Frame, path: str, name: str, kind: Kind) -> bool:
        if self._levels is not None and name == ".git":
            return False
        if frame.levels and is_ignored(frame.levels, frame.plain + plain(name), is_folder=kind == "folder"):
            self.ignored += 1
            return False
        if self.workspace.is_protected_here(f"{self._real}/{path}", writing=False):
            return False
        try:
            reason = self.workspace.limit(self._base + path) if kind == "link" else None
        except OSError:  # it went away while it was looked at
            return False
        return reason is None or reason.code is not Code.PROTECTED_PATH


def _kind(entry: "os.DirEntry[str]") -> Kind:
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    if entry.is_file(follow_symlinks=False):
        return "file"
    return "link" if entry.is_symlink() else "other"
