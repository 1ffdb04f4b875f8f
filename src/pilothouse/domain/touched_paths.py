"""The paths that a call touches: relative to the workspace, as text. `.` is the workspace itself.

A call with unknown paths (None) counts as touching everything.
"""

from collections.abc import Iterable
from functools import lru_cache

Touches = tuple[str, ...] | None


@lru_cache(maxsize=4096)  # every decision compares the same few folders
def clean_folder(folder: str) -> str:
    """The normal form of a folder: no empty segments, no `.`, no trailing slash."""
    parts = [part for part in folder.split("/") if part not in ("", ".")]
    return ("/" if folder.startswith("/") else "") + "/".join(parts) or "."


@lru_cache(maxsize=4096)
def _climbs(path: str) -> bool:
    """Whether a path contains `..` and may lead out of any folder."""
    return ".." in path.split("/")


def is_beneath(path: str, folder: str) -> bool:
    """Whether a path is the folder or lies in it. A path with `..` lies in no folder."""
    if _climbs(path):
        return False
    inner, outer = clean_folder(path), clean_folder(folder)
    return outer == "." or inner == outer or inner.startswith(outer.rstrip("/") + "/")


def may_touch(touches: Touches, folder: str) -> bool:
    """Whether a call may touch a folder: a path in it or a folder above it."""
    if touches is None:
        return True
    return any(is_beneath(path, folder) or is_beneath(folder, path) or _climbs(path) for path in touches)


def stays_within(touches: Touches, folders: Iterable[str]) -> bool:
    """Whether a call certainly touches paths in these folders only."""
    allowed = tuple(folders)
    return bool(touches) and all(any(is_beneath(path, folder) for folder in allowed) for path in touches or ())


def relative_to_workspace(folder: str, workspace: str) -> str | None:
    """A configured folder relative to a workspace; None for an absolute folder that does not overlap it."""
    if not folder.startswith("/"):
        return clean_folder(folder)
    if is_beneath(workspace, folder):
        return "."
    if is_beneath(folder, workspace):
        return clean_folder(clean_folder(folder)[len(clean_folder(workspace)) :].lstrip("/"))
    return None
