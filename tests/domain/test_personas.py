"""Personas: the merged tool policies of settings and persona, and the first mode of a conversation."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilothouse.domain.codes import Code
from pilothouse.domain.decisions import CallFacts, PolicySnapshot, decide, is_offered
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.modes import Modes, Verdict, is_looser
from pilothouse.domain.personas import Persona, Personas, ToolPolicy, initial_mode, tool_refusal

TOOLS = {"look": "file_system", "change": "file_system", "run": "system_control", "fetch": "external"}
OWN = msgspec.structs.replace(
    Modes().named("agent"), name="docs", aliases=(), only_beneath=("docs",), withholds=frozenset({"execute"})
)
MODES = Modes([OWN])
names = st.frozensets(st.sampled_from([*TOOLS]))
categories = st.frozensets(st.sampled_from([*TOOLS.values()]))
policies = st.builds(ToolPolicy, names, names, categories, categories)
switched_off = st.frozensets(st.sampled_from([*TOOLS, *TOOLS.values()]))


def off(disabled: frozenset[str], policy: ToolPolicy | None) -> set[str]:
    chosen = None if policy is None else "x"
    personas = Personas([] if policy is None else [Persona("x", tools=policy)])
    return {tool for tool, kind in TOOLS.items() if tool_refusal(disabled, chosen, personas, tool=tool, category=kind)}


@given(disabled=switched_off, policy=policies)
def test_no_persona_enables_a_tool_that_the_settings_disable(disabled: frozenset[str], policy: ToolPolicy) -> None:
    alone = off(disabled, None)
    assert alone == {tool for tool, kind in TOOLS.items() if tool in disabled or kind in disabled}
    assert off(disabled, policy) == alone | off(frozenset(), policy), "neither gives back what the other takes"


@given(policy=policies, denied=names, denied_categories=categories)
def test_a_denial_of_a_persona_overrides_its_own_allowance(
    policy: ToolPolicy, denied: frozenset[str], denied_categories: frozenset[str]
) -> None:
    stricter = msgspec.structs.replace(policy, denied=denied, denied_categories=denied_categories)
    for tool, kind in TOOLS.items():
        if tool in denied or kind in denied_categories:
            assert not stricter.permits(tool, kind)


@given(policy=policies)
def test_an_allow_list_of_a_persona_denies_all_other_tools(policy: ToolPolicy) -> None:
    if policy.allowed or policy.allowed_categories:
        for tool, kind in TOOLS.items():
            assert tool in policy.allowed or kind in policy.allowed_categories or not policy.permits(tool, kind)


@given(policy=policies, above=policies, disabled=switched_off)
def test_a_sub_agent_has_only_tools_that_its_own_and_its_parents_persona_allow(
    policy: ToolPolicy, above: ToolPolicy, disabled: frozenset[str]
) -> None:
    def standing(each: ToolPolicy, over: tuple[PolicySnapshot, ...] = ()) -> PolicySnapshot:
        personas = Personas([Persona("x", tools=each)])
        refusals = {
            tool: tool_refusal(disabled, "x", personas, tool=tool, category=kind) for tool, kind in TOOLS.items()
        }
        return PolicySnapshot(
            mode=MODES.named("agent"),
            denied={tool: reason for tool, reason in refusals.items() if reason is not None},
            ancestors=over,
        )

    both = standing(policy, (standing(above),))
    for tool, kind in TOOLS.items():
        is_allowed = policy.permits(tool, kind) and above.permits(tool, kind) and not {tool, kind} & disabled
        assert is_offered(tool, "mutating", both) == is_allowed
        verdict = decide(CallFacts(tool=tool, effect="mutating", digest="d"), both).verdict
        assert verdict is (Verdict.ALLOW if is_allowed else Verdict.DENY)


def test_a_persona_that_is_gone_permits_nothing_and_having_none_permits_all() -> None:
    for tool, kind in TOOLS.items():
        gone = tool_refusal((), "gone", Personas(), tool=tool, category=kind)
        assert gone is not None
        assert gone.code is Code.PERSONA_DENIED
        assert tool_refusal((), None, Personas(), tool=tool, category=kind) is None


def test_a_persons_own_persona_hides_a_projects_one_of_the_same_id() -> None:
    mine = Persona("reader", role="mine")
    theirs = [Persona("reader", role="theirs", origin="project"), Persona("writer", origin="project")]
    personas = Personas([mine], theirs)
    assert dict(personas) == {"reader": mine, "writer": theirs[1]}
    assert personas.hidden == (theirs[0],)
    assert Persona("reader").name == "reader"


@pytest.mark.parametrize("usual", [*MODES.all])
@pytest.mark.parametrize("proposed", [*MODES.all])
def test_a_projects_persona_never_makes_a_conversation_begin_looser(usual: str, proposed: str) -> None:
    own = MODES.named(usual)
    begun = initial_mode(Persona("x", default_mode=proposed, origin="project"), own, MODES)
    assert not is_looser(begun, own)
    assert begun.name in (usual, proposed)
    if not is_looser(MODES.named(proposed), own):
        assert begun.name == proposed, "what makes it stricter counts"
    assert initial_mode(Persona("x", default_mode=proposed), own, MODES).name == proposed, "one's own is one's choice"
    assert initial_mode(None, own, MODES) is initial_mode(Persona("x"), own, MODES) is own


def test_an_unknown_mode_of_a_persona_is_reported() -> None:
    with pytest.raises(InvalidInput, match="agent, supervised"):
        initial_mode(Persona("x", default_mode="nope"), MODES.named("agent"), MODES)
