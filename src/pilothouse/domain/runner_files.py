"""The files of a folder that a known runner reads first: to change them is to change what a command runs."""

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
)
_GIT = (
    *(".git/config", ".git/config.worktree", ".gitattributes", ".git/info/attributes", ".pre-commit-config.yaml"),
    *(".git/commondir", ".gitmodules", "HEAD"),  # a folder with a HEAD may be a repository itself
    *("lefthook.yml", *(f"{folder}/{hook}" for folder in (".git/hooks", ".husky") for hook in _HOOKS)),
)
_MAKE = ("GNUmakefile", "makefile", "Makefile")
MAKES = ("make", "gmake", "remake")
# make looks for a rule to make its own Makefile anew, and has rules of its own for these files.
_MAKEFILE_SOURCES = (
    *(f"{name}{ending}" for name in _MAKE for ending in (".sh", ".o", ".c", ".cc", ".cpp", ".C", ".p", ".f", ".F")),
    *(f"{name}{ending}" for name in _MAKE for ending in (".m", ".r", ".s", ".S", ".mod", ".l", ".y", ".w", ".web")),
    *(f"{folder}{name},v" for name in _MAKE for folder in ("", "RCS/")),
    *(f"{folder}{name}" for name in _MAKE for folder in ("s.", "SCCS/s.", "RCS/")),
)
_INDEXES = ("index.js", "index.mjs", "index.cjs", "index.ts")

# By the name of the program, without its version.
_FIRST_FILES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(MAKES, _MAKE),
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
    "git": _GIT,
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
    """Whether this program is known to run what some file of the folder says."""
    return plain_name(program) in _FIRST_FILES


def first_files(words: Sequence[str]) -> Iterator[str]:
    """Names of files that decide what a command runs, from the folder in which it runs. They need not exist. One by
    one: a command can name so many that nobody should hold them all."""
    if not words:
        return
    program = plain_name(words[0])
    yield from _FIRST_FILES.get(program, ())
    if program in MAKES:
        yield from _MAKEFILE_SOURCES
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


def makefiles() -> tuple[str, ...]:
    """The names of which make takes the first that exists."""
    return _MAKE


def script_files(words: Sequence[str]) -> tuple[str, ...]:
    """Names of the files one of which is the script that a command gives to its interpreter. Empty where options other
    than harmless ones stand before it: they may name code of their own, or files that are run first."""
    program = plain_name(words[0])
    flags = _SCRIPT_FLAGS.get(program)
    if flags is None:
        return ()
    for index, word in enumerate(words[1:], start=1):
        if program == "python" and word[:2] == "-m":
            return tuple(_module_files(words[: index + 2]))
        if word == "--":
            return _script(program, words[index + 1 : index + 2])
        if not word.startswith("-"):
            return _script(program, words[index : index + 1])
        if not set(word[1:]) <= flags or word == "-":
            break
    return ()


def _script(program: str, operand: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for word in operand for name in (word, *first_files((program, word))))


def runs_line(words: Sequence[str]) -> bool:
    """Whether a shell is given its commands in the line itself (`sh -e -c …`), and reads no file before them."""
    if plain_name(words[0]) not in POSIX_SHELLS:
        return False
    for word in words[1:-1]:
        if word[:1] != "-" or not set(word[1:]) <= {"c", *SHELL_FLAGS}:
            return False
        if "c" in word:
            return True
    return False


def package_words(text: str) -> tuple[str, ...]:
    """Words of a package.json that may name files: of its scripts, and what it starts from."""
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


def module_files(words: Sequence[str]) -> Iterator[str]:
    """`python -m a.b` runs a/__init__.py, and a/b.py or a/b/__main__.py."""
    for module in _modules(words):
        parts = module.split(".")
        for end in range(1, len(parts) + 1):
            path = "/".join(parts[:end])
            if len(path) > MAX_PATH_CHARACTERS:
                break
            yield from (f"{path}/__init__.py", f"{path}/__main__.py", f"{path}.py")


def _module_files(words: Sequence[str]) -> Iterator[str]:
    """The files of a module, and the first files of one that is a runner itself (`python -m pytest`)."""
    for module in _modules(words):
        yield from _FIRST_FILES.get(module, ())
    yield from module_files(words)


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
