"""Commands that texts name exist and parse as they are printed."""

import re
import shlex
from pathlib import Path

import pytest

from pilothouse.cli.parser import make_parser
from pilothouse.domain.codes import LANGUAGES, Language
from pilothouse.i18n import catalog_of
from pilothouse.terminal.approval import LATER
from pilothouse.terminal.character_width import text_columns
from pilothouse.terminal.commands import _COMMANDS, _RELEASING
from pilothouse.terminal.foreign_text import _MAX_QUESTION_COLUMNS
from pilothouse.terminal.line_reader import LEAVING
from tests.cli.test_main import Command

CATALOGUES = [catalog_of(language) for language in LANGUAGES]
TEXTS = [text for each in CATALOGUES for text in (*each.terminal.values(), *each.codes.values())]
MODES = ("/agent", "/supervised", "/review", "/plan", "/ask")
SLASH_COMMANDS = {*_COMMANDS, *_RELEASING, *LEAVING, *MODES, LATER, "/tour"}
SLASH = re.compile(r"(?<![\w./}:*~<…])/([a-z][a-z-]+)(?![\w/.*])")
PROGRAM = re.compile(r"pilothouse ((?:--)?[a-z][a-z-]*(?: (?:--)?[a-z{][a-z_}-]*)*)")
QUESTIONS = ("approve", "approve_edited", "confirm_all", "more", "more_texts", "edit_again", "sure", "trust_ask")
"""Words of the prompts for which a page leaves room."""


def test_every_slash_command_that_a_text_names_exists() -> None:
    texts = [*TEXTS, *(text for each in CATALOGUES for step in each.tour.items() for text in step)]
    named = {f"/{name}" for text in texts for name in SLASH.findall(text)}
    assert {"/continue", "/trust", "/compact", "/later"} <= named
    assert named - SLASH_COMMANDS - {"/mcp"} == set(), "/mcp is the path of an address"


def test_every_command_line_that_a_text_names_parses(capsys: pytest.CaptureFixture[str]) -> None:
    lines = {line for text in TEXTS for line in PROGRAM.findall(text)}
    assert any(line.startswith("audit verify") for line in lines)
    for line in sorted(lines):
        # A word of the sentence may follow a command: the longest beginning that parses must be more than nothing.
        parts = [re.sub(r"\{.*\}", "x", word) for word in line.split()]
        assert any(_parses(parts[:count], capsys) for count in range(len(parts), 0, -1)), line


def _parses(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> bool:
    """Whether they parse, or lack only the arguments that the text leaves to the reader."""
    try:
        make_parser().parse_args(arguments)
    except SystemExit:
        return "the following arguments are required" in capsys.readouterr().err
    return True


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("key", QUESTIONS)
def test_a_question_fits_in_the_rows_that_a_page_leaves(key: str, language: Language) -> None:
    text = catalog_of(language).terminal[key].format(count=99999, number=99999)
    assert text_columns(text) <= _MAX_QUESTION_COLUMNS


def test_the_command_that_comes_back_finds_the_data_directory(tmp_path: Path) -> None:
    command = Command(tmp_path)
    data = str(tmp_path / "other data")
    model = command.script({"text": "Hi."})
    _, output, _ = command.run("--data-dir", data, "--model", model, stdin="hello\n/quit\n")
    program, *arguments = shlex.split(output.rpartition("To come back: ")[2])
    assert program == "pilothouse"
    code, output, errors = command.run(*arguments, "--model", model, stdin="/export chat.jsonl\n/quit\n")
    assert (code, errors) == (0, "")
    assert '"hello"' in (command.workspace / "chat.jsonl").read_text()
