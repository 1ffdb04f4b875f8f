"""A folder's MCP servers start only as they were trusted: what their runners read first is part of what was seen."""

import json
from pathlib import Path

import pytest

from pilothouse.config.trust import Trust

SERVERS = {
    ("node", "."): "index.js",
    ("node", "./"): "package.json",
    ("node", "server"): "server/index.js",
    ("node", "dist/main"): "dist/main.js",
    ("python", "-m", "tool"): "tool/__main__.py",
    ("python3.12", "-m", "tool.server"): "tool/server.py",
    ("python3", "-mtool"): "tool.py",
    ("python3", "server"): "server/__main__.py",
    ("npm", "start"): "package.json",
    ("npm", "run", "serve"): "package.json",
    ("npm", "--prefix", "web", "start"): "web/package.json",
    ("npx", "."): "package.json",
    ("yarn", "serve"): "package.json",
    ("uv", "run", "serve"): "pyproject.toml",
    ("uv", "--directory", "web", "run", "serve"): "web/pyproject.toml",
    ("make", "serve"): "Makefile",
    ("just", "serve"): "justfile",
    ("docker", "compose", "up"): "compose.yaml",
    ("cargo", "run"): "build.rs",
}


def served(folder: Path, *command: str, cwd: str | None = None) -> None:
    server = {"command": command[0], "args": list(command[1:]), **({"cwd": cwd} if cwd else {})}
    (folder / ".pilothouse").mkdir(parents=True, exist_ok=True)
    (folder / ".pilothouse/mcp_servers.json").write_text(json.dumps({"mcpServers": {"own": server}}))


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def trusted(tmp_path: Path, folder: Path) -> Trust:
    trust = Trust(tmp_path / "trust.json", lambda: "2026-01-01T00:00:00Z")
    trust.trust(str(folder), trust.look(str(folder)).digest)
    assert trust.are_programs_as_trusted(str(folder))
    return trust


@pytest.mark.parametrize("command", SERVERS, ids=" ".join)
def test_a_server_does_not_start_when_what_it_runs_has_changed(tmp_path: Path, command: tuple[str, ...]) -> None:
    folder = tmp_path / "project"
    served(folder, *command)
    put(folder / SERVERS[command], "one")
    trust = trusted(tmp_path, folder)
    put(folder / SERVERS[command], "two")
    assert not trust.are_programs_as_trusted(str(folder))
    assert trust.look(str(folder)).status == "changed"


@pytest.mark.parametrize("command", SERVERS, ids=" ".join)
def test_a_server_does_not_start_when_what_it_runs_has_appeared(tmp_path: Path, command: tuple[str, ...]) -> None:
    folder = tmp_path / "project"
    served(folder, *command)
    (folder / "web").mkdir()
    trust = trusted(tmp_path, folder)
    put(folder / SERVERS[command], "two")
    assert not trust.are_programs_as_trusted(str(folder))


def test_a_file_that_a_package_starts_is_part_of_what_is_trusted(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    served(folder, "npm", "start")
    put(folder / "package.json", '{"scripts": {"start": "node lib/serve.js"}, "main": "lib/main.js"}')
    put(folder / "lib/serve.js", "one")
    trust = trusted(tmp_path, folder)
    put(folder / "lib/serve.js", "two")
    assert not trust.are_programs_as_trusted(str(folder))


def test_a_server_that_starts_in_a_subfolder_is_known_by_the_files_there(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    put(folder / "web/index.js", "one")
    served(folder, "node", ".", cwd=str(folder / "web"))
    trust = trusted(tmp_path, folder)
    put(folder / "web/index.js", "two")
    assert not trust.are_programs_as_trusted(str(folder))


def test_other_files_of_the_folder_may_change(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    served(folder, "node", ".")
    put(folder / "README.md", "one")
    trust = trusted(tmp_path, folder)
    put(folder / "README.md", "two")
    put(folder / "src/page.ts", "two")
    assert trust.are_programs_as_trusted(str(folder))
