"""What a command may reach: everything, its workspace for writing, or only reading. The kernel holds it to that."""

import contextlib
import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal

from pilothouse.domain.values import Value
from pilothouse.sandbox import landlock
from pilothouse.sandbox.program_folders import SYSTEM, program_paths

Kind = Literal["no", "read_only", "workspace"]

_NOWHERE = ("/dev/null", "/dev/zero", "/dev/full")
_REFUSALS = (
    "not a git repository",  # of which this folder is only a part
    "ermission denied",
    "not permitted",
    "ead-only file system",
    "权限不够",
    "不允许的操作",
)


class Confinement(Value):
    """What the kernel leaves to a command, where it is confined at all. `entries` can be read, but are no links."""

    kind: Kind = "no"
    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    listable: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()

    def grants(self) -> list[tuple[str, str]]:
        """Each a leave and a path."""
        leaves = (
            *(("list", self.listable), ("entry", self.entries)),
            *(("read", self.readable), ("write", self.writable)),
        )
        return [(leave, path) for leave, paths in leaves for path in paths]


FREE = Confinement()


@cache
def has_sandbox() -> bool:
    return landlock.abi() > 0


def only_reading(readable: Sequence[str], environment: Mapping[str, str], private: Sequence[str] = ()) -> Confinement:
    """The system, the programs on the PATH and these folders can be read, but for what is private in them; nothing can
    be written, nobody be called."""
    listable: list[str] = []
    folders = (*readable, *program_paths(environment, (*readable, *private)))
    entries = [each for folder in folders for each in _without(folder, private, listable)]
    return Confinement("read_only", SYSTEM, _NOWHERE, tuple(listable), tuple(entries))


def _without(folder: str, private: Sequence[str], listable: list[str]) -> list[str]:
    """All of a folder but what is private in it: the kernel knows leave only, and that for a whole folder."""
    if folder in private:
        return []
    if not any(_is_within(path, folder) for path in private):
        return [folder]
    listable.append(folder)
    with contextlib.suppress(OSError):
        plain = [entry.path for entry in os.scandir(folder) if not entry.is_symlink()]  # a link leads elsewhere
        return [each for path in plain for each in _without(path, private, listable)]
    return []


def path_outside(path: str, workspace: str) -> str:
    """A PATH without what is relative, or lies in the workspace: no program of a folder passes for another."""
    kept = [entry for entry in path.split(":") if os.path.isabs(entry)]
    return ":".join(entry for entry in kept if not _is_within(os.path.realpath(entry), workspace))


def writing_beneath(writable: Sequence[str]) -> Confinement:
    """Everything can be read; only what lies beneath these folders can be written."""
    return Confinement("workspace", ("/",), (*_NOWHERE, "/dev/tty", "/dev/shm", *writable))  # noqa: S108


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
