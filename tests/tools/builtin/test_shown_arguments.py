"""Which arguments a preview shows in full: clients leave out these, and no others."""

import json
from pathlib import Path
from typing import Any

import pytest

from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import CallPreview, parse_arguments
from pilothouse.tools.builtin import builtin_tools
from pilothouse.tools.registry import Registry

TOOLS = Registry(builtin_tools())
MANY_LINES = "".join(f"line {number}\n" for number in range(100))
NOTEBOOK: dict[str, Any] = {
    "cells": [{"cell_type": "code", "metadata": {}, "source": ["old\n"], "outputs": [], "execution_count": None}],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 4,
}


async def preview_of(root: Path, name: str, **arguments: Any) -> CallPreview:
    tool = TOOLS.tools[name]
    preview: CallPreview = await tool.prepare(parse_arguments(name, tool.parameters, arguments), Workspace(root))
    assert preview.violation is None
    return preview


@pytest.mark.parametrize(
    ("name", "arguments", "shown"),
    [
        ("write_file", {"path": "new.txt", "content": "one\ntwo\n"}, {"path", "content"}),
        ("write_file", {"path": "many.txt", "content": MANY_LINES + "more\n"}, {"path", "content"}),
        ("edit_file", {"path": "many.txt", "edits": [{"old_text": "line 7\n", "new_text": "7\n"}]}, {"path", "edits"}),
        ("edit_file", {"path": "many.txt", "edits": [{"old_text": "ne 7\nline", "new_text": "x"}]}, {"path", "edits"}),
        ("notebook_edit", {"path": "book.ipynb", "cell": 0, "source": "new()\n"}, {"path", "source"}),
        ("execute", {"command": "ls -a", "cwd": "sub", "timeout": 5}, {"command"}),
        ("delegate", {"task": "Read all", "mode": "plan"}, {"task"}),
        ("read_file", {"path": "many.txt", "start_line": 3}, set()),
        ("list_directory", {"path": "sub"}, set()),
        ("glob", {"pattern": "*.txt"}, set()),
        ("grep", {"pattern": "line"}, set()),
        ("undo", {}, set()),
        ("ask_user", {"questions": [{"question": "Which?"}]}, set()),
    ],
)
async def test_a_preview_names_the_arguments_that_it_shows(
    tmp_path: Path, name: str, arguments: dict[str, Any], shown: set[str]
) -> None:
    (tmp_path / "many.txt").write_text(MANY_LINES)
    (tmp_path / "book.ipynb").write_text(json.dumps(NOTEBOOK, indent=1))
    (tmp_path / "sub").mkdir()
    preview = await preview_of(tmp_path, name, **arguments)
    assert set(preview.shown_arguments) == shown
    assert (preview.preview_kind == "file_change") == ("path" in shown)
    for argument in shown - {"edits"}:
        last_line = arguments[argument].splitlines()[-1]
        assert last_line in (preview.preview or ""), argument


def test_every_builtin_tool_is_among_the_cases() -> None:
    (parametrize,) = test_a_preview_names_the_arguments_that_it_shows.pytestmark
    assert {name for name, _, _ in parametrize.args[1]} == set(TOOLS.tools)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("write_file", {"path": "many.txt", "content": MANY_LINES}),
        ("write_file", {"path": "new.txt", "content": ""}),
        ("write_file", {"path": "new.txt", "content": "long line " * 10_000}),
        ("edit_file", {"path": "many.txt", "edits": [{"old_text": "line 7\n", "new_text": "line 7\n"}]}),
        ("edit_file", {"path": "many.txt", "edits": [{"old_text": "line", "new_text": "l", "replace_all": True}]}),
        ("edit_file", {"path": "many.txt", "edits": [{"old_text": MANY_LINES[:-1], "new_text": MANY_LINES + "x"}]}),
        (
            "edit_file",
            {
                "path": "many.txt",
                "edits": [
                    {"old_text": "line 7\n", "new_text": "between\n"},
                    {"old_text": "between\n", "new_text": "7\n"},
                ],
            },
        ),
        ("notebook_edit", {"path": "book.ipynb", "cell": 0, "action": "delete", "source": "ignored"}),
        ("notebook_edit", {"path": "escapes.ipynb", "cell": 0, "source": "print('你好')"}),
    ],
)
async def test_an_argument_that_the_diff_does_not_show_in_full_is_not_named(
    tmp_path: Path, name: str, arguments: dict[str, Any]
) -> None:
    (tmp_path / "many.txt").write_text(MANY_LINES)
    two_cells = {**NOTEBOOK, "cells": [*NOTEBOOK["cells"], {**NOTEBOOK["cells"][0], "source": ["é"]}]}
    (tmp_path / "book.ipynb").write_text(json.dumps(two_cells, indent=1, ensure_ascii=False))
    (tmp_path / "escapes.ipynb").write_text(json.dumps(two_cells, indent=1))
    preview = await preview_of(tmp_path, name, **arguments)
    assert preview.preview_kind == "file_change"
    assert preview.shown_arguments == ("path",)
