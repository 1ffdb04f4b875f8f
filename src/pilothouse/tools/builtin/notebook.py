"""notebook_edit: one cell of a Jupyter notebook: replaced, put in, or taken out. The rest stays as it is."""

import hashlib
import json
import re
from typing import Any, Literal

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import Arguments, Category, Job, Prepared, in_thread
from pilothouse.tools.builtin.edit import prepared_edit, put

_INDENT = re.compile(r"\A\{\n( +|\t+)")
Kind = Literal["code", "markdown", "raw"]
Action = Literal["replace", "insert", "delete"]


class NotebookEditArguments(Arguments):
    path: str
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

    async def prepare(self, arguments: NotebookEditArguments, workspace: Workspace) -> Prepared:
        prepared: Prepared = await in_thread(_prepare, arguments, workspace)
        return prepared

    async def run(self, arguments: NotebookEditArguments, job: Job) -> str:
        await in_thread(_run, arguments, job)
        done = {"replace": "Replaced", "insert": "Put in", "delete": "Took out"}[arguments.action]
        return f"{done} cell {arguments.cell} of {arguments.path}."


def _prepare(arguments: NotebookEditArguments, workspace: Workspace) -> Prepared:
    limit = workspace.limit(arguments.path, writing=True)
    if limit is not None:
        return Prepared(effect="mutating", limit=limit)
    before, basis = _read(workspace, arguments.path)
    return prepared_edit(workspace, arguments.path, before, _changed(before, arguments), basis)


def _run(arguments: NotebookEditArguments, job: Job) -> None:
    before, basis = _read(job.workspace, arguments.path)
    if job.basis is not None and job.basis != basis:
        raise ToolError(Code.FILE_CHANGED, path=arguments.path)
    put(job, arguments.path, _changed(before, arguments).encode(), basis)


def _read(workspace: Workspace, path: str) -> tuple[str, str]:
    data = workspace.read(path)
    basis = hashlib.sha256(data).hexdigest()
    if workspace.seen.get(workspace.touched(path)[-1], basis) != basis:
        raise ToolError(Code.FILE_CHANGED_SINCE_READ, path=path)
    try:
        return data.decode(), basis
    except UnicodeDecodeError as error:
        raise ToolError(Code.INVALID_NOTEBOOK, path=path, detail="it is not UTF-8") from error


def _changed(text: str, arguments: NotebookEditArguments) -> str:
    """Raises: ToolError."""
    try:
        notebook = json.loads(text)
        cells = notebook["cells"]
        if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
            raise TypeError("its cells are no list of objects")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ToolError(Code.INVALID_NOTEBOOK, path=arguments.path, detail=str(error) or "no cells") from error
    index = _index(cells, arguments)
    if arguments.action == "delete":
        del cells[index]
    elif arguments.action == "insert":
        cells.insert(index, _cell(arguments, notebook))
    else:
        cells[index] = _replaced(cells[index], arguments)
    found = _INDENT.match(text)
    indent: int | str | None = None
    if found is not None:
        indent = "\t" if "\t" in found[1] else len(found[1])
    elif "\n" in text.strip():
        indent = 1
    end = "\n" if text.endswith("\n") else ""
    return json.dumps(notebook, ensure_ascii=False, indent=indent) + end


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
