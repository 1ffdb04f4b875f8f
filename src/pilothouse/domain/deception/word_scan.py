"""Find the words of long texts in steps of bounded length."""

import re
from collections.abc import Iterator

MAX_CHUNK_CHARACTERS = 32_768
"""The length of a single step at most, so that other threads can run in between."""
_WORD = re.compile(r"[^\W\d_]+")


def words_of(text: str) -> Iterator[tuple[int, str]]:
    """The words of a text, each whole and with its position. A word longer than a chunk is divided into parts that
    share a letter, so that one of the parts contains a change of script between them."""
    start = 0
    while start < len(text):
        end = start + MAX_CHUNK_CHARACTERS
        following = end
        for match in _WORD.finditer(text, start, end):
            if match.end() == end and _WORD.match(text, end, end + 1):  # the word continues behind the edge
                following = match.start() if match.start() > start else end - 1
                if match.start() > start:
                    break
            yield match.start(), match[0]
        start = following
