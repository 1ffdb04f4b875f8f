"""Writing: write_file and edit_file. Both show a diff first, and refuse when the file changed since."""

import difflib
import hashlib
import os
import stat

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.entries import Entries
from pilothouse.sandbox.workspace import ABSENT, READ_LIMIT, Workspace
from pilothouse.tools.artifacts import ArtifactStore
from pilothouse.tools.base import Arguments, Category, Job, Prepared, in_thread
from pilothouse.tools.builtin.files import read_text
from pilothouse.tools.builtin.texts import UTF_8, Encoding, decode, has_windows_ends, with_windows_ends
from pilothouse.tools.undo.changes import ChangedFile, ChangeEntry

NOT_WHOLE = "not shown whole"
_PREVIEW = 20_000
_COMPARED_AT_MOST = 4_000_000


class WriteFileArguments(Arguments):
    path: str
    content: str


class WriteFile:
    name = "write_file"
    description = "Write a text file of the workspace as a whole: made with its folders, or replaced."
    category: Category = "file_system"
    effect: Effect = "mutating"
    parameters = WriteFileArguments

    async def prepare(self, arguments: WriteFileArguments, workspace: Workspace) -> Prepared:
        prepared: Prepared = await in_thread(_prepare_write, arguments, workspace)
        return prepared

    async def run(self, arguments: WriteFileArguments, job: Job) -> str:
        size = await in_thread(_write, arguments, job)
        return f"Wrote {size} bytes to {arguments.path}."


def _prepare_write(arguments: WriteFileArguments, workspace: Workspace) -> Prepared:
    limit = workspace.limit(arguments.path, writing=True)
    if limit is not None:
        return Prepared(effect="mutating", limit=limit)
    before, _, basis = _present(workspace, arguments.path)
    preview, is_whole = diff(arguments.path, before, _as_it_was(arguments.content, before))
    dangerous = [] if basis == ABSENT else ["overwrite"]
    dangerous += [] if is_whole else [NOT_WHOLE]
    return Prepared(
        effect="mutating",
        touches=workspace.touched(arguments.path),
        dangerous=tuple(dangerous),
        preview=preview,
        basis=basis,
        ask=workspace.ask(arguments.path),
    )


def _present(workspace: Workspace, path: str) -> tuple[str, Encoding, str]:
    """What a file holds now, if it is text, and what names that. Raises: ToolError, also for one that was read before
    it changed."""
    try:
        data = workspace.read(path)
    except ToolError as error:
        if error.reason.code is Code.FILE_MISSING:
            return "", UTF_8, ABSENT
        raise
    basis = hashlib.sha256(data).hexdigest()
    if workspace.seen.get(workspace.touched(path)[-1], basis) != basis:
        raise ToolError(Code.FILE_CHANGED_SINCE_READ, path=path)
    try:
        return *decode(data, path), basis
    except ToolError:
        return "", UTF_8, basis  # not text: the diff shows what will stand there


def _as_it_was(content: str, before: str) -> str:
    """The model writes plain line ends; a file that has others keeps them."""
    return with_windows_ends(content) if has_windows_ends(before) and "\r\n" not in content else content


def _write(arguments: WriteFileArguments, job: Job) -> int:
    before, encoding, _ = _present(job.workspace, arguments.path)
    data = encoding.encode(_as_it_was(arguments.content, before))
    put(job, arguments.path, data, job.basis)
    return len(data)


class Edit(Arguments):
    old_text: str
    new_text: str
    replace_all: bool = False


class EditFileArguments(Arguments):
    path: str
    edits: list[Edit]


class EditFile:
    name = "edit_file"
    description = (
        "Change a text file of the workspace by exact replacement. Each old_text must stand in the file exactly "
        "once, unless replace_all is set. All edits are made, or none."
    )
    category: Category = "file_system"
    effect: Effect = "mutating"
    parameters = EditFileArguments

    async def prepare(self, arguments: EditFileArguments, workspace: Workspace) -> Prepared:
        prepared: Prepared = await in_thread(_prepare_edit, arguments, workspace)
        return prepared

    async def run(self, arguments: EditFileArguments, job: Job) -> str:
        await in_thread(_edit, arguments, job)
        count = len(arguments.edits)
        return f"Made {count} {'edit' if count == 1 else 'edits'} in {arguments.path}."


def _prepare_edit(arguments: EditFileArguments, workspace: Workspace) -> Prepared:
    limit = workspace.limit(arguments.path, writing=True)
    if limit is not None:
        return Prepared(effect="mutating", limit=limit)
    before, _, basis = _text(workspace, arguments.path)
    return prepared_edit(workspace, arguments.path, before, edited(before, arguments), basis)


def prepared_edit(workspace: Workspace, path: str, before: str, after: str, basis: str) -> Prepared:
    preview, is_whole = diff(path, before, after)
    return Prepared(
        effect="mutating",
        touches=workspace.touched(path),
        dangerous=() if is_whole else (NOT_WHOLE,),
        preview=preview,
        basis=basis,
        ask=workspace.ask(path),
    )


def _text(workspace: Workspace, path: str) -> tuple[str, Encoding, str]:
    """Raises: ToolError for what is missing, no text, or was read before it changed."""
    read_text(workspace, path)
    return _present(workspace, path)


def _edit(arguments: EditFileArguments, job: Job) -> None:
    before, encoding, basis = _text(job.workspace, arguments.path)
    if job.basis is not None and job.basis != basis:
        raise ToolError(Code.FILE_CHANGED, path=arguments.path)
    put(job, arguments.path, encoding.encode(edited(before, arguments)), basis)


def edited(text: str, arguments: EditFileArguments) -> str:
    """The text after all edits. Raises: ToolError."""
    windows = has_windows_ends(text)
    for number, edit in enumerate(arguments.edits, start=1):
        old, new = edit.old_text, edit.new_text
        # The model sees and writes plain line ends; the file keeps its own.
        if old not in text:
            old, new = with_windows_ends(old), with_windows_ends(new)
        elif windows and "\n" not in old:
            new = with_windows_ends(new)
        count = text.count(old) if old else 0
        if count == 0:
            raise ToolError(Code.TEXT_NOT_FOUND, number=number, path=arguments.path)
        if count > 1 and not edit.replace_all:
            raise ToolError(Code.TEXT_NOT_UNIQUE, number=number, path=arguments.path, count=count)
        size = len(text) + count * (len(new) - len(old))
        if size > READ_LIMIT:
            raise ToolError(Code.FILE_TOO_LARGE, path=arguments.path, size=size, limit=READ_LIMIT)
        text = text.replace(old, new)
    return text


def put(job: Job, path: str, data: bytes, basis: str | None) -> None:
    """Write a file; what it held is kept before. Raises: ToolError."""
    if job.artifacts is not None:
        _keep(job, job.artifacts, path, data)
    job.workspace.write(path, data, basis=basis)
    job.workspace.seen[job.workspace.touched(path)[-1]] = hashlib.sha256(data).hexdigest()


def _keep(job: Job, artifacts: ArtifactStore, path: str, data: bytes) -> None:
    try:
        before: bytes | None = job.workspace.read(path)
        mode: int | None = stat.S_IMODE(job.workspace.status(path).st_mode)
    except ToolError as error:
        if error.reason.code is not Code.FILE_MISSING:
            raise
        before = mode = None
    held = hashlib.sha256(before).hexdigest() if before is not None else ABSENT
    # The file itself, not a link that leads to it: an undo does not follow links.
    real = job.workspace.touched(path)[-1]
    file = ChangedFile(real, before=held, after=hashlib.sha256(data).hexdigest(), mode=mode)
    folders = _missing_folders(job.workspace, real) if before is None else ()
    entry = ChangeEntry(call=job.call_id, tool="write", files=(file,), made_folders=folders)
    try:
        artifacts.changes.add(entry, [before])
    except OSError as error:  # a change that could not be undone is not made
        raise ToolError(Code.CHANGE_NOT_KEPT, path=path, detail=error.strerror or str(error)) from error


def _missing_folders(workspace: Workspace, path: str) -> tuple[str, ...]:
    """The folders above a path that writing it will make, the outer ones first."""
    missing = []
    folder = os.path.dirname(path)
    while folder and Entries(workspace).look(folder).content == ABSENT:
        missing.append(folder)
        folder = os.path.dirname(folder)
    return tuple(reversed(missing))


def diff(path: str, before: str, after: str) -> tuple[str, bool]:
    """What would change, and whether that is all of it: a long one keeps its head and its tail."""
    if all(0 < text.count("\n") == text.count("\r\n") for text in (before, after)):
        # A return that stays everywhere is no news.
        before, after = before.replace("\r\n", "\n"), after.replace("\r\n", "\n")
    old, new = _lines(before), _lines(after)
    if len(old) * len(new) > _COMPARED_AT_MOST:
        lines = [f"{path}: {len(old)} lines become {len(new)}, too many to compare. They will be:", *new]
    else:
        lines = list(difflib.unified_diff(old, new, fromfile=path, tofile=path, lineterm="", n=3))
    text = "\n".join(lines)
    if len(text) <= _PREVIEW:
        return text, True
    half = _PREVIEW // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters are not shown …]\n{text[-half:]}", False


def _lines(text: str) -> list[str]:
    """As they are, so that a change of line ends alone shows: a return stays, a last line without end says so."""
    *lines, last = text.split("\n")
    return lines if last == "" else [*lines, f"{last}\n\\ No newline at end of file"]
