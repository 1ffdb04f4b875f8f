"""The folders that the commands of a line enter, or are told to work in, by their words."""

import os
import re
from collections.abc import Iterator

from pilothouse.domain.command_line import UNKNOWN_WORD

_ENTERING = frozenset({"cd", "pushd"})
_FOLDER_OPTION = re.compile(r"-C(?P<short>.*)|--(?:chdir|directory|cwd|prefix|work-tree)(?:=(?P<long>.*))?", re.DOTALL)


def entered_folders(words: tuple[str, ...]) -> Iterator[str]:
    """The folders that a command enters or works in. `cd` without a plain operand may enter the home folder."""
    if words and words[0] in _ENTERING:
        folders = [word for word in words[1:] if word not in (UNKNOWN_WORD, "-", "--")]
        yield from folders or [os.path.expanduser("~")]
    for word, following in zip(words, (*words[1:], ""), strict=True):
        if (option := _FOLDER_OPTION.fullmatch(word)) is not None:
            yield option["short"] or option["long"] or following


def enters_unknown(words: tuple[str, ...]) -> bool:
    """Whether a command may enter a folder that its words do not name: the home folder, the previous folder, or the
    value of an unknown word."""
    if not words or words[0] not in (*_ENTERING, "popd"):
        return False
    folders = [word for word in words[1:] if word == "-" or not word.startswith("-")]
    is_home = words[0] == "cd" and not folders and "--" not in words[:-1]
    return words[0] == "popd" or UNKNOWN_WORD in words or "-" in folders or is_home
