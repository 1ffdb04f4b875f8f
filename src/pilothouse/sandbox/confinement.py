"""What a command may reach: everything, its workspace for writing, or only reading. The kernel holds it to that."""

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
from pilothouse.domain.values import Value
from pilothouse.sandbox import landlock, seccomp
from pilothouse.sandbox.program_folders import SYSTEM, program_paths

Kind = Literal["no", "read_only", "workspace"]

MAX_ENTRIES_BESIDE_PRIVATE = 50_000
"""In a folder that holds something private, each of the other entries is granted by itself."""
_DEVICES = ("/dev/random", "/dev/urandom")
_EMPTY_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/nix/store", "/etc/ld.so.cache")
_REFUSALS = (
    "not a git repository",  # of which this folder is only a part
    "ermission denied",
    "not permitted",
    "ead-only file system",
    "权限不够",
    "不允许的操作",
)


class Confinement(Value):
    """What the kernel leaves to a command, where it is confined at all. No path holds a link."""

    kind: Kind = "no"
    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    listable: tuple[str, ...] = ()
    """Folders in which, and beneath which, the names of files can be read, but not the files."""
    kernel: Kernel = Kernel()
    """What the keeper uses to confine the command. Where the running kernel has less, the command is not started."""

    def grants(self) -> list[tuple[str, str]]:
        """Each a leave and a path. There may be as many as a folder has entries."""
        leaves = (("list", self.listable), ("read", self.readable), ("write", self.writable))
        return [(leave, path) for leave, paths in leaves for path in paths]


FREE = Confinement()


@cache
def kernel() -> Kernel:
    """What the running kernel has."""
    return Kernel(landlock=landlock.abi(), filter=seccomp.is_available())


def only_reading(
    readable: Sequence[str],
    environment: Mapping[str, str],
    private: Sequence[str] = (),
    with_kernel: Kernel | None = None,
) -> Confinement:
    """The system, the programs on the PATH and these folders can be read, but for what is private in any of them;
    nothing can be written, nobody be called."""
    folders = (*_system(), *_real(readable), *program_paths(environment, (*readable, *private)))
    return _confined("read_only", folders, _EMPTY_DEVICES, private, with_kernel)


def reading_with(program: Sequence[str], readable: Sequence[str], private: Sequence[str]) -> Confinement:
    """For a program that the runtime itself runs over a folder: the folder, but for what is private in it, the
    program's own files and the libraries of the system can be read."""
    return _confined("read_only", _real((*readable, *program, *_LIBRARIES)), (), private)


def writing_beneath(
    writable: Sequence[str],
    readable: Sequence[str] = (),
    private: Sequence[str] = (),
    with_kernel: Kernel | None = None,
) -> Confinement:
    """Everything can be read, and what lies beneath some folders be written, but for what is private in any of them.
    In a folder that holds something private nothing new can be made: the kernel knows no exception from a leave."""
    devices = (*_EMPTY_DEVICES, "/dev/tty", "/dev/shm")  # noqa: S108
    closed = (*private, "/dev")
    whole = _confined("workspace", ("/",), _real((*devices, *writable)), closed, with_kernel)
    also = _confined("workspace", _real((*readable, *_DEVICES)), (), private, with_kernel)
    return msgspec.structs.replace(
        whole, readable=(*whole.readable, *also.readable), listable=(*whole.listable, *also.listable)
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
    """Where paths lead, once each."""
    return list(dict.fromkeys(map(os.path.realpath, paths)))


@cache
def _system() -> tuple[str, ...]:
    """`/bin` is a link on most systems."""
    return tuple(_real((*SYSTEM, *_DEVICES)))


def _without(folder: str, private: Collection[str], listable: list[str]) -> list[str]:
    """All of a folder but what is private in it: the kernel knows leave only, and that for a whole folder. A folder
    inside a private one was granted on purpose. Raises: ToolError for too many entries."""
    if folder in private:
        return []
    if not any(_is_within(path, folder) for path in private):
        return [folder]
    listable.append(folder)
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        present = list(itertools.islice(entries, MAX_ENTRIES_BESIDE_PRIVATE + 1))
        if len(present) > MAX_ENTRIES_BESIDE_PRIVATE:
            raise ToolError(Code.SANDBOX_TOO_MANY_ENTRIES, folder=folder, most=MAX_ENTRIES_BESIDE_PRIVATE)
        plain = [entry.path for entry in present if not entry.is_symlink()]  # a link leads elsewhere
        return [each for path in plain for each in _without(path, private, listable)]
    return []


def path_outside(path: str, workspace: str) -> str:
    """A PATH without what is relative, or lies in the workspace: no program of a folder passes for another."""
    kept = [entry for entry in path.split(":") if os.path.isabs(entry)]
    return ":".join(entry for entry in kept if not _is_within(os.path.realpath(entry), workspace))


def environment_for(kind: Kind, environment: Mapping[str, str], workspace: str) -> dict[str, str]:
    """What only reads gets no program of the workspace by its name, and a git that runs as little as it can."""
    if kind != "read_only":
        return dict(environment)
    settings = {"core.fsmonitor": "false", "core.hooksPath": "/dev/null", "core.pager": "cat", "diff.external": ""}
    git = {f"GIT_CONFIG_KEY_{index}": key for index, key in enumerate(settings)}
    git |= {f"GIT_CONFIG_VALUE_{index}": value for index, value in enumerate(settings.values())}
    return {
        **environment,
        **git,
        "PATH": path_outside(environment.get("PATH", os.defpath), workspace),
        "GIT_CONFIG_COUNT": str(len(settings)),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_OPTIONAL_LOCKS": "0",
    }


def was_refused(output: str) -> bool:
    """Whether a program seems to say that the kernel has refused it something."""
    return any(word in output for word in _REFUSALS)


def _is_within(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")
