"""A word of a command line, as far as its text is known before the shell's expansion."""

import re
from typing import NamedTuple

from tree_sitter import Node

# The characters of a bare word. With any other character, this module and the shell disagree about the word.
_BARE = re.compile(r"(?:[^\s\\;|&<>()$`\"'#]|(?<!^)#|\\[^\n])*", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPE_IN_QUOTES = re.compile(r"\\(?:\n|([$`\"\\]))")  # a line continuation is removed
_OPENS = re.compile(r"(?<!\\)(?:\\\\)*(?:\$[({\[]|`)")
_GLOB = re.compile(r"(?<!\\)(?:\\\\)*[*?\[\]{}]")
# Expansions that become several words even in quotes, and those that differ from them in one character only.
_LIST = re.compile(r"\$[@*]|\$\{.*[@*!]", re.DOTALL)
# A home folder, which begins with a slash. `~1`, `~+` and `~-` are folders that the line has entered.
_HOME = re.compile(r"~(?:[A-Za-z_][\w.-]*)?(?:/|$)")


_NUMERIC = frozenset({"$?", "$#", "$$"})
_SPLITTING = frozenset({"simple_expansion", "expansion", "command_substitution", "brace_expression"})


class Misread(Exception):
    """The grammar and the shell may read a word differently."""


_NUMBERS = re.compile(r"\{\d+\.\.\d+(\.\.\d+)?\}")


class Word(NamedTuple):
    """A word of a command."""

    text: str
    """The known part of the word's value."""
    exact: bool = True
    """Whether `text` is the whole value."""
    single: bool = True
    """Whether the shell expands the word to exactly one word."""
    operand: bool = False
    """Whether the word cannot begin with a dash."""


def literal(text: str) -> Word:
    return Word(text, operand=not text.startswith("-"))


UNKNOWN = Word("", exact=False, single=False)


def read_word(node: Node) -> Word:
    """Raises: Misread."""
    parts = [_read_part(child) for child in node.children] if node.type == "concatenation" else [_read_part(node)]
    whole = _text(node)
    if whole == "{}":
        return literal("{}")
    if "{" in whole and ".." in whole and not _NUMBERS.search(whole):
        raise Misread(whole)  # a range from upper to lower case contains special characters
    text = "".join(part.text for part in parts)
    nonempty = [part for part in parts if part.text or not part.exact]
    # An expansion without quotes, or of a list, may become several words, with any beginning.
    splits = any(_splits(child) for child in (node.children if node.type == "concatenation" else [node]))
    splits = splits or UNKNOWN in parts
    enters = whole.startswith("~") and not _HOME.match(whole)
    return Word(
        text,
        exact=all(part.exact for part in parts),
        single=all(part.single for part in parts),
        operand=bool(nonempty) and nonempty[0].operand and not splits and not enters,
    )


def _splits(node: Node) -> bool:
    return node.type in _SPLITTING and _text(node) not in _NUMERIC


def _read_part(node: Node) -> Word:
    text = _text(node)
    if node.type in ("word", "number", "extglob_pattern", "regex", "test_operator"):
        return _bare(text)
    if node.type == "raw_string":
        return literal(text[1:-1])
    if node.type == "string":
        return _quoted(node)
    if node.type == "ansi_c_string":
        plain = "\\" not in text
        return literal(text[2:-1]) if plain else Word("", exact=False)
    if node.type == "simple_expansion" and text in _NUMERIC:
        return Word("", exact=False, operand=True)  # a number
    if node.type in ("simple_expansion", "expansion", "command_substitution", "arithmetic_expansion"):
        return UNKNOWN
    if node.type == "brace_expression":
        return Word("", exact=False, single=False, operand=True)
    if node.type == "process_substitution":
        return Word("", exact=False, operand=True)  # /dev/fd/63
    raise Misread(node.type)


def _bare(text: str) -> Word:
    if not _BARE.fullmatch(text):
        raise Misread(text)
    value = _ESCAPE.sub(r"\1", text)
    if _GLOB.search(text):
        operand = text[0] not in "-*?[{\\"
        return Word(value, exact=False, single=False, operand=operand)
    if text.startswith("~"):
        return Word(value, exact=False, operand=True)
    return Word(value, operand=not value.startswith("-"))


def _quoted(node: Node) -> Word:
    inner = [child for child in node.children if child.type not in ('"', "string_content")]
    if not inner:
        text = _text(node)[1:-1]
        if opens_a_command(text):
            raise Misread(text)
        return literal(_ESCAPE_IN_QUOTES.sub(lambda match: match[1] or "", text))
    if any(child.type in ("expansion", "simple_expansion") and _LIST.match(_text(child)) for child in inner):
        return UNKNOWN
    before = (node.text or b"")[1 : inner[0].start_byte - node.start_byte].decode()
    return Word(before, exact=False, operand=before.strip() != "" and before[0] not in "-\\")


def opens_a_command(text: str) -> bool:
    """Whether the shell would expand a part of a text that is no separate node."""
    return bool(_OPENS.search(text))


def _text(node: Node) -> str:
    return (node.text or b"").decode()
