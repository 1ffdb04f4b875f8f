"""What the README and the documentation show is true: their examples run."""

import os
import re
import subprocess
import sys
from pathlib import Path

from pilothouse.config.files import Configuration
from pilothouse.config.schema import UserFile
from pilothouse.terminal.tour import STEPS

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"


def test_the_example_in_python_runs(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    (tmp_path / "here.txt").touch()
    own = {"PILOTHOUSE_DATA_DIR": str(tmp_path / "data"), "PILOTHOUSE_CONFIG": str(tmp_path / "none.toml")}
    environment = {**os.environ, **own, "PILOTHOUSE_MODEL": "demo"}
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60
    )
    assert found.returncode == 0, found.stderr
    assert "may it run? List Directory" in found.stdout
    assert "here.txt" in found.stdout


def test_the_example_of_the_configuration_is_valid_and_names_every_key(tmp_path: Path) -> None:
    text = (ROOT / "docs/configuration.md").read_text()
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    file = tmp_path / "config.toml"
    file.write_text(example)
    found = Configuration(file)
    assert found.modes.named("docs").only_beneath == ("docs",)
    for name in UserFile.__struct_fields__:
        assert re.search(rf"^(\[+{name}|{name} =)", example, re.MULTILINE), f"{name} is missing"


def test_the_tour_has_as_many_steps_as_the_readme_says() -> None:
    told = re.search(r"each of its (\d+) steps", README.read_text())
    assert told is not None
    assert int(told[1]) == len(STEPS)
