"""The rules of wording for tests and benchmarks: names of locals and tests, and comments with a subject."""

import ast
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.test_language import LOCALS, SUBJECTS

ROOT = Path(__file__).parents[2]
CODE = sorted(path for folder in ("tests", "benchmarks") for path in (ROOT / folder).rglob("*.py"))
# A local of a test is named after what it is: `response`, `messages`, `blocking_tool`.
TEST_LOCALS = LOCALS | {"asked", "held", "seen"}
# "test_a_rejected_call_is_reported", not "test_what_is_rejected_is_told".
TEST_NAMES = re.compile(r"test_(what|that|it|who|whoever|whose|those|they|where|when|whether)_")
SENTENCE = re.compile(r"(?<=[.;!?])\s+")


def comments(path: Path) -> Iterator[str]:
    """Comments of a file, those on adjacent lines as one."""
    block, last = "", 0
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.COMMENT:
                is_alone = token.line.lstrip().startswith("#")
                text = token.string.lstrip("#").strip()
                if is_alone and block and token.start[0] == last + 1:
                    block = f"{block} {text}"
                else:
                    yield block
                    block = text
                last = token.start[0] if is_alone else 0
    yield block


def docstrings(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""


@pytest.mark.parametrize("path", CODE, ids=lambda path: str(path.relative_to(ROOT)))
def test_comments_and_docstrings_of_tests_name_their_subject(path: Path) -> None:
    for text in (*comments(path), *docstrings(path)):
        sentences = SENTENCE.split(text)
        first = sentences[0][:1].upper() + sentences[0][1:]
        assert not [each for each in (first, *sentences[1:]) if SUBJECTS.match(each)], text


@pytest.mark.parametrize("path", CODE, ids=lambda path: str(path.relative_to(ROOT)))
def test_locals_of_tests_are_named_after_their_value(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        name = node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else None
        name = node.arg if isinstance(node, ast.arg) else name
        assert name not in TEST_LOCALS, f"line {getattr(node, 'lineno', 0)}: name `{name}` after its value"


@pytest.mark.parametrize("path", CODE, ids=lambda path: str(path.relative_to(ROOT)))
def test_names_of_tests_begin_with_a_subject(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert not TEST_NAMES.match(node.name), node.name
