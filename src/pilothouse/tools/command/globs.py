"""Expansion of the shell's file name patterns, within bounds."""

import os
import re

from pilothouse.sandbox.name_patterns import name_matcher

MAX_ENTRIES = 20_000
"""The number of folder entries that all patterns of a command line together may be compared with."""
_WILDCARDS = re.compile(r"[*?\[]")


class TooManyEntries(Exception):
    """The patterns of a line exceed MAX_ENTRIES."""


class GlobSearch:
    """Expands all patterns of one command line, within one bound."""

    def __init__(self) -> None:
        self._entries_left = MAX_ENTRIES

    def paths(self, folder: str, pattern: str) -> list[str]:
        """The paths by which the shell would replace a pattern. A star matches no dot at the beginning of a name.

        Raises: TooManyEntries.
        """
        paths = ["/" if pattern.startswith("/") else ""]
        for part in filter(None, pattern.split("/")):
            paths = [os.path.join(path, name) for path in paths for name in self._names(folder, path, part)]
        return paths

    def _names(self, folder: str, path: str, part: str) -> list[str]:
        whole = os.path.join(folder, path)
        self._count_entry()  # a folder without entries counts, too
        if not _WILDCARDS.search(part):
            return [part] if os.path.lexists(os.path.join(whole, part)) else []
        names: list[str] = []
        is_match = name_matcher(part)
        try:
            with os.scandir(whole) as entries:
                for entry in entries:
                    self._count_entry()
                    if (entry.name[0] != "." or part[0] == ".") and is_match(entry.name):
                        names.append(entry.name)
        except (OSError, ValueError):  # ValueError: no file can have such a name
            pass
        return names

    def _count_entry(self) -> None:
        self._entries_left -= 1
        if self._entries_left < 0:
            raise TooManyEntries
