"""The installations of the programs on a person's PATH, without other files of the person.

Programs in the home folder often lie behind a link or a small script (pipx, uv, pyenv, rustup, Homebrew, npm). The
search follows links and script headers to installations, and includes only the usual parts of installations.
"""

import contextlib
import os
import stat
from collections.abc import Mapping, Sequence
from itertools import islice

MAX_FILES_PER_FOLDER = 2000
MAX_PATHS = 300
MAX_DEPTH = 3
_MAX_HEADER_BYTES = 256
_MAX_CACHED_SEARCHES = 32

# Programs of the system and their files. These folders contain nothing of a person.
SYSTEM = (
    *("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr", "/etc", "/opt", "/nix", "/snap", "/proc", "/sys"),
)
_NO_PROGRAMS = ("/dev",)
_PROGRAM_FOLDERS = frozenset({"bin", "sbin", "libexec", "shims", "condabin"})
_INSTALLATION_PARTS = (
    *("bin", "sbin", "libexec", "shims", "lib", "lib64", "include", "pyvenv.cfg"),
    *("version", "versions", "installs", "plugins", "tools", "pyenv.d", "rbenv.d"),  # of version managers
)
# Further parts of installations that contain these marker files.
_PARTS_BY_MARKER: Mapping[str, tuple[str, ...]] = {
    "pyvenv.cfg": ("share",),
    "Cellar": ("Cellar", "opt", "share", "Frameworks", "Library", "etc/gitconfig"),  # Homebrew
    "lib/modules": ("conf", "release"),  # Java
    "pkg/tool": ("src", "pkg", "VERSION", "go.env"),  # Go
    "conda-meta": ("conda-meta", "share"),
    "include/node": ("share",),
    "lib/pkgconfig": ("share",),
}
# Folders of a home that programs and the person share.
_SHARED_FOLDERS = (
    *(".local", ".local/share", ".local/state", ".config", ".cache", ".var", "Library", "snap"),
    *("Desktop", "Documents", "Downloads", "Music", "Pictures", "Public", "Templates", "Videos"),
)
_SECRET_FOLDERS = (
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".password-store",
    ".mozilla",
    ".thunderbird",
)

_cache: dict[tuple[object, ...], tuple[tuple[int, ...], tuple[str, ...]]] = {}


def program_paths(environment: Mapping[str, str], excluded: Sequence[str] = ()) -> tuple[str, ...]:
    """Folders and files, outside of the system's folders, that belong to programs on the PATH. None is a link.

    Folders beneath `excluded` are not searched: an agent may have put anything there. The result is cached until a
    folder of the PATH changes.
    """
    path = environment.get("PATH", os.defpath)
    home = os.path.realpath(environment.get("HOME") or os.path.expanduser("~"))
    rustup = environment.get("RUSTUP_HOME") or os.path.join(home, ".rustup")
    entries = [entry for entry in dict.fromkeys(path.split(":")) if os.path.isabs(entry) and not _is_system(entry)]
    key, times = (path, home, rustup, tuple(excluded)), tuple(map(_modification_time, entries))
    cached = _cache.get(key)
    if cached is not None and cached[0] == times:
        return cached[1]
    search = _Search(home, excluded)
    for entry in entries:
        search.add_folder(os.path.realpath(entry), MAX_DEPTH)
        if os.path.exists(os.path.join(entry, "rustup")):  # all of its programs are one, which starts the real ones
            search.add(*(os.path.join(os.path.realpath(rustup), name) for name in ("toolchains", "settings.toml")))
    if len(_cache) >= _MAX_CACHED_SEARCHES:
        _cache.clear()
    _cache[key] = (times, search.paths())
    return _cache[key][1]


class _Search:
    def __init__(self, home: str, excluded: Sequence[str]) -> None:
        self._home = home
        self._excluded = (*excluded, *(os.path.join(home, name) for name in _SECRET_FOLDERS))
        self._shared = {os.path.join(home, name) for name in _SHARED_FOLDERS}
        self._paths: dict[str, None] = {}
        self._visited: set[str] = set()

    def paths(self) -> tuple[str, ...]:
        """The paths of installations, without those beneath others."""
        outermost = (path for path in self._paths if not any(map(self._paths.__contains__, _parents(path))))
        return tuple(outermost)[:MAX_PATHS]

    def add(self, *paths: str) -> None:
        for path in paths:
            if os.path.lexists(path) and not os.path.islink(path) and not self._is_closed(path):
                self._paths[path] = None

    def add_folder(self, folder: str, depth: int) -> None:
        """Add a folder of programs, the parts of its installation, and the targets of its links and scripts."""
        if folder in self._visited or self._is_closed(folder) or folder in self._shared or _is_writable_by_all(folder):
            return
        self._visited.add(folder)
        self.add(folder)
        self._add_installation(os.path.dirname(folder))
        if depth == 0:
            return
        with contextlib.suppress(OSError), os.scandir(folder) as files:
            for file in islice(files, MAX_FILES_PER_FOLDER):
                self._follow(file, depth - 1)

    def _follow(self, file: "os.DirEntry[str]", depth: int) -> None:
        target = os.path.realpath(file.path) if file.is_symlink() else file.path
        if not _is_program(target):
            return
        if file.is_symlink():
            self._add_program(target, depth)
        interpreter = _interpreter(target)
        if interpreter is not None and not _is_system(interpreter) and _is_program(interpreter):
            # The folder as it is written: it identifies a virtual environment, whose Python links to another folder.
            folder, name = os.path.split(interpreter)
            self._add_program(os.path.join(os.path.realpath(folder), name), depth)
            self._add_program(os.path.realpath(interpreter), depth)

    def _add_program(self, program: str, depth: int) -> None:
        """Add a program's folder where the folder belongs to an installation; otherwise the program alone."""
        folder, modules, _ = program.partition("/node_modules/")
        if modules:
            self.add(f"{folder}/node_modules")
        elif os.path.basename(os.path.dirname(program)) in _PROGRAM_FOLDERS and self._is_installation(program):
            self.add_folder(os.path.dirname(program), depth)
        elif not self._is_closed(program) and _is_program(program):
            self.add(program)

    def _is_installation(self, program: str) -> bool:
        prefix = os.path.dirname(os.path.dirname(program))
        has_parts = any(
            os.path.exists(os.path.join(prefix, name)) for name in ("lib", "lib64", "libexec", *_PARTS_BY_MARKER)
        )
        return has_parts and not self._is_common(prefix)

    def _add_installation(self, prefix: str) -> None:
        if self._is_common(prefix):
            names: tuple[str, ...] = ("lib", "lib64") if prefix == os.path.join(self._home, ".local") else ()
        else:
            markers = (marker for marker in _PARTS_BY_MARKER if os.path.exists(os.path.join(prefix, marker)))
            names = (*_INSTALLATION_PARTS, *(name for marker in markers for name in _PARTS_BY_MARKER[marker]))
        self.add(*(os.path.join(prefix, name) for name in names))

    def _is_common(self, prefix: str) -> bool:
        """Whether a folder contains more than one installation: its entries may be anything."""
        return os.path.dirname(prefix) == "/" or prefix in self._shared or self._is_closed(prefix)

    def _is_closed(self, path: str) -> bool:
        """Whether a path must not be added: the home and its parents, secrets, the system, folders of agents."""
        return (
            _is_within(self._home, path)
            or _is_system(path)
            or any(_is_within(path, folder) for folder in self._excluded)
        )


def _modification_time(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _is_writable_by_all(folder: str) -> bool:
    try:
        return bool(os.stat(folder).st_mode & stat.S_IWOTH)
    except OSError:
        return True


def _interpreter(program: str) -> str | None:
    """The interpreter in the first line of a script."""
    try:
        with open(program, "rb") as file:
            header = file.read(_MAX_HEADER_BYTES)
    except OSError:
        return None
    words = os.fsdecode(header.partition(b"\n")[0][2:]).split() if header.startswith(b"#!") else []
    return words[0] if words and os.path.isabs(words[0]) and "\0" not in words[0] else None


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:length]) for length in range(2, len(parts))]


def _is_system(path: str) -> bool:
    return any(_is_within(path, folder) for folder in (*SYSTEM, *_NO_PROGRAMS))


def _is_within(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")
