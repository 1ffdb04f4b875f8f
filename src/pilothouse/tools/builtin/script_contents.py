"""Contents of scripts: whether one does all its work itself, with installed programs and its language's own library.

Scripts of a shell and of Python are read; those of other languages may load anything. A script that loads or starts
other files of the workspace is not decided by its own content alone.
"""

import json
import os
import re
from collections.abc import Callable, Sequence

from pilothouse.domain.lines import UNKNOWN_WORD
from pilothouse.domain.runner_files import plain_name
from pilothouse.domain.system_programs import POSIX_SHELLS
from pilothouse.regular_file import open_regular_file
from pilothouse.sandbox.shell import Judgement, judge
from pilothouse.sandbox.shell.options import names
from pilothouse.tools.builtin import python_scripts
from pilothouse.tools.builtin.installed_programs import BUILTINS

MAX_SCRIPT_BYTES = 16 * 1024
_INTERPRETER_FLAGS = re.compile(r"-[eux]+|-w|-u")
_UNKNOWN_TARGET = re.compile(r">[>|&]?[ \t]*+[^\s;|&<>]*?[$`*?\[{~]")
_FOLDER_TESTS = names("-execdir -okdir")  # find runs these in any folder
# curl loads libraries that its other options, and files with options, name.
_CURL_WORDS = re.compile(
    r"-[#0-9fgGIikLNOsSv]*(?:[AbdeFHmorTuwxX].*)?|(?!-).*|--(?:compressed|connect-timeout|data|data-binary|data-raw|"
    r"data-urlencode|fail|form|get|head|header|include|insecure|json|location|max-time|output|remote-name|request|retry|"
    r"show-error|silent|url|user|user-agent|verbose|version)",
    re.DOTALL,
)


def content(path: str) -> bytes | None:
    """The bytes of a script; None where it cannot be read, or is so long that nobody says what it does."""
    try:
        with open_regular_file(path, follow_links=True) as file:
            data = file.read(MAX_SCRIPT_BYTES + 1)
    except OSError:
        return None
    return data if len(data) <= MAX_SCRIPT_BYTES and b"\0" not in data else None


def interpreter_of(data: bytes) -> str | None:
    """The program that runs a script by its first line; None where that is more than a plain name. A shell runs what
    has no such line."""
    if not data.startswith(b"#!"):
        return "sh"
    words = data[2:].split(b"\n", 1)[0].decode(errors="replace").split()
    if words and words[0] in ("/usr/bin/env", "/bin/env"):
        words = words[1:]
    if not words or any(_INTERPRETER_FLAGS.fullmatch(word) is None for word in words[1:]):
        return None
    return words[0]


def is_self_contained(program: str, path: str, data: bytes, is_installed: Callable[[str], bool]) -> bool:
    """Whether a script that this program runs needs no other file of the workspace; `is_installed` says so of the
    programs that it starts."""
    name = plain_name(program)
    if name in POSIX_SHELLS:
        text = data.decode(errors="replace")
        return not _may_replace(text, os.path.basename(path)) and is_plain_line(text, is_installed)
    return name == "python" and python_scripts.is_self_contained(data)


def is_plain_line(text: str, is_installed: Callable[[str], bool]) -> bool:
    """Whether every command of a text of the shell is a builtin or an installed program that starts nothing else."""
    judgement = judge(text)
    if not is_all_known(judgement) or judgement.programs or any(map(names_other_code, judgement.commands)):
        return False
    return all(is_installed(words[0]) for words in judgement.commands if words)


def names_other_code(words: Sequence[str]) -> bool:
    """Whether an option of an installed program may lead to code that is neither in the line nor installed."""
    program = os.path.basename(words[0]) if words else ""
    if program == "curl":
        return UNKNOWN_WORD in words or not all(map(_CURL_WORDS.fullmatch, words[1:]))
    return program == "find" and not _FOLDER_TESTS.isdisjoint(words)


def _may_replace(text: str, name: str) -> bool:
    """Whether a script of the shell may write to a file of this name: a shell reads its script while it runs it, and
    goes on with the new text."""
    judgement = judge(text)
    if name in map(os.path.basename, judgement.written) or _UNKNOWN_TARGET.search(text):
        return True
    writers = {program for program, _ in judgement.writers}
    commands = [words for words in judgement.commands if words and words[0] in writers]
    if any(UNKNOWN_WORD in words for words in commands):
        return True
    # Whole folders may hold a file of this name.
    return any(words[0] == "cp" and any(word.startswith("-") for word in words) for words in commands)


def is_all_known(judgement: Judgement) -> bool:
    """Whether the text hides no command."""
    return judgement.hidden != "line" and judgement.is_complete and not judgement.is_doubtful


def is_plain_package_script(data: bytes, script: str) -> bool:
    """Whether npm, told to run a script of this package, runs builtins of the shell only: the packages in the folder
    bring programs of any name."""
    try:
        scripts = json.loads(data).get("scripts")
        lines = [scripts[name] for name in (f"pre{script}", script, f"post{script}") if name in scripts]
    except (ValueError, RecursionError, AttributeError, TypeError):
        return False
    if script not in scripts or not all(isinstance(line, str) for line in lines):
        return False
    return all(is_plain_line(line, BUILTINS.__contains__) for line in lines)
