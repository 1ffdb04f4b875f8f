"""The message at which branches diverge, also after compressions."""

import pytest

from pilothouse.domain.forks import BranchFork, fork_between
from pilothouse.domain.value import MessageId


def ids(names: str) -> list[MessageId]:
    return [MessageId(name) for name in names.split()]


@pytest.mark.parametrize(
    ("active", "other", "expected"),
    [
        ("a b c d", "a b x y z", (2, "c", "x")),
        ("a b", "x b", (0, "a", "x")),
        ("a b c", "a b", None),
        ("a b", "a b c", None),
        ("a b", "a b", None),
        ("a c picked", "a x picked", (1, "c", "x")),
    ],
)
def test_branches_depart_at_the_first_message_that_differs(
    active: str, other: str, expected: tuple[int, str, str] | None
) -> None:
    fork = fork_between(ids(active), ids(other))
    assert (None if fork is None else (fork.position, fork.message_id, fork.sibling_id)) == expected


def test_a_compressed_branch_is_compared_from_the_first_message_that_is_still_on_both() -> None:
    compressed, other = ids("summary d e f"), ids("a b c d e x")
    expected = BranchFork(position=3, message_id=MessageId("f"), sibling_id=MessageId("x"))
    assert fork_between(compressed, other, is_compressed=True) == expected
    assert fork_between(ids("summary"), other, is_compressed=True) is None
