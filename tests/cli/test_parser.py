"""The command line: every option has an effect where it is taken, and is refused where it has none."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pilothouse import __version__
from pilothouse.cli.parser import read_options
from tests.cli.test_main import Command
from tests.support.scale import HANG_SECONDS


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)


NO_EFFECT = [
    ("serve", "--context", "x"),
    ("--context", "x", "serve"),
    ("serve", "--output-format", "json"),
    ("--output-format", "json", "serve"),
    ("--output-format", "json"),
    ("serve", "--persona", "x"),
    ("--persona", "x", "contexts"),
    ("users", "--mode", "ask"),
    ("--model", "demo", "users"),
    ("mcp", "list", "--mode", "ask"),
    ("--mode", "ask", "trust"),
    ("personas", "--model", "demo"),
    ("config", "--context", "x"),
    ("contexts", "--workspace", "."),
    ("contexts", "--archived", "delete", "x"),
    ("-p", "x", "serve"),
    ("run", "x", "--context", "x", "--workspace", "."),
]


@pytest.mark.parametrize("arguments", NO_EFFECT, ids=" ".join)
def test_an_option_that_would_have_no_effect_is_refused(arguments: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as ended:
        read_options(list(arguments))
    assert ended.value.code == 2


def test_options_are_accepted_before_and_after_the_command() -> None:
    for arguments in (
        ["--mode", "ask", "--data-dir", "/d", "run", "x"],
        ["run", "x", "--mode", "ask", "--data-dir=/d"],
    ):
        options = read_options(arguments)
        assert (options.mode, options.data_dir, options.prompt) == ("ask", "/d", "x")


@pytest.mark.parametrize("prompt", ["", " \n\t", "\u3000"])
def test_an_empty_prompt_is_refused_and_leaves_no_conversation(command: Command, prompt: str) -> None:
    for arguments in (["run", prompt], ["-p", prompt]):
        code, output, errors = command.run(*arguments, "--model", command.script({"text": "Hello."}))
        assert (code, output) == (2, "")
        assert "empty" in errors
    assert "no conversations" in command.run("contexts")[1].lower().replace("there are ", "")
    code, output, _ = command.run("run", prompt, "--model", command.script({"text": "Hello."}), stdin="the notes")
    assert (code, output) == (0, "Hello.\n"), "standard input is a prompt too"


def test_the_package_runs_as_the_command(command: Command) -> None:
    completed = subprocess.run(
        [sys.executable, "-m", "pilothouse", "--version"], capture_output=True, text=True, timeout=HANG_SECONDS
    )
    assert (completed.returncode, completed.stdout) == (0, f"pilothouse {__version__}\n")


def test_the_servers_of_another_folder_are_listed_with_its_name(command: Command) -> None:
    other = command.folder / "other"
    (other / ".pilothouse").mkdir(parents=True)
    (other / ".pilothouse/mcp_servers.json").write_text(json.dumps({"mcpServers": {"near": {"command": "run"}}}))
    assert "near" not in command.run("mcp", "list")[1]
    assert "near" in command.run("mcp", "--workspace", str(other), "list")[1]


def test_ignored_keys_are_reported_once_at_the_start_and_stop_nothing(command: Command) -> None:
    config = command.folder / "config.toml"
    config.write_text("\n[telemetry]\nlevel = 1\n")
    (command.folder / "mcp_servers.json").write_text(
        '{"servers": {"a": {"url": "https://x.test/${input:key}"}}, "inputs": [{"id": "key"}]}'
    )
    model = command.script({"text": "Fine."})
    code, output, errors = command.run("run", "x", "--model", model)
    assert (code, output) == (0, "Fine.\n")
    warnings = errors.splitlines()
    assert warnings[0] == f"{config}, line 2: unknown key telemetry, ignored."
    assert "inputs" in warnings[1]
    assert "${input:key}" in warnings[2]
    code, output, errors = command.run("--model", model, stdin="/quit\n")
    assert (code, errors.splitlines()) == (0, warnings)
    code, output, errors = command.run("config")
    assert [line.removeprefix("warning: ") for line in output.splitlines() if line.startswith("warning")] == warnings
    config.write_text("\n".join(f"colour{number} = 1" for number in range(30)))
    assert "(22 more warnings: pilothouse config)" in command.run("run", "x", "--model", model)[2]


def test_a_server_is_added_to_the_file_of_another_program_without_loss(command: Command) -> None:
    file = command.folder / "mcp_servers.json"
    for before in (
        {"servers": {"a": {"command": "x"}}, "inputs": []},
        {"mcp": {"servers": {"a": {"command": "x"}}}, "theme": "dark"},
        {"mcpServers": {"a": {"command": "x"}}, "theme": "dark"},
        {"context_servers": {"a": {"command": "x"}}},
    ):
        file.write_text(json.dumps(before))
        assert command.run("mcp", "add", "b", "https://x.test/mcp")[0] == 0
        assert command.run("mcp", "list")[1].split()[::3] == ["a", "b"]
        assert command.run("mcp", "remove", "b")[0] == 0
        assert json.loads(file.read_text()) == before
    file.write_text('{"servers": {}} // mine')
    code, _, errors = command.run("mcp", "add", "b", "https://x.test/mcp")
    assert (code, file.read_text()) == (4, '{"servers": {}} // mine')
    assert "comments" in errors


@pytest.mark.parametrize("arguments", [("--version",), ("audit", "verify"), ("config",), ("doctor",)], ids=" ".join)
def test_a_reader_that_leaves_early_gets_no_traceback(command: Command, arguments: tuple[str, ...]) -> None:
    """As `| head` does. The pipe is closed before anything is written to it."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        ended = subprocess.run(
            [sys.executable, "-m", "pilothouse.cli", *arguments],
            cwd=command.workspace,
            env=command.environment,
            stdin=subprocess.DEVNULL,
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.stderr == ""
    assert ended.returncode == 1
