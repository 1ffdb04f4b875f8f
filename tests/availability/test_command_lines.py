"""Long command lines are classified in a time that grows with their length, whatever they repeat."""

import time
from pathlib import Path

import pytest

from pilothouse.sandbox.shell.classify import classify_uncached
from pilothouse.sandbox.shell.grammar import MAX_LINE_CHARACTERS, MAX_UNTRIED_CHARACTERS, parse
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.command.command_limits import CommandLimits
from tests.support.scale import LONG

MAX_CPU_SECONDS = 1.5
"""Ten times what most of these lines take; those that took a quadratic time needed 2 to 13 seconds."""
UNITS = ("a|", "<a ", ">a ", "<<< a ", "sudo ", ";>", "`>[[ ", "a()~", ")$(fi>", "a;", "{a,b}", "cat <<X\nX\n")
MORE_UNITS = (
    *(
        "a&&",
        "(",
        "$(",
        "{ ",
        '"',
        "\\",
        "a ",
        "a=b;",
        "a+=$a;",
        "$a",
        "${a:-",
        "* ",
        "[a",
        "-o",
        "! ",
        "#",
        "`",
        "'a' ",
    ),
    *(
        "if a; then b; fi;",
        "for a in b; do c; done;",
        "case a in a) b;; esac;",
        "f() { a; };",
        "cd a;",
        "../",
        "a \\\n",
    ),
    *(
        "env ",
        "sh -c ",
        "-exec a {} ; ",
        "[[ a ]] && ",
        "[ a ];",
        "$((1+",
        "@(a|",
        "é ",
        "\u00a0",
        "a\n",
        "~/a ",
        "a #b\n",
    ),
)


@pytest.mark.parametrize("unit", [*UNITS, *(MORE_UNITS if LONG else ())])
@pytest.mark.parametrize("size", [MAX_LINE_CHARACTERS, *((2_000, 5_000, 10_000, 40_000, 100_000) if LONG else ())])
def test_a_line_of_repetitions_is_judged_in_a_bounded_time(tmp_path: Path, unit: str, size: int) -> None:
    line = (unit * size)[:size]
    before = time.thread_time()
    limits = CommandLimits(line, classify_uncached(line)[0], ".", Workspace(tmp_path))
    limits.violation()
    limits.approval_reason()
    assert time.thread_time() - before < MAX_CPU_SECONDS


def test_a_line_that_is_too_slow_to_parse_is_not_parsed() -> None:
    assert parse("ls -la; " * (MAX_LINE_CHARACTERS // 8)) is not None
    assert parse(";>" * (MAX_LINE_CHARACTERS // 2)) is None
    assert parse(";>" * (MAX_UNTRIED_CHARACTERS // 2)) is not None
