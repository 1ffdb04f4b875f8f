"""Detection of text that the grammar and the shell may parse differently."""

import os
import re

from tree_sitter import Node

from pilothouse.domain.deception.hidden_characters import is_odd_blank
from pilothouse.sandbox.locales import reads_utf8
from pilothouse.sandbox.shell.words import opens_a_command

# The grammar ends a word at a line continuation; the shell does not.
_BROKEN_WORD = re.compile(r"(?<![ \t])\\\n|\\[ \t]\\\n")
_GAP = re.compile(rb"(?:[ \t\n]|\\\n)*")
_LOCALE = re.compile(r"LC_[A-Z]+|LANG")
_SETTING = re.compile(r"LANGUAGE|TZ|NO_COLOR|COLUMNS|LINES|CLICOLOR|TERM")
# Programs read no variable of one letter, and few in lower case: the shell reads two, many programs the addresses of
# proxies, and package managers their whole configuration (`npm_config_script_shell`). The files of a project may read
# any variable (a Makefile reads all): a person approves that they run.
_OWN_NAME = re.compile(
    r"[A-Z]|(?!(?:histchars|auto_resume)$)(?!.*proxy$)"
    r"(?!(?:npm|npx|pnpm|yarn|bun|deno|node|corepack|pip|uv|poetry|conda|mamba|git|gem|bundle|cargo|go|gradle|mvn)_)"
    r"[a-z][a-z0-9_]*"
)
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9_.@:,+-]*")
_BEFORE_A_COMMENT = tuple(bytes([byte]) for byte in b" \t\n;&|()")


def is_strange(text: str, root: Node) -> bool:
    """Whether a text contains characters that the grammar and the shell read differently."""
    if _BROKEN_WORD.search(text) or any(map(_is_unusual, text)):
        return True
    return any(map(is_odd_blank, text)) and any(map(is_odd_blank, _without_quotations(text.encode(), root)))


def _is_unusual(character: str) -> bool:
    """Whether a character is invisible, or a space for the grammar but not for the shell."""
    if character in " \t\n" or is_odd_blank(character):
        return False
    return character.isspace() or ord(character) < 32 or ord(character) == 127


def _without_quotations(source: bytes, root: Node) -> str:
    """The text without quotations that contain no expansion: their characters have no special meaning."""
    rest = bytearray(source)
    nodes = [root]
    while nodes:
        node = nodes.pop()
        is_text = node.type == "string" and all(child.type in ('"', "string_content") for child in node.children)
        if is_text or node.type in ("raw_string", "ansi_c_string"):
            rest[node.start_byte : node.end_byte] = b"_" * (node.end_byte - node.start_byte)
        else:
            nodes += node.children
    return rest.decode(errors="replace")


def is_covered(node: Node, source: bytes) -> bool:
    """Whether the nodes cover the source, but for blanks between words and quoted text without commands."""
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


def is_device(path: str) -> bool:
    """Whether a path may be one of the shell's own names for a connection."""
    return os.path.normpath(path).startswith(("/dev", "//dev"))


def is_harmless_setting(variable: str, value: str) -> bool:
    """Whether a command has the same effects with and without a variable."""
    if _LOCALE.fullmatch(variable):
        return reads_utf8(value)
    is_plain = bool(_PLAIN_VALUE.fullmatch(value))
    return is_plain and bool(_SETTING.fullmatch(variable) or _OWN_NAME.fullmatch(variable))
