"""Patterns of command lines match as `fnmatch` does, and are not kept."""

import fnmatch
import random
from pathlib import Path
from typing import Any

from pilothouse.sandbox.name_patterns import MAX_NAME_CHARACTERS, name_matcher
from pilothouse.sandbox.shell import classify
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.command.command_limits import CommandLimits

_COMPILE: Any = vars(fnmatch)["_compile_pattern"]


def test_a_name_matches_as_it_does_for_fnmatch() -> None:
    chance = random.Random(3)
    for _ in range(3000):
        pattern = "".join(
            chance.choices(("*", "**", "?", "a", "b", ".", "[*]", "[?]", "[[]", "\n"), k=chance.randint(0, 8))
        )
        name = "".join(chance.choices("ab.*?[\n", k=chance.randint(0, 6)))
        assert name_matcher(pattern)(name) == fnmatch.fnmatchcase(name, pattern), (pattern, name)


def test_the_longest_pattern_of_a_possible_name_matches() -> None:
    name = "*" * MAX_NAME_CHARACTERS
    assert name_matcher("**[*]" * MAX_NAME_CHARACTERS + "***")(name)
    assert name_matcher("*" * 50_000 + "a")("a")
    assert not name_matcher("a" * 5_000)("a" * 5_000)


def test_patterns_of_command_lines_are_not_kept(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    patterns = []
    for letter in "mn":  # the first line compiles the patterns of the list of code files
        line = "touch " + " ".join(f".{letter}{number}*/a*{number} {letter}*{number}" for number in range(50))
        assert CommandLimits(line, classify(line), ".", Workspace(tmp_path)).approval_reason() is None
        patterns.append(_COMPILE.cache_info().currsize)
    assert patterns[0] == patterns[1]
