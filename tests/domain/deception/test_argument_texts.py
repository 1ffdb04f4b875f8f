"""The name of an argument tells how strictly its text is checked, whatever tool takes it."""

from typing import Any

import pytest

from pilothouse.domain.deception.deceptive_text import deception_marks

DASH = "\u2014"
LOOKALIKES = ("look-alike letters",)
BLANKS = ("unusual blanks",)


@pytest.mark.parametrize(
    "arguments",
    [
        *({name: f"rm {DASH}rf x; ls {DASH} y"} for name in ("cmd", "shell", "Command", "SHELL_COMMAND", "bash")),
        *({name: f"ls {DASH}-la; a {DASH}\u2013 b"} for name in ("commandLine", "shell_script", "preCmd", "command2")),
        {"commands": [f"ls a{DASH}b"]},
        {"command": {"run": f"ls a{DASH}b"}},
        {"command": [{"steps": [f"ls a{DASH}b"]}]},
        {"job": {"cmd": f"ls a{DASH}b"}},
        {"argv": ["rm", f"{DASH}rf", "x"]},
        {"argv": ["ls", f"a{DASH}b"]},
        {"command": "sh", "args": ["-c", f"ls a{DASH}b"]},
        {"program": "bash", "args": ["-c", f"ls a{DASH}b"]},
    ],
    ids=ascii,
)
def test_a_command_is_checked_as_code_under_any_name(arguments: dict[str, Any]) -> None:
    assert deception_marks(arguments) == LOOKALIKES


@pytest.mark.parametrize("name", ["path", "file_path", "filePath", "cwd", "paths", "branch", "url"])
@pytest.mark.parametrize("value", [".env ", " .env", "\u00a0.env", ".env\u00a0", "a\nb", "a\tb", "\n", "a\r\n"])
def test_a_blank_at_the_edge_of_a_path_and_a_line_end_in_it_are_marked(name: str, value: str) -> None:
    assert "unusual blanks" in deception_marks({name: value})
    assert "unusual blanks" in deception_marks({"target": {name: [value]}})


@pytest.mark.parametrize("value", ["src/\u00a0app.py", "src\u00a0/app.py", "src/\u2003app.py"])
def test_a_blank_at_the_edge_of_a_folder_in_a_path_is_marked(value: str) -> None:
    assert deception_marks({"path": value}) == BLANKS


@pytest.mark.parametrize(
    "arguments",
    [
        *({"host": host} for host in ("example.com\u3002evil.org", "example\uff0ecom", "g\u0456thub.com")),
        *({"hostname": host} for host in ("10.0.0.1\u0661", "1\u06f30.0.0.1")),
        *({"amount": number} for number in ("1\u0660\u0660", "\u0661\u0967", "12\U0001d7cf")),
    ],
    ids=ascii,
)
def test_a_host_with_other_dots_and_a_number_with_digits_of_several_scripts_are_marked(
    arguments: dict[str, Any],
) -> None:
    assert deception_marks(arguments) == LOOKALIKES


@pytest.mark.parametrize(
    "arguments",
    [
        {"cmd": "ls -la", "shell": "/bin/bash", "Command": "git commit -m 'fix \u2014 done'", "commands": ["npm test"]},
        {"argv": ["git", "commit", "-m", f"l\u2019\u00e9t\u00e9 {DASH} \u201cfini\u201d"]},
        {"command": "git", "args": ["commit", "-m", f"l\u2019\u00e9t\u00e9 {DASH} \u201cfini\u201d"]},
        {"command": "docker", "args": ["run", "--rm", "\u6570\u636e"], "env": {"A": "b"}},
        {"description": f"Lists files {DASH} all of them", "command_description": f"Lists {DASH} all"},
        {"path": "My Documents/r\u00e9sum\u00e9 2024.pdf"},
        {"path": "Screenshot 2024-01-01 at 10.00.00\u202fAM.png"},
        {"path": "\u6570\u636e/\u7528\u6237.csv"},
        {"message": "Two lines\nof text\n", "body": " indented", "query": "a ", "text": "\ta"},
        {"host": "\u0433\u0438\u0442\u0445\u0430\u0431.\u0440\u0444"},
        {"hosts": ["example.org:8080", "\u4f8b\u3048.jp", "[::1]"]},
        {"url": "https://zh.wikipedia.org/wiki/\u4e2d\u6587"},
        {
            "id": "\u0661\u0662\u0663",
            "amount": "1,000\u202f000",
            "text": "\u0661\u0662 12",
            "n": "\uff11\uff12 1\uff12",
        },
        {"to": "jos\u00e9@example.com", "from": "de"},
    ],
    ids=ascii,
)
def test_ordinary_arguments_are_not_marked(arguments: dict[str, Any]) -> None:
    assert deception_marks(arguments) == ()
