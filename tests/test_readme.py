"""What the README shows is true: its example runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_example_in_python_runs(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    (tmp_path / "here.txt").touch()
    environment = {**os.environ, "PILOTHOUSE_DATA_DIR": str(tmp_path / "data"), "PILOTHOUSE_MODEL": "demo"}
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60
    )
    assert found.returncode == 0, found.stderr
    assert "may it run? List Directory" in found.stdout
    assert "here.txt" in found.stdout
