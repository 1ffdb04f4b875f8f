"""The words of long texts, found in steps of bounded length."""

import re
from collections.abc import Iterator

MAX_CHUNK_CHARACTERS = 32_768
"""No single step over a text is longer, so that other threads get their turn."""
_WORD = re.compile(r"[^\W\d_]+")


def words_of(text: str) -> Iterator[tuple[int, str]]:
    """The words of a text, each whole and with its place. A word longer than a chunk is given in parts, which share a
    letter: a change of script between two parts is seen in one of them."""
    start = 0
    while start < len(text):
        end = start + MAX_CHUNK_CHARACTERS
        following = end
        for match in _WORD.finditer(text, start, end):
            if match.end() == end and _WORD.match(text, end, end + 1):  # the word goes on behind the edge
                following = match.start() if match.start() > start else end - 1
                if match.start() > start:
                    break
            yield match.start(), match[0]
        start = following
