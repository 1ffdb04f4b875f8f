"""Invariants of the transition table, and the diagram generated from it."""

from pathlib import Path

import msgspec
import pytest

from pilothouse.domain.codes import LANGUAGES
from pilothouse.domain.states import (
    RESTING,
    WORKING,
    BaseState,
    Cancelling,
    ConnectingToLLM,
    ExecutingTool,
    Failed,
    Idle,
    Initializing,
    State,
    StreamingLLMResponse,
    SwitchingBranch,
    WaitingForRecovery,
    name_of,
)
from pilothouse.domain.transitions import STEP_OF, TRANSITIONS, IllegalTransition, check, diagram
from pilothouse.i18n import catalog_of, translate_state
from pilothouse.runtime.turn.steps import STEPS

ALL = (*RESTING, *WORKING)
DIAGRAM = Path(__file__).parents[2] / "docs" / "states.md"


def test_every_state_has_a_row_and_only_states_have_one() -> None:
    assert set(TRANSITIONS) == set(ALL)


def test_every_state_can_be_reached() -> None:
    reached = set[type[BaseState]]()
    todo: set[type[BaseState]] = {Initializing}
    while todo:
        state = todo.pop()
        reached.add(state)
        todo |= set(TRANSITIONS[state]) - reached
    assert reached == set(ALL)


def test_every_working_state_belongs_to_a_step_can_be_cancelled_and_can_fail() -> None:
    assert set(STEP_OF) == set(WORKING)
    for state in WORKING:
        assert {Failed, WaitingForRecovery} <= TRANSITIONS[state]
        assert state is Cancelling or Cancelling in TRANSITIONS[state]


def test_every_resting_state_can_be_left_and_has_no_step() -> None:
    for state in RESTING:
        assert TRANSITIONS[state] - {state, Failed, WaitingForRecovery}
        assert state not in STEPS


def test_each_step_begins_in_the_states_declared_for_it() -> None:
    for state, step in STEPS.items():
        assert STEP_OF[state] == step.__name__


def test_an_edge_that_is_not_in_the_table_raises() -> None:
    with pytest.raises(IllegalTransition, match="idle -> connecting_to_llm"):
        check(Idle(), ConnectingToLLM())


@pytest.mark.parametrize(
    ("state", "wire"),
    [
        (
            StreamingLLMResponse(chunks_received=2, chars_accumulated=42),
            {"type": "streaming_llm_response", "chunks_received": 2, "chars_accumulated": 42},
        ),
        (SwitchingBranch(source="a", target="b"), {"type": "switching_branch", "from": "a", "to": "b"}),
        (Idle(), {"type": "idle"}),
    ],
)
def test_the_wire_form_is_stable(state: State, wire: dict[str, object]) -> None:
    assert msgspec.to_builtins(state) == wire
    assert msgspec.convert(wire, State) == state


def test_the_diagram_in_the_docs_is_the_table() -> None:
    assert diagram() in DIAGRAM.read_text(), "run: make docs"


def test_every_state_has_a_text_in_every_language_and_idle_has_none() -> None:
    for language in LANGUAGES:
        texts = catalog_of(language).states
        assert set(texts) == {name_of(state) for state in ALL}
        for name, text in texts.items():
            assert bool(text) == (name != "idle")
    assert translate_state(ExecutingTool(tool_name="x", running=1, done=0, total=1), "zh") == "正在运行 x…"
