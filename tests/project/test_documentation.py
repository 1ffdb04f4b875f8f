"""The examples of the README and the documentation run."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from pilothouse.config.configuration import Configuration
from pilothouse.config.schema import PersonaFile, UserFile
from pilothouse.domain.payloads import MAX_UPLOAD_BYTES
from pilothouse.llm.script import Answer
from pilothouse.server.app import MAX_BODY_BYTES, MAX_URL_BYTES
from pilothouse.server.protocol import MAX_HEADER_BYTES
from pilothouse.server.routes import MAX_IMPORT_BYTES, MEBIBYTE
from pilothouse.server.signals import MAX_STREAMED_CONTEXTS
from pilothouse.terminal.tour import STEPS
from pilothouse.testing.served import Served
from pilothouse.testing.world import World
from tests.support.scale import HANG_SECONDS

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"


def test_the_example_in_python_runs(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/library.md").read_text(), re.DOTALL)
    (tmp_path / "here.txt").touch()
    own = {"PILOTHOUSE_DATA_DIR": str(tmp_path / "data"), "PILOTHOUSE_CONFIG": str(tmp_path / "none.toml")}
    environment = {**os.environ, **own, "PILOTHOUSE_MODEL": "demo"}
    completed = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )
    assert completed.returncode == 0, completed.stderr
    assert "may it run? List Directory" in completed.stdout
    assert "here.txt" in completed.stdout


def test_the_examples_of_the_configuration_are_valid_and_name_every_key(tmp_path: Path) -> None:
    text = (ROOT / "docs/configuration.md").read_text()
    (example, persona) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    file = tmp_path / "config.toml"
    file.write_text(example)
    (tmp_path / "personas").mkdir()
    (tmp_path / "personas/reviewer.toml").write_text(persona)
    configuration = Configuration(file)
    assert configuration.modes.named("docs").only_beneath == ("docs",)
    assert configuration.personas(None)["reviewer"].name == "Ada"
    for shape, shown in ((UserFile, example), (PersonaFile, persona)):
        for name in shape.__struct_fields__:
            assert re.search(rf"^(\[+{name}|{name} =)", shown, re.MULTILINE), f"{name} is missing"


def test_the_tour_has_as_many_steps_as_the_readme_says() -> None:
    match = re.search(r"each of the (\d+) steps", README.read_text())
    assert match is not None
    assert int(match[1]) == len(STEPS)


def test_the_terminal_session_of_the_readme_is_true(tmp_path: Path) -> None:
    """Text after a prompt is typed; every other line, and each prompt, appears in this order."""
    (shown,) = re.findall(r"```console\n\$ make chat\n(.*?)```", README.read_text(), re.DOTALL)
    typed, expected = [], []
    for line in shown.splitlines():
        prompt = re.match(r"\S+ \w+ › |.* > (?=y$)", line)
        expected.append(prompt[0] if prompt else line)
        if prompt:
            typed.append(line[prompt.end() :])
    own = {"PILOTHOUSE_DATA_DIR": str(tmp_path / "data"), "PILOTHOUSE_CONFIG": str(tmp_path / "none.toml")}
    (tmp_path / "none.toml").touch()
    (tmp_path / "work").mkdir()
    session = subprocess.run(
        [sys.executable, "-m", "pilothouse", "--model", "demo"],
        cwd=tmp_path / "work",
        env={**os.environ, **own, "LC_ALL": "C.UTF-8"},
        input="\n".join([*typed, "/quit", ""]),
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )
    assert session.returncode == 0, session.stderr
    output = session.stdout
    for line in expected:
        assert line in output, f"{line!r} is missing, or comes too early"
        output = output.split(line, 1)[1]


def test_every_link_and_anchor_of_the_documentation_leads_somewhere() -> None:
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "web/README.md"]
    broken = []
    for document in documents:
        text = _without_code(document.read_text())
        links = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|srcset)="([^"]+)"', text)
        for link in links:
            path, _, anchor = link.partition("#")
            target = (document.parent / path) if path else document
            if "://" not in link and (not target.exists() or (anchor and anchor not in _anchors(target))):
                broken.append(f"{document.relative_to(ROOT)}: {link}")
    assert broken == []


def _without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def _anchors(document: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    text = re.sub(r"```.*?```", "", document.read_text(), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


async def test_the_example_of_the_client_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs/server.md").read_text()
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    world = World(tmp_path, Answer(text="Here they are."))
    async with world.runtime, Served(world.runtime, [tmp_path]) as served:
        names: dict[str, Any] = {"token": served.token, "context_id": await world.start()}
        body = textwrap.indent(example.replace("http://127.0.0.1:8484", served.url), "    ")
        exec(f"async def main():\n{body}", names)
        await names["main"]()
    assert "Here they are." in capsys.readouterr().out


def test_the_bounds_that_the_documentation_names_are_those_of_the_server() -> None:
    page = (ROOT / "docs/server.md").read_text()
    bounds = {
        f"{MAX_BODY_BYTES // MEBIBYTE} MB for a request": True,
        f"{MAX_UPLOAD_BYTES // MEBIBYTE} MB for a file": True,
        f"{MAX_IMPORT_BYTES // MEBIBYTE} MB for an import": True,
        f"{MAX_URL_BYTES // 1024} KB for a URL": True,
        f"{MAX_HEADER_BYTES // 1024} KB of headers": True,
        f"{MAX_STREAMED_CONTEXTS} conversations on one stream": True,
    }
    assert {text: text in " ".join(page.split()) for text in bounds} == bounds
