"""A project's MCP servers start only as they were trusted: the first files of their runners are part of the digest."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pilothouse.config.trust import Trust
from pilothouse.domain.errors import InvalidInput
from pilothouse.i18n import translate
from pilothouse.system.file_inspection import (
    MAX_FOLDERS,
    MAX_HASHED_BYTES,
    MAX_LOOKUPS,
    MAX_PACKAGE_BYTES,
    FileInspection,
)

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


def serve_files(folder: Path, *command: str, cwd: str | None = None) -> None:
    server = {"command": command[0], "args": list(command[1:]), **({"cwd": cwd} if cwd else {})}
    (folder / ".pilothouse").mkdir(parents=True, exist_ok=True)
    (folder / ".pilothouse/mcp_servers.json").write_text(json.dumps({"mcpServers": {"own": server}}))


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def trusted(tmp_path: Path, folder: Path) -> Trust:
    trust = Trust(tmp_path / "trust.json", lambda: "2026-01-01T00:00:00Z")
    trust.trust(str(folder), trust.status(str(folder)).digest)
    assert trust.has_unchanged_programs(str(folder))
    return trust


@pytest.mark.parametrize("command", SERVERS, ids=" ".join)
def test_a_server_does_not_start_when_what_it_runs_has_changed(tmp_path: Path, command: tuple[str, ...]) -> None:
    folder = tmp_path / "project"
    serve_files(folder, *command)
    put(folder / SERVERS[command], "one")
    trust = trusted(tmp_path, folder)
    put(folder / SERVERS[command], "two")
    assert not trust.has_unchanged_programs(str(folder))
    assert trust.status(str(folder)).status == "changed"


@pytest.mark.parametrize("command", SERVERS, ids=" ".join)
def test_a_server_does_not_start_when_what_it_runs_has_appeared(tmp_path: Path, command: tuple[str, ...]) -> None:
    folder = tmp_path / "project"
    serve_files(folder, *command)
    (folder / "web").mkdir()
    trust = trusted(tmp_path, folder)
    put(folder / SERVERS[command], "two")
    assert not trust.has_unchanged_programs(str(folder))


def test_a_file_that_a_package_starts_is_part_of_what_is_trusted(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    serve_files(folder, "npm", "start")
    put(folder / "package.json", '{"scripts": {"start": "node lib/serve.js"}, "main": "lib/main.js"}')
    put(folder / "lib/serve.js", "one")
    trust = trusted(tmp_path, folder)
    put(folder / "lib/serve.js", "two")
    assert not trust.has_unchanged_programs(str(folder))


def test_a_server_that_starts_in_a_subfolder_is_known_by_the_files_there(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    put(folder / "web/index.js", "one")
    serve_files(folder, "node", ".", cwd=str(folder / "web"))
    trust = trusted(tmp_path, folder)
    put(folder / "web/index.js", "two")
    assert not trust.has_unchanged_programs(str(folder))


def test_other_files_of_the_folder_may_change(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    serve_files(folder, "node", ".")
    put(folder / "README.md", "one")
    trust = trusted(tmp_path, folder)
    put(folder / "README.md", "two")
    put(folder / "src/page.ts", "two")
    assert trust.has_unchanged_programs(str(folder))


def many_folders(folder: Path) -> None:
    for number in range(MAX_FOLDERS + 1):
        (folder / f"d{number}").mkdir(parents=True)
    serve_files(folder, "node", *(f"d{number}" for number in range(MAX_FOLDERS + 1)))


def many_names(folder: Path) -> None:
    serve_files(folder, "serve", *(f"n{number}" for number in range(MAX_LOOKUPS + 1)))


def large_package(folder: Path) -> None:
    serve_files(folder, "npm", "start")
    words = " ".join(f"n{number}" for number in range(MAX_LOOKUPS + 1))
    put(folder / "package.json", json.dumps({"scripts": {"start": words}}))


def padded_packages(folder: Path) -> None:
    serve_files(folder, "node", "one", "two")
    for name in ("one", "two"):
        put(folder / name / "package.json", json.dumps({"main": "index.js"}) + " " * (MAX_PACKAGE_BYTES // 2))


def many_links_to_a_large_folder(folder: Path) -> None:
    for number in range(101):
        put(folder / f"large/{number}", "")
    for number in range(100):
        (folder / f"d{number}").symlink_to("large")
    serve_files(folder, "serve", "large", *(f"large/../d{number}" for number in range(100)))


def long_module(folder: Path) -> None:
    serve_files(folder, "python", *(f"-m{chr(97 + number)}{'.a' * 2000}" for number in range(20)))


def deep_nesting(folder: Path) -> None:
    put(folder / ".pilothouse/mcp_servers.json", "[" * 100_000)


HOSTILE = (
    *(many_folders, many_names, large_package, padded_packages, many_links_to_a_large_folder, long_module),
    deep_nesting,
)


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda hostile: hostile.__name__)
def test_a_folder_that_names_more_than_can_be_checked_is_not_trusted(
    tmp_path: Path, hostile: Callable[[Path], None]
) -> None:
    folder = tmp_path / "project"
    hostile(folder)
    trust = Trust(tmp_path / "trust.json", lambda: "2026-01-01T00:00:00Z")
    with pytest.raises(InvalidInput) as refused:
        trust.status(str(folder))
    assert "more files than can be checked" in translate(refused.value.reason)
    assert str(folder / ".pilothouse/mcp_servers.json") in translate(refused.value.reason)
    assert not trust.has_unchanged_programs(str(folder))


def test_a_server_does_not_start_when_its_package_has_become_too_large_to_check(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    serve_files(folder, "npm", "start")
    trust = trusted(tmp_path, folder)
    large_package(folder)
    assert not trust.has_unchanged_programs(str(folder))


def test_a_large_program_is_known_without_reading_all_of_it(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    serve_files(folder, "./serve")
    put(folder / "serve", "one")
    os.truncate(folder / "serve", MAX_HASHED_BYTES + 1)
    trust = trusted(tmp_path, folder)
    with (folder / "serve").open("r+b") as file:
        file.write(b"two")
    assert not trust.has_unchanged_programs(str(folder))


def test_a_program_whose_name_is_not_utf_8_is_part_of_what_is_trusted(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    serve_files(folder, "serve", "lib")
    strange = folder / os.fsdecode(b"lib/\xff.js")
    put(strange, "one")
    trust = trusted(tmp_path, folder)
    put(strange, "two")
    assert not trust.has_unchanged_programs(str(folder))


def test_a_pipe_in_the_place_of_a_package_is_not_waited_for(tmp_path: Path) -> None:
    package = tmp_path / "package.json"
    put(package, "{}")
    files = FileInspection(str(tmp_path))
    files.add(str(package))
    package.unlink()
    os.mkfifo(package)
    assert list(files.packages()) == []


@pytest.mark.parametrize("word", ["../\ud800", "\ud800", "/\ud800/..", "a\0b", "../a\0b"])
def test_a_word_that_no_file_can_be_named_with_is_left_out(tmp_path: Path, word: str) -> None:
    folder = tmp_path / "project"
    serve_files(folder, "python3", word, "serve.py")
    put(folder / "serve.py", "one")
    trust = trusted(tmp_path, folder)
    put(folder / "serve.py", "two")
    assert not trust.has_unchanged_programs(str(folder))


def test_a_package_whose_words_no_file_can_be_named_with_is_looked_at(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    serve_files(folder, "npm", "start")
    put(folder / "package.json", json.dumps({"scripts": {"start": "node ../\ud800 serve.js"}}))
    put(folder / "serve.js", "one")
    trust = trusted(tmp_path, folder)
    put(folder / "serve.js", "two")
    assert not trust.has_unchanged_programs(str(folder))
