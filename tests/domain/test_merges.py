"""Merges: for all pairs of branches and strategies the result is a simple model's."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilothouse.domain.branches import Branch, MergedBlock, merged_blocks_within, next_name
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.merges import Strategy, merge_candidates, origin_of, ranges_of
from pilothouse.domain.value import MessageId

ids = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)
strategies = st.sampled_from(["append", "rebase"])


def model(
    source: list[MessageId], target: list[MessageId], strategy: str, chosen: list[MessageId]
) -> tuple[list[MessageId], list[MessageId]]:
    """A simple model of a merge: the messages to add, and the requested ones that the target already has."""
    if strategy == "append":
        return [each for each in source if each not in target], []
    if strategy == "rebase":
        common = 0
        while common < min(len(source), len(target)) and source[common] == target[common]:
            common += 1
        wanted = source[common:]
    else:
        wanted = chosen
    merged: list[MessageId] = []
    doubled: list[MessageId] = []
    for each in wanted:
        (doubled if each in target or each in merged else merged).append(each)
    return merged, doubled


@given(common=ids, one=ids, other=ids, strategy=st.sampled_from(["append", "rebase", "cherry_pick"]), data=st.data())
def test_merge_candidates_equal_those_of_a_simple_model(
    common: list[MessageId], one: list[MessageId], other: list[MessageId], strategy: Any, data: st.DataObject
) -> None:
    source = common + [each for each in one if each not in common]
    target = common + [each for each in other if each not in common]
    chosen = data.draw(st.lists(st.sampled_from(source), min_size=1)) if strategy == "cherry_pick" and source else []
    if strategy == "cherry_pick" and not chosen:
        return
    candidates = merge_candidates(source, target, strategy, chosen)
    merged, doubled = model(source, target, strategy, chosen)
    assert [source[position] for position in candidates.positions] == merged
    assert [source[position] for position in candidates.already_there] == doubled
    assert not set(merged) & set(target)


def test_only_messages_of_the_source_branch_can_be_cherry_picked() -> None:
    with pytest.raises(InvalidInput, match="aren't on the source branch: z"):
        merge_candidates([MessageId("a")], [], "cherry_pick", [MessageId("z")])
    misfits: list[tuple[Strategy, list[MessageId]]] = [
        ("cherry_pick", []),
        ("append", [MessageId("a")]),
        ("rebase", [MessageId("a")]),
    ]
    for strategy, chosen in misfits:
        with pytest.raises(InvalidInput, match="allowed only there"):
            merge_candidates([MessageId("a")], [], strategy, chosen)


@given(before=st.integers(0, 5), positions=st.lists(st.integers(0, 20), unique=True, min_size=1))
def test_every_merged_message_knows_where_it_came_from(before: int, positions: list[int]) -> None:
    block = MergedBlock(
        start=before,
        count=len(positions),
        source="idea",
        ranges=ranges_of(positions),
        strategy="cherry_pick",
        at="then",
        by="me",
    )
    branch = Branch(name="main", key="k", created_at="", length=before + len(positions) + 2, merged=(block,))
    origins = [origin_of(branch, at) for at in range(branch.length)]
    assert [origin.position for origin in origins if origin is not None] == positions
    assert origins[:before] == [None] * before
    assert origins[-2:] == [None, None]
    cut = merged_blocks_within(branch, before + 1)
    assert [each.count for each in cut] == [1]
    assert merged_blocks_within(branch, before) == ()


def test_a_new_branch_gets_the_next_free_name() -> None:
    assert next_name("main", {"main"}) == "main-2"
    assert next_name("main-2", {"main", "main-2", "main-3"}) == "main-4"
