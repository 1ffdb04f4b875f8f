"""Every example of docs/examples runs as it is, in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.scale import HANG_SECONDS

EXAMPLES = Path(__file__).parents[2] / "docs/examples"
SCRIPT = {
    "turn": [
        {"calls": [{"tool": "price", "arguments": {"fruit": "pears", "kilos": 2}}]},
        {"text": "They cost 8 euros."},
    ]
}
REMEMBERS = {
    "turn": [
        {"text": "Hello, Ada."},
        {"calls": [{"tool": "remember", "arguments": {"file": "notes.txt"}}]},
        {"text": "I have written it down."},
    ]
}
SCRIPTS = {"own_tool.py": SCRIPT, "remember.py": REMEMBERS}
OUTPUTS = {
    "embed.py": ["may it run? List Directory", "here.txt"],
    "own_tool.py": ["price {'fruit': 'pears', 'kilos': 2} executed", "They cost 8 euros."],
    "remember.py": ["I have written it down.", "My name is Ada.\nPlease remember that."],
    "own_processor.py": ["My key is [key]."],
    "own_adapter.py": ["is anybody there?"],
    "approval_loop.py": ["[list_directory: executed]", "here.txt"],
}


def test_every_example_is_run() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(OUTPUTS)


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_example_runs(tmp_path: Path, name: str) -> None:
    (tmp_path / "here.txt").touch()
    (tmp_path / "script.json").write_text(json.dumps(SCRIPTS.get(name)))
    model = f"scripted:{tmp_path / 'script.json'}" if name in SCRIPTS else "demo"
    own = {"PILOTHOUSE_DATA_DIR": str(tmp_path / "data"), "PILOTHOUSE_CONFIG": str(tmp_path / "none.toml")}
    process = subprocess.run(
        [sys.executable, EXAMPLES / name],
        cwd=tmp_path,
        env={**os.environ, **own, "PILOTHOUSE_MODEL": model},
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )
    assert process.returncode == 0, process.stderr
    for text in OUTPUTS[name]:
        assert text in process.stdout
