"""Parsing of a command line into simple commands, by the tree-sitter grammar of bash.

Only listed kinds of nodes are visited. All other nodes, and all places where the grammar and the shell may differ,
raise the line's level to LINE.
"""

import contextlib
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import tree_sitter
import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from pilothouse.sandbox.shell import parse_trial
from pilothouse.sandbox.shell.effects import Level, SimpleCommand
from pilothouse.sandbox.shell.parser_limits import is_covered, is_device, is_gap, is_harmless_setting, is_strange
from pilothouse.sandbox.shell.quoting_scan import Quoting, compare_quoting
from pilothouse.sandbox.shell.text_cache import TextCache
from pilothouse.sandbox.shell.words import UNKNOWN, Misread, Word, literal, opens_a_command, read_word

MAX_LINE_CHARACTERS = 20_000
MAX_UNTRIED_CHARACTERS = 2_000
"""The grammar parses any shorter text in less than 0.1 s."""
_MAX_DEPTH = 60
_PLAIN_VARIABLE = re.compile(r"\$\{[A-Za-z_]\w*\}")
_DESCRIPTOR = re.compile(rb"\d+|\{[^\s{}]+\}")
_WORD_ENDS = frozenset(b" \t\n\r\v\f;&|()<>")
_NUMBER = re.compile(r"[-+*/%()\s\d]+")
_SAFE_VARIABLE = re.compile(r"[a-z_][a-z0-9_]*")
_NO_PAGER = {"PAGER", "GIT_PAGER"}
_STRING_TESTS = {"==", "!=", "=", "=~", "<", ">", "&&", "||"}
# The operators of the grammar in `[ … ]` that are words for the shell.
_WORD_OPERATORS = {"!", "=", "==", "!="}
_FILE_TESTS = re.compile(r"-[a-hknprstuwxzLNOSG]|-ef|-nt|-ot")
_NUMBER_TESTS = re.compile(r"-(eq|ne|lt|le|gt|ge)")

_VISITED_NODES = frozenset(
    {
        *("program", "list", "pipeline", "negated_command", "subshell", "compound_statement", "redirected_statement"),
        *("if_statement", "elif_clause", "else_clause", "while_statement", "do_group", "case_statement", "case_item"),
        *("for_statement", "heredoc_redirect", "heredoc_body", "herestring_redirect", "command_substitution"),
        *("process_substitution", "string", "concatenation", "parenthesized_expression", "command_name"),
    }
)
_LEAF_NODES = frozenset(
    {
        *("word", "number", "raw_string", "string_content", "variable_name", "special_variable_name", "comment"),
        *("file_descriptor", "heredoc_start", "heredoc_content", "heredoc_end", "extglob_pattern", "regex"),
        *("test_operator", "ansi_c_string", "brace_expression"),
    }
)


# Nodes with adjacent parts, and nodes that begin with an operator.
_ONE_WORD = frozenset({"concatenation", "string", "expansion", "heredoc_redirect", "heredoc_body", "brace_expression"})
_ONE_LINE = frozenset({"command", "file_redirect", "herestring_redirect", "redirected_statement"})
_REDIRECTS = frozenset({"file_redirect", "herestring_redirect", "heredoc_redirect"})


_TRIALS: TextCache[bytes, bool] = TextCache(max_entries=128, max_size=1_000_000)
"""Whether the grammar parses a text quickly."""


class TrialFailed(Exception):
    """The trial of the grammar could not be run. Another trial of the same text may succeed."""


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))


def parse(text: str) -> Node | None:
    """The root of a text's parse tree; None for a text that takes too long to parse. Raises: TrialFailed."""
    source = text.encode(errors="surrogatepass")
    if len(text) > MAX_LINE_CHARACTERS or (len(text) > MAX_UNTRIED_CHARACTERS and not _is_parsed_quickly(source)):
        return None
    return _parser().parse(source).root_node


def _is_parsed_quickly(source: bytes) -> bool:
    """Raises: TrialFailed."""
    is_quick = _TRIALS.get(source)
    if is_quick is None:
        is_quick = _try_parsing(source)
        _TRIALS.put(source, is_quick)
    return is_quick


def _try_parsing(source: bytes) -> bool:
    """Whether a separate process parses a text before its timer expires. Raises: TrialFailed."""
    packages = {str(Path(module.__path__[0]).parent) for module in (tree_sitter, tree_sitter_bash)}
    program = [sys.executable, "-I", "-S", "-B", parse_trial.__file__, *sorted(packages)]
    try:
        trial = subprocess.run(program, input=source, check=False, capture_output=True)  # noqa: S603
    except OSError as error:
        raise TrialFailed from error
    if trial.returncode not in (0, -signal.SIGVTALRM):  # out of memory, or killed by another process
        raise TrialFailed
    return trial.returncode == 0


class Reading:
    """The simple commands of a line, and the level of the line by its form alone."""

    def __init__(self, text: str) -> None:
        self.commands: list[SimpleCommand] = []
        self.level = Level.STRICT
        self.dangers: set[str] = set()
        self.targets: list[str] = []
        self.sources: list[str] = []
        self.replaced: list[str | None] = []
        """The files that redirections replace; None for an unknown name."""
        self.texts: list[str] = []
        """The texts of here-documents and here-strings."""
        self.is_plain = False
        self.is_doubtful = False
        """Whether the shell may parse the line differently from the grammar."""
        self.is_complete = True
        """Whether all parts of the line were read."""
        self.is_final = True
        """Whether a further reading gives the same: False where a trial of the grammar could not be run."""
        self._source = b""
        self._ancestors: list[Node] = []
        """The ancestors of the node that is being visited, the outermost first."""
        try:
            self._read(text)
        except (UnicodeEncodeError, RecursionError):
            self._mark_incomplete()
        except TrialFailed:
            self._mark_incomplete()
            self.is_final = False

    def _raise_level(self, level: Level) -> None:
        self.level = max(self.level, level)
        self.is_doubtful = self.is_doubtful or level is Level.LINE

    def _mark_incomplete(self) -> None:
        """Note that a part of the line was not read, and may do anything."""
        self._raise_level(Level.LINE)
        self.is_complete = False

    def _mark_hidden(self) -> None:
        """Note that some effects of the line cannot be known, although the line was parsed correctly."""
        self.level = Level.LINE

    def _read(self, text: str) -> None:
        self._source = source = text.encode()
        root = parse(text)
        if root is None:
            self._mark_incomplete()
            return
        if is_strange(text, root):
            self._raise_level(Level.LINE)
        around = source[: root.start_byte] + source[root.end_byte :]
        is_whole = not root.has_error and is_gap(around, False) and is_covered(root, source)
        quoting = compare_quoting(source, root)
        if not is_whole or quoting is Quoting.UNSEEN:
            self._mark_incomplete()
        elif quoting is Quoting.UNCLEAR:
            self._raise_level(Level.LINE)
        self._walk(root)
        self.is_plain = self.level < Level.LINE and _is_plain(root)

    def _walk(self, node: Node) -> None:
        if not node.is_named:
            return
        if len(self._ancestors) > _MAX_DEPTH:
            self._mark_incomplete()
            return
        special = _SPECIAL.get(node.type)
        if special is not None:
            special(self, node)
        elif node.type not in _VISITED_NODES and node.type not in _LEAF_NODES:
            self._raise_level(Level.LINE)
        is_odd = node.type == "comment" and "\n" in _text(node)
        is_odd = is_odd or (node.type in ("regex", "extglob_pattern") and _expands(_text(node)))
        # `{PATH}<` sets a variable, and the 0 of `0<` is no word.
        is_odd = is_odd or (node.type in _REDIRECTS and _DESCRIPTOR.fullmatch(self._word_before(node)) is not None)
        # The grammar treats a word that ends in a digit as a descriptor: `sort f -oPWNED2>/dev/null`.
        is_odd = is_odd or (node.type == "file_descriptor" and not _text(node).isdecimal())
        if is_odd or any(child.type == "((" for child in node.children) or _has_glued_words(node) or _spans_lines(node):
            self._raise_level(Level.LINE)
        self._ancestors.append(node)
        for child in node.children:
            self._walk(child)
        self._ancestors.pop()

    def _word_before(self, node: Node) -> bytes:
        """The text between the last blank or operator and a node."""
        start = node.start_byte
        while start and self._source[start - 1] not in _WORD_ENDS:
            start -= 1
        return self._source[start : node.start_byte]

    def _command(self, node: Node) -> None:
        name: Word | None = None
        args: list[Word] = []
        assigned: list[Node] = []
        for index, child in enumerate(node.children):
            field = node.field_name_for_child(index)
            if field == "name":
                name = self._word(child.children[0])
            elif field == "argument":
                args.append(self._word(child))
            elif child.type == "variable_assignment":
                assigned.append(child)
            elif child.type not in ("herestring_redirect", "file_redirect", "heredoc_redirect", "comment"):
                self._raise_level(Level.LINE)
        simple = SimpleCommand(name or UNKNOWN, tuple(args))
        for assignment in assigned:
            self._command_variable(assignment, simple.name.text)
        if not simple.name.exact or not simple.name.text:
            self._raise_level(Level.LINE)
        self.commands.append(simple)

    def _word(self, node: Node) -> Word:
        try:
            return read_word(node)
        except Misread:
            self._raise_level(Level.LINE)
            return UNKNOWN

    def _command_variable(self, node: Node, command: str) -> None:
        """`X=y command`: a variable may make a harmless program do anything."""
        name, value = self._name_and_value(node)
        if name == "IFS" and command == "read" and value.exact:
            return
        harmless = value.exact and is_harmless_setting(name, value.text)
        if not harmless and not (name in _NO_PAGER and value.exact and value.text in ("", "cat")):
            self._mark_hidden()

    def _assignment(self, node: Node) -> None:
        if self._ancestors[-1].type in ("command", "declaration_command"):
            return
        name, _value = self._name_and_value(node)
        if not _SAFE_VARIABLE.fullmatch(name):
            self._mark_hidden()

    def _name_and_value(self, node: Node) -> tuple[str, Word]:
        try:
            return _assignment(node)
        except Misread:
            self._raise_level(Level.LINE)
            return "", UNKNOWN

    def _redirect(self, node: Node) -> None:
        if len(node.children_by_field_name("destination")) > 1:
            self._raise_level(Level.LINE)  # words of the command, misplaced by the grammar
        operator = next((child.type for child in node.children if not child.is_named), "")
        target = node.child_by_field_name("destination")
        word = self._word(target) if target is not None else UNKNOWN
        if operator in (">&", "<&") and word.exact and re.fullmatch(r"\d+-?|-", word.text):
            return
        if operator == "<" and word.exact:
            self.sources.append(word.text)
        # An unknown target may be one of the shell's own names for a connection.
        if operator == "<" and (word.exact or word.text[:1] not in ("", "/", "~")) and not is_device(word.text):
            return
        if word.exact and word.text in ("/dev/null", "/dev/stderr", "/dev/stdout"):
            return
        if not word.single or word.text.startswith(("/dev/tcp", "/dev/udp")):
            self._mark_hidden()
        self._raise_level(Level.WRITES)
        self.targets.append(word.text)
        if word.text.startswith("/dev/"):
            self.dangers.add("network")
        elif operator not in (">>", "&>>"):
            self.replaced.append(word.text if word.exact else None)

    def _expansion(self, node: Node) -> None:
        """`${…}`: an operator that expands a value (`!`, `@`) or evaluates it can run commands inside the value."""
        if any(sign in _text(node)[2:] for sign in ("$", "`", "'", '"', "\\", "\n", "<", ">")):
            self._raise_level(Level.LINE)  # the content is not always a separate node
        operators = [_text(child) for child in node.children if not child.is_named][1:-1]
        if any(operator in ("!", "@", "=", ":=") or operator.isalpha() for operator in operators):
            self._raise_level(Level.LINE)
        if ":" in operators and any(child.type != "number" for child in node.named_children[1:]):
            self._raise_level(Level.LINE)

    def _variable(self, node: Node) -> None:
        """The grammar treats `$ a` as a variable. Outside of quotes, `$ a` is two words; in `<<<$ a`
        the second word is run."""
        if self._ancestors[-1].type != "string" and re.search(r"\s", _text(node)):
            self._raise_level(Level.LINE)

    def _substitution(self, node: Node) -> None:
        text = _text(node)
        if text.lstrip().startswith("`") and "\\" in text:  # nested substitutions
            self._raise_level(Level.LINE)

    def _heredoc(self, node: Node) -> None:
        """A here-document is expanded unless its delimiter is quoted; expansions are not always separate nodes."""
        if node.children_by_field_name("argument"):
            self._raise_level(Level.LINE)  # words of the command, misplaced by the grammar
        start = next((_text(child) for child in node.children if child.type == "heredoc_start"), "")
        is_quoted = any(sign in start for sign in ("'", '"', "\\"))
        body = "".join(_text(child) for child in node.children if child.type == "heredoc_body")
        self.texts.append(body)
        body = _PLAIN_VARIABLE.sub("", body)
        end = next((child for child in node.children if child.type == "heredoc_end"), None)
        plain = start.strip("'\"")
        with_tabs = any(child.type == "<<-" for child in node.children)
        if end is None or not re.fullmatch(r"\w+", plain) or not self._stands_alone(end, plain, with_tabs):
            self._raise_level(Level.LINE)
        if not is_quoted and "\\\n" in body:
            self._raise_level(Level.LINE)
        if not _begins_on_the_next_line(node):
            self._raise_level(Level.LINE)  # the grammar treats the text, or a part of it, as a command
        if not start or (not is_quoted and ("`" in body or "$(" in body or "${" in body or "$[" in body)):
            self._raise_level(Level.LINE)

    def _herestring(self, node: Node) -> None:
        with contextlib.suppress(Misread):
            self.texts += [read_word(child).text for child in node.named_children[-1:]]

    def _stands_alone(self, end: Node, delimiter: str, with_tabs: bool) -> bool:
        """Whether the end of a here-document in the grammar is an end for the shell, too: a line of nothing else."""
        start = self._source.rfind(b"\n", 0, end.end_byte) + 1
        stop = self._source.find(b"\n", start)
        line = self._source[start : stop if stop >= 0 else None].decode()
        return (line.lstrip("\t") if with_tabs else line) == delimiter

    def _sign(self, node: Node) -> None:
        """`!` and `{` are words: `!ls` and `{ls` are names of programs, `!(ls)` is a pattern."""
        text = _text(node)
        if text[:1] in ("!", "{") and not text[1:2].isspace():
            self._raise_level(Level.LINE)

    def _loop(self, node: Node) -> None:
        variable = node.child_by_field_name("variable")
        if variable is None or not _SAFE_VARIABLE.fullmatch(_text(variable)):
            self._mark_hidden()

    def _subscript(self, node: Node) -> None:
        index = node.child_by_field_name("index")
        if index is None or not re.fullmatch(r"\d+|[@*]", _text(index)):
            self._raise_level(Level.LINE)

    def _arithmetic(self, node: Node) -> None:
        text = _text(node)
        if not (text.startswith("$((") and text.endswith("))") and _NUMBER.fullmatch(text[3:-2])):
            self._raise_level(Level.LINE)

    def _test(self, node: Node) -> None:
        """`[ … ]` is the program `test` with its words; `[[ … ]]` is syntax of the shell.

        The grammar parses both as expressions. In `[ … ]` the shell sees words: `>` redirects, `&&`, `|` and the end of
        a line begin another command, and two tokens without a blank between them are one word.
        """
        text = _text(node)
        if text.startswith("[["):
            if not (text[2].isspace() and text[-3].isspace()):
                self._raise_level(Level.LINE)  # `[[a` is the name of a program
            self.commands.append(SimpleCommand(literal("[[")))
            return
        leaves = list(_leaf_words(node))
        if not all(leaf.is_named or _text(leaf) in _WORD_OPERATORS for leaf in leaves) or not _are_spaced(node, leaves):
            self._raise_level(Level.LINE)
        words = [self._word(leaf) if leaf.is_named else literal(_text(leaf)) for leaf in leaves]
        self.commands.append(SimpleCommand(literal("test"), tuple(words)))

    def _expression(self, node: Node) -> None:
        if not self._is_in_double_brackets():
            return
        operator = node.child_by_field_name("operator")
        text = _text(operator) if operator is not None else ""
        if _NUMBER_TESTS.fullmatch(text):  # an arithmetic comparison can run commands inside a value
            sides = [child for child in node.named_children if child.type != "test_operator"]
            if not all(re.fullmatch(r"-?\d+", _text(side)) for side in sides):
                self._raise_level(Level.LINE)
        elif text and text not in _STRING_TESTS and text != "!" and not _FILE_TESTS.fullmatch(text):
            self._raise_level(Level.LINE)

    def _is_in_double_brackets(self) -> bool:
        for ancestor in reversed(self._ancestors):
            if ancestor.type == "arithmetic_expansion":
                return False  # checked as a whole
            if ancestor.type == "test_command":
                return ancestor.children[0].type == "[["
        return False

    def _declaration(self, node: Node) -> None:
        """`export NAME=value` counts as a command; other declarations may run commands inside a value."""
        words = [child for child in node.children if child.is_named]
        if node.children[0].type != "export" or not all(child.type == "variable_assignment" for child in words):
            self._builtin(node)
            return
        settings = [self._name_and_value(word) for word in words]
        args = [literal(f"{name}={value.text}") if value.exact else UNKNOWN for name, value in settings]
        self.commands.append(SimpleCommand(literal("export"), tuple(args)))

    def _builtin(self, node: Node) -> None:
        words = _text(node).split()
        self.commands.append(SimpleCommand(literal(words[0]), (UNKNOWN,)))
        self._mark_hidden()


_SPECIAL = {
    "command": Reading._command,
    "command_substitution": Reading._substitution,
    "heredoc_redirect": Reading._heredoc,
    "herestring_redirect": Reading._herestring,
    "negated_command": Reading._sign,
    "compound_statement": Reading._sign,
    "for_statement": Reading._loop,
    "variable_assignment": Reading._assignment,
    "file_redirect": Reading._redirect,
    "expansion": Reading._expansion,
    "simple_expansion": Reading._variable,
    "subscript": Reading._subscript,
    "arithmetic_expansion": Reading._arithmetic,
    "test_command": Reading._test,
    "binary_expression": Reading._expression,
    "unary_expression": Reading._expression,
    "declaration_command": Reading._declaration,
    "unset_command": Reading._builtin,
}


def _is_plain(root: Node) -> bool:
    """Whether a line is one command without redirections, assignments and expansions."""
    if len(root.children) != 1 or root.children[0].type != "command":
        return False
    command = root.children[0]
    fields = [command.field_name_for_child(index) for index in range(len(command.children))]
    return fields == ["name"] + ["argument"] * (len(fields) - 1)


def _assignment(node: Node) -> tuple[str, Word]:
    name = node.child_by_field_name("name")
    value = node.child_by_field_name("value")
    if name is None or name.type != "variable_name" or any(_text(child) == "+=" for child in node.children):
        raise Misread("assignment")
    return _text(name), read_word(value) if value is not None else literal("")


def _leaf_words(node: Node) -> Iterator[Node]:
    for child in node.children:
        if child.type in ("unary_expression", "binary_expression", "parenthesized_expression", "negation_expression"):
            yield from _leaf_words(child)
        elif child.type not in ("[", "]"):
            yield child


def _are_spaced(test: Node, leaves: list[Node]) -> bool:
    """Whether blanks, and no line ends, separate the words of `[ … ]`."""
    source = test.text or b""
    ends = [1, *(leaf.end_byte - test.start_byte for leaf in leaves)]
    starts = [*(leaf.start_byte - test.start_byte for leaf in leaves), len(source) - 1]
    gaps = [source[end:start] for end, start in zip(ends, starts, strict=True)]
    return all(re.fullmatch(rb"(?>(?:\\\n)*)[ \t](?>(?:[ \t]|\\\n)*)", gap) for gap in gaps)


def _spans_lines(node: Node) -> bool:
    """Whether the grammar continues a command behind the end of its line."""
    if node.type not in _ONE_LINE:
        return False
    text = node.text or b""
    pairs = pairwise(node.children)
    gaps = [text[left.end_byte - node.start_byte : right.start_byte - node.start_byte] for left, right in pairs]
    return any(b"\n" in gap.replace(b"\\\n", b"") for gap in gaps)


def _begins_on_the_next_line(heredoc: Node) -> bool:
    """Whether the text of a here-document begins on the line behind its operator."""
    start = next((child.end_byte for child in heredoc.children if child.type == "heredoc_start"), heredoc.start_byte)
    parts = [child for child in heredoc.children if child.type in ("heredoc_body", "heredoc_end") and child.text]
    end = parts[0].start_byte if parts else heredoc.end_byte
    skipped = (heredoc.text or b"")[start - heredoc.start_byte : end - heredoc.start_byte]
    _, newline, first = skipped.partition(b"\n")
    return bool(newline) and not first.strip()


def _expands(pattern: str) -> bool:
    return opens_a_command(pattern) or "<(" in pattern or ">(" in pattern


def _has_glued_words(node: Node) -> bool:
    """Whether two words touch each other: `cat<(ls)` is one word for the shell, and the name of a program."""
    if node.type in _ONE_WORD:
        return False
    return any(
        left.is_named and right.is_named and left.end_byte == right.start_byte and right.type not in _REDIRECTS
        for left, right in pairwise(node.children)
    )


def _text(node: Node) -> str:
    return (node.text or b"").decode()
