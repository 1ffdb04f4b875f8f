"""Matching of file names against patterns from command lines, in the notation of `fnmatch`.

`fnmatch` itself caches 32,768 compiled patterns of any length: patterns of command lines could fill the memory.
"""

import fnmatch
import re
from collections.abc import Callable

MAX_NAME_CHARACTERS = 255
"""The longest name that any file system allows."""
_MAX_PATTERN_CHARACTERS = 4 * MAX_NAME_CHARACTERS + 1
"""Each character of a name takes at most three (`[*]`), with a star before it, and one star behind the last."""
_STARS = re.compile(r"\*{2,}")


def name_matcher(pattern: str) -> Callable[[str], bool]:
    """A function that tells whether a name matches the pattern. The only sets in a pattern quote one character."""
    simplified = _STARS.sub("*", pattern)
    if len(simplified) > _MAX_PATTERN_CHARACTERS:
        return lambda _: False
    match = re.compile(fnmatch.translate(simplified)).match
    return lambda name: match(name) is not None
