"""Patterns for names of files, in the notation of `fnmatch`, that come from command lines.

`fnmatch` keeps 32,768 compiled patterns of any length: those of command lines could fill the memory.
"""

import fnmatch
import re
from collections.abc import Callable

MAX_NAME_CHARACTERS = 255
"""No file system has longer names."""
_MAX_PATTERN_CHARACTERS = 4 * MAX_NAME_CHARACTERS + 1
"""Each character of a name takes three at most (`[*]`), with a star before it, and one star behind the last."""
_STARS = re.compile(r"\*{2,}")


def name_matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a name matches the pattern. The only sets in a pattern are those that quote one sign."""
    short = _STARS.sub("*", pattern)
    if len(short) > _MAX_PATTERN_CHARACTERS:
        return lambda _: False
    match = re.compile(fnmatch.translate(short)).match
    return lambda name: match(name) is not None
