"""Which of the noted heads of a chain counts."""

import pytest

from pilothouse.domain.audit import Acceptance, AuditHead, NotedHead, effective_head

END = AuditHead(3, "c" * 64)
EARLIER = NotedHead(5, "e" * 64)


def noted(record: str | None, replaced: NotedHead | None) -> NotedHead:
    return NotedHead(END.count, END.hash, Acceptance(100, "d" * 64, END, record=record, replaced=replaced))


@pytest.mark.parametrize("is_recorded", [False, True])
@pytest.mark.parametrize("head", [None, EARLIER, noted(None, None)], ids=["none", "plain", "accepted"])
def test_a_head_without_a_record_counts_as_it_is(head: NotedHead | None, is_recorded: bool) -> None:
    assert effective_head(head, is_recorded) == head


def test_an_acceptance_whose_record_is_missing_leaves_the_head_before_it_in_force() -> None:
    assert effective_head(noted("r" * 64, EARLIER), False) == EARLIER


def test_a_recorded_acceptance_drops_the_head_before_it() -> None:
    assert effective_head(noted("r" * 64, EARLIER), True) == noted("r" * 64, None)


def test_a_record_that_was_cut_off_later_leaves_the_noted_head_in_force() -> None:
    assert effective_head(noted("r" * 64, None), False) == noted("r" * 64, None)
