"""Undo against a simple model: generated histories of edits, commands, foreign edits, undos and restarts.

The model knows the tree before every change of the agent. The promises of undo are checked after every step: all of the
last change is restored except files changed by others since, which are named and stay unchanged. A person's own
edit is never lost, and the next undo goes to the previous change.
"""

import asyncio
import contextlib
import os
import random
import shutil
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import ToolError
from pilothouse.domain.value import CallId
from pilothouse.i18n import translate
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.artifacts import ArtifactFolder
from pilothouse.tools.base import ToolContext
from pilothouse.tools.builtin.edit_file import Edit as TextEdit
from pilothouse.tools.builtin.edit_file import EditFile, EditFileArguments, WriteFile, WriteFileArguments
from pilothouse.tools.undo.command_recorder import CommandRecorder
from pilothouse.tools.undo.revert import undo_last
from tests.support.scale import LONG, Record

Tree = dict[str, tuple[str, bytes, int]]
FOLDER = ("folder", b"", 0)
NAMES = ("a", "b", "sub/a", "sub/deep/c", "other/d", "naïve", "with space", "nested/d", "tree/y", "moved/a")
KINDS = ("write", "append", "delete", "rmtree", "rename", "chmod", "link", "mkdir", "swap", "move", "lead")
GIT = {Code.GIT_CREATED, Code.GIT_REMOVED}
HISTORIES = 400 if LONG else 40


def tree_of(root: Path) -> Tree:
    """Every file and link, with content and permission bits, and every folder; repositories' records left out."""
    files: Tree = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in (".git", ".local")]
        if folder != str(root):
            files[os.path.relpath(folder, root)] = FOLDER
        for name in [*names, *(name for name in folders if Path(folder, name).is_symlink())]:
            path = Path(folder, name)
            status = path.lstat()
            relative = str(path.relative_to(root))
            if relative.endswith(".git"):
                continue
            if stat.S_ISLNK(status.st_mode):
                files[relative] = ("link", os.fsencode(os.readlink(path)), 0)
            else:
                files[relative] = ("file", path.read_bytes(), stat.S_IMODE(status.st_mode))
    return files


class History:
    """A generated history over a real folder."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.root = folder / "workspace"
        self.root.mkdir(parents=True)
        # The data directory is beside the workspace, inside it, or above it.
        place = self.random.choice(["beside", "inside", "above"])
        self.data = {"beside": folder / "data", "inside": self.root / ".local" / "data", "above": folder}[place]
        self.context = self.data / "contexts" / "one" / "artifacts"
        self.context.parent.mkdir(parents=True)
        self.stack: list[tuple[Tree, Tree]] = []
        self.calls = 0
        self.conflicts = 0
        self.log: list[str] = [f"seed {seed}, data directory {place}"]
        for name in self.random.sample(NAMES, self.random.randrange(len(NAMES))):
            self.put(name, self.text())
        self.open()

    def open(self) -> None:
        """The next process."""
        self.artifacts = ArtifactFolder(self.context, self.data / "cache" / "baselines")
        self.workspace = Workspace(self.root, [self.context.parent.parent, self.data / "cache"])

    def text(self) -> bytes:
        # Few contents of few lengths: equal sizes and equal contents are where shortcuts go wrong.
        return self.random.choice([b"", b"one\n", b"two\n", b"a longer text\n", b"\x00\xff\n"])

    def put(self, name: str, data: bytes) -> None:
        path = self.root / name
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    def now(self) -> Tree:
        return tree_of(self.root)

    def next_call(self) -> str:
        self.calls += 1
        return f"call-{self.calls}"

    def job(self) -> ToolContext:
        return ToolContext(call_id=CallId(self.next_call()), workspace=self.workspace, artifacts=self.artifacts)

    # the steps

    async def write(self) -> None:
        name, text = self.random.choice(NAMES), self.text().decode("latin-1")
        before = self.now()
        try:
            await WriteFile().run(WriteFileArguments(path=name, content=text), self.job())
        except ToolError:
            return
        self.changed(f"write {name}", before)

    async def edit(self) -> None:
        name = self.random.choice(NAMES)
        before = self.now()
        edits = [TextEdit(old_text="o", new_text="0", replace_all=True)]
        try:
            await EditFile().run(EditFileArguments(path=name, edits=edits), self.job())
        except ToolError:
            return
        self.changed(f"edit {name}", before)

    async def command(self) -> None:
        recorder = CommandRecorder(self.artifacts, self.workspace, self.next_call(), "execute")
        before = self.now()
        await recorder.begin(lambda _: None)
        done = [self.act() for _ in range(self.random.randrange(4))]
        await recorder.finish()
        self.changed(f"command {done}", before)

    def act(self) -> str:
        """Changes that a command may make to the workspace."""
        name, other = self.random.choice(NAMES), self.random.choice(NAMES)
        path = self.root / name
        kind = self.random.choice(KINDS)
        with contextlib.suppress(OSError):
            if kind in ("rmtree", "mkdir", "swap", "move", "lead"):
                self.act_on_folder(kind, path, self.root / name.split("/")[0])
            else:
                self.act_on_file(kind, path, other)
        return f"{kind} {name} {other}"

    def act_on_file(self, kind: str, path: Path, other: str) -> None:
        if kind == "write":
            self.put(str(path.relative_to(self.root)), self.text())
        elif kind == "append":
            path.write_bytes(path.read_bytes() + b"more\n")
        elif kind == "delete":
            path.unlink()
        elif kind == "rename":
            os.replace(path, self.root / other)
        elif kind == "chmod":
            if path.is_dir():  # the model knows no permission bits of folders
                return
            path.chmod(self.random.choice([0o600, 0o644, 0o755, 0o400]))
        else:
            path.unlink(missing_ok=True)
            path.symlink_to(other)

    def act_on_folder(self, kind: str, path: Path, top: Path) -> None:
        if kind == "rmtree":
            shutil.rmtree(top)
        elif kind == "mkdir":
            path.mkdir(parents=True)
        elif kind == "move":  # a folder under another name, and a link in its place
            os.rename(self.root / "sub", self.root / "moved")
            (self.root / "sub").symlink_to("moved")
        elif kind == "lead":  # a link to a folder that holds a file of the same name
            shutil.rmtree(self.root / "other")
            (self.root / "other").symlink_to("nested")
        else:  # a file in the place of a folder
            shutil.rmtree(top, ignore_errors=True)
            top.write_bytes(self.text())

    async def repository(self) -> None:
        folder = self.root / self.random.choice(["", "nested"])
        with contextlib.suppress(OSError):
            (folder / ".git" / "refs" / "heads").mkdir(parents=True, exist_ok=True)
            (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        with contextlib.suppress(OSError):
            (self.root / "tree").mkdir(exist_ok=True)
            (self.root / "tree" / ".git").write_text("gitdir: ../nested/.git\n")
        self.log.append("repository")

    async def foreign(self) -> None:
        """A person changes anything, or a file that the agent has just changed."""
        touched = sorted({path for tree in self.stack[-1] for path in tree}) if self.stack else []
        if touched and self.random.random() < 0.5:
            before, after = self.stack[-1]
            name = self.random.choice([path for path in touched if before.get(path) != after.get(path)])
            self.put(name, b"by a person\n")
            self.log.append(f"foreign edit of {name}")
        else:
            self.log.append(f"foreign {self.act()}")

    async def restart(self) -> None:
        self.open()
        self.log.append("restart")

    def changed(self, what: str, before: Tree) -> None:
        after = self.now()
        self.log.append(what)
        if before != after:
            self.stack.append((before, after))

    def is_as_before(self, before: Tree, after: Tree) -> bool:
        """Whether a change was already reverted by others: undo skips such a change."""
        now = self.now()
        touched = {path for path in {*before, *after} if before.get(path) != after.get(path)}
        created = {path for path in touched if after.get(path) == FOLDER and path not in before}
        emptied = {path for path in created if now.get(path) == FOLDER and not os.listdir(self.root / path)}
        return not emptied and all(now.get(path) == before.get(path) for path in touched - created)

    async def undo(self) -> None:
        before_undo = self.now()
        while self.stack and self.is_as_before(*self.stack[-1]):
            self.stack.pop()
        try:
            done = await asyncio.to_thread(undo_last, self.artifacts.changes, self.workspace)
        except ToolError as error:
            self.refused(error.reason, before_undo)
            return
        self.log.append(f"undone {done.paths}")
        self.check_undone(done.left, before_undo)

    def refused(self, reason: Reason, before_undo: Tree) -> None:
        self.log.append(f"undo refused: {translate(reason)}")
        assert self.now() == before_undo, "a refused undo touches nothing"
        if reason.code is Code.UNDO_NOTHING:
            left = reason.params["left"]
            if conflicts(left):
                self.check_undone(left, before_undo)
            else:
                assert {each.code for each in left} <= GIT
        else:
            assert (reason.code, self.stack) == (Code.NOTHING_TO_UNDO, []), "every change can be undone"

    def check_undone(self, left: Sequence[Reason], before_undo: Tree) -> None:
        """Undo has taken the last change from the stack."""
        assert {reason.code for reason in left} <= {*GIT, Code.UNDO_CONFLICT, Code.UNDO_SET_ASIDE}
        before, after = self.stack.pop()
        touched = {path for path in {*before, *after} if before.get(path) != after.get(path)}
        now, staying = self.now(), conflicts(left)
        for path in touched - staying:
            is_used = now.get(path) == FOLDER and os.listdir(self.root / path)
            is_taken = FOLDER in (before.get(path), after.get(path)) and is_blocked(now, path)
            assert now.get(path) == before.get(path) or is_used or is_taken, path
        made_for = {str(folder) for path in touched & now.keys() for folder in Path(path).parents} - before_undo.keys()
        for path in {*now, *before_undo} - (touched - staying) - made_for:
            assert now.get(path) == before_undo.get(path), f"{path} was not the agent's"
        for path in staying:
            assert is_foreign(path, before, after, before_undo), f"nobody else has changed {path}"
        contents = [Path(file).read_bytes() for file in copies(left)]
        wanted = [before[path][1] for path in staying if has_content(before, after, path)]
        assert sorted(contents) == sorted(wanted), "what is not put back is at hand"
        self.conflicts += len(staying)

    async def step(self) -> None:
        steps = [self.write, self.edit, self.command, self.command, self.undo, self.undo, self.foreign, self.restart]
        if self.random.random() < 0.05:
            steps = [self.repository]
        await self.random.choice(steps)()


def conflicts(left: Sequence[Reason]) -> set[str]:
    return {path for each in left if each.code is Code.UNDO_CONFLICT for path in each.params["paths"].split(", ")}


def copies(left: Sequence[Reason]) -> list[str]:
    return [file for each in left if each.code is Code.UNDO_SET_ASIDE for file in each.params["files"].split(", ")]


def has_content(before: Tree, after: Tree, path: str) -> bool:
    """Whether undoing a change needs the earlier content of a file or link."""
    old, new = before.get(path, FOLDER), after.get(path, FOLDER)
    return old != FOLDER and old[:2] != new[:2]


def is_blocked(tree: Tree, path: str) -> bool:
    """Whether there is a file or a link at a path, or in the place of a folder above it."""
    return any(tree.get(str(each), FOLDER) != FOLDER for each in (Path(path), *Path(path).parents))


def is_foreign(path: str, before: Tree, after: Tree, now: Tree) -> bool:
    """Whether others have changed a file, its replacement, or an entry that blocks its place."""
    if now.get(path) not in (before.get(path), after.get(path)):
        return True
    inside = {each for each in now if each.startswith(f"{path}/")}
    above = {str(each) for each in Path(path).parents} & now.keys()
    return any(now.get(each) != after.get(each) for each in inside | above)


@contextlib.contextmanager
def told(history: History) -> Iterator[None]:
    try:
        yield
    except (AssertionError, ToolError) as error:
        raise AssertionError("\n".join([*history.log, str(error)])) from error


@pytest.mark.seconds(1800)
async def test_undo_keeps_its_promises_over_generated_histories(tmp_path: Path, record_property: Record) -> None:
    undone = conflicting = 0
    for seed in range(HISTORIES):
        history = History(tmp_path / str(seed), seed)
        with told(history):
            for _ in range(25):
                await history.step()
        undone += sum(line.startswith("undone") for line in history.log)
        conflicting += history.conflicts
        shutil.rmtree(tmp_path / str(seed))
    assert undone > HISTORIES
    assert conflicting > HISTORIES // 4
    figure = f"{HISTORIES} generated undo histories, {undone} changes put back, {conflicting} files left to a person"
    record_property("figure", figure)
