"""The one decision, against the sentence of the specification spelled out again in another way."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pilothouse.domain.calls import Approval
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.command_line import UNKNOWN_WORD
from pilothouse.domain.decisions import (
    CallFacts,
    Decision,
    FolderMode,
    PolicySnapshot,
    decide,
    is_denied_by_mode,
    is_offered,
    must_be_confined,
)
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.modes import Modes, Verdict, is_looser
from pilothouse.domain.policies import Policy
from pilothouse.domain.rules import (
    Lifetime,
    Origin,
    Rule,
    RuleId,
    Scope,
    applicable_rules,
    check_scope,
    is_substitute,
    rule_options,
    substitute_rule,
)
from pilothouse.domain.value import ContextId
from tests.domain.decision_oracle import oracle

MODES = Modes()
RUN, WAIT, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY

mode_names = st.sampled_from(list(MODES.all))
paths = st.sampled_from(["docs/a.md", "docs/deep/b.md", "deploy/run.sh", "x.txt", "deploy", "."])
touches = st.none() | st.lists(paths, max_size=2).map(tuple)
tools = st.sampled_from(["write_file", "read_file", "execute"])
facts = st.builds(
    CallFacts,
    tool=tools,
    effect=st.sampled_from(["read_only", "mutating"]),
    digest=st.just("d"),
    violation=st.none() | st.none() | st.just(Reason(Code.OUTSIDE_WORKSPACE, {"path": "/"})),
    fingerprint=st.sampled_from(["f", "g"]),
    touches=touches,
    dangerous=st.sampled_from([(), ("overwrite",), ("delete",)]),
)
scopes = st.builds(
    Scope,
    tool=st.sampled_from(["*", "write_file", "execute"]),
    fingerprint=st.none() | st.none() | st.just("f"),
    folder=st.none() | st.sampled_from(["docs", "docs/deep", "deploy", "."]),
)
rules = st.lists(
    st.builds(
        Rule,
        id=st.uuids().map(lambda uuid: RuleId(str(uuid))),
        effect=st.sampled_from(["allow", "ask", "deny"]),
        scope=scopes,
        origin=st.just(Origin(by="me", at="then")),
    ),
    max_size=4,
).map(tuple)
policies = st.lists(
    st.builds(
        Policy,
        kind=st.sampled_from(["auto_approve", "manual", "white_list", "limited_auto"]),
        tools=st.frozensets(tools),
        depth=st.integers(1, 4),
        always_ask=st.sampled_from([frozenset(), frozenset({"delete"})]),
    ),
    max_size=2,
).map(tuple)


def snapshots(above: Any) -> Any:
    return st.builds(
        PolicySnapshot,
        mode=mode_names.map(MODES.named),
        folder_modes=st.lists(
            st.builds(FolderMode, folder=st.sampled_from(["deploy", "docs", "."]), mode=mode_names.map(MODES.named)),
            max_size=2,
        ).map(tuple),
        rules=rules,
        policies=policies,
        depth=st.integers(0, 5),
        elevated=st.booleans(),
        denied=st.sampled_from([{}, {}, {"execute": Reason(Code.TOOL_DISABLED, {"tool": "execute"})}]),
        ancestors=above,
    )


families = snapshots(st.lists(snapshots(st.just(())), max_size=2).map(tuple))


@given(call=facts, standing=families, approved=st.booleans())
@settings(max_examples=1500, deadline=None)
def test_decide_agrees_with_the_oracle_from_the_specification(
    call: CallFacts, standing: PolicySnapshot, approved: bool
) -> None:
    approval = Approval(by="me", at="now", digest="d", mode=standing.modes) if approved else None
    assert decide(call, standing, approval).verdict == oracle(call, standing, approved)


@given(call=facts, standing=families, other=families)
@settings(max_examples=300, deadline=None)
def test_an_approval_counts_only_for_its_digest_and_under_its_modes(
    call: CallFacts, standing: PolicySnapshot, other: PolicySnapshot
) -> None:
    plain = decide(call, standing).verdict
    foreign = Approval(by="me", at="now", digest="another", mode=standing.modes)
    assert decide(call, standing, foreign).verdict == plain
    if other.modes != standing.modes:
        elsewhere = Approval(by="me", at="now", digest="d", mode=other.modes)
        assert decide(call, standing, elsewhere).verdict == plain


@given(call=facts, standing=families)
@settings(max_examples=300, deadline=None)
def test_no_rule_policy_or_elevation_overrides_a_denial_by_the_mode(call: CallFacts, standing: PolicySnapshot) -> None:
    """Property 5, for all rules, policies, elevations and sub-agents there can be."""
    approval = Approval(by="me", at="now", digest="d", mode=standing.modes)
    verdict = decide(call, standing, approval).verdict
    names = {each.mode.name for each in (standing, *standing.ancestors)}
    if "ask" in names or ("plan" in names and (call.effect == "mutating" or call.tool == "execute")):
        assert verdict is DENY
    if "review" in names and call.effect == "mutating" and not standing.elevated:
        assert decide(call, standing).verdict is not RUN


def call(tool: str = "write_file", **fields: Any) -> CallFacts:
    return CallFacts(tool=tool, effect=fields.pop("effect", "mutating"), digest="d", fingerprint="f", **fields)


def rule(effect: Any, **scope: Any) -> Rule:
    return Rule(id=RuleId(f"{effect}-rule"), effect=effect, scope=Scope(**scope), origin=Origin(by="me", at="then"))


def snapshot(mode: str = "agent", **fields: Any) -> PolicySnapshot:
    return PolicySnapshot(mode=MODES.named(mode), **fields)


def test_a_denial_names_the_rule_that_decided() -> None:
    decision = decide(call(touches=("docs/a.md",)), snapshot(rules=(rule("deny", folder="docs"),)))
    assert (decision.verdict, decision.rule, decision.reason.code) == (DENY, "deny-rule", Code.RULE_DENIES)


def test_an_allow_rule_allows_a_call_that_would_ask_and_is_named() -> None:
    decision = decide(call(), snapshot("supervised", rules=(rule("allow", tool="write_file"),)))
    assert (decision.verdict, decision.rule, decision.reason.code) == (RUN, "allow-rule", Code.RULE_ALLOWS)


@pytest.mark.parametrize("mode", ["review", "plan", "ask"])
def test_an_allow_rule_allows_no_call_that_only_a_person_or_nobody_may_approve(mode: str) -> None:
    assert decide(call(), snapshot(mode, rules=(rule("allow", tool="*"),))).verdict is not RUN


def test_a_broad_allow_rule_does_not_open_what_a_particular_rule_asks_for() -> None:
    broad, asking = rule("allow", tool="write_file"), rule("ask", tool="write_file", folder="deploy")
    exact = rule("allow", tool="write_file", fingerprint="f")
    touched = call(touches=("deploy/x",))
    assert decide(touched, snapshot(rules=(broad, asking))).verdict is WAIT
    assert decide(touched, snapshot(rules=(exact, asking))).verdict is RUN


def test_of_two_rules_of_the_same_width_ask_wins() -> None:
    for scope in (
        {"tool": "write_file"},
        {"tool": "*"},
        {"folder": "docs"},
        {"tool": "write_file", "fingerprint": "f"},
    ):
        both = (rule("allow", **scope), rule("ask", **scope))
        assert decide(call(touches=("docs/a",)), snapshot(rules=both)).verdict is WAIT, scope
    deeper = (rule("allow", folder="docs/a"), rule("ask", folder="docs"))
    assert decide(call(touches=("docs/a/b",)), snapshot(rules=deeper)).verdict is RUN


def test_a_call_of_unknown_reach_counts_as_touching_every_folder() -> None:
    deploy = (FolderMode(folder="deploy", mode=MODES.named("plan")),)
    assert decide(call("execute"), snapshot(folder_modes=deploy)).verdict is DENY
    assert decide(call(touches=("docs/a",)), snapshot(folder_modes=deploy)).verdict is RUN
    assert decide(call(touches=("deploy/a",)), snapshot(folder_modes=deploy)).verdict is DENY
    assert decide(call("execute"), snapshot("supervised", rules=(rule("allow", folder="."),))).verdict is WAIT


def test_a_folders_mode_denies_without_ending_the_turn() -> None:
    deploy = (FolderMode(folder="deploy", mode=MODES.named("plan")),)
    denial = decide(call(touches=("deploy/a",)), snapshot(folder_modes=deploy))
    assert (denial.reason.code, denial.ends_turn) == (Code.DIRECTORY_DENIED, False)
    asking = (FolderMode(folder="deploy", mode=MODES.named("supervised")),)
    question = decide(call(touches=("deploy/a",)), snapshot(folder_modes=asking))
    assert (question.reason.code, question.ends_turn) == (Code.DIRECTORY_WAITS, False)
    assert decide(call(), snapshot("plan")).ends_turn


def test_a_custom_mode_can_be_limited_to_changes_in_its_folders() -> None:
    docs = msgspec.structs.replace(MODES.named("agent"), name="docs", only_beneath=("docs",))
    own = PolicySnapshot(mode=docs)
    assert decide(call(touches=("docs/a.md",)), own).verdict is RUN
    assert decide(call(touches=("docs/../x",)), own).verdict is DENY
    assert decide(call("execute"), own).verdict is DENY
    assert decide(call("read_file", effect="read_only", touches=("x",)), own).verdict is RUN
    assert not is_looser(docs, MODES.named("agent"))
    assert is_looser(MODES.named("agent"), docs)


def test_an_elevation_allows_what_review_asks_about_and_nothing_else() -> None:
    elevated = snapshot("review", elevated=True)
    decision = decide(call(), elevated)
    assert (decision.verdict, decision.elevated) == (RUN, True)
    assert not decide(call("read_file", effect="read_only"), elevated).elevated
    asking = snapshot("review", elevated=True, rules=(rule("ask", tool="write_file"),))
    assert decide(call(), asking).verdict is WAIT
    approved = Approval(by="me", at="now", digest="d", mode="review")
    assert not decide(call(), elevated, approved).elevated, "an approved call uses no elevation up"


def test_a_changing_tool_that_review_lets_run_counts_as_a_call_of_an_elevation() -> None:
    undo = call("undo", touches=None)
    assert not decide(undo, snapshot("review")).elevated
    decision = decide(undo, snapshot("review", elevated=True))
    assert (decision.verdict, decision.elevated, decision.reason.code) == (RUN, True, Code.ELEVATION_RUNS)
    approved = Approval(by="me", at="now", digest="d", mode="review")
    assert not decide(undo, snapshot("review", elevated=True), approved).elevated
    denied = snapshot("review", elevated=True, rules=(rule("deny", tool="undo"),))
    assert decide(undo, denied).verdict is DENY


def test_the_elevation_of_an_ancestor_frees_no_undo_of_a_sub_agent() -> None:
    undo = call("undo", touches=None)
    above = snapshot("review", elevated=True)
    assert not decide(undo, snapshot("agent", ancestors=(above,))).elevated
    assert must_be_confined(undo, snapshot("agent", ancestors=(above,)), None)
    assert must_be_confined(undo, snapshot("review"), None)
    assert not must_be_confined(undo, snapshot("review", elevated=True), None)


def test_a_sub_agent_is_never_freer_than_its_parent() -> None:
    for above, verdict in (("agent", RUN), ("supervised", WAIT), ("review", WAIT), ("plan", DENY), ("ask", DENY)):
        decision = decide(call(), snapshot("agent", ancestors=(snapshot(above),)))
        assert decision.verdict is verdict
    assert not is_offered("write_file", "mutating", snapshot("agent", ancestors=(snapshot("plan"),)))
    bound = snapshot("agent", ancestors=(snapshot("agent", rules=(rule("deny", tool="write_file"),)),))
    assert decide(call(), bound).verdict is DENY


def test_only_a_denial_by_the_parents_mode_ends_the_sub_agents_turn() -> None:
    lenient = msgspec.structs.replace(MODES.named("plan"), name="lenient", denial_ends_turn=False)
    wall = msgspec.structs.replace(MODES.named("supervised"), name="wall", denial_ends_turn=True)
    ends = {
        mode.name: decide(call(), snapshot("agent", ancestors=(PolicySnapshot(mode=mode),))).ends_turn
        for mode in (lenient, wall)
    }
    assert ends == {"lenient": False, "wall": False}
    assert decide(call(), snapshot("agent", ancestors=(snapshot("plan"),))).ends_turn


def test_folders_matter_as_soon_as_a_mode_a_directory_or_a_rule_names_one() -> None:
    docs = msgspec.structs.replace(MODES.named("agent"), name="docs", only_beneath=("docs",))
    naming = (
        PolicySnapshot(mode=docs),
        snapshot(folder_modes=(FolderMode(folder="deploy", mode=MODES.named("plan")),)),
        snapshot(rules=(rule("deny", folder="deploy"),)),
    )
    for each in naming:
        assert each.depends_on_folders
        assert snapshot("agent", ancestors=(each,)).depends_on_folders
    assert not snapshot(rules=(rule("deny", tool="execute"),)).depends_on_folders


def test_a_mode_that_denies_reading_denies_it_before_anything_is_prepared_whatever_its_folders() -> None:
    docs = msgspec.structs.replace(MODES.named("ask"), name="docs", only_beneath=("docs",))
    assert is_denied_by_mode("read_file", "read_only", PolicySnapshot(mode=docs))
    assert not is_denied_by_mode("write_file", "mutating", PolicySnapshot(mode=docs)), "where it writes decides"
    assert is_denied_by_mode("write_file", "mutating", snapshot("ask"))


def test_a_read_only_call_is_confined_unless_a_person_approved_it() -> None:
    undo = call("undo")
    approval = Approval(by="me", at="now", digest="d", mode="review")
    assert must_be_confined(undo, snapshot("review"), None)
    assert not must_be_confined(undo, snapshot("review"), approval)
    assert not must_be_confined(undo, snapshot("review", elevated=True), None)
    assert not must_be_confined(undo, snapshot("agent"), None)


def test_a_mode_that_allows_any_single_call_more_is_looser() -> None:
    supervised = MODES.named("supervised")
    for change in ({"mutating": RUN}, {"read_only": RUN}):
        looser = msgspec.structs.replace(supervised, name="other", **change)
        assert is_looser(looser, supervised)
        assert not is_looser(supervised, looser)
    withheld = msgspec.structs.replace(supervised, name="withheld", withholds=frozenset({"execute"}))
    assert is_looser(supervised, withheld)
    assert not is_looser(withheld, supervised)
    offering = {offers: msgspec.structs.replace(supervised, name=offers, offers=offers) for offers in ("all", "none")}
    assert is_looser(offering["all"], offering["none"])
    assert not is_looser(offering["none"], offering["all"])


def test_no_rule_allows_or_denies_a_question() -> None:
    question = CallFacts(tool="ask_user", effect="question", digest="d")
    strict = snapshot(
        "agent", rules=(rule("deny", tool="*"), rule("allow", tool="*")), policies=(Policy(kind="manual"),)
    )
    approval = Approval(by="me", at="now", digest="d", mode="agent")
    assert decide(question, strict, approval).verdict is WAIT
    assert decide(question, snapshot("ask")).verdict is DENY


def test_rules_count_in_their_conversation_their_workspace_and_their_time_only() -> None:
    here = Rule(
        id=RuleId("1"),
        effect="allow",
        scope=Scope(tool="x", workspace="/w"),
        lifetime=Lifetime(context=ContextId("c"), until="2026-01-02T00:00:00.000Z"),
        origin=Origin(by="me"),
    )
    fits: dict[str, Any] = {"contexts": [ContextId("c")], "workspace": "/w", "now": "2026-01-01T23:59:59.999Z"}
    assert applicable_rules([here], **fits) == [here]
    assert applicable_rules([here], **{**fits, "contexts": [ContextId("d")]}) == []
    assert applicable_rules([here], **{**fits, "workspace": "/v"}) == []
    assert applicable_rules([here], **{**fits, "now": "2026-01-02T00:00:00.000Z"}) == []


def test_a_policy_that_asks_about_a_danger_asks_about_changes_that_nobody_can_foresee() -> None:
    asks = snapshot("agent", policies=(Policy(always_ask=frozenset({"delete"})),))
    assert decide(call(touches=("docs/a",)), asks).verdict is RUN
    assert decide(call(touches=None), asks).verdict is WAIT
    assert decide(call("read_file", effect="read_only", touches=None), asks).verdict is RUN


def test_a_rule_for_a_tool_is_narrower_than_one_for_all_tools() -> None:
    assert Scope(tool="write_file").width < Scope().width
    both = (rule("allow", tool="write_file"), rule("ask", tool="*"))
    assert decide(call(), snapshot("supervised", rules=both)).verdict is RUN


@pytest.mark.parametrize("words", [("git", UNKNOWN_WORD), ("git", ""), tuple("abcdefghijklmnopq")])
def test_a_rule_for_words_names_each_of_them(words: tuple[str, ...]) -> None:
    check_scope(Scope(tool="execute", words=("git", "push")))
    with pytest.raises(InvalidInput):
        check_scope(Scope(tool="execute", words=words))


def test_a_call_in_several_folders_is_offered_the_folder_that_holds_them_all_but_never_the_workspace() -> None:
    def folders(*touches: str) -> set[str | None]:
        rungs = rule_options("write_file", "f", "{}", touches, workspace="/w", origin=Origin(by="me"))
        return {offer.rule.scope.folder for offer in rungs} - {None}

    assert folders("docs/a/x", "docs/b/y") == {"docs"}
    assert folders("docs/x", "src/y") == set()
    assert folders("x") == set()


def test_a_user_rule_is_never_taken_for_the_substitute_of_a_damaged_log() -> None:
    stands = substitute_rule(Reason(Code.RULES_DAMAGED))
    assert is_substitute(stands)
    assert not is_substitute(msgspec.structs.replace(stands, origin=Origin(by="me")))
    assert not is_substitute(msgspec.structs.replace(stands, id=RuleId("another")))


@given(call=facts)
def test_rule_options_go_from_narrow_to_wide_and_each_allows_its_call(call: CallFacts) -> None:
    origin = Origin(by="me", at="now", context=ContextId("c"))
    rungs = rule_options(call.tool, call.fingerprint, "{}", call.touches, workspace="/w", origin=origin)
    here = [offer for offer in rungs if offer.rule.lifetime.context == "c"]
    for_good = [offer for offer in rungs if offer.rule.lifetime.context is None]
    assert rungs == here + for_good
    assert [offer.rule.scope for offer in here] == [offer.rule.scope for offer in for_good]
    widths = [offer.rule.scope.width for offer in here]
    assert widths == sorted(widths)
    assert rungs[0].scope == "exact"
    for offer in rungs:
        opened: Decision = decide(call, snapshot("supervised", rules=(offer.rule,)))
        assert opened.verdict is (RUN if call.violation is None else DENY)


def test_audit_entries_keep_the_words_that_earlier_versions_wrote() -> None:
    assert [verdict.audit_word for verdict in Verdict] == ["run", "wait", "deny"]
