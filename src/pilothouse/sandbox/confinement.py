"""The files that a command may read and write, enforced by the kernel (Landlock and seccomp)."""

import contextlib
import itertools
import os
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Literal

import msgspec

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.domain.promises import Kernel
from pilothouse.domain.system_programs import is_fixed_folder
from pilothouse.domain.value import Value
from pilothouse.sandbox import landlock, seccomp
from pilothouse.sandbox.command_environment import CommandEnvironment
from pilothouse.sandbox.program_folders import SYSTEM, program_paths

Kind = Literal["no", "read_only", "workspace"]

MAX_ENTRIES_BESIDE_PRIVATE = 50_000
"""In a folder with private entries, each of the other entries is granted separately."""
_DEVICES = ("/dev/random", "/dev/urandom")
_EMPTY_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/nix/store", "/etc/ld.so.cache")
_REFUSAL_MESSAGES = (
    "not a git repository",  # the workspace is a part of a repository above it
    "ermission denied",
    "not permitted",
    "ead-only file system",
    "权限不够",
    "不允许的操作",
)


class Confinement(Value):
    """The paths that a confined command may access. No path contains a link."""

    kind: Kind = "no"
    readable: tuple[str, ...] = ()
    """Folders and files to read and execute."""
    writable: tuple[str, ...] = ()
    """Folders and files to read and write."""
    listable: tuple[str, ...] = ()
    """Folders in which, and beneath which, the names of files can be read, but not the files."""
    kernel: Kernel = Kernel()
    """The features that the supervisor uses to confine the command. Where the running kernel has less, the command is
    not started."""

    def grants(self) -> list[tuple[str, str]]:
        """Pairs of an access and a path. There may be as many as a folder has entries."""
        accesses = (("list", self.listable), ("read", self.readable), ("write", self.writable))
        return [(access, path) for access, paths in accesses for path in paths]


UNCONFINED = Confinement()


@cache
def kernel() -> Kernel:
    """The features of the running kernel."""
    return Kernel(landlock=landlock.abi(), filter=seccomp.is_available())


def read_only_confinement(
    readable: Sequence[str],
    environment: Mapping[str, str],
    private: Sequence[str] = (),
    with_kernel: Kernel | None = None,
) -> Confinement:
    """Allows reading the system, the programs on the PATH and these folders, except private paths in any of them.
    Writing files, connections and signals to other processes are denied."""
    folders = (*_system(), *_real(readable), *program_paths(environment, (*readable, *private)))
    return _confined("read_only", folders, _EMPTY_DEVICES, private, with_kernel)


def program_confinement(program: Sequence[str], readable: Sequence[str], private: Sequence[str]) -> Confinement:
    """For a program that the runtime itself runs over a folder: allows reading the folder, except private paths in it,
    the program's own files and the libraries of the system."""
    return _confined("read_only", _real((*readable, *program, *_LIBRARIES)), (), private)


def workspace_confinement(
    writable: Sequence[str],
    readable: Sequence[str] = (),
    private: Sequence[str] = (),
    with_kernel: Kernel | None = None,
) -> Confinement:
    """Allows reading everything, and writing beneath some folders, except private paths in any of them. In a folder
    that contains a private path no new file can be created: Landlock has no exceptions from a grant."""
    devices = (*_EMPTY_DEVICES, "/dev/tty", "/dev/shm")  # noqa: S108
    closed = (*private, "/dev")
    whole = _confined("workspace", ("/",), _real((*devices, *writable)), closed, with_kernel)
    extra = _confined("workspace", _real((*readable, *_DEVICES)), (), private, with_kernel)
    return msgspec.structs.replace(
        whole, readable=(*whole.readable, *extra.readable), listable=(*whole.listable, *extra.listable)
    )


def _confined(
    kind: Kind,
    readable: Sequence[str],
    writable: Sequence[str],
    private: Sequence[str],
    with_kernel: Kernel | None = None,
) -> Confinement:
    closed = set(_real(private))
    listable: list[str] = []
    reads = [path for folder in readable for path in _without(folder, closed, listable)]
    writes = [path for folder in writable for path in _without(folder, closed, listable)]
    return Confinement(kind, tuple(reads), tuple(writes), tuple(dict.fromkeys(listable)), with_kernel or kernel())


def _real(paths: Sequence[str]) -> list[str]:
    """The paths with links resolved, once each."""
    return list(dict.fromkeys(map(os.path.realpath, paths)))


@cache
def _system() -> tuple[str, ...]:
    """The system's folders with links resolved: `/bin` is a link on most systems."""
    return tuple(_real((*SYSTEM, *_DEVICES)))


def _without(folder: str, private: Collection[str], listable: list[str]) -> list[str]:
    """The parts of a folder without the private paths in it: Landlock grants whole folders, and denies nothing. A
    folder inside a private one was granted on purpose. Raises: ToolError for too many entries."""
    if folder in private:
        return []
    if not any(_is_within(path, folder) for path in private):
        return [folder]
    listable.append(folder)
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        present = list(itertools.islice(entries, MAX_ENTRIES_BESIDE_PRIVATE + 1))
        if len(present) > MAX_ENTRIES_BESIDE_PRIVATE:
            raise ToolError(Code.SANDBOX_TOO_MANY_ENTRIES, folder=folder, most=MAX_ENTRIES_BESIDE_PRIVATE)
        paths = [entry.path for entry in present if not entry.is_symlink()]  # the target of a link lies elsewhere
        return [part for path in paths for part in _without(path, private, listable)]
    return []


def path_outside_workspace(path: str, workspace: str) -> str:
    """A PATH without relative entries and entries in the workspace: no program of the workspace can replace another.
    Never an empty one, with which a shell looks in its working directory."""
    entries = [entry for entry in path.split(":") if is_fixed_folder(entry)]
    return ":".join(entry for entry in entries if not _is_within(os.path.realpath(entry), workspace)) or os.defpath


def environment_for(kind: Kind, environment: CommandEnvironment, workspace: str) -> dict[str, str]:
    """The variables of a command. A read-only command gets none that the person has listed, finds no program of the
    workspace by its name, and its git starts as few other programs as possible."""
    if kind != "read_only":
        return {**environment.inherited, **environment.listed}
    settings = {"core.fsmonitor": "false", "core.hooksPath": "/dev/null", "core.pager": "cat", "diff.external": ""}
    git = {f"GIT_CONFIG_KEY_{index}": key for index, key in enumerate(settings)}
    git |= {f"GIT_CONFIG_VALUE_{index}": value for index, value in enumerate(settings.values())}
    return {
        **environment.inherited,
        **git,
        "PATH": path_outside_workspace(environment.path, workspace),
        "GIT_CONFIG_COUNT": str(len(settings)),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_OPTIONAL_LOCKS": "0",
    }


def mentions_refusal(output: str) -> bool:
    """Whether a program's output suggests that the kernel denied an access."""
    return any(word in output for word in _REFUSAL_MESSAGES)


def _is_within(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")
