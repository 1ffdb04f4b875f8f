"""Finding by content: grep. ripgrep does it, shut in where it can read nothing but the folder; `scan` does it where
there is no ripgrep, or no kernel that could shut it in. Both print alike, so that one reader serves for both.
"""

import asyncio
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox import confinement, processes, walking
from pilothouse.sandbox.confinement import FREE, Confinement
from pilothouse.sandbox.file_names import escape
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import Arguments, Category, Job, Prepared
from pilothouse.tools.builtin import listing, patterns, scan
from pilothouse.tools.builtin.files import reading
from pilothouse.tools.threads import until_cancelled

SECONDS = 10.0
COUNTED_AT_MOST = 10_000
CHARACTERS_AT_MOST = 60_000
_SHOWN = 500
# One that ripgrep reads as we do; what it narrows is still narrowed by ours.
_PLAIN_GLOB = re.compile(r"[\w.*-]*(?:\{\w+(?:,\w+)+\})?", re.ASCII)

# Ordered by path, it answers the same each time, and is hardly slower. The statistics tell that it came to its end.
_RIPGREP = (
    *("--no-config", "--hidden", "--no-require-git", "--no-ignore-global", "--no-ignore-exclude", "--glob=!.git"),
    *("--no-messages", "--no-ignore-messages", "--color=never", "--no-heading", "--with-filename", "--null"),
    "--field-match-separator=\\0",
    *("--line-number", "--column", "--crlf", "--no-mmap", "--sort=path", "--stats", "--line-buffered"),
    *(f"--max-filesize={scan.LARGEST}", f"--max-columns={scan.LINE}", "--max-columns-preview"),
)
# What a program needs to start at all.
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/nix/store", "/etc/ld.so.cache")

# What they print. A file that turns out to be binary in the middle is told in between; the empty end of a file that
# does not end in a line end has no column.
_BINARY = rb"(?:[^\0\n]*: (?:WARNING: stopped searching binary|binary file matches)[^\n]*\n)*"
_RECORD = re.compile(_BINARY + rb"\./([^\0]+)\0(\d+)\0(?:(\d+)\0)?([^\0\n]*)\n")
_END = re.compile(_BINARY + rb"\n(?:[^\0\n]+\n)*?(\d+) files searched\n")


class GrepArguments(Arguments):
    pattern: Annotated[str, Meta(min_length=1, max_length=1000)]
    path: str = "."
    glob: str | None = None
    ignore_case: bool = False
    max_results: Annotated[int, Meta(ge=1, le=2000)] = 200


class Grep:
    """`ripgrep` is the program to search with, None for none: the answers are the same."""

    name = "grep"
    description = (
        "Search the text files of the workspace, or those below path, line by line with a regular expression: "
        ". [...] ^ $ | ( ) * + ? {2,3} \\d \\w \\s \\b; no look-around, no backreferences. glob narrows the files as "
        "in the tool glob. Binary files, files over 100 MB and what ignore files leave out are not searched, unless "
        "path names what is ignored. Gives 'path:line: text', ordered by path."
    )
    category: Category = "file_system"
    effect: Effect = "read_only"
    parameters = GrepArguments

    def __init__(self, ripgrep: str | None, seconds: float = SECONDS) -> None:
        self._ripgrep, self._seconds = ripgrep, seconds

    async def prepare(self, arguments: GrepArguments, workspace: Workspace) -> Prepared:
        return reading(arguments.path, workspace)

    async def run(self, arguments: GrepArguments, job: Job) -> str:
        patterns.check_regex(arguments.pattern)
        wanted = patterns.glob_matcher(self.name, arguments.glob) if arguments.glob else None
        with listing.open_place(job.workspace, arguments.path) as place:
            answer = _Answer(place, wanted, arguments.max_results)
            try:
                async with asyncio.timeout(min(self._seconds, job.seconds or self._seconds)):
                    if not (answer.is_skipped() or await self._by_ripgrep(arguments, answer, job)):
                        await _by_scan(arguments, answer, job)
            except TimeoutError:
                answer.notes.append("[stopped for time: this is not all; narrow the pattern, the path or the glob]")
        return answer.text()

    async def _by_ripgrep(self, arguments: GrepArguments, answer: "_Answer", job: Job) -> bool:
        if self._ripgrep is None or not confinement.has_sandbox():
            return False
        place, flags = answer.place, ["--ignore-case" if arguments.ignore_case else "--case-sensitive"]
        if not place.levels:  # otherwise, those above count as far up as the workspace goes: no more can be read
            flags.append("--no-ignore-parent")
        narrows = arguments.glob is not None and _PLAIN_GLOB.fullmatch(arguments.glob) is not None
        if narrows:
            flags += [f"--type-add=wanted:{arguments.glob}", "--type=wanted"]
        flags += _without_private(place)
        pattern = patterns.regex_for_ripgrep(arguments.pattern)
        argv = [self._ripgrep, *_RIPGREP, *flags, "-e", pattern, "--", f"./{place.name or ''}"]
        done = await _search(argv, _shut_in(self._ripgrep, place), answer, job)
        if arguments.glob is not None and not narrows:
            answer.files = None  # it searched more than was wanted
        return done


def find_ripgrep() -> str | None:
    """The program that came with us, or one on the path."""
    beside = Path(sys.executable).parent / "rg"
    return str(beside) if os.access(beside, os.X_OK) else shutil.which("rg")


def _without_private(place: listing.Place) -> list[str]:
    """Flags that keep ripgrep out of the runtime's own folders."""
    inside = [path for path in place.workspace.private() if path.startswith(f"{place.real}/")]
    names = [re.sub(r"([\\*?\[\]{}!])", r"\\\1", os.path.relpath(path, place.real)) for path in inside]
    return [f"--glob=!/{name}" for name in names]


def _shut_in(program: str, place: listing.Place) -> Confinement:
    """What is swapped for a link while it walks leads nowhere outside."""
    return Confinement("read_only", (str(place.workspace.root), os.path.realpath(program), *_LIBRARIES))


async def _by_scan(arguments: GrepArguments, answer: "_Answer", job: Job) -> None:
    place = answer.place
    walk = walking.Walk(place.workspace, place.fd, place.real, place.levels)

    def names(stopped: walking.Stopped) -> bytes:
        entries = walk.entries(answer.wants, stopped)
        found = [place.name] if place.name else [entry.path for entry in entries if entry.kind == "file"]
        return b"".join(os.fsencode(path) + b"\0" for path in found)

    answer.forget()
    with tempfile.NamedTemporaryFile(prefix="pilothouse-") as file:
        file.write(await until_cancelled(names))
        file.flush()
        answer.notes += listing.notes(walk)
        argv = [sys.executable, "-I", "-S", "-B", scan.__file__, file.name, arguments.pattern]
        if not await _search([*argv, *("i" * arguments.ignore_case)], FREE, answer, job):
            raise ToolError(Code.TOOL_FAILED, tool=Grep.name, detail="the search broke off")


async def _search(argv: list[str], confined: Confinement, answer: "_Answer", job: Job) -> bool:
    """Whether it came to its end, or as far as is enough. Nothing of it is left when this returns."""
    cwd, environment = f"/proc/self/fd/{answer.place.fd}", {"LC_ALL": "C.UTF-8"}
    running = await processes.start(argv, cwd=cwd, call_id=job.call_id, environment=environment, confinement=confined)
    rest = b""
    try:
        while part := await running.output.read(65536):
            rest = answer.hear(rest + part)
            if answer.matches > COUNTED_AT_MOST:
                return True
        status = await running.process.wait()
    finally:
        await asyncio.shield(running.end())
    end = _END.match(rest)
    if end is not None:
        answer.files = int(end[1])
        answer.notes += ["[some files could not be read]"] * (status == 2)
    return end is not None


class _Answer:
    """What has been found so far, in the order of the paths."""

    def __init__(self, place: listing.Place, wanted: walking.Matches | None, most: int) -> None:
        self.place, self._wanted, self._most = place, wanted, most
        self.forget()

    def forget(self) -> None:
        self.notes: list[str] = []
        self._lines: list[str] = []
        self.matches = 0
        self.files: int | None = None

    def wants(self, path: str) -> bool:
        return self._wanted is None or self.place.name is not None or bool(self._wanted(path))

    def is_skipped(self) -> bool:
        """Whether the one file that was named is not for searching; the answer tells why. Raises: ToolError."""
        if self.place.name is None:
            return False
        with self.place.workspace.opened(escape(f"{self.place.real}/{self.place.name}")) as file:
            why = scan.why_skipped(file.fileno())
        self.notes += [f"[the file is {why}: skipped]"] * (why is not None)
        return why is not None

    def hear(self, data: bytes) -> bytes:
        """Take in what was printed; gives what is not complete."""
        at = 0
        while found := _RECORD.match(data, at):
            at = found.end()
            path = os.fsdecode(found[1])
            real = os.path.join(self.place.real, path)
            if self.wants(path) and not self._is_closed(real):
                self.matches += 1
                if self.matches <= self._most:
                    text = _shown(found[4].rstrip(b"\r"), int(found[3] or len(found[4]) + 1) - 1)
                    self._lines.append(f"{self.place.shown(path)}:{int(found[2])}: {text}")
        return data[at:]

    def _is_closed(self, real: str) -> bool:
        workspace = self.place.workspace
        return workspace.is_protected_here(real, writing=False) or workspace.is_in_data_directory(os.path.dirname(real))

    def text(self) -> str:
        room = CHARACTERS_AT_MOST
        lines = [line for line in self._lines if (room := room - len(line) - 1) >= 0]
        if not lines:
            lines.append("No matches.")
            lines += [f"[{self.files} files searched]"] if self.files is not None else []
        elif self.matches > len(lines):
            least = "at least " if self.matches > COUNTED_AT_MOST else ""
            more = min(self.matches, COUNTED_AT_MOST) - len(lines)
            lines.append(f"[{least}{more} more matching lines; narrow the pattern, the path or the glob]")
        return "\n".join(lines + self.notes)


def _shown(line: bytes, at: int) -> str:
    """A line, or what is around its first match."""
    before = line[:at].decode(errors="replace")
    text = before + line[at:].decode(errors="replace")
    if len(text) <= _SHOWN:
        return text
    start = max(0, min(len(before) - _SHOWN // 2, len(text) - _SHOWN + 2))
    cut = text[start : start + _SHOWN - 2]
    return ("…" if start else "") + cut + ("…" if start + len(cut) < len(text) else "")
