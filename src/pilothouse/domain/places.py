"""Where a call reaches: paths below the workspace, as texts. `.` is the workspace itself.

What a call touches is unknown where its tool cannot tell: then it counts as touching everything.
"""

from collections.abc import Iterable
from functools import lru_cache

Touches = tuple[str, ...] | None


@lru_cache(maxsize=4096)  # the same few folders are compared at every decision
def clean_folder(folder: str) -> str:
    """One spelling for a folder: no empty parts, no `.`, no slash at the end."""
    parts = [part for part in folder.split("/") if part not in ("", ".")]
    return ("/" if folder.startswith("/") else "") + "/".join(parts) or "."


@lru_cache(maxsize=4096)
def _climbs(path: str) -> bool:
    return ".." in path.split("/")


def is_beneath(path: str, folder: str) -> bool:
    """Whether a path is the folder or lies in it. A path that climbs out lies nowhere."""
    if _climbs(path):
        return False
    inner, outer = clean_folder(path), clean_folder(folder)
    return outer == "." or inner == outer or inner.startswith(outer.rstrip("/") + "/")


def reaches(touches: Touches, folder: str) -> bool:
    """Whether a call touches a folder: something in it, or something that holds it."""
    if touches is None:
        return True
    return any(is_beneath(path, folder) or is_beneath(folder, path) or _climbs(path) for path in touches)


def stays_within(touches: Touches, folders: Iterable[str]) -> bool:
    """Whether a call is known to touch these folders only."""
    wanted = tuple(folders)
    return bool(touches) and all(any(is_beneath(path, folder) for folder in wanted) for path in touches or ())


def below_workspace(folder: str, workspace: str) -> str | None:
    """A configured folder as seen from a workspace: relative ones as they are, absolute ones where they meet it."""
    if not folder.startswith("/"):
        return clean_folder(folder)
    if is_beneath(workspace, folder):
        return "."
    if is_beneath(folder, workspace):
        return clean_folder(clean_folder(folder)[len(clean_folder(workspace)) :].lstrip("/"))
    return None
