"""The property `charset` of `.editorconfig` for a file of a workspace. Files outside the workspace are never read."""

import os
import re
from functools import lru_cache

from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.file_names import escape
from pilothouse.sandbox.gitignore import Matcher
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.builtin.patterns import glob_matcher
from pilothouse.tools.text_encoding import Charset

FILE_NAME = ".editorconfig"
_MAX_BYTES = 64 * 1024
_MAX_SECTIONS = 200
_MAX_FOLDERS = 50
_MAX_RANGE_NUMBERS = 100
_MAX_PATTERN_CHARACTERS = 200
_NUMBER_RANGE = re.compile(r"\{(-?\d{1,6})\.\.(-?\d{1,6})\}")
_CHARSETS: dict[str, Charset] = {
    "latin1": "latin-1",
    "utf-8": "utf-8",
    "utf-8-bom": "utf-8-bom",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
}


def charset_of(workspace: Workspace, path: str) -> Charset | None:
    """The charset of a file; None where no file sets one, or sets an unknown one. The nearest file counts, and in it
    the last matching section."""
    owner, path_inside = workspace.redirect(path) or (workspace, path)
    try:
        *folders, name = owner.relative(path_inside).split("/")
    except ToolError:
        return None
    for depth in range(len(folders), max(-1, len(folders) - _MAX_FOLDERS), -1):
        text = _read(owner, "/".join([*folders[:depth], FILE_NAME]))
        if text is None:
            continue
        charset, is_root = _parse(text, "/".join([*folders[depth:], name]))
        if charset is not None or is_root:
            return _CHARSETS.get(charset or "")
    return None


def _read(workspace: Workspace, path: str) -> str | None:
    try:
        data = workspace.read(escape(os.path.join(workspace.root, path)), _MAX_BYTES)
    except ToolError:
        return None
    return data.decode("utf-8-sig", "replace")


def _parse(text: str, path: str) -> tuple[str | None, bool]:
    """The charset for a path below the folder of the file, and whether the file is marked as the root."""
    charset: str | None = None
    is_root, sections, fits = False, 0, None
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            sections += 1
            fits = sections <= _MAX_SECTIONS and _matches(line[1:-1], path)
        elif line and line[0] not in "#;":
            key, _, value = (part.strip().lower() for part in line.partition("="))
            is_root = is_root or (fits is None and (key, value) == ("root", "true"))
            charset = value if fits and key == "charset" else charset
    return charset, is_root


def _matches(pattern: str, path: str) -> bool:
    """Whether a section's pattern matches. Patterns without a slash match names in any folder; invalid ones match
    nothing."""
    matcher = _matcher(pattern) if len(pattern) <= _MAX_PATTERN_CHARACTERS else None
    return matcher is not None and bool(matcher(path))


@lru_cache(maxsize=1024)  # the same few patterns are tried for every file
def _matcher(pattern: str) -> Matcher | None:
    try:
        return glob_matcher(FILE_NAME, _NUMBER_RANGE.sub(_expand_range, pattern).removeprefix("/"))
    except ToolError:
        return None


def _expand_range(match: re.Match[str]) -> str:
    low, high = sorted((int(match[1]), int(match[2])))
    return "{" + ",".join(map(str, range(low, min(high, low + _MAX_RANGE_NUMBERS) + 1))) + "}"
