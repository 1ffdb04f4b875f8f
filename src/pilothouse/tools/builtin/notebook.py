"""notebook_edit: one cell of a Jupyter notebook: replaced, put in, or taken out. The rest stays as it is."""

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
from pilothouse.tools.base import Arguments, Category, Job, PathText, Prepared
from pilothouse.tools.builtin.byte_edits import has_windows_ends, with_windows_ends
from pilothouse.tools.builtin.edit import (
    Present,
    diff,
    hard_links_note,
    prepared_edit,
    prepared_on,
    put,
    read_present,
    refuse_changed,
)
from pilothouse.tools.text_encoding import Encoding
from pilothouse.tools.threads import in_thread

_INDENT = re.compile(r"\A\s*\{\r?\n( +|\t+)")
_SPACE = re.compile(r"[ \t\r\n]*")
_ESCAPED = re.compile(r"\\u[0-9a-fA-F]{4}")
_VALUES = json.JSONDecoder()
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

    async def prepare(self, arguments: NotebookEditArguments, workspace: Workspace) -> Prepared:
        prepared: Prepared = await in_thread(_prepare, arguments, workspace)
        return prepared

    async def run(self, arguments: NotebookEditArguments, job: Job) -> str:
        links: str = await in_thread(_run, arguments, job)
        done = {"replace": "Replaced", "insert": "Put in", "delete": "Took out"}[arguments.action]
        return f"{done} cell {arguments.cell} of {arguments.path}.{links}"


def _prepare(arguments: NotebookEditArguments, workspace: Workspace) -> Prepared:
    limit = workspace.limit(arguments.path, writing=True)
    if limit is not None:
        return Prepared(effect="mutating", limit=limit)

    def change(present: Present) -> tuple[tuple[str, str], bytes]:
        before, encoding = _decoded(present, arguments.path)
        data = encoding.bom + encoding.encode(_changed(before, arguments), arguments.path)
        return (before, encoding.decode(data)), data

    present, (before, after) = prepared_on(workspace, arguments.path, change)
    return prepared_edit(workspace, arguments.path, diff(arguments.path, before, after), present.basis)


def _run(arguments: NotebookEditArguments, job: Job) -> str:
    present = read_present(job.workspace, arguments.path)
    before, encoding = _decoded(present, arguments.path)
    if job.basis != present.basis:
        refuse_changed(job, arguments.path, present.basis)
    data = encoding.bom + encoding.encode(_changed(before, arguments), arguments.path)
    links = hard_links_note(job.workspace, arguments.path)
    put(job, arguments.path, data, present.basis)
    return links


def _decoded(present: Present, path: str) -> tuple[str, Encoding]:
    """Notebooks are UTF-8, by their format. Raises: ToolError."""
    encoding = Encoding("utf-8", codecs.BOM_UTF8 if present.data.startswith(codecs.BOM_UTF8) else b"")
    if has_more_values(present.data, _MAX_VALUES):
        raise ToolError(Code.INVALID_NOTEBOOK, path=path, detail=f"it holds more than {_MAX_VALUES} values")
    try:
        return present.data[len(encoding.bom) :].decode(), encoding
    except UnicodeDecodeError as error:
        raise ToolError(Code.INVALID_NOTEBOOK, path=path, detail="it is not UTF-8") from error


def _changed(text: str, arguments: NotebookEditArguments) -> str:
    """The text with one cell changed: every other character stays. Raises: ToolError."""
    try:
        notebook = json.loads(text)
        cells = notebook["cells"]
        if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
            raise TypeError("its cells are no list of objects")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ToolError(Code.INVALID_NOTEBOOK, path=arguments.path, detail=str(error) or "no cells") from error
    index, places = _index(cells, arguments), _places(text)
    if arguments.action == "delete":
        return _without(text, places, index)
    if arguments.action == "insert":
        return _with_inserted(text, places, index, _cell(arguments, notebook))
    start, end = places.cells[index]
    return text[:start] + _written(text, _replaced(cells[index], arguments), _margin(text, start)) + text[end:]


class _Places(NamedTuple):
    """Where the cells stand in the text of a notebook, and the brackets around them."""

    opening: int
    cells: list[tuple[int, int]]
    closing: int


def _places(text: str) -> _Places:
    """Of a text that is known to be a notebook. Of two lists of cells the last counts, as for every reader of JSON."""
    places = _Places(0, [], 0)
    at = _past_space(text, 0)
    while text[at] != "}":
        key, at = _VALUES.raw_decode(text, _past_space(text, at + 1))
        at = _past_space(text, _past_space(text, at) + 1)
        if key == "cells":
            places = _cells_at(text, at)
        at = _past_space(text, _VALUES.raw_decode(text, at)[1])
    return places


def _cells_at(text: str, opening: int) -> _Places:
    cells, at = [], _past_space(text, opening + 1)
    while text[at] != "]":
        end = _VALUES.raw_decode(text, at)[1]
        cells.append((at, end))
        at = _past_space(text, end)
        at = _past_space(text, at + 1) if text[at] == "," else at
    return _Places(opening + 1, cells, at)


def _past_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _without(text: str, places: _Places, index: int) -> str:
    start, end = places.cells[index]
    if len(places.cells) == 1:
        start, end = places.opening, places.closing
    elif index + 1 < len(places.cells):
        end = places.cells[index + 1][0]
    else:
        start = places.cells[index - 1][1]
    return text[:start] + text[end:]


def _with_inserted(text: str, places: _Places, index: int, cell: dict[str, Any]) -> str:
    indent = _indent(text)
    if not places.cells:
        step = "" if indent is None else indent if isinstance(indent, str) else " " * indent
        around = ("", "") if indent is None else (_line_end(text) + 2 * step, _line_end(text) + step)
        inside = around[0] + _written(text, cell, 2 * step) + around[1]
        return text[: places.opening] + inside + text[places.closing :]
    margin = _margin(text, places.cells[0][0])
    written = _written(text, cell, margin)
    gap = "," + (" " if indent is None else _line_end(text) + margin)
    if index < len(places.cells):
        at = places.cells[index][0]
        return text[:at] + written + gap + text[at:]
    at = places.cells[-1][1]
    return text[:at] + gap + written + text[at:]


def _written(text: str, cell: dict[str, Any], margin: str) -> str:
    """A cell as the notebook writes its own: indented alike, with the same line ends and escapes."""
    escapes = text.isascii() and _ESCAPED.search(text) is not None
    written = json.dumps(cell, ensure_ascii=escapes, indent=_indent(text)).replace("\n", f"\n{margin}")
    return with_windows_ends(written) if has_windows_ends(text) else written


def _margin(text: str, at: int) -> str:
    """The white space before a value that begins its line."""
    before = text[text.rfind("\n", 0, at) + 1 : at]
    return before if before.isspace() else ""


def _line_end(text: str) -> str:
    return "\r\n" if has_windows_ends(text) else "\n"


def _indent(text: str) -> int | str | None:
    found = _INDENT.match(text)
    if found is not None:
        return "\t" if "\t" in found[1] else len(found[1])
    return 1 if "\n" in text.strip() else None


def _index(cells: list[dict[str, Any]], arguments: NotebookEditArguments) -> int:
    wanted = arguments.cell
    if isinstance(wanted, str):
        by_id = {cell.get("id"): index for index, cell in enumerate(cells)}
        found = by_id.get(wanted, int(wanted) if wanted.isdecimal() else -1)
    else:
        found = wanted
    last = len(cells) if arguments.action == "insert" else len(cells) - 1
    if not 0 <= found <= last:
        raise ToolError(Code.UNKNOWN_CELL, path=arguments.path, cell=wanted, count=len(cells))
    return found


def _cell(arguments: NotebookEditArguments, notebook: dict[str, Any]) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": arguments.kind or "code", "metadata": {}}
    if (notebook.get("nbformat", 4), notebook.get("nbformat_minor", 0)) >= (4, 5):
        content = f"{len(notebook['cells'])} {arguments.cell} {arguments.source}"
        cell = {"id": hashlib.sha256(content.encode()).hexdigest()[:8], **cell}
    return _replaced(cell, arguments)


def _replaced(cell: dict[str, Any], arguments: NotebookEditArguments) -> dict[str, Any]:
    kind = arguments.kind or cell.get("cell_type", "code")
    changed = {**cell, "cell_type": kind, "source": arguments.source.splitlines(keepends=True)}
    changed.pop("outputs", None)
    changed.pop("execution_count", None)
    return {**changed, "execution_count": None, "outputs": []} if kind == "code" else changed
