"""The files of a folder that known runners read first, and that therefore decide what a command runs."""

import json
import posixpath
from collections.abc import Iterator, Mapping, Sequence

from pilothouse.domain.system_programs import POSIX_SHELLS, SHELL_FLAGS

PACKAGE = "package.json"
MAX_PATH_CHARACTERS = 4096
"""The kernel opens no file by a longer path."""
_PACKAGE_FILES = (PACKAGE, ".npmrc", ".pnpmfile.cjs", ".yarnrc.yml", "bunfig.toml")
_PYTHON_PROJECT = ("pyproject.toml", "setup.cfg", "setup.py")
_GRADLE = ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")
_CONTAINERS = (
    "Dockerfile",
    "Containerfile",
    "compose.yaml",
    "compose.yml",
    "docker-compose.yml",
    "docker-compose.yaml",
)
_HOOKS = (
    *("applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout", "post-commit"),
    *("post-index-change", "post-merge", "post-rewrite", "pre-applypatch", "pre-auto-gc", "pre-commit"),
    *("pre-merge-commit", "pre-push", "pre-rebase", "prepare-commit-msg", "reference-transaction"),
    # A push to `.` runs the hooks of the receiving side, too.
    *("pre-receive", "update", "proc-receive", "post-receive", "post-update", "push-to-checkout"),
)
GIT_FILES = (
    *(".git/config", ".git/config.worktree", ".gitattributes", ".git/info/attributes", ".pre-commit-config.yaml"),
    *(".git/commondir", ".gitmodules", "HEAD"),  # a folder with a HEAD may be a repository itself
    *("lefthook.yml", *(f"{folder}/{hook}" for folder in (".git/hooks", ".husky") for hook in _HOOKS)),
)
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
"""The names of which make takes the first that exists."""
MAKES = ("make", "gmake", "remake")
# make looks for a rule to make its own Makefile anew, and has rules of its own for these files.
MAKEFILE_SOURCES = (
    *(f"{name}{ending}" for name in MAKEFILES for ending in (".sh", ".o", ".c", ".cc", ".cpp", ".C", ".p", ".f", ".F")),
    *(f"{name}{ending}" for name in MAKEFILES for ending in (".m", ".r", ".s", ".S", ".mod", ".l", ".y", ".w", ".web")),
    *(f"{folder}{name},v" for name in MAKEFILES for folder in ("", "RCS/")),
    *(f"{folder}{name}" for name in MAKEFILES for folder in ("s.", "SCCS/s.", "RCS/")),
)
_INDEXES = ("index.js", "index.mjs", "index.cjs", "index.ts")

# The first files of each runner, by the name of the program without its version.
_FIRST_FILES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(MAKES, MAKEFILES),
    **dict.fromkeys(("npm", "pnpm", "yarn", "npx", "pnpx", "bun", "bunx", "corepack"), _PACKAGE_FILES),
    **dict.fromkeys(("uv", "uvx", "poetry", "pdm", "hatch", "rye", "pip", "pipx"), _PYTHON_PROJECT),
    **dict.fromkeys(("pytest", "py.test"), ("conftest.py", "pytest.ini", "tox.ini", *_PYTHON_PROJECT)),
    **dict.fromkeys(("gradle", "gradlew"), (*_GRADLE, "gradle/wrapper/gradle-wrapper.properties")),
    **dict.fromkeys(("mvn", "mvnw"), ("pom.xml", ".mvn/extensions.xml", ".mvn/jvm.config", ".mvn/maven.config")),
    **dict.fromkeys(("docker", "podman", "docker-compose"), _CONTAINERS),
    **dict.fromkeys(("task", "go-task"), ("Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml")),
    **dict.fromkeys(("invoke", "inv", "fab"), ("tasks.py", "fabfile.py")),
    **dict.fromkeys(("mise", "rtx"), (".mise.toml", "mise.toml")),
    "ant": ("build.xml",),
    "bundle": ("Gemfile",),
    "cargo": ("Cargo.toml", "build.rs", ".cargo/config.toml", ".cargo/config"),
    "cmake": ("CMakeLists.txt", "CMakePresets.json"),
    "composer": ("composer.json",),
    "deno": ("deno.json", "deno.jsonc"),
    "dotnet": ("Directory.Build.props", "global.json"),
    "git": GIT_FILES,
    "go": ("go.mod", "go.work"),
    "just": ("justfile", "Justfile", ".justfile"),
    "lefthook": ("lefthook.yml", "lefthook.yaml"),
    "mage": ("magefile.go",),
    "meson": ("meson.build",),
    "mix": ("mix.exs",),
    "ninja": ("build.ninja",),
    "nox": ("noxfile.py",),
    "pre-commit": (".pre-commit-config.yaml",),
    "rake": ("Rakefile", "rakefile", "Rakefile.rb"),
    "sbt": ("build.sbt", "project/build.properties"),
    "terraform": ("main.tf",),
    "tox": ("tox.ini", *_PYTHON_PROJECT),
    "vagrant": ("Vagrantfile",),
}
_EVERY_FIRST_FILE = tuple(
    dict.fromkeys((*(name for files in _FIRST_FILES.values() for name in files), *_INDEXES, "__main__.py"))
)
_SCRIPT_FOLDERS = frozenset({"node", "nodejs", "tsx", "ts-node", "bun", "deno", "electron"})

# Of each interpreter that takes the name of a script, the options without a value that name no other code.
_SCRIPT_FLAGS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(POSIX_SHELLS, SHELL_FLAGS),
    **dict.fromkeys(("node", "nodejs", "php", "lua"), frozenset()),
    **dict.fromkeys(("perl", "ruby"), frozenset("w")),
    "python": frozenset("bBdEIOPqsSuv"),  # with -x it leaves out the first line
}


def is_runner(program: str) -> bool:
    """Whether a program is known to run code that some file of the folder names."""
    return plain_name(program) in _FIRST_FILES


def first_files(words: Sequence[str]) -> Iterator[str]:
    """Names of files that decide what a command runs, relative to its folder; the files need not exist. A generator,
    because a command can name very many files."""
    if not words:
        return
    program = plain_name(words[0])
    yield from _FIRST_FILES.get(program, ())
    if program in MAKES:
        yield from MAKEFILE_SOURCES
    if program == "python":
        yield from _module_files(words)
    for word in dict.fromkeys(words[1:]):
        if posixpath.normpath(word or "/") == ".":
            yield from _EVERY_FIRST_FILE
        elif program in _SCRIPT_FOLDERS and not word.startswith("-"):
            yield from (f"{word}/{name}" for name in (PACKAGE, *_INDEXES))
            yield from (f"{word}{ending}" for ending in (".js", ".json", ".node"))
        elif program == "python" and not word.startswith("-"):
            yield f"{word}/__main__.py"


def script_operand(words: Sequence[str]) -> str | None:
    """The script that a command gives to its interpreter. None where options other than harmless ones stand before the
    script: they may name code of their own, or files that run first."""
    program = plain_name(words[0])
    flags = _SCRIPT_FLAGS.get(program)
    if flags is None:
        return None
    for index, word in enumerate(words[1:], start=1):
        if word == "--":
            return words[index + 1] if words[index + 1 :] else None
        if not word.startswith("-"):
            return word
        if word == "-" or not set(word[1:]) <= flags:
            break
    return None


def script_files(words: Sequence[str]) -> tuple[str, ...]:
    """Names of the files one of which is the script or the module that a command gives to its interpreter."""
    program = plain_name(words[0])
    operand = script_operand(words)
    if operand is not None:
        return (operand, *first_files((program, operand)))
    is_module = program == "python" and any(word[:2] == "-m" for word in words[1:])
    return tuple(_module_files(words)) if is_module else ()


def package_words(text: str) -> tuple[str, ...]:
    """Words of a package.json that may name files: of its scripts and its entry points."""
    try:
        package = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    if not isinstance(package, dict):
        return ()
    parts = (package.get(name) for name in ("scripts", "main", "module", "bin", "exports"))
    return tuple(dict.fromkeys(word for part in parts for line in _texts(part) for word in line.split()))


def plain_name(program: str) -> str:
    return posixpath.basename(program).rstrip("0123456789.") or program


def _module_files(words: Sequence[str]) -> Iterator[str]:
    """`python -m a.b` runs a/__init__.py, and a/b.py or a/b/__main__.py. A module may be a runner itself (`python -m
    pytest`), and has first files of its own."""
    for module in _modules(words):
        yield from _FIRST_FILES.get(module, ())
        parts = module.split(".")
        for end in range(1, len(parts) + 1):
            path = "/".join(parts[:end])
            if len(path) > MAX_PATH_CHARACTERS:
                break
            yield from (f"{path}/__init__.py", f"{path}/__main__.py", f"{path}.py")


def _modules(words: Sequence[str]) -> Iterator[str]:
    for index, word in enumerate(words[1:], start=1):
        module = words[index + 1] if word == "-m" and index + 1 < len(words) else word[2:] if word[:2] == "-m" else ""
        if module:
            yield module


def _texts(data: object, depth: int = 0) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict) and depth < 5:
        for value in data.values():
            yield from _texts(value, depth + 1)
