"""Ignore files (`.gitignore`, `.ignore`, `.rgignore`): patterns, rules, and the budget for applying them.

Patterns mean what they mean in git; the choice and the precedence of ignore files follow ripgrep.
"""

import contextlib
import os
import re
from collections.abc import Callable
from functools import cached_property, lru_cache

from pilothouse.system.regular_file import open_regular_file

IGNORE_FILES = (".gitignore", ".ignore", ".rgignore")
"""In ascending precedence: a rule of a later name wins, in whichever folder its file lies."""

# Limits for all ignore files together that apply in one folder. An ignore file beyond them is not applied.
MAX_IGNORE_BYTES = 128 * 1024
MAX_RULES = 2000
MAX_WILDCARDS = 4000

_MAX_RULE_CHARACTERS = 1000
_MAX_COMPILED_FILES = 64
MAX_RULE_WORK_CHARACTERS = 1_000_000_000
"""The budget of one walk, in characters that a wildcard passes over: a few seconds."""
_RULE_MATCH_WORK_CHARACTERS = 10
_RULE_COMPILE_WORK_CHARACTERS = 20_000
_WILDCARD_COMPILE_WORK_CHARACTERS = 3_000

# A character class with its negation, its content and its end; or one character, perhaps behind a backslash.
_ELEMENT = re.compile(r"(\[)([!^]?+)(\]?+(?:\\.|[^]\\])*+)(\]?)|(\\?.)", re.DOTALL)
_CLASS_ITEM = re.compile(r"(\\?.)(?:-(\\?.))?", re.DOTALL)

Matcher = Callable[[str], object]


class BadPattern(Exception):
    """The pattern is invalid."""


def pattern_regex(pattern: str) -> str:
    """Translate a pattern for a name, or for a whole path, into a regular expression without runaway backtracking.

    Every star but the last is an atomic group and tried once: the first place where the rest of the group fits is as
    good as any later place. Raises: BadPattern.
    """
    segments: list[list[str]] = [[]]
    for element in _elements(pattern):
        if element != "/":
            segments[-1].append(element)
        elif segments[-2:] == [["*", "*"], ["*", "*"]]:
            segments[-1] = []
        else:
            segments.append([])
    runs: list[str] = [""]
    for number, segment in enumerate(segments):
        is_last = number == len(segments) - 1
        if segment != ["*", "*"]:
            runs[-1] += _segment_regex(segment) + ("" if is_last else "/")
        elif is_last:
            runs[-1] += ".+" if number else ".*"
        else:
            runs.append("")
    # A run between two `**` matches at the first place where it fits; the last run must reach the end of the path.
    first, *rest = runs
    middle = "".join(f"(?>(?:.*?/)??{run})" for run in rest[:-1])
    return first + middle + "".join(f"(?:.*/)?{run}" for run in rest[-1:])


def _segment_regex(elements: list[str]) -> str:
    parts = [""]
    for element in elements:
        if element != "*":
            parts[-1] += element
        elif parts[-1] or len(parts) == 1:
            parts.append("")
    first, *rest = parts
    middle = "".join(f"(?>[^/]*?{part})" for part in rest[:-1])
    return first + middle + "".join(f"[^/]*{part}" for part in rest[-1:])


def _elements(pattern: str) -> list[str]:
    """Each element of a pattern as a regular expression; a star stays a star. Raises: BadPattern."""
    elements = []
    for opening, negation, content, closing, character in _ELEMENT.findall(pattern):
        if (opening and not closing) or character == "\\":
            raise BadPattern("a '[' isn't closed" if opening else "it ends in a backslash")
        if opening:
            ranges = [(low[-1], high[-1:]) for low, high in _CLASS_ITEM.findall(content)]
            # In git, a reversed range still contains its first character.
            items = "".join(re.escape(low) + f"-{re.escape(high)}" * (low <= high) for low, high in ranges)
            elements.append(f"[^/{items}]" if negation else f"(?!/)[{items}]")
        else:
            elements.append({"*": "*", "?": "[^/]"}.get(character) or re.escape(character[-1]))
    return elements


def any_matcher(expressions: list[str]) -> Matcher:
    """Compile a matcher for texts that one of the regular expressions matches completely."""
    return re.compile("|".join(f"(?:{expression})" for expression in expressions) or "(?!)", re.DOTALL).fullmatch


class _Rule:
    """A line of an ignore file."""

    def __init__(self, regex: str, *, by_name: bool, is_negated: bool, folders_only: bool) -> None:
        self.regex = regex
        self.by_name = by_name
        """Whether the rule applies to names at any depth; otherwise to paths below the ignore file's folder."""
        self.is_negated = is_negated
        """Whether matching paths are not ignored (`!`)."""
        self.folders_only = folders_only

    @cached_property
    def matches(self) -> Matcher:
        """Compiled at the first use: few rules of a long file are ever matched alone."""
        return any_matcher([self.regex])


class _Rules:
    """The rules of one ignore file, the last first."""

    def __init__(self, text: str) -> None:
        lines = text.removeprefix("\xef\xbb\xbf").split("\n")  # the byte order mark of UTF-8
        self.all = [rule for rule in map(_parse_rule, reversed(lines)) if rule]
        self.size = len(self.all) + len(text) // 1000
        try:
            self._compile_joined()
        except re.error:  # a rule is no valid regular expression
            self.all = [rule for rule in self.all if _is_valid(rule)]
            self._compile_joined()

    def _compile_joined(self) -> None:
        """Join the rules for names, and those for paths, into one expression each: most paths match no rule, which
        two matches then show."""
        self.any_name = any_matcher([rule.regex for rule in self.all if rule.by_name])
        self.any_path = any_matcher([rule.regex for rule in self.all if not rule.by_name])


def _is_valid(rule: _Rule) -> bool:
    try:
        return rule.matches is not None
    except re.error:
        return False


_compiled = lru_cache(maxsize=_MAX_COMPILED_FILES)(_Rules)  # every walk reads the same few files


class IgnoreFile:
    """An ignore file with its rules."""

    def __init__(self, base: str, name: str, text: str, parent_files: "tuple[IgnoreFile, ...]" = ()) -> None:
        """`base` is the file's folder, as `latin1_name` text below the root; `parent_files` are the ignore files of the
        folders above, and those of the same folder that were read before."""
        self.path = f"{base}/{name}" if base else name
        self.precedence = IGNORE_FILES.index(name)
        self._prefix_length = len(base) + 1 if base else 0
        self.characters = len(text)
        self.lines = text.count("\n") + 1
        self.wildcards = text.count("*")
        applied = [file for file in parent_files if not file.is_over_limit]
        self.is_over_limit: bool = (
            self.characters + sum(file.characters for file in applied) > MAX_IGNORE_BYTES
            or self.lines + sum(file.lines for file in applied) > MAX_RULES
            or self.wildcards + sum(file.wildcards for file in applied) > MAX_WILDCARDS
        )
        """Whether this file and those above it would cost too much together: then this file is not applied."""
        self._rules = _compiled("" if self.is_over_limit else text)
        self.size = self._rules.size

    def work(self, path: str) -> int:
        """An upper bound for the work of matching a path."""
        return 0 if self.is_over_limit else _RULE_MATCH_WORK_CHARACTERS * self.lines + self.wildcards * len(path)

    def work_to_compile(self) -> int:
        lines, wildcards = (0, 0) if self.is_over_limit else (self.lines, self.wildcards)
        return _RULE_COMPILE_WORK_CHARACTERS * lines + _WILDCARD_COMPILE_WORK_CHARACTERS * wildcards

    def is_ignored(self, path: str, is_folder: bool) -> bool | None:
        """Whether the file ignores a path; None where no rule matches."""
        inner, name = path[self._prefix_length :], path.rpartition("/")[2]
        if self._rules.any_name(name) or self._rules.any_path(inner):
            for rule in self._rules.all:
                if (is_folder or not rule.folders_only) and rule.matches(name if rule.by_name else inner):
                    return not rule.is_negated
        return None


def _parse_rule(line: str) -> _Rule | None:
    """Spaces at the end are dropped, unless a backslash stands before them. A line longer than any name is skipped."""
    if len(line) > _MAX_RULE_CHARACTERS:
        return None
    line = line.removesuffix("\r")
    end = len(line.rstrip(" "))
    line = line[: end + (end - len(line[:end].rstrip("\\"))) % 2]
    is_negated, folders_only = line.startswith("!"), line.endswith("/")
    body = line[is_negated : -1 if folders_only else None]
    if not body.removeprefix("/") or line.startswith("#"):
        return None
    try:
        regex = pattern_regex(body.removeprefix("/"))
    except BadPattern:
        return None
    return _Rule(regex, by_name="/" not in body, is_negated=is_negated, folders_only=folders_only)


def latin1_name(name: str) -> str:
    """A name as one character a byte: git compares bytes."""
    return name if name.isascii() else os.fsencode(name).decode("latin-1")


def read_ignore_files(dir_fd: int, base: str, parent_files: tuple[IgnoreFile, ...]) -> tuple[IgnoreFile, ...]:
    """The ignore files that apply in an open folder: its own and those above. A link is no ignore file, as in git."""
    own: list[IgnoreFile] = []
    for name in IGNORE_FILES:
        with contextlib.suppress(OSError):
            with open_regular_file(name, dir_fd=dir_fd) as file:
                text = file.read(MAX_IGNORE_BYTES + 1).decode("latin-1")
            own.append(IgnoreFile(base, name, text, (*parent_files, *own)))
    return tuple(sorted(parent_files + tuple(own), key=lambda file: file.precedence)) if own else parent_files


def is_ignored(levels: tuple[IgnoreFile, ...], path: str, *, is_folder: bool) -> bool:
    """The last ignore file with a matching rule decides: the nearest file of the name with the highest precedence."""
    for file in reversed(levels):
        if (decision := file.is_ignored(path, is_folder)) is not None:
            return decision
    return False


class RuleBudget:
    """Bounds the work of one walk for ignore rules, whatever the ignore files of the workspace contain."""

    def __init__(self) -> None:
        self.remaining = MAX_RULE_WORK_CHARACTERS
        self.over_limit: list[str] = []
        """Paths of ignore files that are not applied because they, with those above them, would cost too much."""

    def read_ignore_files(self, dir_fd: int, base: str, parent_files: tuple[IgnoreFile, ...]) -> tuple[IgnoreFile, ...]:
        """As `read_ignore_files`; compiling the folder's own files counts against the budget."""
        levels = read_ignore_files(dir_fd, base, parent_files)
        if levels is not parent_files:
            above_ids = set(map(id, parent_files))
            own = [file for file in levels if id(file) not in above_ids]
            self.remaining -= sum(file.work_to_compile() for file in own)
            self.over_limit += [file.path for file in own if file.is_over_limit]
        return levels

    def is_ignored(self, levels: tuple[IgnoreFile, ...], path: str, *, is_folder: bool) -> bool:
        """As `is_ignored`. Once the budget is spent, nothing is ignored."""
        self.remaining -= sum(file.work(path) for file in levels)
        return self.remaining > 0 and is_ignored(levels, path, is_folder=is_folder)
