"""The files of a conversation beside its messages: whole outputs, and what files held before a call changed them.

All of them lie in the context's own folder: who copies or deletes that folder handles them with it.
"""

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.domain.values import Value
from pilothouse.sandbox.workspace import ABSENT, Mount, Workspace

COMMAND = "execute"  # the one tool whose changes are seen from outside, and may be others' too
OUTPUTS = "outputs"
OUTPUT_AT_MOST = 32 * 1024 * 1024


class ChangedFile(Value):
    """One file before and after a call. `before` and `after` name contents, ABSENT where there was no file; the modes
    are known where they were looked at."""

    path: str
    before: str
    after: str
    mode: int | None = None
    mode_after: int | None = None


class ChangeEntry(Value, kw_only=True):
    """What one call changed. `unkept` says why what was there before is not known, of all or of some files; `undone`
    marks its end."""

    call: str
    tool: str
    files: tuple[ChangedFile, ...] = ()
    unkept: str | None = None
    undone: bool = False


_DECODER = msgspec.json.Decoder(ChangeEntry)


class ArtifactStore:
    """The folder of one context. All of its work is blocking: call it in a thread."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    # whole results

    @property
    def outputs(self) -> Path:
        return self.folder / OUTPUTS

    def mounts(self) -> tuple[Mount, ...]:
        """The folders that the model's tools may read."""
        context, data = self.folder.parent.name, self.folder.parent.parent.parent
        former = data / "kept" / context / OUTPUTS  # results stored by earlier versions name this path
        return (Mount(OUTPUTS, make_private(self.outputs), (str(former),)),)

    def output_of(self, call_id: str) -> Path:
        return self.outputs / f"{call_id}.txt"

    def output_name(self, call_id: str) -> str:
        """The path under which the model's tools find a whole output."""
        return f"{OUTPUTS}/{self.output_of(call_id).name}"

    @contextlib.contextmanager
    def writing_output(self, call_id: str) -> Iterator[BinaryIO]:
        make_private(self.outputs)
        path = self.output_of(call_id)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
            yield file

    # what was changed

    def note(self, entry: ChangeEntry, contents: Sequence[bytes] = ()) -> None:
        """Durable before it returns: the change itself comes after."""
        self.keep(contents)
        line = msgspec.json.encode(entry) + b"\n"
        with open(os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600), "ab") as file:
            if file.tell() and not self._ends_whole():
                file.write(b"\n")  # a line that was cut by a crash stays alone
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def keep(self, contents: Sequence[bytes]) -> None:
        blobs = make_private(self.folder / "before")
        for content in contents:
            path = blobs / hashlib.sha256(content).hexdigest()
            if not path.exists():
                _write_durably(path, content)

    def entries(self) -> list[ChangeEntry]:
        """The changes that were not undone, oldest first."""
        found: dict[str, ChangeEntry] = {}
        try:
            lines = self._log.read_bytes().split(b"\n")
        except OSError:
            return []
        for line in lines:
            try:
                entry = _DECODER.decode(line)
            except msgspec.MsgspecError:
                continue
            if entry.undone:
                found.pop(entry.call, None)
            else:
                found[entry.call] = entry
        return list(found.values())

    def content(self, name: str) -> bytes:
        """Raises: OSError."""
        data = (self.folder / "before" / name).read_bytes()
        if hashlib.sha256(data).hexdigest() != name:
            raise OSError("it is damaged")
        return data

    @property
    def _log(self) -> Path:
        return self.folder / "changes.jsonl"

    def _ends_whole(self) -> bool:
        with open(self._log, "rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"


class Undone(Value):
    """`paths` are as they were; `left` says what could not be put back beside them."""

    paths: tuple[str, ...]
    left: str | None = None


def undo_last(artifacts: ArtifactStore, workspace: Workspace, of_commands: bool = True) -> Undone:
    """Put back what the last call of the agent changed, all that is kept of it or nothing. What is there now is kept.

    Raises: ToolError; then nothing was touched. What cannot be put back is told once: who asks again goes further back.
    """
    for entry in reversed(artifacts.entries()):
        paths = ", ".join(file.path for file in entry.files) or entry.tool
        if entry.tool == COMMAND and not of_commands:
            raise ToolError(Code.UNDO_ASKS, paths=paths)
        if entry.unkept is not None and not entry.files:
            _pass_over(artifacts)
            raise ToolError(Code.UNDO_INCOMPLETE, paths=paths, detail=entry.unkept)
        changed = [file for file in entry.files if _now(workspace, file) != (file.before, file.mode)]
        foreign = [file.path for file in changed if _now(workspace, file) != (file.after, file.mode_after)]
        if foreign:
            raise ToolError(Code.UNDO_REFUSED, paths=", ".join(foreign))
        if changed:
            _put_back(artifacts, workspace, changed, paths)
        artifacts.note(msgspec.structs.replace(entry, undone=True))
        if changed:  # one that was noted and never made is passed over
            return Undone(tuple(file.path for file in changed), entry.unkept)
    raise ToolError(Code.NOTHING_TO_UNDO)


def _pass_over(artifacts: ArtifactStore) -> None:
    """The last changes that cannot be put back, all of them: they are told together."""
    for entry in reversed(artifacts.entries()):
        if entry.unkept is None or entry.files:
            return
        artifacts.note(msgspec.structs.replace(entry, undone=True))


def _now(workspace: Workspace, file: ChangedFile) -> tuple[str, int | None]:
    """What a file holds, and its mode where that was changed, too."""
    held = workspace.basis(file.path)
    if file.before == file.after and held != ABSENT:
        return held, stat.S_IMODE(workspace.status(file.path).st_mode)
    return held, file.mode if held == file.before else file.mode_after


def _put_back(artifacts: ArtifactStore, workspace: Workspace, files: Sequence[ChangedFile], paths: str) -> None:
    try:
        contents = {
            file.path: artifacts.content(file.before) if file.before != file.after else workspace.read(file.path)
            for file in files
            if file.before != ABSENT
        }
    except OSError as error:
        raise ToolError(Code.UNDO_INCOMPLETE, paths=paths, detail=str(error)) from error
    present = [workspace.read(file.path) for file in files if file.after != ABSENT]
    artifacts.keep(present)
    for file in files:
        if file.before == ABSENT:
            workspace.remove(file.path, basis=file.after)
        else:
            workspace.write(file.path, contents[file.path], basis=file.after, mode=file.mode)


def make_private(folder: Path) -> Path:
    """Made where it is missing, with all above it, for the person alone."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _write_durably(path: Path, content: bytes) -> None:
    draft = path.with_suffix(".draft")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)
