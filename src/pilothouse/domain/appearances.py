"""What a text looks like to the eye of who approves it, and what may deceive that eye."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from pilothouse.domain.codes import Language

_PADDING = re.compile(r"[ \t]{80,}|(?:[ \t]*\n){20,}")
_WORD = re.compile(r"[^\W\d_]+")
_CONTENTS = frozenset({"content", "new_text", "old_text", "source"})  # shown as what they are: texts, in a diff
_EXACT = 2**53 - 1  # a browser shows other digits for what is larger
_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")  # whose letters look alike


_CHINESE = {
    "delete": "删除",
    "overwrite": "覆盖",
    "network": "网络",
    "privilege": "权限",
    "not shown whole": "未完整显示",
    "padding": "大量空白",
    "invisible characters": "不可见字符",
    "look-alike letters": "形似字母",
    "long numbers": "过长的数字",
}


def say_dangers(dangers: Sequence[str], language: Language) -> str:
    """What a call is marked with, in the reader's language; a tool may have marks of its own."""
    return ", ".join(_CHINESE.get(each, each) if language == "zh" else each for each in dangers)


def deceptions(arguments: Any) -> tuple[str, ...]:
    """What in a call's arguments should make one look twice: parts out of sight, letters that look like others."""
    texts = list(_texts(arguments))
    found = []
    if any(_PADDING.search(text) for text in texts):
        found.append("padding")
    if any(unicodedata.category(each) in ("Cf", "Co") for text in texts for each in text if not each.isascii()):
        found.append("invisible characters")
    if any(len(_scripts(word)) > 1 for text in texts for word in _WORD.findall(text) if not word.isascii()):
        found.append("look-alike letters")
    if any(abs(number) > _EXACT for number in _integers(arguments)):
        found.append("long numbers")
    return tuple(found)


def without_padding(text: str) -> str:
    """The same with long stretches of nothing told instead of shown."""
    return _PADDING.sub(lambda found: f" [… {len(found[0]):,} blanks …] ", text)


def _texts(data: Any) -> Iterator[str]:
    match data:
        case str():
            yield data
        case dict():
            for key, value in data.items():
                if key not in _CONTENTS:
                    yield from _texts(value)
        case list() | tuple():
            for value in data:
                yield from _texts(value)


def _integers(data: Any) -> Iterator[int]:
    match data:
        case int():
            yield data
        case dict():
            for value in data.values():
                yield from _integers(value)
        case list() | tuple():
            for value in data:
                yield from _integers(value)


def _scripts(word: str) -> set[str]:
    names = (unicodedata.name(letter, "") for letter in word)
    return {script for name in names for script in _SCRIPTS if name.startswith(script)}
