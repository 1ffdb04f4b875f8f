"""A survey of a folder: what every file looks like from outside. Two of them tell what a command has touched."""

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

_ENTRIES_AT_MOST = 20_000
_LOOKED_AT_MOST = 200_000


class Seen(NamedTuple):
    """A file as the system describes it: enough to notice a change, and its exact mode."""

    mode: int
    size: int
    modified: int

    @property
    def bits(self) -> int:
        return stat.S_IMODE(self.mode)


Survey = Mapping[str, Seen]


def survey(root: Path) -> Survey | None:
    """Everything below but git's own folders; None where that is too much to look at with every command."""
    found: dict[str, Seen] = {}
    for path, entry in _files(str(root), ""):
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        found[path] = Seen(status.st_mode, status.st_size, status.st_mtime_ns)
        if len(found) > _ENTRIES_AT_MOST:
            return None
    return found


def _files(folder: str, below: str) -> Iterator[tuple[str, "os.DirEntry[str]"]]:
    try:
        with os.scandir(folder) as entries:
            listed = list(entries)
    except OSError:
        return
    for entry in listed:
        path = f"{below}{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            if entry.name != ".git":
                yield from _files(entry.path, f"{path}/")
        else:
            yield path, entry


def repositories_in(root: Path) -> list[str] | None:
    """Folders below that git would take for repositories of their own; None where there is too much to look at."""
    found, todo, looked_at = [], [(str(root), "")], 0
    while todo:
        folder, below = todo.pop()
        try:
            with os.scandir(folder) as entries:
                listed = list(entries)
        except OSError:
            continue
        looked_at += len(listed)
        if looked_at > _LOOKED_AT_MOST:
            return None
        if below and any(entry.name == ".git" for entry in listed):
            found.append(below.rstrip("/"))
            continue
        todo += [
            (entry.path, f"{below}{entry.name}/")
            for entry in listed
            if entry.name != ".git" and entry.is_dir(follow_symlinks=False)
        ]
    return found


def touched(before: Survey, after: Survey) -> set[str]:
    return {path for path in {*before, *after} if before.get(path) != after.get(path)}
