"""Finding by content: grep. ripgrep does it, shut in where it can read nothing but the folder; `scan` does it where
there is no ripgrep, or no kernel that could shut it in. Both print alike, so that one reader serves for both.

ripgrep reads UTF-8, and UTF-16 with a byte order mark. Files in other encodings are looked for first; `scan` searches
them, each in the encoding in which read_file shows it.
"""

import asyncio
import contextlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox import confinement, processes, walking
from pilothouse.sandbox.confinement import Confinement
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import Arguments, Category, Job, PathText, Prepared
from pilothouse.tools.builtin import listing, patterns, scan
from pilothouse.tools.builtin.files import prepare_reading
from pilothouse.tools.builtin.grep_answer import MAX_COUNTED, Answer
from pilothouse.tools.builtin.grep_encodings import encodings_of, file_note, scan_names
from pilothouse.tools.threads import entered_in_thread, until_cancelled

SECONDS = 10.0
_SECONDS_FOR_OTHER_ENCODINGS = 4.0
_MAX_LISTED_BYTES = 16 * 1024 * 1024
_READ_BYTES = 16 * 1024
# One that ripgrep reads as we do; what it narrows is still narrowed by ours.
_PLAIN_GLOB = re.compile(r"[\w.*-]*(?:\{\w++(?:,\w++)++\})?", re.ASCII)

_FILES = (
    *("--no-config", "--hidden", "--no-require-git", "--no-ignore-global", "--no-ignore-exclude", "--glob=!.git"),
    *("--no-messages", "--no-ignore-messages", "--color=never", "--null", "--no-mmap"),
    f"--max-filesize={scan.MAX_SEARCHED_BYTES}",
)
# Ordered by path, it answers the same each time, and is hardly slower. The statistics tell that it came to its end.
_RIPGREP = (
    *(*_FILES, "--no-heading", "--with-filename", "--field-match-separator=\\0", "--line-number", "--column", "--crlf"),
    *("--sort=path", "--stats", "--line-buffered", f"--max-columns={scan.LINE}", "--max-columns-preview"),
)
# The files with a line that is not valid UTF-8, or holds a zero byte or an escape.
_OTHER_ENCODINGS = (*_FILES, "--text", "--files-with-matches", "--invert-match", "-e", r"^[^\x00\x1b]*$")
# What our own Python consists of.
_PYTHON = tuple(dict.fromkeys((sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix, sys.executable)))


class GrepArguments(Arguments):
    pattern: Annotated[str, Meta(min_length=1, max_length=1000)]
    path: PathText = "."
    glob: Annotated[str, Meta(max_length=1000)] | None = None
    ignore_case: bool = False
    max_results: Annotated[int, Meta(ge=1, le=2000)] = 200


class Grep:
    """`ripgrep` is the program to search with, None for none: the answers are the same."""

    name = "grep"
    description = (
        "Search the text files of the workspace, or those below path, line by line with a regular expression: "
        ". [...] ^ $ | ( ) * + ? {2,3} \\d \\w \\s \\b; no look-around, no backreferences. glob narrows the files as "
        f"in the tool glob. Binary files, files over {scan.MAX_SEARCHED_BYTES >> 20} MB and what ignore files leave "
        "out are not searched, unless path names what is ignored. Gives 'path:line: text', ordered by path."
    )
    category: Category = "file_system"
    effect: Effect = "read_only"
    parameters = GrepArguments

    def __init__(self, ripgrep: str | None, seconds: float = SECONDS) -> None:
        self._ripgrep, self._seconds = ripgrep, seconds

    async def prepare(self, arguments: GrepArguments, workspace: Workspace) -> Prepared:
        return await prepare_reading(arguments.path, workspace)

    async def run(self, arguments: GrepArguments, job: Job) -> str:
        wanted = await until_cancelled(lambda _: self._checked(arguments))
        async with entered_in_thread(listing.open_places(job.workspace, arguments.path)) as places:
            answers = [
                Answer(place, wanted and place.matches(wanted, places[0]), arguments.max_results) for place in places
            ]
            first = places[0]
            note = await until_cancelled(lambda _: file_note(first)) if first.name is not None else None
            if note is not None:
                answers[0].notes.append(note)
                return answers[0].text()
            try:
                async with asyncio.timeout(min(self._seconds, job.seconds or self._seconds)):
                    for answer in answers:
                        if not await self._by_ripgrep(arguments, answer, job):
                            await _by_scan(arguments, answer, job)
            except TimeoutError:
                stopped = "[stopped for time: this is not all; narrow the pattern, the path or the glob]"
                answers[0].notes.append(stopped)
        for other in answers[1:]:
            answers[0].join(other)
        return answers[0].text()

    def _checked(self, arguments: GrepArguments) -> walking.Matches | None:
        """What the glob matches. Raises: ToolError."""
        patterns.check_regex(arguments.pattern)
        return patterns.glob_matcher(self.name, arguments.glob) if arguments.glob else None

    async def _by_ripgrep(self, arguments: GrepArguments, answer: Answer, job: Job) -> bool:
        if self._ripgrep is None or not confinement.kernel().landlock:
            return False
        place, flags = answer.place, []
        if not place.levels:  # otherwise, those above count as far up as the workspace goes: no more can be read
            flags.append("--no-ignore-parent")
        narrows = arguments.glob is not None and _PLAIN_GLOB.fullmatch(arguments.glob) is not None
        if narrows:
            flags += [f"--type-add=wanted:{arguments.glob}", "--type=wanted"]
        flags += _without_private(place)
        confined, where = await _shut_in([self._ripgrep], place), ["--", f"./{place.name or ''}"]
        others = await _listed([self._ripgrep, *_OTHER_ENCODINGS, *flags, *where], confined, answer, job)
        if others is None:
            return False
        await _search_others(others, arguments, answer, job)
        case = "--ignore-case" if arguments.ignore_case else "--case-sensitive"
        pattern = patterns.regex_for_ripgrep(arguments.pattern)
        argv = [self._ripgrep, *_RIPGREP, *flags, case, "-e", pattern, *where]
        done = await _search(argv, confined, answer, job)
        if arguments.glob is not None and not narrows:
            answer.files = None  # it searched more than was wanted
        return done


def find_ripgrep() -> str | None:
    """The program that came with us, or one on the path."""
    beside = Path(sys.executable).parent / "rg"
    return str(beside) if os.access(beside, os.X_OK) else shutil.which("rg")


def _without_private(place: listing.Place) -> list[str]:
    """Flags that keep ripgrep out of the folders that are closed to it."""
    inside = [path for path in place.workspace.closed() if path.startswith(f"{place.real}/")]
    names = [re.sub(r"([\\*?\[\]{}!])", r"\\\1", os.path.relpath(path, place.real)) for path in inside]
    return [f"--glob=!/{name}" for name in names]


async def _shut_in(program: Sequence[str], place: listing.Place) -> Confinement:
    """What is swapped for a link while it walks leads nowhere outside, nor to what is closed."""
    root, closed = str(place.workspace.root), place.workspace.closed()
    return await until_cancelled(lambda _: confinement.reading_with(program, [root], closed))


async def _by_scan(arguments: GrepArguments, answer: Answer, job: Job) -> None:
    place = answer.place
    walk = walking.Walk(place.workspace, place.fd, place.real, place.levels)

    def walked(stopped: walking.Stopped) -> dict[str, str]:
        entries = walk.entries(answer.wants, stopped)
        found = [place.name] if place.name else [entry.path for entry in entries if entry.kind == "file"]
        return dict.fromkeys(found, "")

    answer.forget()
    paths = await until_cancelled(walked)
    answer.notes += listing.notes(walk)
    async with entered_in_thread(_names(paths)) as names:
        others = await _listed(_scan_program(names), await _for_scan(names, answer), answer, job)
    await _search_others(others or [], arguments, answer, job)
    await _scan(paths, arguments, answer, job)


async def _search_others(paths: list[str], arguments: GrepArguments, answer: Answer, job: Job) -> None:
    """Search the files in other encodings; the engine's own matches in them do not count."""
    found = await until_cancelled(lambda stopped: encodings_of(answer.place, filter(answer.wants, paths), stopped))
    if found:
        await _scan(found, arguments, answer, job)
        answer.files = None
        answer.passed = frozenset(found)


async def _scan(paths: Mapping[str, str], arguments: GrepArguments, answer: Answer, job: Job) -> None:
    async with entered_in_thread(_names(paths)) as names:
        argv = [*_scan_program(names), arguments.pattern, *("i" * arguments.ignore_case)]
        if not await _search(argv, await _for_scan(names, answer), answer, job):
            raise ToolError(Code.TOOL_FAILED, tool=Grep.name, detail="the search broke off")


def _scan_program(names: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-B", scan.__file__, names]


async def _for_scan(names: str, answer: Answer) -> Confinement:
    return await _shut_in([*_PYTHON, scan.__file__, names], answer.place)


@contextlib.contextmanager
def _names(paths: Mapping[str, str]) -> Iterator[str]:
    """A file with the paths to scan, and the encoding of each."""
    with tempfile.NamedTemporaryFile(prefix="pilothouse-") as file:
        file.write(scan_names(paths))
        file.flush()
        yield file.name


async def _listed(argv: list[str], confined: Confinement, answer: Answer, job: Job) -> list[str] | None:
    """The files in other encodings; None where the program failed. Looking for them leaves time for the search."""
    data, is_whole = bytearray(), False
    try:
        async with asyncio.timeout(_SECONDS_FOR_OTHER_ENCODINGS), _started(argv, confined, answer, job) as running:
            while (part := await running.output.read(65536)) and len(data) < _MAX_LISTED_BYTES:
                data += part
            is_whole = not part
    except TimeoutError:
        pass
    if not is_whole:
        answer.notes.append("[not all files that are not UTF-8 were looked at; narrow the path or the glob]")
    elif data and data[-1] != 0:
        return None
    return await until_cancelled(lambda _: _paths(bytes(data)))


def _paths(data: bytes) -> list[str]:
    """The names that are complete, in the order of their folders."""
    names = (name.removeprefix(b"./") for name in data.split(b"\0")[:-1])
    return [os.fsdecode(name) for name in sorted(names, key=lambda name: name.split(b"/"))]


async def _search(argv: list[str], confined: Confinement, answer: Answer, job: Job) -> bool:
    """Whether it came to its end, or as far as is enough. Nothing of it is left when this returns."""
    rest, before = b"", answer.begin()
    async with _started(argv, confined, answer, job) as running:
        while part := await running.output.read(_READ_BYTES):
            rest = answer.hear(rest + part)
            await asyncio.sleep(0)  # a read of what has come already does not give way to others
            if answer.matches - before > MAX_COUNTED:
                return True
        status = await running.process.wait()
    return answer.hear_end(rest, status)


@contextlib.asynccontextmanager
async def _started(
    argv: list[str], confined: Confinement, answer: Answer, job: Job
) -> AsyncIterator[processes.Running]:
    cwd, environment = f"/proc/self/fd/{answer.place.fd}", {"LC_ALL": "C.UTF-8"}
    running = await processes.start(argv, cwd=cwd, call_id=job.call_id, environment=environment, confinement=confined)
    try:
        yield running
    finally:
        await asyncio.shield(running.end())
