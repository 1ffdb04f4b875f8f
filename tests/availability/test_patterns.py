"""Regular expressions on long input. A match holds the interpreter, so one that is slow stops the server for everybody.

Every pattern of the package is tried on runs of what its own text consists of, with an end that does not match. A
linear match of such a run takes well under a millisecond of CPU time, a quadratic one some hundred times the bound."""

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from re import _constants as signs
from re import _parser as parser
from types import ModuleType
from typing import Any

import pytest

import pilothouse
from pilothouse.domain.runner_files import plain_name
from pilothouse.sandbox.shell.classify import classify_uncached
from pilothouse.sandbox.shell.grammar import MAX_LINE_CHARACTERS
from pilothouse.tools.builtin.grep import matches
from tests.support.scale import LONG

RUN_CHARACTERS = (1_000, 20_000)
"""The shorter runs first: they end soon for patterns that are worse than quadratic, too."""
MAX_CPU_SECONDS = 0.1
MAX_JUDGE_CPU_SECONDS = 2.0
TAIL = "\x01\u2603"
MANY = 50
"""A repetition up to so many times is no run."""
# Patterns that may be slow, and the limits of their input.
BOUNDED: Mapping[str, str] = {
    "pilothouse.tools.text_encoding._DECLARATIONS": "the first 1,024 bytes of a file",
    **dict.fromkeys(
        [
            f"pilothouse.domain.deception.command_text._END_OF_{each}"
            for each in ("SINGLE", "ESCAPED", "DOUBLE", "LINE")
        ],
        "matched at one place only",
    ),
}
AT_THE_END = {"pilothouse.domain.deception.padding._STRETCH"}
"""Patterns that end with a possessive repetition of several items: nothing follows that could be found elsewhere."""
SEARCHES = frozenset({"search", "sub", "subn", "split", "findall", "finditer"})
_SAMPLES = {
    signs.CATEGORY_SPACE: " ",
    signs.CATEGORY_DIGIT: "0",
    signs.CATEGORY_WORD: "a",
    signs.CATEGORY_NOT_SPACE: "a",
    signs.CATEGORY_NOT_DIGIT: "a",
    signs.CATEGORY_NOT_WORD: " ",
}


@cache
def _patterns() -> dict[re.Pattern[Any], str]:
    """Every pattern that a module or a class holds, with the first place of it."""
    patterns: dict[re.Pattern[Any], str] = {}
    for each in pkgutil.walk_packages(pilothouse.__path__, "pilothouse."):
        if each.name.endswith("__main__"):
            continue
        module = importlib.import_module(each.name)
        for name, value in vars(module).items():
            if not name.startswith("__"):
                for pattern in _held(value, module):
                    patterns.setdefault(pattern, f"{each.name}.{name}")
    return patterns


def _held(value: Any, module: ModuleType, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
        return
    inner: list[Any] = []
    if isinstance(value, list | tuple | set | frozenset):
        inner = list(value)
    elif isinstance(value, dict):
        inner = [*value, *value.values()]
    elif isinstance(value, type) and value.__module__ == module.__name__:
        inner = list(vars(value).values())
    elif getattr(value, "__closure__", None):
        inner = [cell.cell_contents for cell in value.__closure__]
    if depth < 3:
        for each in inner:
            yield from _held(each, module, depth + 1)


def _sample(nodes: Any) -> list[str]:
    """A short text that the nodes match, in characters or words that belong together."""
    parts: list[str] = []
    for kind, content in nodes:
        if kind is signs.LITERAL:
            parts.append(chr(content))
        elif kind is signs.NOT_LITERAL or kind is signs.ANY:
            parts.append("a")
        elif kind is signs.IN:
            parts.append(_member(content))
        elif kind is signs.BRANCH:
            parts.extend(part for branch in content[1] for part in _sample(branch))
        elif kind in (signs.MAX_REPEAT, signs.MIN_REPEAT, signs.POSSESSIVE_REPEAT):
            parts.extend(_sample(content[2]))
        elif kind is signs.SUBPATTERN:
            parts.extend(_sample(content[3]))
        elif kind is signs.ATOMIC_GROUP:
            parts.extend(_sample(content))
    return parts


def _member(members: list[tuple[Any, Any]]) -> str:
    kind, content = members[0]
    if kind is signs.NEGATE:
        others = re.compile("[^" + "".join(_text(each) for each in members[1:]) + "]")
        return next(each for each in "a 0\n-\u00e9\u2603" if others.fullmatch(each))
    return _SAMPLES[content] if kind is signs.CATEGORY else chr(content[0] if kind is signs.RANGE else content)


_CLASSES = {
    signs.CATEGORY_SPACE: r"\s",
    signs.CATEGORY_DIGIT: r"\d",
    signs.CATEGORY_WORD: r"\w",
    signs.CATEGORY_NOT_SPACE: r"\S",
    signs.CATEGORY_NOT_DIGIT: r"\D",
    signs.CATEGORY_NOT_WORD: r"\W",
}


def _text(member: tuple[Any, Any]) -> str:
    kind, content = member
    if kind is signs.CATEGORY:
        return _CLASSES[content]
    if kind is signs.RANGE:
        return f"{re.escape(chr(content[0]))}-{re.escape(chr(content[1]))}"
    return re.escape(chr(content))


def _runs(pattern: re.Pattern[Any], characters: int) -> Iterator[str]:
    sample = _sample(_parsed(pattern))[:40]
    single = dict.fromkeys([" ", "a", "0", "\n", "\\", *sample])
    pairs = dict.fromkeys(first + second for first in sample[:12] for second in (*sample[:12], " ", "a", "\\"))
    starts = dict.fromkeys("".join(sample[:end]) for end in (0, 1, 2, 3, 5, 8, 13, len(sample)))
    for unit in dict.fromkeys([*single, *(pairs if LONG else ()), *starts]):
        if unit:
            yield unit * (characters // len(unit))
    for start in starts if LONG else ():
        for unit in single:
            yield start + unit * (characters // len(unit))


def _slow_run(pattern: re.Pattern[Any], is_searched: bool) -> str | None:
    """The beginning of a run that takes longer than the bound."""
    apply = pattern.search if is_searched else pattern.fullmatch
    for run in dict.fromkeys(run for characters in RUN_CHARACTERS for run in _runs(pattern, characters)):
        text: Any = run + TAIL
        if isinstance(pattern.pattern, bytes):
            text = text.encode("latin-1", "replace")
        # The machine can make one attempt slow, but not both.
        if all(_cpu_seconds(apply, text) > MAX_CPU_SECONDS for _ in range(2)):
            return f"{apply.__name__}: {run[:40]!r}"
    return None


def _cpu_seconds(apply: Any, text: Any) -> float:
    before = time.thread_time()
    apply(text)
    return time.thread_time() - before


def _is_searched(place: str) -> bool:
    """Whether a pattern is searched anywhere in a text, as its module uses it: if it is only matched from a
    given place on, a failure is not repeated at every other."""
    module, _, name = place.rpartition(".")
    source = Path(importlib.import_module(module).__file__ or "").read_text()
    methods = set(re.findall(rf"\b{name}\.(\w+)", source))
    return not methods or not methods.isdisjoint(SEARCHES)


def _gives_back_twice(nodes: Any, within: bool = False) -> bool:
    """Whether a backtracking repetition is nested in another: their paths multiply with each round."""
    for kind, content in nodes:
        inner, is_within = [], within
        if kind in (signs.MAX_REPEAT, signs.MIN_REPEAT):
            is_many = content[1] > MANY
            if is_many and within:
                return True
            inner, is_within = [content[2]], within or is_many
        elif kind is signs.POSSESSIVE_REPEAT:
            inner, is_within = [content[2]], False
        elif kind in (signs.ASSERT, signs.ASSERT_NOT):
            inner, is_within = [content[1]], False
        elif kind is signs.ATOMIC_GROUP:
            inner, is_within = [content], False
        elif kind is signs.SUBPATTERN:
            inner = [content[3]]
        elif kind is signs.BRANCH:
            inner = content[1]
        if any(_gives_back_twice(each, is_within) for each in inner):
            return True
    return False


def _parsed(pattern: re.Pattern[Any]) -> Any:
    return parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)


def test_every_pattern_takes_linear_time_on_long_runs() -> None:
    unbounded = {pattern: place for pattern, place in _patterns().items() if place not in BOUNDED}
    assert len(unbounded) > 150
    slow = {place: run for pattern, place in unbounded.items() if (run := _slow_run(pattern, _is_searched(place)))}
    assert slow == {}


def test_no_backtracking_repetition_is_nested_in_another() -> None:
    assert [place for pattern, place in _patterns().items() if _gives_back_twice(_parsed(pattern))] == []


def _repeats_sequence(nodes: Any) -> bool:
    """Whether a possessive quantifier repeats several items. Python before 3.11.5 goes on behind the part of them that
    was found, where a repetition fails in its middle; an atomic group (`(?>(?:…)*)`) goes back."""
    for kind, content in nodes:
        if kind is signs.POSSESSIVE_REPEAT and len(content[2]) > 1:
            return True
        inner: list[Any] = []
        if kind in (signs.MAX_REPEAT, signs.MIN_REPEAT, signs.POSSESSIVE_REPEAT):
            inner = [content[2]]
        elif kind in (signs.ASSERT, signs.ASSERT_NOT):
            inner = [content[1]]
        elif kind is signs.ATOMIC_GROUP:
            inner = [content]
        elif kind is signs.SUBPATTERN:
            inner = [content[3]]
        elif kind is signs.BRANCH:
            inner = content[1]
        if any(map(_repeats_sequence, inner)):
            return True
    return False


def test_no_possessive_quantifier_repeats_a_sequence() -> None:
    places = {place for pattern, place in _patterns().items() if _repeats_sequence(_parsed(pattern))}
    assert places == AT_THE_END


def test_every_listed_exception_is_an_existing_pattern() -> None:
    assert BOUNDED.keys() <= set(_patterns().values())


@pytest.mark.parametrize("slow", [r"\s*x?[\s{]*p"])
def test_the_runs_find_patterns_that_are_slow(slow: str) -> None:
    assert _slow_run(re.compile(slow), is_searched=True)


@pytest.mark.parametrize(
    "line", ["sed '\x00z' f", "awk '\x00' f", "printf '\x00'", "\x00z a", "x=\x00 ls", "bash -\x00 ls"]
)
@pytest.mark.parametrize("unit", [" ", "0", "{ ", "0.", "c", "%0"])
def test_a_long_word_is_judged_in_linear_time(line: str, unit: str) -> None:
    text = line.replace("\x00", unit * (MAX_LINE_CHARACTERS // len(unit) - 20))
    assert _cpu_seconds(classify_uncached, text) < MAX_JUDGE_CPU_SECONDS


def test_the_version_of_a_program_is_cut_off_in_linear_time() -> None:
    assert _cpu_seconds(plain_name, "0" * 200_000 + "z") < MAX_CPU_SECONDS
    assert [plain_name(each) for each in ("python3.11", "/usr/bin/pip3", "7", "a0.b")] == ["python", "pip", "7", "a0.b"]


def test_names_of_files_in_an_answer_of_grep_are_read_in_one_way() -> None:
    name = b"x" + b": binary file matches" * 10
    answer = (b"./" + name + b': binary file matches (found "\\0" byte around offset 3)\n') * 30
    assert _cpu_seconds(matches._RECORD.match, answer) < MAX_CPU_SECONDS
    record = matches._RECORD.match(answer + b"./" + name + b"\x007\x001\x00text\n")
    assert record is not None
    assert record.groups() == (name, b"7", b"1", b"text")
