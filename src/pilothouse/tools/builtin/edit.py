"""Writing: write_file and edit_file. Both show a diff first, and refuse when the file changed since."""

import contextlib
import difflib
import hashlib
import os
import stat
from collections.abc import Callable
from typing import Annotated, NamedTuple, TypeVar

from msgspec import Meta

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.domain.hidden_characters import exact_line
from pilothouse.sandbox.entries import Entries
from pilothouse.sandbox.workspace import ABSENT, Workspace
from pilothouse.tools.artifacts import ArtifactStore
from pilothouse.tools.base import Arguments, Category, Job, PathText, Prepared
from pilothouse.tools.builtin.byte_edits import (
    Replacement,
    has_windows_ends,
    replaced,
    shown_candidates,
    with_windows_ends,
)
from pilothouse.tools.builtin.editorconfig import charset_of
from pilothouse.tools.builtin.files import EncodingName, encoding_of
from pilothouse.tools.builtin.round_writes import is_own_change
from pilothouse.tools.text_encoding import (
    UTF_8,
    Encoding,
    candidates,
    contradicts,
    detect,
    encoding_for_new_file,
    named_encoding,
)
from pilothouse.tools.threads import in_thread
from pilothouse.tools.undo.changes import WRITE, ChangedFile, ChangeEntry

MAX_EDITS = 500
NOT_WHOLE = "not shown whole"
_PREVIEW = 20_000
_COMPARED_AT_MOST = 4_000_000


class Present(NamedTuple):
    """What a file holds now."""

    data: bytes
    basis: str
    """Names the content, ABSENT where there is no file."""

    def basis_in(self, encoding: Encoding) -> str:
        """Names the content and how it is read: what a person was shown depends on both."""
        name = encoding.name if self.data.startswith(encoding.bom) else f"{encoding.name}:bom"  # a new file gets it
        return self.basis if name == UTF_8.name else f"{self.basis}:{name}"


T = TypeVar("T")


def prepared_on(workspace: Workspace, path: str, change: Callable[[Present], tuple[T, bytes]]) -> tuple[Present, T]:
    """Try a change on a file as it is and, where that does not work, as earlier calls of the same answer leave it.

    `change` gives what is shown of the change, and what the file then holds. The content that the preview was made from
    comes with the present basis: a call is compared with what lay on the disk when it was shown. Raises: ToolError.
    """
    real = workspace.touched(path)[-1]
    planned = workspace.planned.get(real)
    try:
        present = read_present(workspace, path)
        shown, after = change(present)
    except ToolError as error:
        if planned is None:
            raise
        basis = ABSENT if error.reason.code is Code.FILE_MISSING else workspace.basis(path)
        present = Present(planned, basis)
        shown, workspace.planned[real] = change(present)
        return present, shown
    if planned is not None:
        with contextlib.suppress(ToolError):
            _, after = change(Present(planned, present.basis))
    workspace.planned[real] = after
    return present, shown


def refuse_changed(job: Job, path: str, present: str, encoding: str = UTF_8.name) -> None:
    """Refuse a file that somebody else than the earlier calls of the same answer changed since the call was shown.

    `present` is the content hash of the file, `encoding` how it is read. Raises: ToolError.
    """
    if job.basis is None:
        return
    shown, _, shown_encoding = job.basis.partition(":")
    is_same_encoding = (shown_encoding.removesuffix(":bom") or UTF_8.name) == encoding
    if not (is_same_encoding and is_own_change(job, path, shown, present)):
        raise ToolError(Code.FILE_CHANGED, path=path)


def read_present(workspace: Workspace, path: str) -> Present:
    """Raises: ToolError for a file that was read before it changed, and for what cannot be read."""
    data = workspace.read(path)
    basis = hashlib.sha256(data).hexdigest()
    if workspace.seen.get(workspace.touched(path)[-1], basis) != basis:
        raise ToolError(Code.FILE_CHANGED_SINCE_READ, path=path)
    return Present(data, basis)


class WriteFileArguments(Arguments):
    path: PathText
    content: str


class WriteFile:
    name = "write_file"
    description = "Write a text file of the workspace as a whole: made with its folders, or replaced in its encoding."
    category: Category = "file_system"
    effect: Effect = "mutating"
    parameters = WriteFileArguments
    content_arguments = frozenset({"content"})

    async def prepare(self, arguments: WriteFileArguments, workspace: Workspace) -> Prepared:
        prepared: Prepared = await in_thread(_prepare_write, arguments, workspace)
        return prepared

    async def run(self, arguments: WriteFileArguments, job: Job) -> str:
        answer: str = await in_thread(_write, arguments, job)
        return answer


def _prepare_write(arguments: WriteFileArguments, workspace: Workspace) -> Prepared:
    limit = workspace.limit(arguments.path, writing=True)
    if limit is not None:
        return Prepared(effect="mutating", limit=limit)
    present, encoding = _to_be_written(workspace, arguments)
    whole = _whole(arguments, present, encoding)
    workspace.planned[workspace.touched(arguments.path)[-1]] = whole
    before, after = encoding.decode(present.data), encoding.decode(whole)
    preview, is_whole = diff(arguments.path, before, after, encoding.name)
    dangerous = [] if present.basis == ABSENT else ["overwrite"]
    dangerous += [] if is_whole else [NOT_WHOLE]
    return Prepared(
        effect="mutating",
        touches=workspace.touched(arguments.path),
        dangerous=tuple(dangerous),
        preview=preview,
        basis=present.basis_in(encoding),
        ask=workspace.ask(arguments.path),
    )


def _to_be_written(workspace: Workspace, arguments: WriteFileArguments) -> tuple[Present, Encoding]:
    """What is there, and the encoding to write in. Raises: ToolError where that is not certain, and matters."""
    path = arguments.path
    try:
        present = read_present(workspace, path)
    except ToolError as error:
        if error.reason.code is not Code.FILE_MISSING:
            raise
        return Present(b"", ABSENT), encoding_for_new_file(charset_of(workspace, path))
    encoding = encoding_of(workspace, path, present.data)
    if encoding is None:
        return Present(b"", present.basis), UTF_8  # not text: the diff shows what will stand there
    if not encoding.is_certain and not arguments.content.isascii():
        readings = shown_candidates(present.data, candidates(present.data, encoding.name))
        raise ToolError(Code.ENCODING_UNCERTAIN, path=path, candidates=readings)
    return present, encoding


def _whole(arguments: WriteFileArguments, present: Present, encoding: Encoding) -> bytes:
    """The model writes plain line ends; a file that has others keeps them."""
    content = arguments.content
    if "\r\n" not in content and has_windows_ends(encoding.decode(present.data)):
        content = with_windows_ends(content)
    return encoding.bom + encoding.encode(content.removeprefix("\ufeff" * bool(encoding.bom)), arguments.path)


def _write(arguments: WriteFileArguments, job: Job) -> str:
    present, encoding = _to_be_written(job.workspace, arguments)
    _refuse_changed(job, present, encoding, arguments.path)
    data = _whole(arguments, present, encoding)
    links = hard_links_note(job.workspace, arguments.path)
    put(job, arguments.path, data, present.basis)
    told = "" if encoding.name == "utf-8" else f" in {encoding.name}"
    return f"Wrote {len(data)} bytes{told} to {arguments.path}.{links}"


def _refuse_changed(job: Job, present: Present, encoding: Encoding, path: str) -> None:
    """Raises: ToolError where the file, or the encoding that it is read in, is not what a person was shown."""
    if job.basis != present.basis_in(encoding):
        refuse_changed(job, path, present.basis, encoding.name)


class Edit(Arguments):
    old_text: str
    new_text: str
    replace_all: bool = False


class EditFileArguments(Arguments):
    path: PathText
    edits: Annotated[list[Edit], Meta(max_length=MAX_EDITS)]
    encoding: EncodingName | None = None


class EditFile:
    name = "edit_file"
    description = (
        "Change a text file of the workspace by exact replacement. Each old_text must stand in the file exactly "
        "once, unless replace_all is set. All edits are made, or none. encoding (such as cp1251) is needed only where "
        "the result asks for it."
    )
    category: Category = "file_system"
    effect: Effect = "mutating"
    parameters = EditFileArguments
    content_arguments = frozenset({"old_text", "new_text"})

    async def prepare(self, arguments: EditFileArguments, workspace: Workspace) -> Prepared:
        prepared: Prepared = await in_thread(_prepare_edit, arguments, workspace)
        return prepared

    async def run(self, arguments: EditFileArguments, job: Job) -> str:
        links: str = await in_thread(_edit, arguments, job)
        count = len(arguments.edits)
        return f"Made {count} {'edit' if count == 1 else 'edits'} in {arguments.path}.{links}"


def _prepare_edit(arguments: EditFileArguments, workspace: Workspace) -> Prepared:
    limit = workspace.limit(arguments.path, writing=True)
    if limit is not None:
        return Prepared(effect="mutating", limit=limit)

    def change(present: Present) -> tuple[tuple[bytes, Encoding], bytes]:
        after, encoding = _edited(workspace, arguments, present)
        return (after, encoding), after

    present, (after, encoding) = prepared_on(workspace, arguments.path, change)
    preview = diff(arguments.path, encoding.decode(present.data), encoding.decode(after), encoding.name)
    return prepared_edit(workspace, arguments.path, preview, present.basis_in(encoding))


def prepared_edit(workspace: Workspace, path: str, shown: tuple[str, bool], basis: str) -> Prepared:
    """`shown` is a preview, and whether that is whole."""
    preview, is_whole = shown
    return Prepared(
        effect="mutating",
        touches=workspace.touched(path),
        dangerous=() if is_whole else (NOT_WHOLE,),
        preview=preview,
        basis=basis,
        ask=workspace.ask(path),
    )


def _edit(arguments: EditFileArguments, job: Job) -> str:
    present = read_present(job.workspace, arguments.path)
    after, encoding = _edited(job.workspace, arguments, present)
    _refuse_changed(job, present, encoding, arguments.path)
    links = hard_links_note(job.workspace, arguments.path)
    put(job, arguments.path, after, present.basis)
    return links


def _edited(workspace: Workspace, arguments: EditFileArguments, present: Present) -> tuple[bytes, Encoding]:
    """Raises: ToolError."""
    path, data = arguments.path, present.data
    if arguments.encoding is not None:
        named = named_encoding(arguments.encoding, data)
        if contradicts(data, named):
            likely = detect(data)
            told = likely.name if likely is not None else "no text"
            raise ToolError(Code.ENCODING_CONTRADICTED, path=path, encoding=named.name, likely=told)
        encoding: Encoding | None = named
    else:
        encoding = encoding_of(workspace, path, data)
    if encoding is None:
        raise ToolError(Code.FILE_NOT_TEXT, path=path)
    edits = [Replacement(edit.old_text, edit.new_text, edit.replace_all) for edit in arguments.edits]
    return replaced(data, encoding, edits, path), encoding


def hard_links_note(workspace: Workspace, path: str) -> str:
    """What to say of the other names of a file that is about to be replaced."""
    try:
        others = workspace.status(path).st_nlink - 1
    except ToolError:
        return ""
    if others < 1:
        return ""
    names = "1 other name (hard link) keeps" if others == 1 else f"{others} other names (hard links) keep"
    return f" The file had several names: {names} the old content."


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
    entry = ChangeEntry(call=job.call_id, tool=WRITE, files=(file,), made_folders=folders)
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


def diff(path: str, before: str, after: str, encoding: str = UTF_8.name) -> tuple[str, bool]:
    """What would change, and whether that is all of it: a long one keeps its head and its tail. An encoding that is not
    UTF-8 stands in the first line: programs may read other characters in the bytes."""
    if all(0 < text.count("\n") == text.count("\r\n") for text in (before, after)):
        # A return that stays everywhere is no news.
        before, after = before.replace("\r\n", "\n"), after.replace("\r\n", "\n")
    old, new, name = _lines(before), _lines(after), exact_line(path)
    if len(old) * len(new) > _COMPARED_AT_MOST:
        lines = [f"{name}: {len(old):,} lines become {len(new):,}, too many to compare. They will be:", *new]
    else:
        lines = list(difflib.unified_diff(old, new, fromfile=name, tofile=name, lineterm="", n=3))
    if lines and encoding != UTF_8.name:
        lines.insert(0, f"encoding: {encoding}")
    text = "\n".join(lines)
    if len(text) <= _PREVIEW:
        return text, True
    half = _PREVIEW // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters are not shown …]\n{text[-half:]}", False


def _lines(text: str) -> list[str]:
    """As they are, so that a change of line ends alone shows: a return stays, a last line without end says so."""
    *lines, last = text.split("\n")
    return lines if last == "" else [*lines, f"{last}\n\\ No newline at end of file"]
