"""Finding by content: grep. Which files are searched is decided here, the searching is a process of its own."""

import asyncio
import contextlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox import processes, walking
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import Arguments, Category, Job, Prepared
from pilothouse.tools.builtin import dialect, listing, scan
from pilothouse.tools.builtin.files import reading

SECONDS = 10.0
COUNTED_AT_MOST = 10_000
CHARACTERS_AT_MOST = 60_000
_MESSAGE_AT_MOST = 64 * 1024
_HAS_PROC = Path("/proc/self/fd").is_dir()

# It says where lines match and nothing else: which files, what is binary and what is shown is not left to it.
_RIPGREP = (
    *("--no-config", "--no-ignore", "--hidden", "--no-messages", "--text", "--encoding=none", "--no-mmap"),
    *("--threads=1", "--color=never", "--no-heading", "--with-filename", "--null", "--line-number", "--byte-offset"),
    *("--max-columns=1", "--case-sensitive", "--no-crlf", "--no-multiline", "--engine=default"),
    *("--regex-size-limit=200M", "--dfa-size-limit=64M", f"--max-count={COUNTED_AT_MOST + 1}"),
)


class GrepArguments(Arguments):
    pattern: Annotated[str, Meta(min_length=1)]
    path: str = "."
    glob: str | None = None
    ignore_case: bool = False
    max_results: Annotated[int, Meta(ge=1, le=2000)] = 200


class Grep:
    """`ripgrep` is the program to search with, None for none: the answers are the same."""

    name = "grep"
    description = (
        "Search the text files of the workspace, or those below path, line by line with a regular expression: "
        ". [...] ^ $ | ( ) * + ? {2,3} \\d \\w \\s \\b, all for ASCII; no look-around, no backreferences. glob "
        "narrows the files as in the tool glob. Binary files and what ignore files leave out are not searched, "
        "unless path names it. Gives 'path:line: text', ordered by path."
    )
    category: Category = "file_system"
    effect: Effect = "read_only"
    parameters = GrepArguments

    def __init__(self, ripgrep: str | None, seconds: float = SECONDS) -> None:
        self._ripgrep, self._seconds = ripgrep, seconds

    async def prepare(self, arguments: GrepArguments, workspace: Workspace) -> Prepared:
        return reading(arguments.path, workspace)

    async def run(self, arguments: GrepArguments, job: Job) -> str:
        order = {**_order(arguments, self._ripgrep), "most": arguments.max_results, "counted": COUNTED_AT_MOST}
        wanted = listing.glob_matcher(self.name, arguments.glob) if arguments.glob else _everything
        with listing.open_place(job.workspace, arguments.path) as place:
            walk = walking.Walk(place.workspace, place.fd, place.real, place.levels)
            order["files"] = await listing.until_cancelled(lambda stopped: _files(place, walk, wanted, stopped))
            answer = _Answer(place, order["files"])
            try:
                async with asyncio.timeout(min(self._seconds, job.seconds or self._seconds)):
                    await _ask(order, place.fd, answer)
            except TimeoutError:
                answer.late = True
        return answer.text(listing.notes(walk))


def find_ripgrep() -> str | None:
    """The program that came with us, or one on the path."""
    beside = Path(sys.executable).parent / "rg"
    return str(beside) if os.access(beside, os.X_OK) else shutil.which("rg")


def _everything(_: str) -> bool:
    return True


def _files(place: listing.Place, walk: walking.Walk, wanted: walking.Matches, stopped: Callable[[], bool]) -> list[str]:
    if place.name is not None:
        return [place.name]
    return [entry.path for entry in walk.entries(wanted, stopped) if entry.kind == "file"]


def _order(arguments: GrepArguments, ripgrep: str | None) -> dict[str, Any]:
    """The pattern as the engines read it. Raises: ToolError."""
    try:
        tree = dialect.read_regex(arguments.pattern, ignore_case=arguments.ignore_case)
    except dialect.BadRegex as error:
        detail = f"the pattern {arguments.pattern!r} cannot be used: {error}"
        raise ToolError(Code.INVALID_ARGUMENTS, tool=Grep.name, detail=detail) from error
    nodes: list[scan.Node] = [["end", None, []]]
    return {
        "first": _add(nodes, tree, 0),
        "nodes": nodes,
        "python": _written(tree, "\\U{:08x}", "\\b"),
        "simple": _begins_firmly(tree) and _is_simple(tree),
        "needle": max(_needles(tree), key=len, default=""),
        "rg": [ripgrep, *_RIPGREP, "-e", _written(tree, "\\x{{{:x}}}", "(?-u:\\b)"), "--"] if ripgrep else None,
    }


# the process


async def start_child(argv: list[str], cwd_fd: int) -> asyncio.subprocess.Process:
    """Start a program in an open folder, in a session of its own, with next to no environment."""
    cwd = f"/proc/self/fd/{cwd_fd}" if _HAS_PROC else f"/dev/fd/{cwd_fd}"
    return await asyncio.create_subprocess_exec(
        *argv,
        cwd=cwd,
        env={"LC_ALL": "C.UTF-8"},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
        limit=_MESSAGE_AT_MOST,
    )


async def _ask(order: dict[str, Any], cwd_fd: int, answer: "_Answer") -> None:
    """Raises: ToolError for a child that broke off. It is gone when this returns, however it returns."""
    data = await asyncio.to_thread(lambda: json.dumps(order).encode())
    child = await start_child([sys.executable, "-I", "-S", scan.__file__], cwd_fd)
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            child.stdin.write(data)
            await child.stdin.drain()
            child.stdin.close()
        async for line in child.stdout:
            answer.hear(json.loads(line))
    finally:
        processes.end_group(child.pid)
        await child.wait()
    if not answer.counts["over"]:
        raise ToolError(Code.TOOL_FAILED, tool=Grep.name, detail="the search broke off")


class _Answer:
    def __init__(self, place: listing.Place, files: list[str]) -> None:
        self._place, self._files = place, files
        self._lines: list[str] = []
        self._room = CHARACTERS_AT_MOST
        self.counts: dict[str, int] = dict.fromkeys(("files", "matches", "binary", "large", "unreadable", "over"), 0)
        self.late = False

    def hear(self, message: Any) -> None:
        if isinstance(message, dict):
            self.counts = message
            return
        file, number, text = message
        line = f"{self._place.shown(self._files[file])}:{number}: {text}"
        self._room = self._room - len(line) - 1 if self._room >= len(line) + 1 else -1
        if self._room >= 0:
            self._lines.append(line)

    def text(self, said: list[str]) -> str:
        counts, notes = self.counts, []
        more = max(counts["matches"] - len(self._lines), 0)
        searched = f"{counts['files']} files searched"
        if not self._lines:
            notes.append("No matches." if not self.late else "No matches so far.")
            notes.append(f"[{searched}]")
        if more:
            least = "at least " if self.late or counts["matches"] >= COUNTED_AT_MOST else ""
            notes.append(f"[{least}{more} more matching lines; narrow the pattern, the path or the glob]")
        if self.late:
            done = counts["files"] + counts["binary"] + counts["large"] + counts["unreadable"]
            notes.append(f"[stopped for time after {done} of {len(self._files)} files: this is not all; narrow it]")
        for kind, words in _SKIPPED.items():
            if counts[kind]:
                notes.append(f"[{counts[kind]} {words}]")
        return "\n".join(self._lines + notes + said)


_SKIPPED = {
    "binary": "binary files skipped",
    "large": f"files over {scan.LARGEST // scan.BLOCK} MB skipped",
    "unreadable": "files could not be read",
}


# the pattern for the engines


def _written(tree: dialect.Tree, sign: str, border: str) -> str:
    """The tree as an expression. `sign` is how the engine writes a character by its number."""
    kind = tree[0]
    if kind == "is":
        return border if tree[1] == "b" else str(tree[1])
    if kind == "set":
        ranges = (f"{sign.format(low)}-{sign.format(high)}" for low, high in tree[1])
        return sign.format(tree[1][0][0]) if _is_one(tree) else f"[{''.join(ranges)}]"
    if kind == "rep":
        high = "" if tree[3] is None else tree[3]
        return f"(?:{_written(tree[1], sign, border)}){{{tree[2]},{high}}}"
    return f"(?:{('|' if kind == 'alt' else '').join(_written(part, sign, border) for part in tree[1])})"


def _is_one(tree: dialect.Tree) -> bool:
    return tree[0] == "set" and len(tree[1]) == 1 and tree[1][0][0] == tree[1][0][1]


def _flat(tree: dialect.Tree) -> Iterator[dialect.Tree]:
    """What follows one another in every match."""
    if tree[0] == "seq":
        for part in tree[1]:
            yield from _flat(part)
    else:
        yield tree


def _needles(tree: dialect.Tree) -> list[str]:
    """Texts that every match holds."""
    found = [""]
    for part in _flat(tree):
        if _is_one(part):
            found[-1] += chr(part[1][0][0])
        else:
            found.append("")
    return found


def _begins_firmly(tree: dialect.Tree) -> bool:
    """Whether it begins with a character or an assertion: most places of a line are out at once."""
    if tree[0] == "alt":
        return all(map(_begins_firmly, tree[1]))
    first = next(_flat(tree), None)
    return first is not None and (first[0] in ("set", "is") or (first[0] == "alt" and _begins_firmly(first)))


def _is_simple(tree: dialect.Tree) -> bool:
    """Whether an engine that tries one way after the other stays within bounds on a short line."""
    parts = list(_every(tree))
    repeats = [part for part in parts if part[0] == "rep"]
    endless = [part for part in repeats if part[3] is None or part[3] > 16]
    few = len(repeats) <= 8 and len(endless) <= 2 and sum(part[0] == "alt" for part in parts) <= 3
    return few and all(part[1][0] == "set" for part in repeats)


def _every(tree: dialect.Tree) -> Iterator[dialect.Tree]:
    yield tree
    for part in tree[1] if tree[0] in ("seq", "alt") else tree[1:2] if tree[0] == "rep" else ():
        yield from _every(part)


def _add(nodes: list[scan.Node], tree: dialect.Tree, after: int) -> int:
    """Add to an automaton what leads through a tree to the node `after`; gives where it begins."""
    kind = tree[0]
    if kind == "seq":
        for part in reversed(tree[1]):
            after = _add(nodes, part, after)
        return after
    if kind == "rep":
        return _add_repeated(nodes, tree, after)
    if kind == "alt":
        nodes.append(["any", None, [_add(nodes, part, after) for part in tree[1]]])
    else:
        nodes.append(["set", tree[1], [after]] if kind == "set" else [tree[1], None, [after]])
    return len(nodes) - 1


def _add_repeated(nodes: list[scan.Node], tree: dialect.Tree, after: int) -> int:
    _, part, low, high = tree
    if high is None:
        loop = len(nodes)
        nodes.append(["any", None, [after]])
        nodes[loop][2].append(_add(nodes, part, loop))
        after = loop
    for _ in range((high or low) - low):
        nodes.append(["any", None, [_add(nodes, part, after), after]])
        after = len(nodes) - 1
    for _ in range(low):
        after = _add(nodes, part, after)
    return after
