"""What a command may reach: everything, its workspace for writing, or only reading. The kernel holds it to that."""

import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal

from pilothouse.domain.values import Value
from pilothouse.sandbox import landlock

Kind = Literal["no", "read_only", "workspace"]

# Where programs and what they need lie. Nothing of a person is in there.
_SYSTEM = (
    *("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr", "/etc", "/opt", "/nix", "/snap", "/proc", "/sys"),
    "/dev",
)
_NOWHERE = ("/dev/null", "/dev/zero", "/dev/full")
_REFUSALS = ("ermission denied", "not permitted", "ead-only file system", "权限不够", "不允许的操作")


class Confinement(Value):
    """`readable` and `writable` are what the kernel leaves to a command, where it is confined at all."""

    kind: Kind = "no"
    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()


FREE = Confinement()


@cache
def has_sandbox() -> bool:
    return landlock.abi() > 0


def only_reading(readable: Sequence[str], path: str) -> Confinement:
    """Programs and these folders can be read; nothing can be written, nobody be called."""
    return Confinement("read_only", (*_SYSTEM, *_programs(path), *readable), _NOWHERE)


def writing_beneath(writable: Sequence[str]) -> Confinement:
    """Everything can be read; only what lies beneath these folders can be written."""
    return Confinement("workspace", ("/",), (*_NOWHERE, "/dev/tty", "/dev/shm", *writable))  # noqa: S108


def _programs(path: str) -> list[str]:
    """Folders of programs that a person has put elsewhere, with what lies beside them, but never a home."""
    found = []
    home = os.path.expanduser("~")
    for entry in filter(os.path.isabs, path.split(":")):
        real = os.path.realpath(entry)
        if real.startswith(tuple(f"{folder}/" for folder in _SYSTEM)):
            continue
        beside = os.path.dirname(real)
        is_personal = home == beside or home.startswith(beside.rstrip("/") + "/") or beside == f"{home}/.local"
        found.append(real if is_personal else beside)
    return found


def environment_for(kind: Kind, environment: Mapping[str, str], workspace: str) -> dict[str, str]:
    """What only reads gets no program of the workspace by its name, and a git that runs as little as it can."""
    if kind != "read_only":
        return dict(environment)
    entries = environment.get("PATH", os.defpath).split(":")
    kept = [entry for entry in entries if os.path.isabs(entry) and not _is_within(os.path.realpath(entry), workspace)]
    settings = {"core.fsmonitor": "false", "core.hooksPath": "/dev/null", "core.pager": "cat", "diff.external": ""}
    git = {f"GIT_CONFIG_KEY_{index}": key for index, key in enumerate(settings)}
    git |= {f"GIT_CONFIG_VALUE_{index}": value for index, value in enumerate(settings.values())}
    return {
        **environment,
        **git,
        "PATH": ":".join(kept),
        "GIT_CONFIG_COUNT": str(len(settings)),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_OPTIONAL_LOCKS": "0",
    }


def was_refused(output: str) -> bool:
    """Whether a program seems to say that the kernel has refused it something."""
    return any(word in output for word in _REFUSALS)


def _is_within(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")
