"""What the README and the documentation show is true: their examples run."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from pilothouse.config.files import Configuration
from pilothouse.config.schema import PersonaFile, UserFile
from pilothouse.domain.payloads import MAX_UPLOAD_BYTES
from pilothouse.llm.script import Answer
from pilothouse.server.app import ADDRESS_AT_MOST, BODY_AT_MOST
from pilothouse.server.protocol import HEADERS_AT_MOST
from pilothouse.server.routes import IMPORT_AT_MOST, MEGABYTE
from pilothouse.server.signals import CONTEXTS_AT_MOST
from pilothouse.terminal.tour import STEPS
from pilothouse.testing.served import Served
from pilothouse.testing.world import World
from tests.scale import HANG_SECONDS

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"


def test_the_example_in_python_runs(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    (tmp_path / "here.txt").touch()
    own = {"PILOTHOUSE_DATA_DIR": str(tmp_path / "data"), "PILOTHOUSE_CONFIG": str(tmp_path / "none.toml")}
    environment = {**os.environ, **own, "PILOTHOUSE_MODEL": "demo"}
    found = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )
    assert found.returncode == 0, found.stderr
    assert "may it run? List Directory" in found.stdout
    assert "here.txt" in found.stdout


def test_the_examples_of_the_configuration_are_valid_and_name_every_key(tmp_path: Path) -> None:
    text = (ROOT / "docs/configuration.md").read_text()
    (example, persona) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    file = tmp_path / "config.toml"
    file.write_text(example)
    (tmp_path / "personas").mkdir()
    (tmp_path / "personas/reviewer.toml").write_text(persona)
    found = Configuration(file)
    assert found.modes.named("docs").only_beneath == ("docs",)
    assert found.personas(None)["reviewer"].name == "Ada"
    for shape, shown in ((UserFile, example), (PersonaFile, persona)):
        for name in shape.__struct_fields__:
            assert re.search(rf"^(\[+{name}|{name} =)", shown, re.MULTILINE), f"{name} is missing"


def test_the_tour_has_as_many_steps_as_the_readme_says() -> None:
    told = re.search(r"each of its (\d+) steps", README.read_text())
    assert told is not None
    assert int(told[1]) == len(STEPS)


async def test_the_example_of_the_client_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs/server.md").read_text()
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    world = World(tmp_path, Answer(text="Here they are."))
    async with world.runtime, Served(world.runtime, [tmp_path]) as served:
        names = {"token": served.token, "context_id": await world.start()}
        body = textwrap.indent(example.replace("http://127.0.0.1:8484", served.url), "    ")
        exec(f"async def main():\n{body}", names)
        await names["main"]()
    assert "Here they are." in capsys.readouterr().out


def test_the_bounds_that_the_documentation_names_are_those_of_the_server() -> None:
    told = (ROOT / "docs/server.md").read_text()
    bounds = {
        f"{BODY_AT_MOST // MEGABYTE} MB for a request": True,
        f"{MAX_UPLOAD_BYTES // MEGABYTE} MB for a file": True,
        f"{IMPORT_AT_MOST // MEGABYTE} MB for an import": True,
        f"{ADDRESS_AT_MOST // 1024} KB for an address": True,
        f"{HEADERS_AT_MOST // 1024} KB of headers": True,
        f"{CONTEXTS_AT_MOST} conversations on one stream": True,
    }
    assert {text: text in " ".join(told.split()) for text in bounds} == bounds
