"""grep: a search by content. ripgrep runs confined to the folder; `scanner` replaces it where ripgrep or a kernel
that could confine it is missing. Both print the same format, which one parser reads.

ripgrep reads UTF-8, and UTF-16 with a byte order mark. Files in other encodings are listed first; `scanner`
searches them, each in the encoding in which read_file shows the file.
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
from pilothouse.sandbox import confinement, gitignore, processes
from pilothouse.sandbox import walk as sandbox_walk
from pilothouse.sandbox.confinement import Confinement
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import Arguments, CallPreview, Category, PathText, ToolContext
from pilothouse.tools.builtin import list_directory, patterns
from pilothouse.tools.builtin.grep import scanner
from pilothouse.tools.builtin.grep.encoded_files import encodings_of, file_note, scan_names
from pilothouse.tools.builtin.grep.matches import MAX_COUNTED_MATCHES, GrepMatches
from pilothouse.tools.builtin.read_file import prepare_reading
from pilothouse.tools.threads import entered_in_thread, until_cancelled

SEARCH_TIMEOUT_SECONDS = 10.0
_ENCODING_TIMEOUT_SECONDS = 4.0
_MAX_LISTED_BYTES = 16 * 1024 * 1024
_CHUNK_BYTES = 16 * 1024
# A glob with the same meaning in ripgrep. Our own matcher filters the results in any case.
_RIPGREP_GLOB = re.compile(r"[\w.*-]*(?:\{\w++(?>(?:,\w++)+)\})?", re.ASCII)

_FILE_FLAGS = (
    *("--no-config", "--hidden", "--no-require-git", "--no-ignore-global", "--no-ignore-exclude", "--glob=!.git"),
    *("--no-messages", "--no-ignore-messages", "--color=never", "--null", "--no-mmap"),
    f"--max-filesize={scanner.MAX_SEARCHED_BYTES}",
)
# Sorting makes the answer reproducible at little cost. The statistics at the end show that the search was complete.
_RIPGREP_FLAGS = (
    *(
        *_FILE_FLAGS,
        "--no-heading",
        "--with-filename",
        "--field-match-separator=\\0",
        "--line-number",
        "--column",
        "--crlf",
    ),
    *(
        "--sort=path",
        "--stats",
        "--line-buffered",
        f"--max-columns={scanner.MAX_LINE_CHARACTERS}",
        "--max-columns-preview",
    ),
)
# Lists files with a line that is not valid UTF-8, or that contains a zero byte or an escape.
_ENCODING_FLAGS = (*_FILE_FLAGS, "--text", "--files-with-matches", "--invert-match", "-e", r"^[^\x00\x1b]*$")
# The files of our own Python.
_PYTHON_PATHS = tuple(
    dict.fromkeys((sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix, sys.executable))
)


class GrepArguments(Arguments):
    pattern: Annotated[str, Meta(min_length=1, max_length=1000)]
    path: PathText = "."
    glob: Annotated[str, Meta(max_length=1000)] | None = None
    ignore_case: bool = False
    max_results: Annotated[int, Meta(ge=1, le=2000)] = 200


class Grep:
    """Search by content. `ripgrep` is the path of the program, None for none: the answers are the same."""

    name = "grep"
    description = (
        "Search the text files of the workspace, or those below path, line by line with a regular expression: "
        ". [...] ^ $ | ( ) * + ? {2,3} \\d \\w \\s \\b; no look-around, no backreferences. glob narrows the files as "
        f"in the tool glob. Binary files, files over {scanner.MAX_SEARCHED_BYTES >> 20} MB and what ignore files "
        "leave out are not searched, unless path names what is ignored. Gives 'path:line: text', ordered by path."
    )
    category: Category = "file_system"
    effect: Effect = "read_only"
    parameters = GrepArguments

    def __init__(self, ripgrep: str | None, seconds: float = SEARCH_TIMEOUT_SECONDS) -> None:
        self._ripgrep, self._seconds = ripgrep, seconds

    async def prepare(self, arguments: GrepArguments, workspace: Workspace) -> CallPreview:
        return await prepare_reading(arguments.path, workspace)

    async def run(self, arguments: GrepArguments, context: ToolContext) -> str:
        matches = await until_cancelled(lambda _: self._check(arguments))
        async with entered_in_thread(list_directory.open_search_roots(context.workspace, arguments.path)) as roots:
            results = [
                GrepMatches(root, matches and root.matches(matches, roots[0]), arguments.max_results) for root in roots
            ]
            first = roots[0]
            note = await until_cancelled(lambda _: file_note(first)) if first.name is not None else None
            if note is not None:
                results[0].notes.append(note)
                return results[0].text()
            try:
                async with asyncio.timeout(min(self._seconds, context.seconds or self._seconds)):
                    for result in results:
                        if not await self._search_by_ripgrep(arguments, result, context):
                            await _search_by_scanner(arguments, result, context)
            except TimeoutError:
                timeout_note = "[stopped at the time limit; for more, narrow the pattern, the path or the glob]"
                results[0].notes.append(timeout_note)
        for mounted_result in results[1:]:
            results[0].merge(mounted_result)
        return results[0].text()

    def _check(self, arguments: GrepArguments) -> gitignore.Matcher | None:
        """The matcher of the glob, None without one. Raises: ToolError for an invalid pattern."""
        patterns.check_regex(arguments.pattern)
        return patterns.glob_matcher(self.name, arguments.glob) if arguments.glob else None

    async def _search_by_ripgrep(self, arguments: GrepArguments, result: GrepMatches, context: ToolContext) -> bool:
        if self._ripgrep is None or not confinement.kernel().landlock:
            return False
        root, flags = result.root, []
        # With levels, ignore files of parent folders apply as far up as the confinement shows them: to the workspace.
        if not root.levels:
            flags.append("--no-ignore-parent")
        has_ripgrep_glob = arguments.glob is not None and _RIPGREP_GLOB.fullmatch(arguments.glob) is not None
        if has_ripgrep_glob:
            flags += [f"--type-add=wanted:{arguments.glob}", "--type=wanted"]
        flags += _exclude_private(root)
        sandbox, target = await _confine([self._ripgrep], root), ["--", f"./{root.name or ''}"]
        paths = await _list_other_encodings(
            [self._ripgrep, *_ENCODING_FLAGS, *flags, *target], sandbox, result, context
        )
        if paths is None:
            return False
        await _search_other_encodings(paths, arguments, result, context)
        case = "--ignore-case" if arguments.ignore_case else "--case-sensitive"
        pattern = patterns.regex_for_ripgrep(arguments.pattern)
        argv = [self._ripgrep, *_RIPGREP_FLAGS, *flags, case, "-e", pattern, *target]
        is_complete = await _run_search(argv, sandbox, result, context)
        if arguments.glob is not None and not has_ripgrep_glob:
            result.files = None  # ripgrep also counted files that the glob excludes
        return is_complete


def find_ripgrep() -> str | None:
    """The installed ripgrep: beside our Python first, then on the path."""
    bundled = Path(sys.executable).parent / "rg"
    return str(bundled) if os.access(bundled, os.X_OK) else shutil.which("rg")


def _exclude_private(root: list_directory.SearchRoot) -> list[str]:
    """Flags that keep ripgrep out of folders closed to the tools."""
    closed = [path for path in root.workspace.closed_folders() if path.startswith(f"{root.real}/")]
    names = [re.sub(r"([\\*?\[\]{}!])", r"\\\1", os.path.relpath(path, root.real)) for path in closed]
    return [f"--glob=!/{name}" for name in names]


async def _confine(program: Sequence[str], root: list_directory.SearchRoot) -> Confinement:
    """A sandbox that reads the workspace only: a folder swapped for a symlink during the walk leads neither outside nor
    into closed folders."""
    workspace_root, closed = str(root.workspace.root), root.workspace.closed_folders()
    return await until_cancelled(lambda _: confinement.program_confinement(program, [workspace_root], closed))


async def _search_by_scanner(arguments: GrepArguments, result: GrepMatches, context: ToolContext) -> None:
    root = result.root
    walk = sandbox_walk.Walk(root.workspace, root.fd, root.real, root.levels)

    def list_files(stopped: sandbox_walk.Stopped) -> dict[str, str]:
        entries = walk.entries(result.wants, stopped)
        files = [root.name] if root.name else [entry.path for entry in entries if entry.kind == "file"]
        return dict.fromkeys(files, "")

    result.reset()
    paths = await until_cancelled(list_files)
    result.notes += list_directory.notes(walk)
    async with entered_in_thread(_path_file(paths)) as path_file:
        other_paths = await _list_other_encodings(
            _scanner_command(path_file), await _confine_scanner(path_file, result), result, context
        )
    encodings = await _other_encodings(other_paths or [], result)
    await _scan({**paths, **encodings}, arguments, result, context)


async def _other_encodings(paths: list[str], result: GrepMatches) -> dict[str, str]:
    encodings: dict[str, str] = await until_cancelled(
        lambda stopped: encodings_of(result.root, filter(result.wants, paths), stopped)
    )
    return encodings


async def _search_other_encodings(
    paths: list[str], arguments: GrepArguments, result: GrepMatches, context: ToolContext
) -> None:
    """Search the files in other encodings; matches that ripgrep finds in them do not count."""
    encodings = await _other_encodings(paths, result)
    if encodings:
        await _scan(encodings, arguments, result, context)
        result.files = None
        result.excluded = frozenset(encodings)


async def _scan(paths: Mapping[str, str], arguments: GrepArguments, result: GrepMatches, context: ToolContext) -> None:
    async with entered_in_thread(_path_file(paths)) as path_file:
        argv = [*_scanner_command(path_file), arguments.pattern, *("i" * arguments.ignore_case)]
        if not await _run_search(argv, await _confine_scanner(path_file, result), result, context):
            raise ToolError(Code.TOOL_FAILED, tool=Grep.name, detail="the search was interrupted")


def _scanner_command(path_file: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-B", scanner.__file__, path_file]


async def _confine_scanner(path_file: str, result: GrepMatches) -> Confinement:
    return await _confine([*_PYTHON_PATHS, scanner.__file__, path_file], result.root)


@contextlib.contextmanager
def _path_file(paths: Mapping[str, str]) -> Iterator[str]:
    """A temporary file with the paths to scan and the encoding of each."""
    with tempfile.NamedTemporaryFile(prefix="pilothouse-") as file:
        file.write(scan_names(paths))
        file.flush()
        yield file.name


async def _list_other_encodings(
    argv: list[str], sandbox: Confinement, result: GrepMatches, context: ToolContext
) -> list[str] | None:
    """The files in other encodings; None where the program failed. A timeout leaves time for the search itself."""
    data, is_whole = bytearray(), False
    try:
        async with asyncio.timeout(_ENCODING_TIMEOUT_SECONDS), _running(argv, sandbox, result, context) as running:
            while (chunk := await running.output.read(65536)) and len(data) < _MAX_LISTED_BYTES:
                data += chunk
            is_whole = not chunk
    except TimeoutError:
        pass
    if not is_whole:
        result.notes.append("[some files that aren't UTF-8 weren't searched; narrow the path or the glob]")
    elif data and data[-1] != 0:
        return None
    return await until_cancelled(lambda _: _parse_paths(bytes(data)))


def _parse_paths(data: bytes) -> list[str]:
    """The complete paths, sorted by folder."""
    names = (name.removeprefix(b"./") for name in data.split(b"\0")[:-1])
    return [os.fsdecode(name) for name in sorted(names, key=lambda name: name.split(b"/"))]


async def _run_search(argv: list[str], sandbox: Confinement, result: GrepMatches, context: ToolContext) -> bool:
    """Whether the search was complete, or has found enough. No process is left afterwards."""
    unparsed, previous_matches = b"", result.begin_program()
    async with _running(argv, sandbox, result, context) as running:
        while chunk := await running.output.read(_CHUNK_BYTES):
            unparsed = result.feed(unparsed + chunk)
            await asyncio.sleep(0)  # reading buffered data does not yield to other tasks
            if result.matches - previous_matches > MAX_COUNTED_MATCHES:
                return True
        status = await running.process.wait()
    return result.finish(unparsed, status)


@contextlib.asynccontextmanager
async def _running(
    argv: list[str], sandbox: Confinement, result: GrepMatches, context: ToolContext
) -> AsyncIterator[processes.SupervisedProcess]:
    cwd, environment = f"/proc/self/fd/{result.root.fd}", {"LC_ALL": "C.UTF-8"}
    running = await processes.start(
        argv, cwd=cwd, call_id=context.call_id, environment=environment, confinement=sandbox
    )
    try:
        yield running
    finally:
        await asyncio.shield(running.end())
