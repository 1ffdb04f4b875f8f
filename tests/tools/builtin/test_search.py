"""list_directory, glob and grep: results, omissions, and equal answers of grep with and without ripgrep."""

import asyncio
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.domain.value import CallId
from pilothouse.sandbox import walk as sandbox_walk
from pilothouse.sandbox.workspace import Root, Workspace
from pilothouse.tools.base import ToolContext, parse_arguments
from pilothouse.tools.builtin import list_directory, patterns
from pilothouse.tools.builtin.grep import scanner
from pilothouse.tools.builtin.grep import tool as grep_tool
from pilothouse.tools.builtin.grep.matches import GrepMatches
from pilothouse.tools.builtin.grep.tool import Grep, find_ripgrep
from pilothouse.tools.builtin.list_directory import Glob, ListDirectory
from pilothouse.tools.builtin.read_file import ReadFile
from pilothouse.tools.threads import until_cancelled
from tests.support.kernel import needs_sandbox
from tests.support.scale import HANG_SECONDS, LONG

RIPGREP = find_ripgrep()
assert RIPGREP is not None, "it comes with the requirements of the tests"
ENGINES = [pytest.param(RIPGREP, id="ripgrep"), None]
GIT = shutil.which("git")
NUMBERS = itertools.count()
CHANCE = st.randoms(use_true_random=True)


async def use(root: Path, tool: Any, *, private: list[Path] | None = None, **arguments: Any) -> str:
    """Prepare, then run. Raises: ToolError."""
    workspace = Workspace(root, private or [])
    parsed = parse_arguments(tool.name, tool.parameters, arguments)
    prepared = await tool.prepare(parsed, workspace)
    if prepared.violation is not None:
        raise ToolError(prepared.violation.code, **prepared.violation.params)
    text: str = await tool.run(parsed, ToolContext(call_id=a_call(), workspace=workspace, seconds=30))
    return text


def a_call() -> CallId:
    """Processes left by a call are found, and ended, by its unique id."""
    return CallId(f"call-{os.getpid()}-{next(NUMBERS)}")


def plant(root: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


IGNORING: dict[str, str | bytes] = {
    ".gitignore": "*.log\n/build/\nnode_modules/\n!keep.log\n",
    "a.py": "needle\n",
    "x.log": "needle\n",
    "keep.log": "needle\n",
    ".hidden": "needle\n",
    "build/out.py": "needle\n",
    "build/sub/dist/deep.py": "needle\n",
    "sub/build/kept.py": "needle\n",
    "sub/.ignore": "secret*\n!x.log\n",
    "sub/secret.py": "needle\n",
    "sub/x.log": "needle\n",
    ".git/info/x": "needle\n",
    "sub/.git/info/x": "needle\n",
}
SEEN = {".hidden", "a.py", "keep.log", "sub/build/kept.py", "sub/x.log"}


# listing


async def test_a_shallow_listing_shows_ignored_entries_and_a_deep_one_counts_them(tmp_path: Path) -> None:
    plant(tmp_path, IGNORING)
    shallow = (await use(tmp_path, ListDirectory())).split("\n")
    assert shallow == [".git/", ".gitignore", ".hidden", "a.py", "build/", "keep.log", "sub/", "x.log"]
    deep = (await use(tmp_path, ListDirectory(), depth=3)).split("\n")
    assert deep[:4] == [".gitignore", ".hidden", "a.py", "keep.log"]
    assert "sub/build/kept.py" in deep
    assert not {"build/", "x.log", ".git/", "sub/.git/", "sub/secret.py"} & set(deep)
    assert deep[-1] == "[3 ignored entries left out]"
    assert "dist/deep.py" in await use(tmp_path, ListDirectory(), path="build/sub", depth=2)


async def test_a_listing_is_bounded_and_knows_links_and_odd_names(tmp_path: Path) -> None:
    plant(tmp_path, {f"many/{number:04}": "" for number in range(1100)})
    (tmp_path / "out").symlink_to("/etc")
    os.close(os.open(os.fsencode(tmp_path) + b"/bad\xff", os.O_CREAT))
    (tmp_path / "new\nline").touch()
    assert await use(tmp_path, ListDirectory()) == "bad\\xff\nmany/\nnew\\x0aline\nout@"
    lines = (await use(tmp_path, ListDirectory(), path="many")).split("\n")
    assert lines[999:] == ["0999", "[cut: only the first 1000 entries are shown; glob finds files by name]"]
    with pytest.raises(ToolError) as caught:
        await use(tmp_path, ListDirectory(), path="many/0001")
    assert caught.value.reason.code is Code.NOT_A_DIRECTORY


# glob


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.py", {"a.py", "src/b.py", "src/deep/er/c.py", "src/x.test.py"}),
        ("*", {"a.py", "src/b.py", "src/deep/er/c.py", "src/x.test.py", "src/d.ts", "[odd] {1}.txt"}),
        ("**", {"a.py", "src/b.py", "src/deep/er/c.py", "src/x.test.py", "src/d.ts", "[odd] {1}.txt"}),
        ("**/*.py", {"a.py", "src/b.py", "src/deep/er/c.py", "src/x.test.py"}),
        ("src/*.py", {"src/b.py", "src/x.test.py"}),
        ("./src/*.py", {"src/b.py", "src/x.test.py"}),
        ("src/**", {"src/b.py", "src/deep/er/c.py", "src/x.test.py", "src/d.ts"}),
        ("src/deep/", {"src/deep/er/c.py"}),
        ("src/**/c.py", {"src/deep/er/c.py"}),
        ("**/er/*", {"src/deep/er/c.py"}),
        ("?.py", {"a.py", "src/b.py", "src/deep/er/c.py"}),
        ("[ab].py", {"a.py", "src/b.py"}),
        ("[!ab].py", {"src/deep/er/c.py"}),
        ("*.{ts,py}", {"a.py", "src/b.py", "src/deep/er/c.py", "src/x.test.py", "src/d.ts"}),
        ("{a,src/{b,deep/*/c}}.py", {"a.py", "src/b.py", "src/deep/er/c.py"}),
        ("x.{test,spec}.*", {"src/x.test.py"}),
        ("\\[odd\\] {1}.txt", {"[odd] {1}.txt"}),
        ("deep", set()),
        ("A.PY", set()),
    ],
)
async def test_glob_finds(tmp_path: Path, pattern: str, expected: set[str]) -> None:
    names = ["a.py", "src/b.py", "src/deep/er/c.py", "src/x.test.py", "src/d.ts", "[odd] {1}.txt"]
    plant(tmp_path, dict.fromkeys(names, ""))
    assert set((await use(tmp_path, Glob(), pattern=pattern)).split("\n")) == (expected or {"No files match."})


@pytest.mark.parametrize("pattern", ["../x", "/etc/*", "a/../../b", "{..,a}/x", "{/etc,a}/x", "[a", "a\\", "{a,b}" * 9])
async def test_a_glob_that_leads_out_or_means_nothing_is_refused(tmp_path: Path, pattern: str) -> None:
    calls: list[tuple[Any, dict[str, Any]]] = [
        (Glob(), {"pattern": pattern}),
        (Grep(None), {"pattern": "x", "glob": pattern}),
    ]
    for tool, arguments in calls:
        with pytest.raises(ToolError, match="can't be used") as caught:
            await use(tmp_path, tool, **arguments)
        assert caught.value.reason.code is Code.INVALID_ARGUMENTS


async def test_glob_lists_the_newest_first_and_counts_omitted_files(tmp_path: Path) -> None:
    for number in range(1005):
        path = tmp_path / f"{number}.txt"
        path.touch()
        os.utime(path, (number, number))
    lines = (await use(tmp_path, Glob(), pattern="*.txt")).split("\n")
    assert lines[:2] == ["1004.txt", "1003.txt"]
    assert lines[1000:] == ["[cut: the newest 1000 of 1005 files are shown; narrow the pattern or the path]"]


async def test_glob_skips_ignored_files_unless_they_are_named(tmp_path: Path) -> None:
    plant(tmp_path, IGNORING)
    paths = set((await use(tmp_path, Glob(), pattern="*")).split("\n"))
    assert paths == SEEN | {".gitignore", "sub/.ignore"}
    inside = set((await use(tmp_path, Glob(), pattern="*", path="build")).split("\n"))
    assert inside == {"build/out.py", "build/sub/dist/deep.py"}
    assert await use(tmp_path, Glob(), pattern="*", path=".git/info") == ".git/info/x"
    (tmp_path / "way").symlink_to("sub")
    assert "way/x.log" in await use(tmp_path, Glob(), pattern="*", path="way")


# grep


@pytest.mark.parametrize("engine", ENGINES)
async def test_grep_skips_ignored_files_unless_they_are_named(tmp_path: Path, engine: str | None) -> None:
    plant(tmp_path, IGNORING)
    text = await use(tmp_path, Grep(engine), pattern="needle")
    assert text.split("\n") == [f"{path}:1: needle" for path in sorted(SEEN)]
    assert await use(tmp_path, Grep(engine), pattern="needle", path="x.log") == "x.log:1: needle"
    assert "build/sub/dist/deep.py:1:" in await use(tmp_path, Grep(engine), pattern="needle", path="build")
    assert await use(tmp_path, Grep(engine), pattern="needle", glob="sub/**/*.py") == "sub/build/kept.py:1: needle"
    assert await use(tmp_path, Grep(engine), pattern="NEEDLE") == "No matches.\n[7 files searched]"
    assert len((await use(tmp_path, Grep(engine), pattern="NEEDLE", ignore_case=True)).split("\n")) == 5
    with pytest.raises(ToolError) as caught:
        await use(tmp_path, Grep(engine), pattern="x", path="gone")
    assert caught.value.reason.code is Code.FILE_MISSING


@pytest.mark.parametrize("engine", ENGINES)
async def test_no_result_contains_protected_or_private_files(tmp_path: Path, engine: str | None) -> None:
    names = ["open.txt", ".bashrc", "sub/.ssh/id", "data/store", "pilothouse.toml", ".pilothouse/config.toml"]
    plant(tmp_path, dict.fromkeys(names, "needle\n"))
    (tmp_path / "pointer").symlink_to(".bashrc")
    private = [tmp_path / "data"]
    assert await use(tmp_path, Grep(engine), private=private, pattern="needle") == "open.txt:1: needle"
    assert await use(tmp_path, Glob(), private=private, pattern="*") == "open.txt"
    assert await use(tmp_path, ListDirectory(), private=private) == "open.txt\nsub/"
    assert await use(tmp_path, ListDirectory(), private=private, depth=3) == "open.txt\nsub/"
    for path in ("data", "data/store", ".bashrc", "pointer", "sub/.ssh"):
        with pytest.raises(ToolError) as caught:
            await use(tmp_path, Grep(engine), private=private, pattern="needle", path=path)
        assert caught.value.reason.code is Code.PROTECTED_PATH


@pytest.mark.parametrize("engine", ENGINES)
async def test_links_are_not_followed_but_one_that_is_named_is(tmp_path: Path, engine: str | None) -> None:
    (tmp_path / "outside").mkdir()
    plant(tmp_path, {"outside/secret": "needle", "root/real/in": "needle"})
    root = tmp_path / "root"
    (root / "file").symlink_to("real/in")
    (root / "folder").symlink_to("real")
    (root / "away").symlink_to("../outside")
    (root / "loop").symlink_to(".")
    assert await use(root, Grep(engine), pattern="needle") == "real/in:1: needle"
    assert await use(root, Grep(engine), pattern="needle", path="folder") == "folder/in:1: needle"
    assert await use(root, Grep(engine), pattern="needle", path="file") == "real/in:1: needle"
    with pytest.raises(ToolError) as caught:
        await use(root, Grep(engine), pattern="needle", path="away")
    assert caught.value.reason.code is Code.OUTSIDE_WORKSPACE


@pytest.mark.parametrize("engine", ENGINES)
async def test_results_are_bounded_and_the_rest_is_counted(tmp_path: Path, engine: str | None) -> None:
    plant(tmp_path, {"a": "x\n" * 150, "b": "x\n" * 150})
    lines = (await use(tmp_path, Grep(engine), pattern="x")).split("\n")
    assert lines[199] == "b:50: x"
    assert lines[200:] == ["[100 more matching lines; narrow the pattern, the path or the glob]"]
    assert len((await use(tmp_path, Grep(engine), pattern="x", max_results=2000)).split("\n")) == 300
    plant(tmp_path, {"c": "x\n" * 20_000, "d": "x\n"})
    assert "[at least 9999 more matching lines" in await use(tmp_path, Grep(engine), pattern="x", max_results=1)
    plant(tmp_path, {"a": ("y" * 480 + "\n") * 2000})
    text = await use(tmp_path, Grep(engine), pattern="y", max_results=2000)
    assert 59_000 < len(text) < 60_200
    assert f"[{2000 - text.count(': y')} more matching lines" in text


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_long_line_is_shown_around_its_match(tmp_path: Path, engine: str | None) -> None:
    plant(
        tmp_path, {"a": "é" * 10_000 + "needle" + "z" * 3_000_000, "b": "needle" + "z" * 600, "c": "z" * 600 + "needle"}
    )
    a, b, c = (await use(tmp_path, Grep(engine), pattern="ne+dle")).split("\n")
    assert a.startswith("a:1: …é")
    assert "needlez" in a
    assert a.endswith("z…")
    assert b.startswith("b:1: needle")
    assert c.endswith("zneedle")
    assert all(len(line) <= 505 for line in (a, b, c))


@pytest.mark.parametrize("engine", ENGINES)
async def test_binary_files_are_skipped_and_encodings_read(tmp_path: Path, engine: str | None) -> None:
    plant(tmp_path, {"binary": b"needle\0", "late": b"needle\n" + b"x\n" * 70_000 + b"\0\n" + b"needle\n" * 9})
    plant(tmp_path, {"le": "\ufeffone\r\nneedle é\r\n".encode("utf-16-le"), "be": "\ufeffneedle".encode("utf-16-be")})
    plant(tmp_path, {"bom": "\ufeffneedle\r\n", "bad": b"\xffneedle\xc3\n", "after": "needle"})
    lines = (await use(tmp_path, Grep(engine), pattern="needle( é)?$")).split("\n")
    assert lines == ["after:1: needle", "be:1: needle", "bom:1: needle", "late:1: needle", "le:2: needle é"]
    assert "bom:1: needle" in await use(tmp_path, Grep(engine), pattern="^needle")
    shown = (await use(tmp_path, ReadFile(), path="bad")).split("\n")[1]
    assert f"bad:1: {shown}" in await use(tmp_path, Grep(engine), pattern="needle")
    named = await use(tmp_path, Grep(engine), pattern="needle", path="binary")
    assert named == "No matches.\n[the file is binary: skipped]"


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_large_file_is_searched_and_a_huge_one_is_not(
    tmp_path: Path, engine: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, {"large": b"some line of text\n" * 1_000_000 + b"needle\n"})
    with open(tmp_path / "huge", "wb") as file:
        file.write(b"needle\n" * 10_000)
        file.truncate(scanner.MAX_SEARCHED_BYTES + 1)
    assert await use(tmp_path, Grep(engine), pattern="needle") == "large:1000001: needle"
    named = await use(tmp_path, Grep(engine), pattern="needle", path="huge")
    assert "[the file is over 512 MB: skipped; a command (grep -n) searches it" in named


@pytest.mark.seconds(300)
@pytest.mark.parametrize("engine", ENGINES)
async def test_grep_searches_large_files_that_read_file_reads_in_part(tmp_path: Path, engine: str | None) -> None:
    """Files of 118 MB were read in part, with a hint to grep, which skipped them."""
    line = b"some line of an ordinary log, which is not short\n"
    count = 118_000_000 // len(line)
    plant(tmp_path, {"log": line * count + b"needle\n"})
    text = await use(tmp_path, ReadFile(), path="log")
    assert "[cut: lines 1 to 816 are shown; continue with start_line=817]" in text
    assert "grep finds the lines to read]" in text
    assert await use(tmp_path, Grep(engine), pattern="needle", path="log") == f"log:{count + 1}: needle"
    assert (await use(tmp_path, ReadFile(), path="log", start_line=count + 1)).startswith("needle\n")
    with pytest.raises(ToolError) as caught:
        await use(tmp_path, ReadFile(), path="log", start_line=count + 9)
    assert caught.value.reason.params["lines"] == count + 1


async def test_a_line_that_is_too_long_to_show_does_not_lead_in_a_circle(tmp_path: Path) -> None:
    plant(tmp_path, {"a": "one\n" + "x" * 50_000 + "needle" + "x" * 50_000 + "\nthree\n"})
    first = await use(tmp_path, ReadFile(), path="a")
    assert first == "one\n[cut: lines 1 to 1 of 3 are shown; continue with start_line=2]"
    second = await use(tmp_path, ReadFile(), path="a", start_line=2)
    assert second.endswith("grep shows the text around a match; continue with start_line=3]")
    assert await use(tmp_path, ReadFile(), path="a", start_line=3) == "three\n"
    assert "xneedlex" in await use(tmp_path, Grep(RIPGREP), pattern="needle", path="a")


SENTENCES = {
    "cp1251": "съешь ещё этих мягких французских булок",
    "koi8-r": "съешь ещё этих мягких французских булок",
    "cp1252": "où est le café, monsieur ? déjà à côté de l'hôtel, près du marché",
    "cp932": "日本語の表示テキスト",
    "euc_jp": "日本語の表示テキスト",
    "iso2022_jp": "日本語の表示テキスト",
    "gb18030": "中文内容的编码测试",
    "cp950": "繁體中文的內容與功能",
    "cp949": "한국어로 쓴 문장입니다",
    "utf-16-le": "plain text and съешь",
    "utf-16-be": "plain text and 日本語",
    "utf-16": "日本語 and more",
    "utf-32": "日本語 and more",
    "utf-8-sig": "日本語",
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("encoding", SENTENCES)
async def test_grep_finds_what_read_file_shows(tmp_path: Path, engine: str | None, encoding: str) -> None:
    sentence = SENTENCES[encoding]
    plant(tmp_path, {"sub/file": f"first\r\n  {sentence} end\r\n".encode(encoding), "sub/plain": sentence, "z": "x"})
    shown = (await use(tmp_path, ReadFile(), path="sub/file")).split("\n")[-2].rstrip("\r")
    assert shown == f"  {sentence} end", "long enough to be known"
    expected = f"sub/file:2:   {sentence} end"
    words = sentence.split()
    for pattern in (re.escape(sentence), f"^\\s+{words[0]}.*end$", words[-1][-2:] + " e", f"{words[0][:2]}[^x]"):
        assert expected in (await use(tmp_path, Grep(engine), pattern=pattern)).split("\n")
        assert await use(tmp_path, Grep(engine), pattern=pattern, path="sub/file") == expected
        assert expected in await use(tmp_path, Grep(engine), pattern=pattern, glob="fil*")
        assert expected not in await use(tmp_path, Grep(engine), pattern=pattern, glob="pla*")
    both = await use(tmp_path, Grep(engine), pattern=re.escape(sentence))
    assert both == f"{expected}\nsub/plain:1: {sentence}"
    assert await use(tmp_path, Grep(engine), pattern="nothing") == "No matches.\n[3 files searched]"
    many = b"".join(f"{sentence}\n".encode(encoding) for _ in range(9)) if "utf" not in encoding else b"x"
    plant(tmp_path, {"sub/file": many or b"x"})
    assert (await use(tmp_path, Grep(engine), pattern=".", max_results=1)).startswith("sub/file:1: ")


@pytest.mark.parametrize("engine", ENGINES)
async def test_editorconfig_decides_for_grep_too(tmp_path: Path, engine: str | None) -> None:
    plant(tmp_path, {".editorconfig": "[*.txt]\ncharset = latin1\n", "a.txt": "Ýmir\n".encode("latin-1")})
    assert await use(tmp_path, Grep(engine), pattern="Ýmir") == "a.txt:1: Ýmir"


async def test_a_hostile_pattern_ends_at_the_deadline_with_a_notice(tmp_path: Path) -> None:
    """ripgrep knows no such pattern: only what is searched without it can run away."""
    plant(tmp_path, {"first": "aaab\n", "long": "a" * 50_000 + "!\n"})
    text = await use(tmp_path, Grep(None, seconds=1), pattern="(a+)+b")
    assert text == "first:1: aaab\n[stopped at the time limit; for more, narrow the pattern, the path or the glob]"
    if RIPGREP is not None:
        assert await use(tmp_path, Grep(RIPGREP), pattern="(a+)+b") == "first:1: aaab"


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_cancelled_search_leaves_no_process(tmp_path: Path, engine: str | None) -> None:
    plant(tmp_path, {f"f{number:03}": "ab" * 500_000 for number in range(100)})
    before = children()
    task = asyncio.create_task(use(tmp_path, Grep(engine), pattern="(a|b)+[cé]"))
    async with asyncio.timeout(HANG_SECONDS):
        while not children() - before:
            await asyncio.sleep(0.005)
    task.cancel()
    async with asyncio.timeout(HANG_SECONDS):
        await asyncio.wait({task})
    assert task.cancelled()
    assert not children() - before


def children() -> set[str]:
    pids = Path(f"/proc/self/task/{threading.main_thread().native_id}/children").read_text().split()
    return set(pids)


async def test_a_walk_that_is_cancelled_ends_soon(tmp_path: Path) -> None:
    looked = threading.Event()
    ended = threading.Event()

    def work(stopped: Callable[[], bool]) -> None:
        with list_directory.open_search_root(Workspace(tmp_path), ".") as place:
            while not ended.is_set():
                walk = sandbox_walk.Walk(Workspace(tmp_path), place.fd, place.real, place.levels)
                list(walk.entries(lambda _: True, stopped))
                looked.set()
                if stopped():
                    ended.set()

    task = asyncio.create_task(until_cancelled(work))
    await asyncio.to_thread(looked.wait, 10)
    task.cancel()
    await asyncio.wait({task})
    assert ended.is_set()


# the walk


def walked(root: Path, most: int = sandbox_walk.MAX_WALK_ENTRIES) -> tuple[list[str], sandbox_walk.Walk]:
    workspace = Workspace(root)
    with list_directory.open_search_root(workspace, ".") as place:
        walk = sandbox_walk.Walk(workspace, place.fd, place.real, place.levels)
        walk.remaining = most
        paths = [entry.path for entry in walk.entries(lambda _: True, lambda: False) if entry.kind != "folder"]
    return paths, walk


def test_a_walk_is_bounded_with_a_notice(tmp_path: Path) -> None:
    plant(tmp_path, {f"{folder}/{number}": "" for folder in "abc" for number in range(10)})
    paths, walk = walked(tmp_path, 20)
    assert len(paths) <= 20
    assert walk.cut
    assert not walked(tmp_path, 33)[1].cut
    deep = tmp_path
    for _ in range(150):
        deep /= "d"
    deep.mkdir(parents=True)
    assert walked(tmp_path)[1].cut


def test_private_files_are_not_searched_from_the_root_of_the_system(tmp_path: Path) -> None:
    workspace = Workspace(Path("/"), [tmp_path])
    top = tmp_path.relative_to("/").parts[0]
    assert top in top_of_the_system(Workspace(Path("/")))
    assert top not in top_of_the_system(Workspace(Path("/"), [Path("/") / top]))
    with list_directory.open_search_root(workspace, ".") as place:
        answer = GrepMatches(place, None, 10)
        for path in (f"{tmp_path}/hidden", "/seen"):
            answer.feed(f".{path}\x001\x001\x00text\n".encode())
    assert answer.text() == "seen:1: text"


def top_of_the_system(workspace: Workspace) -> set[str]:
    with list_directory.open_search_root(workspace, ".") as place:
        walk = sandbox_walk.Walk(workspace, place.fd, place.real, place.levels)
        return {entry.path for entry in walk.entries(lambda _: True, lambda: False, 1)}


def test_a_folder_swapped_for_a_link_leads_nowhere(tmp_path: Path) -> None:
    """While one thread swaps a folder for a link to the outside, no walk ever comes out of the workspace."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    plant(tmp_path, {"outside/secret": "", "root/sub/inner": "", "root/z": ""})
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            os.rename(root / "sub", tmp_path / "aside")
            os.symlink(outside, root / "sub")
            os.unlink(root / "sub")
            os.rename(tmp_path / "aside", root / "sub")

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        paths = {path for _ in range(2000) for path in walked(root)[0]}
        while "sub/inner" not in paths:  # a busy machine may let the threads meet at one instant of the swap only
            paths.update(walked(root)[0])
    finally:
        over.set()
        thread.join()
    assert paths <= {"sub", "sub/inner", "z"}
    assert "sub/inner" in paths


def test_a_range_the_wrong_way_round_holds_its_first_character_and_a_nearer_file_wins(tmp_path: Path) -> None:
    plant(tmp_path, {".gitignore": "[b-a]\nx\n", "a": "", "b": "", "x": "", "sub/.gitignore": "!x\na", "sub/x": ""})
    plant(tmp_path, {"sub/a": "", "sub/b": ""})
    assert walked(tmp_path)[0] == [".gitignore", "a", "sub/.gitignore", "sub/x"]


def test_a_hostile_ignore_file_is_read_in_linear_time(tmp_path: Path) -> None:
    """A matcher that tries again and again does not end within this test's time limit, however fast the machine is."""
    rules = ["*a" * 40 + "b", "**/a*/" * 40 + "b", "?*" * 50 + "x", "[" * 500, "a/**/" * 50 + "b"]
    plant(tmp_path, {".gitignore": "\n".join(rules), "a" * 200: "", "/".join(["a"] * 60): ""})
    assert len(walked(tmp_path)[0]) == 3


NAMES = ["a", "b", "ab", "a.b", ".a", "é", "a b", "b ", "[a]", "!a", "#a", "a\\b", "\udcff", "ba", "aab"]


def some_paths(chance: Random) -> list[str]:
    names = chance.sample(NAMES, 5)
    return ["/".join(chance.choices(names, k=chance.choice([1, 1, 2, 2, 3, 4]))) for _ in range(chance.randint(3, 9))]


def some_rules(chance: Random) -> str:
    return "\n".join(a_rule(chance) for _ in range(chance.randint(0, 5)))


def a_rule(chance: Random) -> str:
    segments = chance.choices([*NAMES, "*", "**"], weights=[1] * len(NAMES) + [3, 5], k=chance.choice([1, 1, 2, 3]))
    rule = "/".join(blurred(chance, segment) for segment in segments)
    before, after = chance.choice(["", "", "", "!", "/", "!/", "**/"]), chance.choice(["", "", "", "/", "/**", "/*"])
    return before + rule + after + chance.choice(["", "", "", "", " ", "\\ ", "\r", "\\"])


def blurred(chance: Random, name: str) -> str:
    """A name with some of it put as a pattern."""
    if name in ("*", "**") or chance.random() < 0.4:
        return name
    at = chance.randrange(len(name))
    signs = ["?", "*", "[ab]", "[!a]", "[^b]", "[a-", "[]a]", f"\\{name[at]}", "[b-a]"]
    # Not two stars within a name: git takes `b**/x` for `b` and `**/x`, which is not what its manual says.
    signs += ["[a-c]", "[\\]b]", "[", "]", "{a,b}", "[a/b]", "\\/"]
    return name[:at] + chance.choice(signs) + name[at + 1 :]


def grow(root: Path, paths: list[str], contents: Callable[[int], bytes] = lambda _: b"x\n") -> None:
    """Create the possible paths: a file may be in the place of another path's folder."""
    for number, path in enumerate(paths):
        whole = os.fsencode(root) + b"/" + os.fsencode(path)
        try:
            os.makedirs(os.path.dirname(whole), exist_ok=True)
            with open(whole, "xb") as file:
                file.write(contents(number))
        except OSError:
            continue


@settings(max_examples=1500 if LONG else 150, deadline=None, suppress_health_check=list(HealthCheck))
@given(CHANCE)
def test_ignore_files_are_interpreted_as_by_git(chance: Random) -> None:
    paths, top, nested = some_paths(chance), some_rules(chance), some_rules(chance)
    below = os.path.dirname(chance.choice(paths)) or "a"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        grow(root, paths)
        for base, rules in (("", top), (below, nested)):
            if (root / base).is_dir():
                (root / base / ".gitignore").write_bytes(os.fsencode(rules))
        env = {"HOME": folder, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
        git = [str(GIT), "-c", "core.precomposeunicode=false"]
        subprocess.run([*git, "init", "-q", "--template="], cwd=root, env=env, check=True, capture_output=True)
        listed = subprocess.run(
            [*git, "ls-files", "-z", "--others", "--exclude-per-directory=.gitignore"],
            cwd=root,
            env=env,
            check=True,
            capture_output=True,
        )
        expected = {os.fsdecode(path) for path in listed.stdout.split(b"\0") if path}
        assert set(walked(root)[0]) == expected, (top, below, nested)


# the dialect

LITERALS = ["a", "b", "é", " ", "_", "1", "-", "\\.", "\\t", "{", "}", "]", "\\x61", "\\u00e9", "Ä", "中", "x{", "\\+"]
SETS = [".", "\\d", "\\w", "\\s", "\\S", "\\W", "\\D", "[ab]", "[^a]", "[a-x]", "[^\\w]", "[é1-]", "[]a]", "[\\s.]"]
ASSERTIONS = ["^", "$", "\\b"]
REPEATS = ["*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "+?", "{0}", "??", "{0,20}"]


def a_pattern(chance: Random, depth: int = 2) -> str:
    return "|".join(a_sequence(chance, depth) for _ in range(chance.choice([1, 1, 1, 2, 3])))


def a_sequence(chance: Random, depth: int) -> str:
    parts = []
    for _ in range(chance.choice([0, 1, 1, 2, 2, 3, 4])):
        kind = chance.random()
        if kind < 0.15:
            parts.append(chance.choice(ASSERTIONS))
            continue
        if kind < 0.4 and depth:
            part = chance.choice(["(", "(?:"]) + a_pattern(chance, depth - 1) + ")"
        else:
            part = chance.choice(LITERALS if kind < 0.75 else SETS)
        parts.append(part + (chance.choice(REPEATS) if chance.random() < 0.3 else ""))
    return "".join(parts)


def a_line(chance: Random) -> str:
    return "".join(chance.choices("aabb  é1_-.Ä\t]{}x中", k=chance.choice([0, 1, 2, 3, 5, 8, 20])))


REFUSED = [
    *("(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b", "(?>a)", "(a)\\1", "(?P=x)", "(?P<x>a)(?P=x)", "(?#c)", "(?(1)a)"),
    *(
        "\\pL",
        "\\p{Greek}",
        "\\A",
        "\\z",
        "\\Z",
        "\\B",
        "\\<a",
        "a++",
        "a*+",
        "a{2}+",
        "a**",
        "a{2}{3}",
        "\\N{DIGIT ONE}",
    ),
    *(
        "[[:alpha:]]",
        "[a&&b]",
        "[a--b]",
        "[a~~b]",
        "[a||b]",
        "[\\n]",
        "\\n",
        "a\nb",
        "\\r",
        "\\x{61}",
        "\\u{61}",
        "\\Q",
    ),
    *(
        "(?s)a",
        "(?i:a)",
        "a(?i)",
        "(?-u:a)",
        "(?<x>a)",
        "[z-a]",
        "[\\d-z]",
        "(",
        ")",
        "[a",
        "a\\",
        "*a",
        "a|*",
        "a{3,2}",
    ),
    *("a{,3}", "\\k<x>", "(" * 900, "\\R", "\\h", "\\K", "\\G", "\ud800", "a\0", "a{99999999999999999999}", "(?"),
]


@pytest.mark.parametrize("pattern", REFUSED)
async def test_syntax_that_only_one_engine_supports_is_refused_with_an_explanation(
    tmp_path: Path, pattern: str
) -> None:
    for engine in {RIPGREP, None}:
        with pytest.raises(ToolError, match="Can't search for the pattern ") as caught:
            await use(tmp_path, Grep(engine), pattern=pattern)
        assert caught.value.reason.code is Code.INVALID_PATTERN


READ = {
    "interface{}": "interface{}",
    "if \\(x\\) {": "if (x) {",
    "a]": "a]",
    "}": "}",
    "(?P<name>a)": "a",
    "(?i)Ä": "ä",
    "x{0}y{2": "y{2",
    "[,-.]": "-",
    "\\b{x}": "{x} a{x}",
    "[\\[{+]\\+": "{+",
    "^\\s*中\\w$": " 中文",
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("pattern", READ)
async def test_common_pattern_syntax_is_supported(tmp_path: Path, engine: str | None, pattern: str) -> None:
    plant(tmp_path, {"a": f"0\r\n{READ[pattern]}\r\n1\r\n"})
    assert await use(tmp_path, Grep(engine), pattern=pattern) == f"a:2: {READ[pattern]}"


# comparison of the engines

ODD = [b"a", b"b c", b".h", b"d/e", b"d/f/g.txt", b"q'\"`$", b"new\nline", b"\xff\xfe", b"x.log", b"d/x.log", b"d/a"]
RULES = [
    "*.log",
    "!x.log",
    "d/f/",
    "*\n!*/\n!*.txt",
    "/a",
    "**/g.txt",
    "d/**",
    "d/",
    "!d/x.log",
    "a",
    "# a",
    "?",
    "[ab]*",
]


def a_file(chance: Random) -> bytes:
    """Files of every kind: line ends, byte order marks, encodings, long lines, lone CRs, NULs, empty ones."""
    lines = [a_line(chance) for _ in range(chance.randint(0, 6))]
    end = chance.choice(["\n", "\n", "\r\n"])
    text = end.join(lines) + chance.choice(["", end])
    long_line = chance.choice(lines or ["a"]) + "ab " * 1500 + a_line(chance)
    return chance.choice(
        [
            *[text.encode()] * 4,
            ("\ufeff" + text).encode("utf-16-le"),
            ("\ufeff" + text).encode("utf-16-be"),
            ("\ufeff" + text).encode(),
            "".join(chance.choices(["a", "b", "é", " ", "\r", "\n", "\r\n"], k=30)).encode(),
            (text + "\n" + long_line + "\n" + text).encode(),
            b"binary" + text.encode() + b"\0a\n",
            text.encode("cp1252", "ignore"),
            text.encode("gb18030"),
            text.encode("utf-16-le"),
            text.encode() + b"\xff\xe9",
            chance.choice([b"", b"\n\n", b"\r\n"]),
        ]
    )


STOPPED = "[stopped at the time limit"


def agree(one: str, other: str) -> bool:
    """An answer that was stopped for time holds the first lines of the whole one: how fast a machine is decides nothing
    else. Which files are not UTF-8 may not have been found out in time either."""
    if STOPPED not in one + other:
        return one == other or "[some files that aren't UTF-8" in one + other
    shown = [[line for line in each.split("\n") if re.match(r".+:\d+: ", line)] for each in (one, other)]
    shorter, longer = sorted(shown, key=len)
    return longer[: len(shorter)] == shorter


def test_only_time_makes_answers_differ() -> None:
    whole = "a:1: x\nb:2: y"
    assert agree(whole, whole)
    assert agree(f"a:1: x\n{STOPPED}]", whole)
    assert agree(whole, f"No matches.\n{STOPPED}]")
    assert not agree("a:1: x", whole)
    assert not agree(f"b:2: y\n{STOPPED}]", whole)


@settings(max_examples=1000 if LONG else 100, deadline=None, suppress_health_check=list(HealthCheck))
@given(CHANCE)
def test_grep_answers_alike_with_ripgrep_and_without(chance: Random) -> None:
    names = chance.sample(ODD, chance.randint(1, 7))
    blobs = [a_file(chance) for _ in names]
    ignoring = {
        name: "\n".join(chance.choices(RULES, k=chance.randint(1, 3)))
        for name in chance.sample([".gitignore", ".ignore", "d/.gitignore", "d/.ignore", "d/f/.gitignore"], 2)
    }
    queries = [
        {
            "pattern": a_pattern(chance) or "b",
            "ignore_case": chance.random() < 0.4,
            "glob": chance.choice([None, None, "*.txt", "d/**", "[a-z]*", "{a,d/*}"]),
            "path": chance.choice([".", ".", "d", "a"]),
            "max_results": chance.choice([200, 200, 1, 5]),
        }
        for _ in range(3)
    ]

    async def both(root: Path, **arguments: Any) -> None:
        answers = [await outcome(root, Grep(engine), **arguments) for engine in (RIPGREP, None)]
        if arguments["glob"] in ("d/**", "[a-z]*", "{a,d/*}"):  # how many files these narrow it to, only one knows
            answers = [re.sub(r"\n\[\d+ files searched\]", "", answer) for answer in answers]
        assert agree(*answers), (arguments, ignoring, answers)

    async def all_of(root: Path) -> None:
        await asyncio.gather(*[both(root, **one) for one in queries])

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        grow(root, [os.fsdecode(name) for name in names], lambda number: blobs[number])
        grow(root, list(ignoring), lambda number: list(ignoring.values())[number].encode())
        if chance.random() < 0.2:
            grow(root, ["d/.git/config"])
        (root / "link").symlink_to("a")
        asyncio.run(all_of(root))


@settings(max_examples=3000 if LONG else 300, deadline=None, suppress_health_check=list(HealthCheck))
@given(CHANCE)
def test_ripgrep_takes_every_pattern(chance: Random) -> None:
    """ripgrep is run directly: if it failed, the search would silently be done without it."""
    pattern = a_pattern(chance) or "a"
    try:
        patterns.check_regex(pattern)
    except ToolError:
        return
    argv = [str(RIPGREP), *grep_tool._RIPGREP_FLAGS, "-e", patterns.regex_for_ripgrep(pattern), "--", "/dev/null"]
    assert subprocess.run(argv, capture_output=True, check=False).returncode in (0, 1), pattern


@needs_sandbox
async def test_ripgrep_is_shut_in(tmp_path: Path) -> None:
    """A program in its place finds nothing outside the folder that it could read, and it does run."""
    plant(tmp_path, {"root/in": "needle\n", "secret": "needle\n"})
    job = ToolContext(call_id=a_call(), workspace=Workspace(tmp_path / "root"))
    with list_directory.open_search_root(job.workspace, ".") as place:
        answer = GrepMatches(place, None, 10)
        assert await Grep(RIPGREP)._search_by_ripgrep(grep_tool.GrepArguments(pattern="needle"), answer, job)
        assert answer.text() == "in:1: needle"
        for outside in (str(tmp_path), "/etc/passwd", "/proc/self/status", "/usr/share"):
            argv = [str(RIPGREP), *grep_tool._RIPGREP_FLAGS, "-e", ".", "--", outside]
            confined = await grep_tool._confine([str(RIPGREP)], place)
            assert await grep_tool._run_search(argv, confined, answer, job)
            assert answer.text() == "in:1: needle\n[some files could not be read]"
            answer.notes.clear()


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_folder_swapped_while_it_is_searched_shows_nothing_from_outside(
    tmp_path: Path, engine: str | None
) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    plant(tmp_path, {f"{folder}/{name}": folder for folder in ("outside", "root/sub") for name in "abcdef"})
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            os.rename(root / "sub", tmp_path / "aside")
            os.symlink(outside, root / "sub")
            os.unlink(root / "sub")
            os.rename(tmp_path / "aside", root / "sub")

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(200 if LONG else 30):
            assert "outside" not in await use(root, Grep(engine), pattern=".")
    finally:
        over.set()
        thread.join()


async def test_a_ripgrep_that_fails_is_done_without(tmp_path: Path) -> None:
    plant(tmp_path, {"a": "needle\n"})
    for status in (0, 2):
        broken = tmp_path / "broken"
        broken.write_text(f"#!/bin/sh\necho nonsense\nexit {status}\n")
        broken.chmod(0o700)
        assert "a:1: needle" in await use(tmp_path, Grep(str(broken)), pattern="needle")
    assert "a:1: needle" in await use(tmp_path, Grep(str(tmp_path / "missing")), pattern="needle")


async def test_a_folder_beside_the_workspace_is_searched_by_its_whole_path(tmp_path: Path) -> None:
    plant(
        tmp_path, {"root/a": "needle", "beside/sub/b": "needle", "beside/.gitignore": "*.log", "beside/c.log": "needle"}
    )
    workspace = Workspace(tmp_path / "root", extra_roots=[Root(tmp_path / "beside")])
    job = ToolContext(call_id=a_call(), workspace=workspace)
    beside = str(tmp_path / "beside")
    text = await Grep(RIPGREP).run(grep_tool.GrepArguments(pattern="needle", path=beside), job)
    assert text == f"{beside}/sub/b:1: needle"
    text = await Glob().run(list_directory.GlobArguments(pattern="*", path=f"{beside}/sub"), job)
    assert text == f"{beside}/sub/b"


async def outcome(root: Path, tool: Any, **arguments: Any) -> str:
    try:
        return await use(root, tool, **arguments)
    except ToolError as error:
        return f"refused: {error}"


def test_a_file_swapped_for_a_link_after_the_walk_is_not_read(tmp_path: Path) -> None:
    plant(tmp_path, {"outside/secret": "needle", "root/real": "needle"})
    root = tmp_path / "root"
    (root / "file").symlink_to("../outside/secret")
    (root / "folder").symlink_to("../outside")
    os.mkfifo(root / "pipe")
    (tmp_path / "names").write_bytes(b"file\0\0folder/secret\0\0gone\0\0pipe\0\0real\0\0")
    command = [sys.executable, "-I", "-S", scanner.__file__, str(tmp_path / "names"), "needle"]
    done = subprocess.run(command, capture_output=True, cwd=root, check=False)
    assert (done.stdout, done.returncode) == (b"./real\x001\x001\x00needle\n\n2 files searched\n", 2)


def test_the_search_runs_alone_with_the_standard_library() -> None:
    """The module must not load the package, to start quickly."""
    assert "pilothouse" not in Path(scanner.__file__).read_text()
