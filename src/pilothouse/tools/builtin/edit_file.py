"""write_file and edit_file. Both show a diff before the decision, and refuse a file that changed since."""

import contextlib
import difflib
import hashlib
import os
import stat
from collections.abc import Callable, Sequence
from typing import Annotated, NamedTuple, TypeVar

from msgspec import Meta

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.deception.hidden_characters import exact_line
from pilothouse.domain.errors import ToolError, os_error_text
from pilothouse.sandbox.entries import Entries
from pilothouse.sandbox.workspace import ABSENT, Workspace
from pilothouse.tools.artifacts import ArtifactStore
from pilothouse.tools.base import Arguments, CallPreview, Category, PathText, ToolContext
from pilothouse.tools.builtin.byte_edits import (
    Replacement,
    apply_edits,
    describe_candidates,
    has_windows_ends,
    with_windows_ends,
)
from pilothouse.tools.builtin.editorconfig import charset_of
from pilothouse.tools.builtin.read_file import EncodingName, encoding_of
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
from pilothouse.tools.threads import IsStopped, Stopped, until_cancelled
from pilothouse.tools.undo.changes import WRITE, ChangedFile, ChangeEntry

MAX_EDITS = 500
INCOMPLETE_PREVIEW = "not shown whole"
_MAX_PREVIEW_CHARACTERS = 20_000
_MAX_COMPARED_LINE_PAIRS = 4_000_000
_MAX_COMPARED_LINES = 250_000
"""Of both texts together. A file of the largest size may have ten million lines, each of which would cost an object."""


class PresentFile(NamedTuple):
    """The present content of a file."""

    data: bytes
    content_hash: str
    """The hash of the content, ABSENT where there is no file."""

    def content_hash_in(self, encoding: Encoding) -> str:
        """The content hash of a preview in this encoding: the person saw both the content and its decoding."""
        name = encoding.name if self.data.startswith(encoding.bom) else f"{encoding.name}:bom"  # new: gets a mark
        return self.content_hash if name == UTF_8.name else f"{self.content_hash}:{name}"


T = TypeVar("T")


def try_change(
    workspace: Workspace, path: str, change: Callable[[PresentFile], tuple[T, bytes]]
) -> tuple[PresentFile, T]:
    """Try a change on the present file and, where that fails, on the file as earlier calls of the same round leave it.

    `change` returns what is shown of the change, and the file's new content. The hash is that of the present file even
    where the preview was made from a planned content: the start compares the file with the one of the preview.
    Raises: ToolError.
    """
    real_path = workspace.touched_paths(path)[-1]
    planned = workspace.planned.get(real_path)
    try:
        present = read_present(workspace, path)
        display, after = change(present)
    except ToolError as error:
        if planned is None:
            raise
        content_hash = ABSENT if error.reason.code is Code.FILE_MISSING else workspace.content_hash(path)
        present = PresentFile(planned, content_hash)
        display, workspace.planned[real_path] = change(present)
        return present, display
    if planned is not None:
        with contextlib.suppress(ToolError):
            _, after = change(PresentFile(planned, present.content_hash))
    workspace.planned[real_path] = after
    return present, display


def refuse_changed(context: ToolContext, path: str, present: str, encoding: str = UTF_8.name) -> None:
    """Refuse a file that was changed since the call was shown, by anything but earlier calls of the same round.

    `present` is the file's content hash, `encoding` the encoding in which the file is read. Raises: ToolError.
    """
    if context.content_hash is None:
        return
    shown_hash, _, shown_encoding = context.content_hash.partition(":")
    is_same_encoding = (shown_encoding.removesuffix(":bom") or UTF_8.name) == encoding
    if not (is_same_encoding and is_own_change(context, path, shown_hash, present)):
        raise ToolError(Code.FILE_CHANGED, path=path)


def read_present(workspace: Workspace, path: str) -> PresentFile:
    """Raises: ToolError for a file that changed since the agent read it, and for a file that cannot be read."""
    data = workspace.read(path)
    content_hash = hashlib.sha256(data).hexdigest()
    if workspace.read_digests.get(workspace.touched_paths(path)[-1], content_hash) != content_hash:
        raise ToolError(Code.FILE_CHANGED_SINCE_READ, path=path)
    return PresentFile(data, content_hash)


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

    async def prepare(self, arguments: WriteFileArguments, workspace: Workspace) -> CallPreview:
        return await until_cancelled(lambda _: _prepare_write(arguments, workspace))

    async def run(self, arguments: WriteFileArguments, context: ToolContext) -> str:
        return await until_cancelled(lambda is_stopped: _write(arguments, context, is_stopped))


def _prepare_write(arguments: WriteFileArguments, workspace: Workspace) -> CallPreview:
    violation = workspace.violation(arguments.path, writing=True)
    if violation is not None:
        return CallPreview(effect="mutating", violation=violation)
    present, encoding = _read_target(workspace, arguments)
    content = _encoded_content(arguments, present, encoding)
    workspace.planned[workspace.touched_paths(arguments.path)[-1]] = content
    before, after = encoding.decode(present.data), encoding.decode(content)
    preview, is_whole = diff(arguments.path, before, after, encoding.name)
    dangerous = [] if present.content_hash == ABSENT else ["overwrite"]
    dangerous += [] if is_whole else [INCOMPLETE_PREVIEW]
    return CallPreview(
        effect="mutating",
        touches=workspace.touched_paths(arguments.path),
        dangerous=tuple(dangerous),
        preview=preview,
        preview_kind="file_change",
        shown_arguments=("path", "content") if preview and is_whole else ("path",),
        content_hash=present.content_hash_in(encoding),
        ask=workspace.approval_reason(arguments.path),
    )


def _read_target(workspace: Workspace, arguments: WriteFileArguments) -> tuple[PresentFile, Encoding]:
    """The present file, and the encoding to write in. Raises: ToolError where the encoding is uncertain and the content
    needs a certain one."""
    path = arguments.path
    try:
        present = read_present(workspace, path)
    except ToolError as error:
        if error.reason.code is not Code.FILE_MISSING:
            raise
        return PresentFile(b"", ABSENT), encoding_for_new_file(charset_of(workspace, path))
    encoding = encoding_of(workspace, path, present.data)
    if encoding is None:
        return PresentFile(b"", present.content_hash), UTF_8  # not text: the diff shows the new content only
    if not encoding.is_certain and not arguments.content.isascii():
        readings = describe_candidates(present.data, candidates(present.data, encoding.name))
        raise ToolError(Code.ENCODING_UNCERTAIN, path=path, candidates=readings)
    return present, encoding


def _encoded_content(arguments: WriteFileArguments, present: PresentFile, encoding: Encoding) -> bytes:
    """The new content in the file's encoding. The model writes plain line feeds; a file with CR LF keeps them."""
    content = arguments.content
    if "\r\n" not in content and has_windows_ends(encoding.decode(present.data)):
        content = with_windows_ends(content)
    return encoding.bom + encoding.encode(content.removeprefix("\ufeff" * bool(encoding.bom)), arguments.path)


def _write(arguments: WriteFileArguments, context: ToolContext, is_stopped: IsStopped) -> str:
    present, encoding = _read_target(context.workspace, arguments)
    _refuse_changed(context, present, encoding, arguments.path)
    data = _encoded_content(arguments, present, encoding)
    links = hard_links_note(context.workspace, arguments.path)
    write_recorded(context, arguments.path, data, present.content_hash, is_stopped)
    encoding_note = "" if encoding.name == "utf-8" else f" in {encoding.name}"
    return f"Wrote {len(data)} bytes{encoding_note} to {arguments.path}.{links}"


def _refuse_changed(context: ToolContext, present: PresentFile, encoding: Encoding, path: str) -> None:
    """Raises: ToolError where the file or its encoding is not what a person was shown."""
    if context.content_hash != present.content_hash_in(encoding):
        refuse_changed(context, path, present.content_hash, encoding.name)


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

    async def prepare(self, arguments: EditFileArguments, workspace: Workspace) -> CallPreview:
        return await until_cancelled(lambda is_stopped: _prepare_edit(arguments, workspace, is_stopped))

    async def run(self, arguments: EditFileArguments, context: ToolContext) -> str:
        links = await until_cancelled(lambda is_stopped: _edit(arguments, context, is_stopped))
        count = len(arguments.edits)
        return f"Made {count} {'edit' if count == 1 else 'edits'} in {arguments.path}.{links}"


def _prepare_edit(arguments: EditFileArguments, workspace: Workspace, is_stopped: IsStopped) -> CallPreview:
    violation = workspace.violation(arguments.path, writing=True)
    if violation is not None:
        return CallPreview(effect="mutating", violation=violation)

    def change(present: PresentFile) -> tuple[tuple[bytes, Encoding], bytes]:
        after, encoding = _edit_content(workspace, arguments, present, is_stopped)
        return (after, encoding), after

    present, (after, encoding) = try_change(workspace, arguments.path, change)
    preview = diff(arguments.path, encoding.decode(present.data), encoding.decode(after), encoding.name)
    shown = ("edits",) if _shows_edits(preview[0], arguments.edits) else ()
    return edit_preview(workspace, arguments.path, preview, present.content_hash_in(encoding), shown)


def _shows_edits(preview: str, edits: Sequence[Edit]) -> bool:
    """Whether a diff contains the texts of all edits. A diff leaves out unchanged lines in the middle of an edit, what
    later edits change again, and how often a text is replaced."""
    lines = preview.split("\n")
    before, after = ("".join(f"{line[1:]}\n" for line in lines if line[:1] in signs) for signs in (" -", " +"))
    return all(not edit.replace_all and edit.old_text in before and edit.new_text in after for edit in edits)


def edit_preview(
    workspace: Workspace,
    path: str,
    diff_and_completeness: tuple[str, bool],
    content_hash: str,
    shown_arguments: tuple[str, ...],
) -> CallPreview:
    """The preview of an edit. `diff_and_completeness` is the diff, and whether the diff is complete. `shown_arguments`
    are the arguments besides the path that the diff shows in full if it is complete."""
    preview, is_whole = diff_and_completeness
    return CallPreview(
        effect="mutating",
        touches=workspace.touched_paths(path),
        dangerous=() if is_whole else (INCOMPLETE_PREVIEW,),
        preview=preview,
        preview_kind="file_change",
        shown_arguments=("path", *shown_arguments) if preview and is_whole else ("path",),
        content_hash=content_hash,
        ask=workspace.approval_reason(path),
    )


def _edit(arguments: EditFileArguments, context: ToolContext, is_stopped: IsStopped) -> str:
    present = read_present(context.workspace, arguments.path)
    after, encoding = _edit_content(context.workspace, arguments, present, is_stopped)
    _refuse_changed(context, present, encoding, arguments.path)
    links = hard_links_note(context.workspace, arguments.path)
    write_recorded(context, arguments.path, after, present.content_hash, is_stopped)
    return links


def _edit_content(
    workspace: Workspace, arguments: EditFileArguments, present: PresentFile, is_stopped: IsStopped
) -> tuple[bytes, Encoding]:
    """The edited content and its encoding. Raises: ToolError, Stopped."""
    path, data = arguments.path, present.data
    if arguments.encoding is not None:
        named = named_encoding(arguments.encoding, data)
        if contradicts(data, named):
            detected = detect(data)
            detected_name = detected.name if detected is not None else "no text"
            raise ToolError(Code.ENCODING_CONTRADICTED, path=path, encoding=named.name, likely=detected_name)
        encoding: Encoding | None = named
    else:
        encoding = encoding_of(workspace, path, data)
    if encoding is None:
        raise ToolError(Code.FILE_NOT_TEXT, path=path)
    edits = [Replacement(edit.old_text, edit.new_text, edit.replace_all) for edit in arguments.edits]
    return apply_edits(data, encoding, edits, path, is_stopped), encoding


def hard_links_note(workspace: Workspace, path: str) -> str:
    """A note on the other hard links of a file about to be replaced."""
    try:
        others = workspace.status(path).st_nlink - 1
    except ToolError:
        return ""
    if others < 1:
        return ""
    names = "1 other name (hard link) keeps" if others == 1 else f"{others} other names (hard links) keep"
    return f" The file had several names: {names} the old content."


def write_recorded(
    context: ToolContext, path: str, data: bytes, content_hash: str | None, is_stopped: IsStopped
) -> None:
    """Write a file after recording its previous content for undo. Raises: ToolError; Stopped, before anything is
    written."""
    if is_stopped():
        raise Stopped
    entry = _record_change(context, context.artifacts, path, data) if context.artifacts is not None else None
    context.workspace.write(path, data, expected=content_hash)
    if context.artifacts is not None and entry is not None:
        with contextlib.suppress(ToolError, OSError):  # the file is written: undo then does not compare its mode
            mode = _mode(context.workspace, path)
            context.artifacts.changes.add_modes_after(entry, {file.path: mode for file in entry.files})
    context.workspace.read_digests[context.workspace.touched_paths(path)[-1]] = hashlib.sha256(data).hexdigest()


def _mode(workspace: Workspace, path: str) -> int:
    return stat.S_IMODE(workspace.status(path).st_mode)


def _record_change(context: ToolContext, artifacts: ArtifactStore, path: str, data: bytes) -> ChangeEntry:
    try:
        before: bytes | None = context.workspace.read(path)
        mode: int | None = _mode(context.workspace, path)
    except ToolError as error:
        if error.reason.code is not Code.FILE_MISSING:
            raise
        before = mode = None
    previous = hashlib.sha256(before).hexdigest() if before is not None else ABSENT
    # The file itself, not a symlink to it: an undo does not follow links.
    real_path = context.workspace.touched_paths(path)[-1]
    after = hashlib.sha256(data).hexdigest()
    file = ChangedFile(real_path, before=previous, after=after, mode=mode, mode_after=mode)  # a write keeps the mode
    folders = _missing_folders(context.workspace, real_path) if before is None else ()
    entry = ChangeEntry(call=context.call_id, tool=WRITE, files=(file,), made_folders=folders)
    try:
        return artifacts.changes.add(entry, [before])
    except OSError as error:  # a change that cannot be recorded must not be made
        raise ToolError(Code.CHANGE_NOT_KEPT, path=path, detail=os_error_text(error)) from error


def _missing_folders(workspace: Workspace, path: str) -> tuple[str, ...]:
    """The folders above a path that writing it will create, the outer ones first."""
    missing = []
    folder = os.path.dirname(path)
    while folder and Entries(workspace).state(folder).content == ABSENT:
        missing.append(folder)
        folder = os.path.dirname(folder)
    return tuple(reversed(missing))


def diff(path: str, before: str, after: str, encoding: str = UTF_8.name) -> tuple[str, bool]:
    """A diff of two texts, and whether it is complete: a long one keeps its head and its tail. The first line names an
    encoding other than UTF-8, because other programs may decode the bytes differently."""
    if all(0 < text.count("\n") == text.count("\r\n") for text in (before, after)):
        # CR LF on every line before and after is no difference to show.
        before, after = before.replace("\r\n", "\n"), after.replace("\r\n", "\n")
    old_count, new_count, name = _line_count(before), _line_count(after), exact_line(path)
    if old_count * new_count > _MAX_COMPARED_LINE_PAIRS or old_count + new_count > _MAX_COMPARED_LINES:
        text = f"{name}: {old_count:,} lines become {new_count:,}, too many to compare. They will be:"
        text += f"\n{_with_end_shown(after)}" if after else ""
    else:
        lines = difflib.unified_diff(_lines(before), _lines(after), fromfile=name, tofile=name, lineterm="", n=3)
        text = "\n".join(lines)
    if text and encoding != UTF_8.name:
        text = f"encoding: {encoding}\n{text}"
    if len(text) <= _MAX_PREVIEW_CHARACTERS:
        return text, True
    half = _MAX_PREVIEW_CHARACTERS // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters are not shown …]\n{text[-half:]}", False


def _line_count(text: str) -> int:
    return text.count("\n") + (text[-1:] not in ("", "\n"))


def _lines(text: str) -> list[str]:
    """The lines unchanged, so that a change of line ends alone is visible: a CR stays, and a last line without an end
    says so."""
    *lines, last = text.split("\n")
    return lines if last == "" else [*lines, _with_end_shown(last)]


def _with_end_shown(text: str) -> str:
    """The text without the end of its last line; a last line without an end says so."""
    return text[:-1] if text.endswith("\n") else f"{text}\n\\ No newline at end of file"
