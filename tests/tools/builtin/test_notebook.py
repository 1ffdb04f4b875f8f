"""notebook_edit changes the bytes of one cell, whatever the rest of the notebook looks like."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.tools.builtin.notebook import NotebookEditArguments, _change_cell
from tests.tools.builtin.test_builtin_tools import use

# Written as no library would write it again: numbers, escapes, a key twice, odd spaces.
ODD = (
    '{\n "metadata": {"float": 1.0e-5, "escaped": "\\u00e9\\/", "twice": 1, "twice": 2 },\n "cells" : [\n'
    '  {"cell_type": "code", "id": "one", "metadata": {}, "source": ["1"], "outputs": [1], "execution_count": 4},\n'
    '  {\n   "cell_type": "markdown",   "metadata": {"x":1.50},\n   "source": "plain"\n  }\n ],\n "nbformat": 4 }'
)
KEPT = ('"float": 1.0e-5', '"\\u00e9\\/"', '"twice": 1, "twice": 2 }', '"cells" : [', '"nbformat": 4 }')


@pytest.mark.parametrize("action", ["replace", "insert", "delete"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "mark"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
async def test_a_notebook_edit_changes_no_byte_outside_the_cell(
    tmp_path: Path, action: str, mark: bytes, end: str
) -> None:
    text = ODD.replace("\n", end)
    (tmp_path / "n.ipynb").write_bytes(mark + text.encode())
    await use(tmp_path, "notebook_edit", path="n.ipynb", cell=0, source="ü\n", action=action)
    data = (tmp_path / "n.ipynb").read_bytes()
    assert data.startswith(mark)
    after = data[len(mark) :].decode()
    assert all(part in after for part in KEPT)
    assert text[text.index('"cell_type": "markdown"') :] in after
    assert after.count("\n") == after.count(end)
    sources = [cell["source"] for cell in json.loads(after)["cells"]]
    expected: dict[str, Any] = {"replace": [["ü\n"], "plain"], "insert": [["ü\n"], ["1"], "plain"], "delete": ["plain"]}
    assert sources == expected[action]


CELLS = st.lists(st.fixed_dictionaries({"cell_type": st.just("raw"), "source": st.text(max_size=5)}), max_size=4)


@given(CELLS, st.integers(0, 4), st.sampled_from(["replace", "insert", "delete"]), st.sampled_from([None, 1, 2, "\t"]))
def test_every_change_equals_that_of_a_json_library(
    cells: list[dict[str, Any]], index: int, action: Any, indent: Any
) -> None:
    text = json.dumps({"a": {"cells": [7]}, "cells": cells, "z": [1.5]}, indent=indent)
    arguments = NotebookEditArguments(path="n", cell=index, source="new", kind="raw", action=action)
    new = {"cell_type": "raw", "source": ["new"]}
    expected = list(cells)
    if index > len(cells) - (action != "insert"):
        with pytest.raises(ToolError) as caught:
            _change_cell(text, arguments)
        assert caught.value.reason.code is Code.UNKNOWN_CELL
        return
    if action == "delete":
        del expected[index]
    elif action == "insert":
        expected.insert(index, {"cell_type": "raw", "metadata": {}, "source": ["new"]})
    else:
        expected[index] = new
    after = _change_cell(text, arguments)
    assert json.loads(after) == {"a": {"cells": [7]}, "cells": expected, "z": [1.5]}
    if indent is not None and expected:
        assert after == json.dumps(json.loads(after), indent=indent)


async def test_a_notebook_with_escaped_characters_stays_escaped(tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps({"cells": [{"cell_type": "raw", "source": "é"}]}))
    await use(tmp_path, "notebook_edit", path="n.ipynb", cell=0, source="ü")
    assert '"\\u00fc"' in path.read_text()
