"""Personas from the command line and in the conversation of the terminal."""

import json
from pathlib import Path

import pytest

from tests.cli.test_main import WRITE, Command

ADA = """
name = "Ada"
role = "reviewer of changes"
principles = ["Say what you have not checked."]
prompt = "Begin with the tests."
model = "openai:gpt-4.1"
default_mode = "review"
[tools]
denied = ["write_file", "execute"]
"""


@pytest.fixture
def command(tmp_path: Path) -> Command:
    new_command = Command(tmp_path)
    own, theirs = tmp_path / "personas", new_command.workspace / ".pilothouse/personas"
    for folder in (own, theirs):
        folder.mkdir(parents=True)
    (own / "ada.toml").write_text(ADA)
    (theirs / "ada.toml").write_text('role = "somebody else"\n')
    (theirs / "scribe.toml").write_text('role = "writer"\n[tools]\nallowed_categories = ["file_system"]\n')
    return new_command


def test_the_list_shows_origin_and_tools_of_each_persona(command: Command) -> None:
    code, output, _ = command.run("personas")
    ada = (
        "ada          Ada, reviewer of changes  (yours; starts in Review mode; model openai:gpt-4.1; all tools, except "
    )
    untrusted = "This folder has personas that aren't trusted yet. To review them, run: pilothouse trust\n"
    assert (code, output) == (0, f"{ada}execute, write_file)\n{untrusted}")
    code, output, _ = command.run("trust", "--yes")
    assert "│ .pilothouse/personas/scribe.toml\nContents:\n│ role = " in output, "their texts are shown"
    code, output, _ = command.run("personas")
    assert output.splitlines()[1:] == [
        "scribe       scribe, writer  (from this project; only file_system)",
        "ada          ada, somebody else  (from this project; all tools)  (hidden by yours)",
    ]
    assert "personas: ada, scribe\n" in command.run("config")[1]
    command.environment["LANG"] = "zh_CN.UTF-8"
    assert "scribe, writer  (来自此项目；仅限 file_system)" in command.run("personas")[1]


def test_another_folder_has_its_own(command: Command) -> None:
    command.run("trust", "--yes")
    elsewhere = command.folder / "elsewhere"
    elsewhere.mkdir()
    output = command.run("personas", "--workspace", str(elsewhere))[1]
    assert output.startswith("ada")
    assert output.count("\n") == 1
    (command.folder / "personas/ada.toml").unlink()
    assert command.run("personas", "--workspace", str(elsewhere))[1] == "No personas yet.\n"
    code, _, errors = command.run("personas", "--workspace", str(elsewhere / "nowhere"))
    assert code == 4
    assert "nowhere" in errors


def test_a_persona_is_shown_as_the_model_receives_it(command: Command) -> None:
    code, output, _ = command.run("personas", "show", "ada")
    assert code == 0
    assert output.startswith("Your name is Ada. Your role: reviewer of changes.\n\n")
    assert output.endswith(
        "Your principles:\n- Say what you have not checked.\n\n"
        "Begin with the tests.\n\n[all tools, except execute, write_file]\n"
    )
    code, _, errors = command.run("personas", "show", "scribe")
    assert code == 2
    assert "Available: ada." in errors


def test_a_run_uses_the_chosen_persona(command: Command) -> None:
    model = command.script({"calls": [WRITE]}, {"text": "I may not."})
    code, output, errors = command.run("run", "x", "--persona", "ada", "--model", model, "--output-format", "json")
    result = json.loads(output)
    assert (code, result["text"], result["mode"]) == (0, "I may not.", "review")
    assert not (command.workspace / "b.txt").exists()
    model = command.script({"calls": [WRITE]}, {"text": "Done."})
    options = ("--context", result["context_id"], "--mode", "agent", "--model", model)
    assert command.run("run", "x", "--persona", "none", *options)[0] == 0
    assert (command.workspace / "b.txt").read_text() == "written"


def test_an_unknown_persona_exits_with_2_and_lists_the_known_ones(command: Command) -> None:
    for arguments in (("run", "x", "--persona", "scribe"), ("--persona", "scribe")):
        code, output, errors = command.run(*arguments, "--model", command.script({"text": "x"}))
        assert (code, output) == (2, "")
        assert "Unknown persona 'scribe'. Available: ada." in errors


def test_a_mistake_in_a_persona_file_exits_with_4_and_names_the_place(command: Command) -> None:
    path = command.folder / "personas/ada.toml"
    for text, key in (
        ('name = "Ada"\npromt = "red"\n', "promt"),
        ('\n[tools]\ndenied = ["exceute"]\n', "tools.denied"),
    ):
        path.write_text(text)
        code, _, errors = command.run("run", "x", "--model", command.script({"text": "x"}))
        assert code == 4
        assert str(path) in errors
        assert key in errors


def test_a_conversation_chooses_shows_and_leaves_a_persona(command: Command) -> None:
    lines = "/persona\n/persona ada\n/persona nobody\n/persona\n/persona none\n/quit\n"
    model = command.script()
    code, output, errors = command.run("--persona", "ada", "--mode", "agent", "--model", model, stdin=lines)
    assert (code, errors) == (0, "")
    replies = [line.rpartition("› ")[2] for line in output.splitlines() if "ersona" in line and "/persona" not in line]
    assert replies[:2] == ["Persona: ada", "Persona: ada"]
    assert "Unknown persona 'nobody'. Available: ada." in output
    assert replies[-1] == "Persona: -"
    assert output.count("  ada          Ada, reviewer of changes  (yours; ") == 2
