"""The words of a command line that may name files it writes: all words, except those of commands that only read, record
or check, and whose output becomes no word or input of another command."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, takewhile
from typing import NamedTuple

from tree_sitter import Node

from pilothouse.sandbox.shell.command_table import command_effect
from pilothouse.sandbox.shell.config_commands import RUN_PREFIXES
from pilothouse.sandbox.shell.effects import Level, SimpleCommand
from pilothouse.sandbox.shell.expansion import Expanded, ExpansionBudget, TooManyReadings, expand
from pilothouse.sandbox.shell.grammar import TrialFailed, parse
from pilothouse.sandbox.shell.options import names
from pilothouse.sandbox.shell.words import UNKNOWN, Misread, read_word

_MAX_DEPTH = 60
_MAX_INNER = 8
_FRAGMENT_ENDS = re.compile(r"[\s'\"`=:;,|&<>(){}\[\]$#!^%]+")
_WRITE_COMMAND = re.compile(r"[wW](?=[./~])")
"""sed's command `w`, which needs no blank before the name of its file."""
_EXCLUSION = re.compile(r"--(?:exclude|ignore)[\w-]*=|!")
_FIND_NAMES = re.compile(r"-i?(?:path|name|wholename)")
_MAX_OPTION_LETTERS = 64
"""At how many of an option's letters a name may begin."""
_OPTION_LETTERS = re.compile(r"-[A-Za-z0-9]*+")
_SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})
_INPUTS = frozenset({"heredoc_redirect", "herestring_redirect"})
_SETTERS = names("read mapfile readarray")
"""Commands whose input becomes the value of a variable."""
_DATA_WRITERS = names("tee sponge")
"""Commands whose input is data, neither names nor code."""
_RECORDERS: Mapping[str, frozenset[str]] = {
    "gh": names("pr issue workflow"),
    "git": names("add commit stage push fetch tag branch notes"),
}
"""Commands that record the named files or write about them, and do not change them."""
_LINTERS = names("eslint prettier stylelint commitlint lint-staged ruff black biome pre-commit lefthook")
_CHECKERS = names("pylint flake8 mypy pyright yamllint actionlint shellcheck hadolint zizmor")
"""Commands that change none of their operands."""
SOURCES = names("source .")
"""Commands of the shell that read their operand."""
REMOVERS = names("rm unlink")
_PLAIN_PATH = re.compile(r"[\w./-]+")
_CONFIG_OPTIONS = names("-c --config --config-file --rcfile --file-config")


class WrittenWords(NamedTuple):
    """Words as the shell expands them."""

    words: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    """Words with wildcards, in the notation of `fnmatch`."""
    fragments: tuple[str, ...] = ()
    """Possible names inside words and here-documents, such as scripts of sed, awk or Python."""
    is_complete: bool = True
    """Whether all words were expanded within the budget."""


def written_words(
    line: str, *, is_plain: bool, keeps_written: bool, budget: ExpansionBudget | None = None
) -> WrittenWords:
    """The words of a line that may name files it writes.

    `is_plain` says that the shell parses the line as the grammar does: only then commands that only read are left
    out, but with `keeps_written` not those whose output goes to a file. The lines of a command share a `budget`."""
    budget = budget or ExpansionBudget()
    try:
        texts = _Texts(line, leaves_out=is_plain, keeps_written=keeps_written)
        readings = expand(texts.line, budget)
        pieces = (piece for reading in readings for piece in (reading.text, *reading.pieces))
        return WrittenWords(
            words=budget.distinct_names(_all_operands(readings, are_patterns=False)),
            patterns=budget.distinct_patterns(_all_operands(readings, are_patterns=True)),
            fragments=budget.distinct_names(part for text in (*pieces, *texts.inputs) for part in _fragments(text)),
        )
    except (TooManyReadings, TrialFailed):
        return WrittenWords(is_complete=False)


def _all_operands(readings: Iterable[Expanded], *, are_patterns: bool) -> Iterator[str]:
    return (part for reading in readings if reading.is_pattern is are_patterns for part in _operands(reading.text))


def _operands(word: str) -> Iterator[str]:
    """A word, its parts behind `=`, and its part behind the letter of an option. Exclusions (`--exclude=.idea`,
    `-g '!.idea'`) are no operands."""
    if _is_exclusion(word):
        return
    yield word
    yield from word.split("=")[1:]
    yield from _behind_letters(word)


def _behind_letters(word: str) -> Iterator[str]:
    """Possible values behind the letters of options: `-o.npmrc`, `-uo.npmrc`."""
    letters = _OPTION_LETTERS.match(word)
    if letters is not None:
        end = min(letters.end(), len(word) - 1)
        yield from (word[start:] for start in range(max(2, end - _MAX_OPTION_LETTERS), end + 1))


def _is_exclusion(word: str) -> bool:
    return _EXCLUSION.match(word) is not None and ".." not in word.split("/")


def _fragments(text: str) -> Iterator[str]:
    for part in _FRAGMENT_ENDS.split("" if _is_exclusion(text) else text):
        if part:
            yield part
            yield from (part[match.end() :] for match in _WRITE_COMMAND.finditer(part))
            yield from _behind_letters(part)


class _Texts:
    """The line without harmless words, and the texts that its commands read as their input."""

    def __init__(self, line: str, *, leaves_out: bool, keeps_written: bool) -> None:
        self.inputs: list[str] = []
        """Here-documents and here-strings."""
        self._source = bytearray(line.encode(errors="surrogatepass"))
        self._leaves_out = leaves_out
        self._keeps_written = keeps_written
        self._root = parse(line)
        if self._root is not None and not self._root.has_error:
            self._visit(self._root, True, 0)
        self.line = self._source.decode(errors="replace")

    def _visit(self, node: Node, is_final: bool, depth: int) -> None:
        """Visit a node. `is_final` says that a command's output here becomes no word or input of a command that does
        more."""
        if depth > _MAX_DEPTH:  # the words stay in the line, and the text counts as a here-document as well
            self.inputs.append((node.text or b"").decode(errors="replace"))
        elif node.type == "comment":
            self._blank(node)
        elif node.type == "command":
            self._visit_command(node, is_final, depth)
        elif node.type == "test_command" and self._leaves_out:
            self._blank_around(node)
            self._visit_children(node, True, depth)
        elif node.type == "redirected_statement":
            self._visit_redirected(node, is_final, depth)
        elif node.type == "pipeline":
            for part in reversed(node.named_children):
                self._visit(part, is_final, depth + 1)
                is_final = is_final and self._are_quiet([_first(part)])
        else:
            self._visit_children(node, is_final, depth)

    def _visit_children(self, node: Node, is_final: bool, depth: int) -> None:
        sets = node.type in ("for_statement", "variable_assignment")
        for child in node.named_children:
            self._visit(child, is_final and (not sets or child.type == "do_group"), depth + 1)

    def _visit_command(self, node: Node, is_final: bool, depth: int) -> None:
        is_final = is_final and not self._is_output_used(node)
        harmless = {word.id for word in _harmless_words(node)} if is_final and self._leaves_out else set()
        for child in node.named_children:
            if child.type.endswith("redirect"):
                self._visit_redirect(child, is_final and self._are_quiet([node]), depth)
                continue
            if child.id in harmless:
                self._blank_around(child)
            self._visit(child, child.id in harmless, depth + 1)

    def _visit_redirected(self, node: Node, is_final: bool, depth: int) -> None:
        is_final = is_final and not self._is_output_used(node)
        body = [child for child in node.named_children if not child.type.endswith("redirect")]
        redirects = [child for child in node.named_children if child.type.endswith("redirect")]
        later = [child for redirect in redirects for child in redirect.named_children if child.type == "pipeline"]
        for child in body:
            self._visit(child, is_final and self._are_quiet(later), depth + 1)
        is_quiet = is_final and self._are_quiet([*body, *later])
        for child in redirects:
            self._visit_redirect(child, is_quiet, depth)

    def _is_output_used(self, node: Node) -> bool:
        """Whether a statement's output goes to a file, and the line may use that file."""
        redirects = [child for child in node.named_children if child.type == "file_redirect"]
        return self._keeps_written and any(
            part.type[:1] in (">", "&") for redirect in redirects for part in redirect.children
        )

    def _are_quiet(self, nodes: Sequence[Node]) -> bool:
        """Whether no command in these nodes uses its input as names or code."""
        return not any(self._holds_active_command(node) for node in nodes)

    def _holds_active_command(self, node: Node) -> bool:
        first = bisect_left(self._active_ranges, (node.start_byte, 0))
        # A command around the node may start at the same byte: its range is longer.
        ranges = takewhile(
            lambda active_range: active_range[0] < node.end_byte, islice(self._active_ranges, first, None)
        )
        return any(end <= node.end_byte for _, end in ranges)

    @cached_property
    def _active_ranges(self) -> list[tuple[int, int]]:
        """The byte ranges of the commands that may use their input as names or code, sorted by start. Every command is
        classified once, however many redirections and groups surround it."""
        data_writers = frozenset[str]() if self._keeps_written else _DATA_WRITERS
        ranges: list[tuple[int, int]] = []
        nodes = [self._root] if self._root is not None else []
        while nodes:
            node = nodes.pop()
            is_active = node.type in ("declaration_command", "unset_command", "function_definition")
            if is_active or (node.type == "command" and not _is_quiet(_simple(node), data_writers)):
                ranges.append((node.start_byte, node.end_byte))
            nodes += node.named_children
        return sorted(ranges)

    def _visit_redirect(self, node: Node, is_final: bool, depth: int) -> None:
        """Visit a redirection. `is_final` says that the command uses its input neither as names nor as code."""
        if node.type in _INPUTS:
            for child in node.named_children:
                if child.type in ("pipeline", "file_redirect"):
                    self._visit(child, True, depth + 1)
                elif child.type not in ("heredoc_start", "heredoc_end"):
                    self._take_input(child, is_final)
            return
        reads = any(child.type == "<" for child in node.children)
        for child in node.named_children:
            if reads:
                self._blank_around(child)
            self._visit(child, False, depth + 1)

    def _take_input(self, node: Node, is_final: bool) -> None:
        if not (is_final and self._leaves_out) or any(_nested(node)):
            self.inputs.append((node.text or b"").decode(errors="replace"))
        self._blank(node)

    def _blank(self, node: Node) -> None:
        self._source[node.start_byte : node.end_byte] = b" " * (node.end_byte - node.start_byte)

    def _blank_around(self, node: Node) -> None:
        """Blank a word, but not the commands inside it."""
        start = node.start_byte
        for inner in _nested(node):
            self._source[start : inner.start_byte] = b" " * (inner.start_byte - start)
            start = inner.end_byte
        self._source[start : node.end_byte] = b" " * (node.end_byte - start)


def _nested(node: Node) -> Iterator[Node]:
    """The outermost commands inside a word."""
    nodes = [node]
    while nodes:
        node = nodes.pop()
        if node.type in _SUBSTITUTIONS:
            yield node
        else:
            nodes += reversed(node.named_children)


def _first(node: Node) -> Node:
    """The node that reads from a pipeline: of `a && b` only the first command does."""
    while node.type == "list" and node.named_children:
        node = node.named_children[0]
    return node


def _is_quiet(command: SimpleCommand, data_writers: frozenset[str]) -> bool:
    is_data_writer = command.name.exact and command.name.text in data_writers
    return is_data_writer or _only_reads_or_records(command)


def _harmless_words(node: Node) -> tuple[Node, ...]:
    """The words of a command that name no file written by the command."""
    simple = _simple(node)
    nodes = [child for index, child in enumerate(node.children) if node.field_name_for_child(index) is not None]
    words = [child for child in nodes if not child.type.endswith("redirect")]
    texts = [word.text if word.exact else "" for word in (simple.name, *simple.args)]
    if _only_reads(simple) or texts[0] in SOURCES:
        return tuple(words)
    if texts[0] in REMOVERS:
        return tuple(word for word, text in zip(words, texts, strict=False) if is_git_lock(text))
    if _only_reads_or_records(simple):  # an option may name a program: git push --receive-pack=…
        return tuple(word for word, text in zip(words, texts, strict=False) if text[:1] != "-")
    if texts[0] == "find":
        return tuple(word for index, word in enumerate(words) if _is_find_exclusion(texts, index))
    start = next((index for index, text in enumerate(texts) if text not in RUN_PREFIXES), len(texts))
    program = texts[start] if start < len(texts) else ""
    if program not in _LINTERS and program not in _CHECKERS:
        return ()
    pairs = zip(words, texts, ["", *texts], strict=False)
    return tuple(
        word
        for word, text, former in pairs
        if text.partition("=")[0] in _CONFIG_OPTIONS
        or former in _CONFIG_OPTIONS
        or (program in _CHECKERS and text[:1] != "-" and former[:1] != "-")
    )


def is_git_lock(word: str) -> bool:
    """Whether a word names a lock file of git. A lock that a crashed git left behind blocks every other git."""
    *folders, name = word.split("/")
    is_plain = _PLAIN_PATH.fullmatch(word) is not None and ".." not in folders and "" not in folders[1:]
    return is_plain and ".git" in folders and name.endswith(".lock") and name != ".lock"


def _is_find_exclusion(texts: Sequence[str], index: int) -> bool:
    """Whether a word names paths that `find` excludes: `-not -path X`, `-path X -prune -o`."""
    if index < 1 or not _FIND_NAMES.fullmatch(texts[index - 1]):
        return False
    is_negated = texts[index - 2] in ("!", "-not") and texts[index - 3] not in ("!", "-not")
    return is_negated or texts[index + 1 : index + 3] == ["-prune", "-o"]


def _simple(node: Node) -> SimpleCommand:
    words = [
        child.children[0] if child.type == "command_name" else child
        for index, child in enumerate(node.children)
        if node.field_name_for_child(index) in ("name", "argument")
    ]
    try:
        name, *args = [read_word(word) for word in words]
    except (Misread, ValueError):
        return SimpleCommand(UNKNOWN)
    return SimpleCommand(name, tuple(args))


def _only_reads_or_records(command: SimpleCommand) -> bool:
    words = [word.text for word in command.args[:1] if word.exact]
    records = command.name.exact and not _RECORDERS.get(command.name.text, frozenset()).isdisjoint(words)
    return records or _only_reads(command)


def _only_reads(command: SimpleCommand, depth: int = 0) -> bool:
    """Whether a command, with the commands it starts, only reads, and neither sets a variable nor enters an unknown
    folder."""
    name = command.name.text
    if not command.name.exact or depth > _MAX_INNER or name in _SETTERS:
        return False
    if name in ("cd", "pushd") and not all(word.exact for word in command.args):
        return False
    effect = command_effect(command)
    return (
        effect.level <= Level.READS
        and not effect.lines
        and all(_only_reads(inner, depth + 1) for inner in effect.inner)
    )
