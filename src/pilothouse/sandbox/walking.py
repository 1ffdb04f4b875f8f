"""Walking beneath a folder without a race, past what ignore files leave out: their patterns mean what git means by
them, and which file counts is what ripgrep takes for it.

Each folder is opened from its parent's descriptor and no link is followed, so a folder that is swapped for a link
while the walk goes on leads nowhere. Patterns become regular expressions that cannot run away: every star but the last
is tried once (an atomic group): the first place where its rest fits is as good as any later one.
"""

import contextlib
import itertools
import os
import re
from collections import deque
from collections.abc import Callable, Container, Generator, Iterator
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

from pilothouse.domain.codes import Code
from pilothouse.regular_file import open_regular_file
from pilothouse.sandbox.beneath import FOLDER, Way
from pilothouse.sandbox.data_directory import is_data_directory
from pilothouse.sandbox.file_names import escape
from pilothouse.sandbox.workspace import Workspace

ENTRIES_AT_MOST, DEEPEST = 200_000, 100
IGNORE_FILES = (".gitignore", ".ignore", ".rgignore")  # a later one is asked first, wherever it stands
# Of all ignore files that hold in one folder. An ignore file that goes beyond says nothing.
MAX_IGNORE_BYTES = 128 * 1024
MAX_RULES = 2000
MAX_WILDCARDS = 4000
_MAX_RULE_CHARACTERS = 1000
_MAX_COMPILED_FILES = 64
# Of one walk, in characters that a wildcard passes over: a few seconds.
MAX_RULE_WORK = 1_000_000_000
_WORK_OF_A_RULE = 10
_WORK_TO_COMPILE_A_RULE = 20_000
_WORK_TO_COMPILE_A_WILDCARD = 3_000
# What takes longer than looking at an entry counts for so many: where a link leads, to read a rule and to ask it.
_A_LINK_COSTS, _A_RULE_COSTS, _RULES_LIKE_AN_ENTRY = 10, 5, 100

# A class with its negation, what it holds and its end; or one character, perhaps behind a backslash.
_PIECE = re.compile(r"(\[)([!^]?+)(\]?+(?:\\.|[^]\\])*+)(\]?)|(\\?.)", re.DOTALL)
_IN_CLASS = re.compile(r"(\\?.)(?:-(\\?.))?", re.DOTALL)

Kind = Literal["file", "folder", "link", "other"]
Matches = Callable[[str], object]
Stopped = Callable[[], bool]


class BadPattern(Exception):
    """The pattern means nothing."""


def translate(pattern: str) -> str:
    """A pattern for a name, or for a whole path, as a regular expression. Raises: BadPattern."""
    segments: list[list[str]] = [[]]
    for piece in _pieces(pattern):
        if piece != "/":
            segments[-1].append(piece)
        elif segments[-2:] == [["*", "*"], ["*", "*"]]:
            segments[-1] = []
        else:
            segments.append([])
    runs: list[str] = [""]
    for number, segment in enumerate(segments):
        last = number == len(segments) - 1
        if segment != ["*", "*"]:
            runs[-1] += _name(segment) + ("" if last else "/")
        elif last:
            runs[-1] += ".+" if number else ".*"
        else:
            runs.append("")
    # What stands between two `**` is found at the first place where it fits; the end of the path must fit too.
    first, *rest = runs
    middle = "".join(f"(?>(?:.*?/)??{run})" for run in rest[:-1])
    return first + middle + "".join(f"(?:.*/)?{run}" for run in rest[-1:])


def _name(pieces: list[str]) -> str:
    parts = [""]
    for piece in pieces:
        if piece != "*":
            parts[-1] += piece
        elif parts[-1] or len(parts) == 1:
            parts.append("")
    first, *rest = parts
    middle = "".join(f"(?>[^/]*?{part})" for part in rest[:-1])
    return first + middle + "".join(f"[^/]*{part}" for part in rest[-1:])


def _pieces(pattern: str) -> list[str]:
    """Each thing in a pattern as a regular expression, a star as itself. Raises: BadPattern."""
    found = []
    for opening, negation, inside, closing, sign in _PIECE.findall(pattern):
        if (opening and not closing) or sign == "\\":
            raise BadPattern("a '[' is not closed" if opening else "it ends in a backslash")
        if opening:
            ranges = [(low[-1], high[-1:]) for low, high in _IN_CLASS.findall(inside)]
            # One the wrong way round still holds its first character for git.
            items = "".join(re.escape(low) + f"-{re.escape(high)}" * (low <= high) for low, high in ranges)
            found.append(f"[^/{items}]" if negation else f"(?!/)[{items}]")
        else:
            found.append({"*": "*", "?": "[^/]"}.get(sign) or re.escape(sign[-1]))
    return found


def any_of(expressions: list[str]) -> Matches:
    return re.compile("|".join(f"(?:{one})" for one in expressions) or "(?!)", re.DOTALL).fullmatch


class _Rule:
    """One line of an ignore file."""

    def __init__(self, text: str, *, by_name: bool, keeps: bool, folders_only: bool) -> None:
        self.text, self.by_name, self.keeps, self.folders_only = text, by_name, keeps, folders_only

    @cached_property
    def matches(self) -> Matches:
        """Compiled when a path asks for it: few rules of a long file are ever asked alone."""
        return any_of([self.text])


class _Rules:
    """The rules of one ignore file, the last first."""

    def __init__(self, text: str) -> None:
        self.all = [rule for rule in map(_rule, reversed(text.removeprefix("ï»¿").split("\n"))) if rule]
        self.size = len(self.all) + len(text) // 1000
        try:
            self._join()
        except re.error:  # some rule is none
            self.all = [rule for rule in self.all if _is_valid(rule)]
            self._join()

    def _join(self) -> None:
        """Most paths are meant by no rule: one look each tells."""
        self.any_name = any_of([rule.text for rule in self.all if rule.by_name])
        self.any_path = any_of([rule.text for rule in self.all if not rule.by_name])


def _is_valid(rule: _Rule) -> bool:
    try:
        return rule.matches is not None
    except re.error:
        return False


_compiled = lru_cache(maxsize=_MAX_COMPILED_FILES)(_Rules)  # every walk reads the same few files


class Ignores:
    """What one ignore file says. `base` is the folder it stands in, as `plain` text below the root."""

    def __init__(self, base: str, name: str, text: str, above: "tuple[Ignores, ...]" = ()) -> None:
        self.path = f"{base}/{name}" if base else name
        self.rank = IGNORE_FILES.index(name)
        self._skip = len(base) + 1 if base else 0
        self.characters, self.lines, self.wildcards = len(text), text.count("\n") + 1, text.count("*")
        held = [level for level in above if not level.is_over_limit]
        self.is_over_limit: bool = (
            self.characters + sum(level.characters for level in held) > MAX_IGNORE_BYTES
            or self.lines + sum(level.lines for level in held) > MAX_RULES
            or self.wildcards + sum(level.wildcards for level in held) > MAX_WILDCARDS
        )
        """Whether this file and those above it would cost too much: then it says nothing."""
        self._rules = _compiled("" if self.is_over_limit else text)
        self.size = self._rules.size

    def work(self, path: str) -> int:
        """How much it takes to ask for a path, at most."""
        return 0 if self.is_over_limit else _WORK_OF_A_RULE * self.lines + self.wildcards * len(path)

    def work_to_compile(self) -> int:
        lines, wildcards = (0, 0) if self.is_over_limit else (self.lines, self.wildcards)
        return _WORK_TO_COMPILE_A_RULE * lines + _WORK_TO_COMPILE_A_WILDCARD * wildcards

    def says(self, path: str, is_folder: bool) -> bool | None:
        """Whether a path is left out; None where nothing is said about it."""
        inner, name = path[self._skip :], path.rpartition("/")[2]
        if self._rules.any_name(name) or self._rules.any_path(inner):
            for rule in self._rules.all:
                if (is_folder or not rule.folders_only) and rule.matches(name if rule.by_name else inner):
                    return not rule.keeps
        return None


def _rule(line: str) -> _Rule | None:
    """Spaces at the end say nothing, unless a backslash stands before them. A line that no name is as long as says
    nothing."""
    if len(line) > _MAX_RULE_CHARACTERS:
        return None
    line = line.removesuffix("\r")
    end = len(line.rstrip(" "))
    line = line[: end + (end - len(line[:end].rstrip("\\"))) % 2]
    keeps, folders_only = line.startswith("!"), line.endswith("/")
    body = line[keeps : -1 if folders_only else None]
    if not body.removeprefix("/") or line.startswith("#"):
        return None
    try:
        text = translate(body.removeprefix("/"))
    except BadPattern:
        return None
    return _Rule(text, by_name="/" not in body, keeps=keeps, folders_only=folders_only)


def plain(name: str) -> str:
    """A name as one character a byte: git compares bytes."""
    return name if name.isascii() else os.fsencode(name).decode("latin-1")


def levels_in(dir_fd: int, base: str, above: tuple[Ignores, ...]) -> tuple[Ignores, ...]:
    """What holds in an open folder. A link is no ignore file, as for git."""
    own: list[Ignores] = []
    for name in IGNORE_FILES:
        with contextlib.suppress(OSError):
            with open_regular_file(name, dir_fd=dir_fd) as file:
                text = file.read(MAX_IGNORE_BYTES + 1).decode("latin-1")
            own.append(Ignores(base, name, text, (*above, *own)))
    return tuple(sorted(above + tuple(own), key=lambda level: level.rank)) if own else above


def is_ignored(levels: tuple[Ignores, ...], path: str, *, is_folder: bool) -> bool:
    """The last that says something about a path decides: the nearest file of the strongest name."""
    for level in reversed(levels):
        if (said := level.says(path, is_folder)) is not None:
            return said
    return False


class RuleBudget:
    """How much one walk may spend on ignore rules, whatever the ignore files of the workspace say."""

    def __init__(self) -> None:
        self.left = MAX_RULE_WORK
        self.over_limit: list[str] = []
        """Ignore files that say nothing because they, with those above them, would cost too much."""

    def levels_in(self, dir_fd: int, base: str, above: tuple[Ignores, ...]) -> tuple[Ignores, ...]:
        levels = levels_in(dir_fd, base, above)
        if levels is not above:
            known = set(map(id, above))
            own = [level for level in levels if id(level) not in known]
            self.left -= sum(level.work_to_compile() for level in own)
            self.over_limit += [level.path for level in own if level.is_over_limit]
        return levels

    def is_ignored(self, levels: tuple[Ignores, ...], path: str, *, is_folder: bool) -> bool:
        """As `is_ignored`. Once the budget is spent, nothing is ignored."""
        self.left -= sum(level.work(path) for level in levels)
        return self.left > 0 and is_ignored(levels, path, is_folder=is_folder)


def _size(levels: tuple[Ignores, ...]) -> int:
    return sum(level.size for level in levels)


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
        self.workspace, self._fd, self._levels = workspace, fd, levels
        self._real = os.path.join(real, "")
        self._base = os.path.relpath(real, workspace.root) + "/" if real != str(workspace.root) else ""
        self.left = ENTRIES_AT_MOST
        self.cut = False
        self.ignored = self.unread = 0
        self.rules = RuleBudget()
        self.rules.over_limit += [level.path for level in levels or () if level.is_over_limit]

    def entries(self, wanted: Matches, stopped: Stopped, depth: int = DEEPEST) -> Generator[Entry, None, None]:
        """Depth first, each folder by name, before what it holds."""
        if stopped():  # the folder may be closed already
            return
        stack = [_Frame(os.dup(self._fd), "", plain(self._base), self._levels or ())]
        try:
            self._fill(stack[-1], self.left)
            while stack and not stopped() and not self._is_spent():
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
        self._fill(stack[-1], self.left)

    def nearest(self, most: int, past: Container[str], stopped: Stopped) -> Generator[Entry, None, None]:
        """Breadth first, in each folder the folders first, by name; those named in `past` are left out. `most` is how
        much is looked at: entries, with what it takes to come to them. One folder gets half of what is left at most,
        so that a huge one leaves something to those beside it."""
        todo = deque([_Frame(-1, "", plain(self._base), self._levels or ())])
        with contextlib.closing(Way(self._fd)) as way:
            while todo and most > 0 and not stopped() and not self._is_spent():
                frame = todo.popleft()
                known = _size(frame.levels)
                entries = self._reached(way, frame)
                most -= way.opened + _A_RULE_COSTS * (_size(frame.levels) - known)
                each = 1 + _size(frame.levels) // _RULES_LIKE_AN_ENTRY
                room = max(0, most + 1) // 2 // each
                self.cut = self.cut or len(entries) > room
                for entry in itertools.islice(entries, room):
                    path, kind = frame.path + entry.name, _kind(entry)
                    most -= each + _A_LINK_COSTS * (kind == "link")
                    if self._is_spent():
                        break
                    if entry.name not in past and most >= 0 and self._may_give(frame, path, entry.name, kind):
                        yield Entry(path, kind, entry)
                        if kind == "folder":
                            todo.append(_Frame(-1, f"{path}/", f"{frame.plain}{plain(entry.name)}/", frame.levels))
        self.cut = self.cut or bool(todo) or most < 0

    def _reached(self, way: Way, frame: _Frame) -> list["os.DirEntry[str]"]:
        names = frame.path.split("/")[:-1]
        if len(names) >= DEEPEST:
            self.cut = True
            return []
        try:
            frame.fd = way.open(names)
            self._fill(frame, self.left // 2)
            return sorted(frame.entries, key=lambda entry: not entry.is_dir(follow_symlinks=False))
        except OSError:
            self.unread += 1
            return []

    def _fill(self, frame: _Frame, most: int) -> None:
        with os.scandir(frame.fd) as found:
            entries = list(itertools.islice(found, most + 1))
        is_root = not frame.path and not self._base
        if not is_root and is_data_directory(frame.fd, {entry.name for entry in entries}):
            entries = []
        self.cut = self.cut or len(entries) > most
        del entries[most:]
        self.left -= len(entries)
        if self._levels is not None:
            frame.levels = self.rules.levels_in(frame.fd, frame.plain[:-1], frame.levels)
        frame.entries = iter(sorted(entries, key=lambda entry: entry.name))

    def _is_spent(self) -> bool:
        """Whether asking ignore rules has taken all that one walk may take."""
        self.cut = self.cut or self.rules.left <= 0
        return self.rules.left <= 0

    def _may_give(self, frame: _Frame, path: str, name: str, kind: Kind) -> bool:
        if self._levels is not None and name == ".git":
            return False
        if frame.levels and self.rules.is_ignored(frame.levels, frame.plain + plain(name), is_folder=kind == "folder"):
            self.ignored += 1
            return False
        if self.workspace.is_protected_here(self._real + path, writing=False):
            return False
        try:
            reason = self.workspace.limit(escape(self._base + path)) if kind == "link" else None
        except OSError:  # it went away while it was looked at
            return False
        return reason is None or reason.code is not Code.PROTECTED_PATH


def _kind(entry: "os.DirEntry[str]") -> Kind:
    if entry.is_symlink():
        return "link"
    return "folder" if entry.is_dir() else "file" if entry.is_file() else "other"
