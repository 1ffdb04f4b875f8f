"""The work of checking a command is bounded, whatever two things its line repeats.

Work is counted, not timed: function calls by `sys.setprofile`, memory by `tracemalloc`.
"""

import gc
import os
import random
import sys
import tracemalloc
from itertools import product
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from pilothouse.sandbox.command_environment import CommandEnvironment
from pilothouse.sandbox.shell import command_table, written_words
from pilothouse.sandbox.shell.classify import _CACHE
from pilothouse.sandbox.shell.effects import CommandEffect, SimpleCommand
from pilothouse.sandbox.shell.grammar import MAX_LINE_CHARACTERS
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.builtin.execute import Execute, ExecuteArguments
from tests.support.scale import LONG

MAX_CALLS = 20_000_000
"""Calls and returns, also of builtins: to look up as many paths as a command may name takes 15 million."""
MAX_PEAK_BYTES = 60_000_000
MAX_KEPT_BYTES = 25_000_000
SEED = 20261118
SEEDED_PAIRS = 400 if LONG else 6

HALF = MAX_LINE_CHARACTERS // 2 - 20


def fill(unit: str, size: int = HALF) -> str:
    return unit * (size // len(unit))


def numbered(form: str, size: int = MAX_LINE_CHARACTERS - 40) -> str:
    """Repetitions of a form that are all different."""
    return "".join(form.replace("#", str(10_000 + number)) for number in range(size // len(form.replace("#", "10000"))))


PAIRS = {
    "body and outputs": "{ " + fill("ls;") + "} " + fill(">a "),
    "short body and outputs": "{ " + "ls;" * 450 + "} " + fill(">a "),
    "body and inputs": "{ " + "ls;" * 450 + "} " + fill("<a "),
    "subshell and outputs": "( " + "ls;" * 450 + ") " + fill(">a "),
    "loop and outputs": "for a in b; do " + "ls;" * 450 + "done " + fill(">a "),
    "pipes and outputs": "ls " + fill("| cat ", 1_000) + fill(">a "),
    "one command and outputs": "ls " + fill("a ") + fill(">a "),
    "sh -c and braces": numbered("sh -c 'rm {1..#}';"),
    "few sh -c and braces": numbered("sh -c 'rm {1..#}';", 1_300),
    "sh -c and paths": numbered("sh -c 'rm ./{1..#}';", 1_300),
    "sh -c and patterns": numbered("sh -c 'rm .n{1..#}*';", 1_300),
    "sh -c and variables": numbered("sh -c 'a=#;rm $a$a';"),
    "nested sh -c": fill("sh -c '") + fill("ls;"),
    "eval and braces": numbered("eval 'touch {a,b}{c,d}#';"),
    "folders and paths": "".join(f"cd d{number};" for number in range(90)) + numbered("touch a.#;", HALF),
    "folders and texts": "".join(f"cd d{number};" for number in range(90)) + f"python3 -c '{numbered('a.#;', HALF)}'",
    "parent folders and paths": "".join(f"cd d{number}/..;" for number in range(90)) + numbered("touch ../#;", HALF),
    "w/ in a script": f"sed -i '{fill('w/', 2 * HALF)}' x",
    "w/ in many scripts": numbered("sed -i 'w/w/w/w/#' x;"),
    "w/ and braces": "sed -i '" + fill("w/", 1_000) + "'{1..9000} x",
    "w/ in a here-document": "python3 <<X\n" + fill("w/", 2 * HALF - 40) + "\nX",
    "options and braces": "sort -" + fill("u", 60) + "{1..9000}",
    "many long options": "sort " + numbered("-uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu# "),
    "equals signs and braces": "touch a" + fill("=b", 2_000) + "{1..900}",
    "quotes and substitutions": "echo " + fill('"$(a)" '),
    "substitutions in quotes": 'echo "' + fill("$(a 'b')") + '"',
    "nested substitutions and quotes": "echo " + '"$(a ' * 50 + "b" + ')"' * 50 + fill(" 'a'"),
    "defaults and quotes": "echo " + fill("\"${a:-'b'}\" "),
    "here-documents": numbered("cat <<X\n.a/#\nX\n"),
    "here-documents and outputs": numbered("tee a# <<X >b\n.a/b\nX\n"),
    "a here-document and outputs": "cat " + fill(">a ") + "<<X\n" + fill("./a ") + "\nX",
    "case and outputs": "case a in " + fill("a) b >c;; ", 2 * HALF) + "esac",
    "case and groups": "case a in " + fill("a) { b; } >c;; ", 2 * HALF) + "esac",
    "groups and outputs": "{ " * 50 + fill("ls;") + "} >a;" * 50,
    "subshells and pipes": "(" * 50 + fill("ls|") + "ls" + ")|ls" * 50,
    "patterns and slashes": "touch " + fill("./") + fill(".n*/"),
    "patterns and braces": "touch .n{1..900}" + fill("*a", 2_000),
    "stars": "touch .n" + fill("*", 2 * HALF),
    "wrappers and words": fill("env ", 40) + fill("a "),
    "find and words": "find . " + fill("-exec a {} ; ") + fill("-name a "),
    "variables of variables": "".join(f"a{n}=$a{n - 1}$a{n - 1};" for n in range(1, 12)) + fill("rm $a11;"),
    "continuations and quotes": "a " + fill("\\\n'b' ", 2 * HALF),
}
UNITS = (
    *(
        "ls;",
        "a|",
        ">a ",
        "<a ",
        "<<<a ",
        "cat <<X\nX\n",
        "{ ",
        "} ",
        "(",
        ")",
        "$(",
        "`",
        '"',
        "'",
        "\\\n",
        "w/",
        "{a,b}",
    ),
    *(
        "{1..99} ",
        "sh -c 'rm x';",
        "sh -c ",
        "eval ",
        "env ",
        "a=b ",
        "a=$a;",
        "$a",
        "${a:-",
        "}",
        "case a in ",
        "a) b;; ",
    ),
    *(
        "esac;",
        "if a; then ",
        "fi;",
        "for a in b; do ",
        "done;",
        "f() { ",
        "[[ a ]] && ",
        "[ a ];",
        "cd a;",
        "../",
        "./",
        "* ",
    ),
    *(
        ".n*",
        "[a",
        "-o",
        "-uo.a ",
        "! ",
        "#",
        "a\n",
        "~/a ",
        "touch a.b;",
        "sed -i 'w/x' y;",
        "xargs ",
        "é ",
        "@(a|",
        "$((1+",
    ),
)


LARGE_PAIRS = (
    *("w/ in a script", "w/ and braces", "w/ in a here-document", "few sh -c and braces", "options and braces"),
    *("equals signs and braces", "patterns and braces", "variables of variables", "short body and outputs"),
)
"""Those that make much of a short line."""


class TooMuchWork(BaseException):
    """No handler of the checked code catches this."""


class CallCounter:
    """Counts the calls of this thread, and ends what makes too many."""

    def __init__(self) -> None:
        self.calls = 0

    def __enter__(self) -> "CallCounter":
        sys.setprofile(self._count)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _count(self, _frame: FrameType, _event: str, _argument: Any) -> None:
        self.calls += 1
        if self.calls > MAX_CALLS:
            sys.setprofile(None)
            raise TooMuchWork


def check(folder: Path, line: str) -> None:
    _CACHE.clear()
    environment = CommandEnvironment.of({"PATH": os.environ["PATH"], "HOME": str(folder)})
    Execute()._prepare(ExecuteArguments(command=line), Workspace(folder, environment=environment))


@pytest.mark.parametrize("line", PAIRS.values(), ids=PAIRS)
def test_a_line_that_repeats_two_things_is_checked_with_bounded_work(tmp_path: Path, line: str) -> None:
    assert len(line) <= MAX_LINE_CHARACTERS
    with CallCounter() as counter:
        check(tmp_path, line)
    assert counter.calls > 1000


def test_random_pairs_are_checked_with_bounded_work(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    for first, second in chance.sample(list(product(UNITS, UNITS)), SEEDED_PAIRS):
        size = chance.choice((1_500, HALF))
        for line in (fill(first, size) + fill(second, size), fill(first + second, 2 * size)):
            try:
                with CallCounter():
                    check(tmp_path, line)
            except TooMuchWork:
                pytest.fail(f"too much work: {first!r} and {second!r}, {size} characters each")


def test_the_counter_ends_endless_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "MAX_CALLS", 1000)
    with pytest.raises(TooMuchWork), CallCounter():
        while True:
            len("")


@pytest.mark.parametrize("name", PAIRS if LONG else LARGE_PAIRS)
def test_a_line_that_repeats_two_things_takes_and_keeps_bounded_memory(tmp_path: Path, name: str) -> None:
    check(tmp_path, "ls")
    gc.collect()
    tracemalloc.start()
    try:
        check(tmp_path, PAIRS[name])
        peak = tracemalloc.get_traced_memory()[1]
        gc.collect()
        memory = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert peak < MAX_PEAK_BYTES
    assert memory < MAX_KEPT_BYTES


@pytest.mark.parametrize(
    "line",
    ["{ " + "ls;" * 90 + "} " + ">a " * 60, "{ " * 40 + "ls;" * 90 + "} >a;" * 40, "ls " + ">a " * 60],
    ids=["outputs", "groups", "one command"],
)
def test_every_command_is_classified_a_few_times_for_any_number_of_redirections(
    monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    classified: list[SimpleCommand] = []

    def counted(command: SimpleCommand) -> CommandEffect:
        classified.append(command)
        return command_table.command_effect(command)

    monkeypatch.setattr(written_words, "command_effect", counted)
    written_words.written_words(line, is_plain=True, keeps_written=False)
    assert 0 < len(classified) <= 3 * line.count("ls")
