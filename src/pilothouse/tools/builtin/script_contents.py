"""Contents of scripts: whether one does all its work itself, with installed programs and its language's own library.

A script that loads or starts other files of the workspace is not decided by its own content alone.
"""

import ast
import json
import os
import re
import sys
from collections.abc import Callable, Sequence

from pilothouse.domain.lines import UNKNOWN_WORD
from pilothouse.domain.runner_files import plain_name
from pilothouse.domain.system_programs import POSIX_SHELLS
from pilothouse.regular_file import open_regular_file
from pilothouse.sandbox.shell import Judgement, judge
from pilothouse.sandbox.shell.options import names
from pilothouse.tools.builtin.installed_programs import BUILTINS

MAX_SCRIPT_BYTES = 16 * 1024
MAX_FOLDER_ENTRIES = 5000
MAX_RECIPES = 50
_INTERPRETER_FLAGS = re.compile(r"-[eux]+|-w|-u")
# Modules that load or start code which the script does not hold.
_LOADING_MODULES = names(
    "asyncio bdb cProfile code codeop concurrent ctypes doctest ensurepip imp importlib lib2to3 marshal modulefinder "
    "multiprocessing pdb pickle pkgutil popen2 profile pty runpy shelve site subprocess timeit trace unittest venv "
    "webbrowser xmlrpc zipapp zipimport"
)
_LOADING_NAMES = names("exec eval compile __import__ breakpoint __loader__ __spec__ __builtins__ getattr globals vars")
_LOADING_ATTRIBUTE = re.compile(
    r"system|popen|exec[vl]\w*|spawn\w*|posix_spawnp?|fork\w*|startfile|path|meta_path|modules|__\w+__"
)
_NEVER_IMPORTED = names("test this antigravity idlelib turtledemo lib2to3")
_STANDARD_MODULES = sys.stdlib_module_names - _NEVER_IMPORTED
# Words of other languages that load or start something.
_LOADING_WORDS = re.compile(
    r"\b(?:require\w*|import|export|from|use|no|do|load\w*|include\w*|autoload|eval|exec\w*|system\w*|spawn\w*|fork|"
    r"popen\w*|open\w*|child_process|process|worker\w*|vm|module|Function|constructor|dofile|shell_exec|passthru|"
    r"proc_open|assert|preg_replace|DATA|instance_eval|class_eval|send|syscall|qx|call_user_func\w*|globalThis)\b|`"
)
_MAKE_LOADS = re.compile(
    r"^[ \t]*+(?:-?include|sinclude|load|define|export|unexport|override|private|vpath|VPATH)\b|SHELL|MAKE|"
    r"[$][({][ \t]*+(?:shell|eval|file|call|guile|foreach|wildcard|value)\b|!=|"
    r"\.ONESHELL|\.RECIPEPREFIX|\.DEFAULT|\.INCLUDE",
    re.MULTILINE,
)
# A shell reads its script while it runs it: one that replaces itself goes on with other text.
_WRITES = re.compile(r"\b(?:cp|mv|ln|dd|tee|install|sed)\b|>")
_ITSELF = re.compile(r"\$\{?0|BASH_SOURCE")
_RECIPE_MARKS = " \t@+-"


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
        written = {os.path.basename(word) for word in judge(text).written}
        is_kept = os.path.basename(path) not in written and not any(
            _ITSELF.search(line) and _WRITES.search(line) for line in text.splitlines()
        )
        return is_kept and is_plain_line(text, is_installed)
    if name == "python":
        return _is_python_self_contained(data)
    return name in ("node", "nodejs", "perl", "ruby", "php", "lua") and not _LOADING_WORDS.search(
        data.decode(errors="replace")
    )


def is_plain_line(text: str, is_installed: Callable[[str], bool]) -> bool:
    """Whether every command of a text of the shell is a builtin or an installed program that starts nothing else."""
    judgement = judge(text)
    return is_all_known(judgement) and not judgement.programs and all(map(is_installed, _started(judgement)))


def is_all_known(judgement: Judgement) -> bool:
    """Whether the text hides no command."""
    return judgement.hidden != "line" and judgement.is_complete and not judgement.is_doubtful


def _started(judgement: Judgement) -> Sequence[str]:
    return [words[0] for words in judgement.commands if words]


def _is_python_self_contained(data: bytes) -> bool:
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError, LookupError):
        return False
    return not any(map(_loads, ast.walk(tree)))


def _loads(node: ast.AST) -> bool:
    """Whether a part of a Python script may load or start something that is no module of the standard library."""
    match node:
        case ast.Import(names=aliases):
            return not all(_is_standard(alias.name) for alias in aliases)
        case ast.ImportFrom(module=module, level=level, names=aliases):
            imported = [alias.name for alias in aliases]
            return level > 0 or not _is_standard(module or "") or any(map(_LOADING_ATTRIBUTE.fullmatch, imported))
        case ast.Name(id=name):
            return name in _LOADING_NAMES
        case ast.Attribute(attr="path", value=ast.Name(id="os")):
            return False
        case ast.Attribute(attr=name):
            return _LOADING_ATTRIBUTE.fullmatch(name) is not None
        case _:
            return False


def _is_standard(module: str) -> bool:
    top = module.partition(".")[0]
    return top in _STANDARD_MODULES and top not in _LOADING_MODULES


def shadowing_modules(folder: str) -> list[str] | None:
    """Entries of a folder that Python would load in the place of its own modules when it runs a script there; None for
    a folder with too many entries to say."""
    found: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for number, entry in enumerate(entries):
                if number == MAX_FOLDER_ENTRIES:
                    return None
                if entry.name.partition(".")[0] in _STANDARD_MODULES and (
                    entry.name.endswith((".py", ".pyc", ".so")) or "." not in entry.name
                ):
                    found.append(entry.name)
    except OSError:
        return None
    return sorted(found)


def is_plain_makefile(data: bytes, is_installed: Callable[[str], bool]) -> bool:
    """Whether a Makefile reads no other one, and all its recipes are plain lines."""
    text = data.decode(errors="replace").replace("\\\n", " ")
    if _MAKE_LOADS.search(text):
        return False
    lines = text.splitlines()
    recipes = [line.strip(_RECIPE_MARKS).replace("$$", "$") for line in lines if line.startswith("\t")]
    if len(recipes) > MAX_RECIPES or any(";" in line for line in lines if not line.startswith("\t")):
        return False
    return all(is_plain_line(recipe, is_installed) for recipe in recipes if recipe)


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


def is_plain_make(words: Sequence[str]) -> bool:
    """Whether make is given nothing but targets, harmless options and plain values of variables."""
    rest = list(words[1:])
    while rest:
        word = rest.pop(0)
        if word in ("-C", "--directory", "-f", "--file"):
            rest = rest[1:]
        elif not _MAKE_WORD.fullmatch(word) or word == UNKNOWN_WORD:
            return False
    return True


_MAKE_WORD = re.compile(
    r"-[Bkns]+|-j\d*|-C[\w./-]+|--directory=[\w./-]+|--(?:silent|quiet|dry-run|keep-going|always-make)|[\w][\w./-]*|"
    r"(?!SHELL|MAKE|GNU|CURDIR|VPATH|\.)[A-Za-z_]\w*=[\w.-]*"
)
