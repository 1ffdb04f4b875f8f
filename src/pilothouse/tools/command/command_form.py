"""The form of a command line: the folder that the line enters first, and whether the rest is one plain pipeline."""

import re
from typing import NamedTuple

from tree_sitter import Node

from pilothouse.domain.command_line import UNKNOWN_WORD
from pilothouse.sandbox.shell.grammar import MAX_UNTRIED_CHARACTERS, Reading, TrialFailed, parse

_ENTERING = re.compile(r"\s*cd[ \t]+(?:--[ \t]+)?(?P<folder>[\w./@%+,][\w./@%+,-]*)[ \t]*&&\s*(?P<rest>.+)", re.DOTALL)
_SWITCHES = re.compile(r"\s*+(?>(?:(?:CI|DEBUG|VERBOSE|FORCE_COLOR)=[a-z0-9]++[ \t]++)+)(?=[a-z./])")
"""Variables that only switch something on or off: their values name no code."""
_BACKGROUND = re.compile(r"(?<![&>])&(?![&>])")
"""`cd a && x & y` runs `y` outside of `a`."""
_PIPELINE_NODES = frozenset(
    {
        *("program", "pipeline", "redirected_statement", "command", "command_name", "word", "number", "raw_string"),
        *("string", "string_content", "concatenation", "file_redirect", "file_descriptor"),
    }
)
_PIPELINE_TOKENS = frozenset({"|", '"', ">", ">>", "&>", ">&"})


class EnteredLine(NamedTuple):
    """A line of the form `cd FOLDER && REST`."""

    folder: str
    rest: str


def entered_line(text: str) -> EnteredLine | None:
    """The parts of a line whose first command enters a literal folder, in which all of the rest then runs."""
    match = _ENTERING.fullmatch(text)
    return None if match is None or _BACKGROUND.search(match["rest"]) else EnteredLine(match["folder"], match["rest"])


def without_switches(text: str) -> str:
    """A line without harmless variables in front of its first command."""
    switches = _SWITCHES.match(text)
    return text if switches is None else text[switches.end() :]


def simple_pipeline(text: str) -> list[tuple[str, ...]] | None:
    """The commands of a line that is one pipeline of literal words, each command started once. None for any other."""
    if len(text) > MAX_UNTRIED_CHARACTERS:
        return None
    try:
        root = parse(text)
    except (TrialFailed, UnicodeEncodeError):
        return None
    if root is None or len(root.children) != 1 or not _has_only_simple_nodes(root):
        return None
    commands = [command.literals for command in Reading(text).commands]
    return None if any(UNKNOWN_WORD in words for words in commands) else commands


def _has_only_simple_nodes(node: Node) -> bool:
    is_simple = node.type in (_PIPELINE_NODES if node.is_named else _PIPELINE_TOKENS)
    return is_simple and all(map(_has_only_simple_nodes, node.children))
