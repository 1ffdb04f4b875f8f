"""Where a grammar and the shell may read a line differently: then the line is not believed."""

import os
import re

from tree_sitter import Node

from pilothouse.sandbox.shell.words import opens_a_command

# The grammar ends a word at a line that goes on; the shell does not.
_BROKEN_WORD = re.compile(r"(?<![ \t])\\\n|\\[ \t]\\\n")
_GAP = re.compile(rb"(?:[ \t\n]|\\\n)*")
_BEFORE_A_COMMENT = tuple(bytes([each]) for each in b" \t\n;&|()")


def is_strange(text: str) -> bool:
    """Whether it holds something that the two are known to see differently."""
    return bool(_BROKEN_WORD.search(text)) or any(map(_is_unusual, text))


def _is_unusual(character: str) -> bool:
    """What the grammar takes for a space and the shell does not, and what cannot be seen."""
    if character in " \t\n":
        return False
    return character.isspace() or ord(character) < 32 or ord(character) == 127


def is_covered(node: Node, source: bytes) -> bool:
    """Whether between the words there is nothing but blanks, and in a text nothing that opens a command: the grammar
    has left nothing out."""
    is_text = node.type in ("string", "heredoc_body")
    position = node.start_byte
    for child in node.children:
        if not is_gap(source[position : child.start_byte], is_text) or not is_covered(child, source):
            return False
        position = child.end_byte
    if node.type == "comment":
        return source[node.start_byte - 1 : node.start_byte] in (b"", *_BEFORE_A_COMMENT)
    return not node.children or is_gap(source[position : node.end_byte], is_text)


def is_gap(part: bytes, is_text: bool) -> bool:
    return not opens_a_command(part.decode(errors="replace")) if is_text else bool(_GAP.fullmatch(part))


def stands_alone(end: Node, delimiter: str, *, with_tabs: bool) -> bool:
    """Whether what the grammar takes for the end of a text is one for the shell, too: a line of nothing else."""
    root = end
    while root.parent is not None:
        root = root.parent
    source = b" " * root.start_byte + (root.text or b"")
    line = source[source.rfind(b"\n", 0, end.end_byte) + 1 :].split(b"\n", 1)[0].decode()
    return (line.lstrip("\t") if with_tabs else line) == delimiter


def is_device(path: str) -> bool:
    """Whether it may be one of the shell's own names for a connection."""
    return os.path.normpath(path).startswith(("/dev", "//dev"))
