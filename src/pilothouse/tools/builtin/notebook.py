"""notebook_edit: replaces, inserts or deletes one cell of a Jupyter notebook. All other text stays byte for byte."""

import codecs
import hashlib
import json
import re
from typing import Any, Literal, NamedTuple

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.domain.json_size import has_more_values
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import Arguments, CallPreview, Category, PathText, ToolContext
from pilothouse.tools.builtin.byte_edits import has_windows_ends, with_windows_ends
from pilothouse.tools.builtin.edit_file import (
    PresentFile,
    diff,
    edit_preview,
    hard_links_note,
    read_present,
    refuse_changed,
    try_change,
    write_recorded,
)
from pilothouse.tools.text_encoding import Encoding
from pilothouse.tools.threads import IsStopped, until_cancelled

_INDENT = re.compile(r"\A\s*\{\r?\n( +|\t+)")
_WHITE_SPACE = re.compile(r"[ \t\r\n]*")
_UNICODE_ESCAPE = re.compile(r"\\u[0-9a-fA-F]{4}")
_JSON = json.JSONDecoder()
_MAX_VALUES = 1_000_000
Kind = Literal["code", "markdown", "raw"]
Action = Literal["replace", "insert", "delete"]


class NotebookEditArguments(Arguments):
    path: PathText
    cell: int | str
    source: str = ""
    kind: Kind | None = None
    action: Action = "replace"


class NotebookEdit:
    name = "notebook_edit"
    description = (
        "Change one cell of a Jupyter notebook. cell is its number, counted from 0, or its id. action is replace, "
        "insert (a new cell of that kind before the number) or delete. Outputs of a changed code cell are cleared."
    )
    category: Category = "file_system"
    effect: Effect = "mutating"
    parameters = NotebookEditArguments
    content_arguments = frozenset({"source"})

    async def prepare(self, arguments: NotebookEditArguments, workspace: Workspace) -> CallPreview:
        return await until_cancelled(lambda _: _prepare(arguments, workspace))

    async def run(self, arguments: NotebookEditArguments, context: ToolContext) -> str:
        links = await until_cancelled(lambda is_stopped: _run(arguments, context, is_stopped))
        verb = {"replace": "Replaced", "insert": "Inserted", "delete": "Deleted"}[arguments.action]
        return f"{verb} cell {arguments.cell} of {arguments.path}.{links}"


def _prepare(arguments: NotebookEditArguments, workspace: Workspace) -> CallPreview:
    violation = workspace.violation(arguments.path, writing=True)
    if violation is not None:
        return CallPreview(effect="mutating", violation=violation)

    def change(present: PresentFile) -> tuple[tuple[str, str], bytes]:
        before, encoding = _decode(present, arguments.path)
        data = encoding.bom + encoding.encode(_change_cell(before, arguments), arguments.path)
        return (before, encoding.decode(data)), data

    present, (before, after) = try_change(workspace, arguments.path, change)
    # A deletion ignores the source, and some notebooks write other letters than ASCII as escapes.
    is_source_shown = arguments.action != "delete" and (arguments.source.isascii() or not _has_escapes(before))
    shown = ("source",) if is_source_shown else ()
    return edit_preview(workspace, arguments.path, diff(arguments.path, before, after), present.content_hash, shown)


def _run(arguments: NotebookEditArguments, context: ToolContext, is_stopped: IsStopped) -> str:
    present = read_present(context.workspace, arguments.path)
    before, encoding = _decode(present, arguments.path)
    if context.content_hash != present.content_hash:
        refuse_changed(context, arguments.path, present.content_hash)
    data = encoding.bom + encoding.encode(_change_cell(before, arguments), arguments.path)
    links = hard_links_note(context.workspace, arguments.path)
    write_recorded(context, arguments.path, data, present.content_hash, is_stopped)
    return links


def _decode(present: PresentFile, path: str) -> tuple[str, Encoding]:
    """The text of a notebook, which its format defines as UTF-8. Raises: ToolError."""
    encoding = Encoding("utf-8", codecs.BOM_UTF8 if present.data.startswith(codecs.BOM_UTF8) else b"")
    if has_more_values(present.data, _MAX_VALUES):
        raise ToolError(Code.INVALID_NOTEBOOK, path=path, detail=f"it contains more than {_MAX_VALUES} values")
    try:
        return present.data[len(encoding.bom) :].decode(), encoding
    except UnicodeDecodeError as error:
        raise ToolError(Code.INVALID_NOTEBOOK, path=path, detail="it isn't UTF-8") from error


def _change_cell(text: str, arguments: NotebookEditArguments) -> str:
    """The notebook's text with one cell changed and every other character unchanged. Raises: ToolError."""
    try:
        notebook = json.loads(text)
        cells = notebook["cells"]
        if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
            raise TypeError("its cells aren't a list of objects")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ToolError(Code.INVALID_NOTEBOOK, path=arguments.path, detail=str(error) or "no cells") from error
    index, spans = _cell_index(cells, arguments), _find_cells(text)
    if arguments.action == "delete":
        return _delete_cell(text, spans, index)
    if arguments.action == "insert":
        return _insert_cell(text, spans, index, _new_cell(arguments, notebook))
    start, end = spans.cells[index]
    return text[:start] + _encode_cell(text, _with_source(cells[index], arguments), _margin(text, start)) + text[end:]


class _CellSpans(NamedTuple):
    """The spans of the cells in the text of a notebook, and of the brackets around them."""

    opening: int
    cells: list[tuple[int, int]]
    closing: int


def _find_cells(text: str) -> _CellSpans:
    """The cells of a valid notebook. Where the key `cells` appears twice the last one counts, as in every JSON
    parser."""
    spans = _CellSpans(0, [], 0)
    offset = _skip_space(text, 0)
    while text[offset] != "}":
        key, offset = _JSON.raw_decode(text, _skip_space(text, offset + 1))
        offset = _skip_space(text, _skip_space(text, offset) + 1)
        if key == "cells":
            spans = _cell_spans_at(text, offset)
        offset = _skip_space(text, _JSON.raw_decode(text, offset)[1])
    return spans


def _cell_spans_at(text: str, opening: int) -> _CellSpans:
    cells, offset = [], _skip_space(text, opening + 1)
    while text[offset] != "]":
        end = _JSON.raw_decode(text, offset)[1]
        cells.append((offset, end))
        offset = _skip_space(text, end)
        offset = _skip_space(text, offset + 1) if text[offset] == "," else offset
    return _CellSpans(opening + 1, cells, offset)


def _skip_space(text: str, offset: int) -> int:
    match = _WHITE_SPACE.match(text, offset)
    return match.end() if match else offset


def _delete_cell(text: str, spans: _CellSpans, index: int) -> str:
    start, end = spans.cells[index]
    if len(spans.cells) == 1:
        start, end = spans.opening, spans.closing
    elif index + 1 < len(spans.cells):
        end = spans.cells[index + 1][0]
    else:
        start = spans.cells[index - 1][1]
    return text[:start] + text[end:]


def _insert_cell(text: str, spans: _CellSpans, index: int, cell: dict[str, Any]) -> str:
    indent = _indent(text)
    if not spans.cells:
        step = "" if indent is None else indent if isinstance(indent, str) else " " * indent
        around = ("", "") if indent is None else (_line_end(text) + 2 * step, _line_end(text) + step)
        content = around[0] + _encode_cell(text, cell, 2 * step) + around[1]
        return text[: spans.opening] + content + text[spans.closing :]
    margin = _margin(text, spans.cells[0][0])
    encoded_cell = _encode_cell(text, cell, margin)
    gap = "," + (" " if indent is None else _line_end(text) + margin)
    if index < len(spans.cells):
        offset = spans.cells[index][0]
        return text[:offset] + encoded_cell + gap + text[offset:]
    offset = spans.cells[-1][1]
    return text[:offset] + gap + encoded_cell + text[offset:]


def _encode_cell(text: str, cell: dict[str, Any], margin: str) -> str:
    """A cell in the notebook's own style: indentation, line ends and escapes."""
    encoded_cell = json.dumps(cell, ensure_ascii=_has_escapes(text), indent=_indent(text)).replace("\n", f"\n{margin}")
    return with_windows_ends(encoded_cell) if has_windows_ends(text) else encoded_cell


def _has_escapes(text: str) -> bool:
    """Whether a notebook writes letters other than ASCII as escapes."""
    return text.isascii() and _UNICODE_ESCAPE.search(text) is not None


def _margin(text: str, offset: int) -> str:
    """The indentation of a value that begins its line."""
    before = text[text.rfind("\n", 0, offset) + 1 : offset]
    return before if before.isspace() else ""


def _line_end(text: str) -> str:
    return "\r\n" if has_windows_ends(text) else "\n"


def _indent(text: str) -> int | str | None:
    match = _INDENT.match(text)
    if match is not None:
        return "\t" if "\t" in match[1] else len(match[1])
    return 1 if "\n" in text.strip() else None


def _cell_index(cells: list[dict[str, Any]], arguments: NotebookEditArguments) -> int:
    cell = arguments.cell
    if isinstance(cell, str):
        by_id = {cell.get("id"): index for index, cell in enumerate(cells)}
        index = by_id.get(cell, int(cell) if cell.isdecimal() else -1)
    else:
        index = cell
    last = len(cells) if arguments.action == "insert" else len(cells) - 1
    if not 0 <= index <= last:
        raise ToolError(Code.UNKNOWN_CELL, path=arguments.path, cell=cell, count=len(cells))
    return index


def _new_cell(arguments: NotebookEditArguments, notebook: dict[str, Any]) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": arguments.kind or "code", "metadata": {}}
    if (notebook.get("nbformat", 4), notebook.get("nbformat_minor", 0)) >= (4, 5):
        content = f"{len(notebook['cells'])} {arguments.cell} {arguments.source}"
        cell = {"id": hashlib.sha256(content.encode()).hexdigest()[:8], **cell}
    return _with_source(cell, arguments)


def _with_source(cell: dict[str, Any], arguments: NotebookEditArguments) -> dict[str, Any]:
    kind = arguments.kind or cell.get("cell_type", "code")
    changed = {**cell, "cell_type": kind, "source": arguments.source.splitlines(keepends=True)}
    changed.pop("outputs", None)
    changed.pop("execution_count", None)
    return {**changed, "execution_count": None, "outputs": []} if kind == "code" else changed
