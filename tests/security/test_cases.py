"""Every case of the data file is held by a test that there is."""

import ast
from functools import cache
from pathlib import Path

from tests.security.case_coverage import BOUND
from tests.security.cases import BOUNDARY, CASES, CONTROL, SHELL

ROOT = Path(__file__).parents[2]
# Parameters of the tests in test_shell_cases.py.
OF_THE_JUDGE = frozenset(case.id for case in (*SHELL, *BOUNDARY, *CONTROL))


def test_every_case_is_bound_to_a_test() -> None:
    assert [case.id for case in CASES if case.id not in BOUND and case.id not in OF_THE_JUDGE] == []


def test_every_test_that_a_case_is_bound_to_is_there() -> None:
    named = {test for tests in BOUND.values() for test in tests}
    assert sorted(test for test in named if test.partition("::")[2] not in _tests_of(test.partition("::")[0])) == []


@cache
def _tests_of(file: str) -> frozenset[str]:
    path = ROOT / file
    nodes = ast.parse(path.read_text()).body if path.is_file() else []
    return frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
