"""Writing: write_file and edit_file. Both show a diff first, and refuse when the file changed since."""

import difflib
import hashlib

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.workspace import ABSENT, READ_LIMIT, Workspace
from pilothouse.tools.base import Arguments, Category, Job, Prepared, in_thread
from pilothouse.tools.builtin.files import read_text

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
        await in_thread(_write, job.workspace, arguments.path, arguments.content, job.basis)
        return f"Wrote {len(arguments.content.encode())} bytes to {arguments.path}."


def _prepare_write(arguments: WriteFileArguments, workspace: Workspace) -> Prepared:
    limit = workspace.limit(arguments.path, writing=True)
    if limit is not None:
        return Prepared(effect="mutating", limit=limit)
    basis = workspace.basis(arguments.path)
    try:
        before = "" if basis == ABSENT else read_text(workspace, arguments.path)
    except ToolError:
        before = ""  # not text: the diff shows what will stand there
    preview, is_whole = _diff(arguments.path, before, arguments.content)
    dangerous = [] if basis == ABSENT else ["overwrite"]
    dangerous += [] if is_whole else [NOT_WHOLE]
    touches = workspace.touched(arguments.path)
    return Prepared(effect="mutating", touches=touches, dangerous=tuple(dangerous), preview=preview, basis=basis)


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
    before = read_text(workspace, arguments.path)
    after = edited(before, arguments)
    basis = hashlib.sha256(before.encode()).hexdigest()
    preview, is_whole = _diff(arguments.path, before, after)
    dangerous = () if is_whole else (NOT_WHOLE,)
    touches = workspace.touched(arguments.path)
    return Prepared(effect="mutating", touches=touches, dangerous=dangerous, preview=preview, basis=basis)


def _edit(arguments: EditFileArguments, job: Job) -> None:
    before = read_text(job.workspace, arguments.path)
    basis = hashlib.sha256(before.encode()).hexdigest()
    if job.basis is not None and job.basis != basis:
        raise ToolError(Code.FILE_CHANGED, path=arguments.path)
    _write(job.workspace, arguments.path, edited(before, arguments), basis)


def edited(text: str, arguments: EditFileArguments) -> str:
    """The text after all edits. Raises: ToolError."""
    windows = text.count("\r\n") * 2 > text.count("\n")
    for number, edit in enumerate(arguments.edits, start=1):
        old, new = edit.old_text, edit.new_text
        # The model sees and writes plain line ends; the file keeps its own.
        if old not in text:
            old, new = _with_windows_ends(old), _with_windows_ends(new)
        elif windows and "\n" not in old:
            new = _with_windows_ends(new)
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


def _with_windows_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _write(workspace: Workspace, path: str, content: str, basis: str | None) -> None:
    try:
        data = content.encode()
    except UnicodeEncodeError as error:
        raise ToolError(Code.NOT_TEXT, detail=str(error)) from error
    workspace.write(path, data, basis=basis)


def _diff(path: str, before: str, after: str) -> tuple[str, bool]:
    """What would change, and whether that is all of it: a long one keeps its head and its tail."""
    old, new = before.splitlines(), after.splitlines()
    if len(old) * len(new) > _COMPARED_AT_MOST:
        lines = [f"{path}: {len(old)} lines become {len(new)}, too many to compare. They will be:", *new]
    else:
        lines = list(difflib.unified_diff(old, new, fromfile=path, tofile=path, lineterm="", n=3))
    text = "\n".join(lines)
    if len(text) <= _PREVIEW:
        return text, True
    half = _PREVIEW // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters are not shown …]\n{text[-half:]}", False
