"""Makefiles in which every target has a recipe of plain commands, so that make uses no rule or variable of its own.

Only comments, rules with plain names, `.PHONY` and a few harmless variables are read. Any other line may load a file or
change what a recipe runs.
"""

import re
from collections.abc import Callable, Iterator, Sequence

MAX_RECIPES = 50
_VARIABLES = "V|VERBOSE|DEBUG|VERSION|PREFIX|DESTDIR"
"""Variables that make, its own rules and the programs of the system do not read. make hands them on to recipes."""
_ASSIGNMENT = re.compile(rf"(?:{_VARIABLES}) *+[:?]?= *+[\w./-]*+ *+")
# A colon behind the first word: make takes `include : x` for a directive.
_RULE = re.compile(r"([A-Za-z0-9_][\w./-]*+|\.PHONY):((?: *+[A-Za-z0-9_][\w./-]*+)*+) *+", re.ASCII)
_COMMENT = re.compile(r" *+(?:#.*)?")
_RECIPE_MARKS = " \t@+-"
_VARIABLE_REFERENCE = re.compile(r"(?<!\$)(?:\$\$)*+\$(?!\$)")
_OPTION = re.compile(r"-[Bkns]+|-j\d*|--(?:silent|quiet|dry-run|keep-going|always-make)")
_FOLDER_OPTION = re.compile(r"-C[\w./-]+|--directory=[\w./-]+")
_GIVEN_VARIABLE = re.compile(rf"(?:{_VARIABLES})=[\w.-]*")
_GOAL = re.compile(r"\w[\w./-]*")


def read_goals(words: Sequence[str]) -> tuple[str, ...] | None:
    """The targets that a command gives to make; None where it gives anything but targets, harmless options and
    harmless variables. A Makefile of another name (`-f`) may be made anew from files that nobody compares."""
    goals: list[str] = []
    rest = list(words[1:])
    while rest:
        word = rest.pop(0)
        if word in ("-C", "--directory"):
            rest = rest[1:]
        elif _GOAL.fullmatch(word):
            goals.append(word)
        elif not any(pattern.fullmatch(word) for pattern in (_OPTION, _FOLDER_OPTION, _GIVEN_VARIABLE)):
            return None
    return tuple(goals)


def is_plain_makefile(data: bytes, goals: Sequence[str], is_plain_line: Callable[[str], bool]) -> bool:
    """Whether make builds these goals, or any target, with recipes of this Makefile alone, all of them plain."""
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError:
        return False
    rules = _Rules()
    if not all(map(rules.read_line, lines)):
        return False
    return len(rules.recipes) <= MAX_RECIPES and rules.build(goals) and all(map(is_plain_line, rules.commands()))


class _Rules:
    def __init__(self) -> None:
        self.recipes: list[str] = []
        self._targets: set[str] = set()
        """Targets with a recipe."""
        self._phony: set[str] = set()
        """make looks for no rule of its own for these."""
        self._needed: set[str] = set()
        self._current: str | None = None
        """The target to which the next recipe belongs."""

    def read_line(self, line: str) -> bool:
        """Whether the line is known to do nothing else than what was noted of it."""
        if line.endswith("\\") or not line.replace("\t", " ").isprintable():
            return False
        if line.startswith("\t"):
            if self._current is None:
                return False
            self._targets.add(self._current)
            self.recipes.append(line)
            return True
        if _COMMENT.fullmatch(line):
            return True
        if _ASSIGNMENT.fullmatch(line):
            self._current = None
            return True
        rule = _RULE.fullmatch(line)
        if rule is None:
            return False
        target, prerequisites = rule[1], rule[2].split()
        self._needed.update(prerequisites)
        if target == ".PHONY":
            self._phony.update(prerequisites)
            self._current = None
        else:
            self._needed.add(target)
            self._current = target
        return True

    def build(self, goals: Sequence[str]) -> bool:
        """Whether all that make may build has a recipe here, or needs none; the Makefile itself is not built."""
        return {*self._needed, *goals} <= self._targets | self._phony and not any(
            "makefile" in target.lower() for target in self._needed
        )

    def commands(self) -> Iterator[str]:
        """The recipes as the shell gets them. A variable of make in one (`$(CC)`) counts as an unknown command."""
        for recipe in self.recipes:
            command = recipe.lstrip(_RECIPE_MARKS)
            yield "$x" if _VARIABLE_REFERENCE.search(command) else command.replace("$$", "$")
