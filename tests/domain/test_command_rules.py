"""Rules about commands: to allow, the only command of a line; to ask or deny, any that it may start."""

from typing import Any

import pytest

from pilothouse.domain.calls import Approval, Effect
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.command_line import CommandLine
from pilothouse.domain.decisions import CallFacts, PolicySnapshot, decide, must_be_confined
from pilothouse.domain.modes import Modes, Verdict, is_looser, with_plan_commands
from pilothouse.domain.rules import Origin, Rule, RuleEffect, RuleId, Scope, is_narrower
from pilothouse.sandbox.shell import classify

MODES = Modes()


def call(command: str, *, effect: Effect = "mutating", ask: Reason | None = None) -> CallFacts:
    return CallFacts(tool="execute", effect=effect, digest="d", command_line=classify(command).line, ask=ask)


def rule(effect: RuleEffect, *words: str, number: str = "1") -> Rule:
    return Rule(id=RuleId(number), effect=effect, scope=Scope(tool="execute", words=words), origin=Origin(by="me"))


def verdict(command: str, *rules: Rule, mode: str = "supervised", **more: Any) -> Verdict:
    return decide(call(command), PolicySnapshot(mode=MODES.all[mode], rules=rules, **more)).verdict


@pytest.mark.parametrize(
    ("command", "words", "runs"),
    [
        ("git status", ("git", "status"), True),
        ("git status --short", ("git", "status"), True),
        ("git", ("git", "status"), False),
        ("gitleaks --dump", ("git",), False),
        ("./git status", ("git", "status"), False),
        ("git status; rm x", ("git", "status"), False),
        ("git status && git status", ("git", "status"), False),
        ("git status > x", ("git", "status"), False),
        ("X=1 git status", ("git", "status"), False),
        ("git status $(rm x)", ("git", "status"), False),
        ("git status $x", ("git", "status"), False),
        ("(git status)", ("git", "status"), False),
        ("git -C /other log", ("git", "log"), False),
        ("sh -c 'git status'", ("git", "status"), False),
        ("'git' \"status\"", ("git", "status"), True),
    ],
)
def test_an_allow_rule_covers_one_simple_command_and_nothing_else(
    command: str, words: tuple[str, ...], runs: bool
) -> None:
    assert (verdict(command, rule("allow", *words)) is Verdict.ALLOW) is runs


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git push", Verdict.DENY),
        ("/usr/bin/git push origin", Verdict.DENY),
        ("ls; git push", Verdict.DENY),
        ("env git push", Verdict.DENY),
        ("sh -c 'ls && git push'", Verdict.DENY),
        ("echo origin | xargs git push", Verdict.DENY),
        ("$x push", Verdict.DENY),
        ("git $x", Verdict.DENY),
        ('eval "$x"', Verdict.DENY),
        ("make deploy", Verdict.ASK),
        ("git -C sub push", Verdict.DENY),
        ("ls -la", Verdict.ALLOW),
        ("touch x", Verdict.ALLOW),
    ],
)
def test_a_deny_rule_finds_its_command_wherever_it_hides(command: str, expected: Verdict) -> None:
    assert verdict(command, rule("deny", "git", "push"), mode="agent") is expected


def test_a_command_that_may_run_a_denied_one_asks_unless_an_allow_rule_names_it() -> None:
    denied, allowed = rule("deny", "git", "push"), rule("allow", "make", "test", number="2")
    assert verdict("make test", denied, mode="agent") is Verdict.ASK
    assert verdict("make test", denied, allowed, mode="agent") is Verdict.ALLOW
    assert verdict("git push", denied, rule("allow", "git", number="2"), mode="agent") is Verdict.DENY


def test_more_words_say_something_more_particular() -> None:
    assert is_narrower(Scope(tool="execute", words=("git", "push")), Scope(tool="execute", words=("git",)))
    assert is_narrower(Scope(tool="execute", words=("git",)), Scope(tool="execute"))
    assert is_narrower(Scope(tool="execute", fingerprint="f"), Scope(tool="execute", words=("git", "push")))


def test_a_white_listed_command_needs_no_approval_and_every_other_does() -> None:
    lists = ((("git", "status"), ("ls",)),)
    assert verdict("ls -la", mode="agent", command_lists=lists) is Verdict.ALLOW
    for other in ("lsof -i", "ls; rm x", "git log", "python x.py"):
        assert verdict(other, mode="agent", command_lists=lists) is Verdict.ASK
    both = (*lists, (("git",),))
    assert verdict("git status", mode="agent", command_lists=both) is Verdict.ALLOW
    assert verdict("ls", mode="agent", command_lists=both) is Verdict.ASK, "each list must hold it"


def test_no_rule_or_elevation_allows_a_call_that_only_a_person_may_approve() -> None:
    ask = Reason(Code.RUNS_CODE, {"path": ".vscode/settings.json"})
    facts = CallFacts(tool="write_file", effect="mutating", digest="d", ask=ask, touches=("x",))
    everything = Rule(id=RuleId("1"), effect="allow", scope=Scope(), origin=Origin(by="me"))
    for mode in ("agent", "supervised"):
        assert decide(facts, PolicySnapshot(mode=MODES.all[mode], rules=(everything,))).verdict is Verdict.ASK
    review = PolicySnapshot(mode=MODES.all["review"], elevated=True)
    assert decide(facts, review).verdict is Verdict.ASK
    approval = Approval(by="me", at="", digest="d", mode="agent")
    assert decide(facts, PolicySnapshot(mode=MODES.all["agent"]), approval).verdict is Verdict.ALLOW
    assert decide(facts, PolicySnapshot(mode=MODES.all["plan"])).verdict is Verdict.DENY


@pytest.mark.parametrize(
    ("mode", "approved", "elevated", "confined"),
    [
        ("agent", False, False, False),
        ("review", False, False, True),
        ("review", True, False, False),
        ("review", False, True, True),
        ("supervised", True, False, False),
    ],
)
def test_a_command_that_runs_without_approval_because_it_only_reads_is_confined(
    mode: str, approved: bool, elevated: bool, confined: bool
) -> None:
    facts = call("ls", effect="read_only")
    approval = Approval(by="me", at="", digest="d", mode=mode) if approved else None
    standing = PolicySnapshot(mode=MODES.all[mode], elevated=elevated)
    assert decide(facts, standing, approval).verdict is Verdict.ALLOW
    assert must_be_confined(facts, standing, approval) is confined
    assert not must_be_confined(call("rm x"), standing, approval)


def test_plan_mode_runs_read_only_commands_only_if_configured() -> None:
    reading, writing = call("ls", effect="read_only"), call("rm x")
    assert decide(reading, PolicySnapshot(mode=MODES.all["plan"])).verdict is Verdict.DENY
    plan = with_plan_commands(MODES).all["plan"]
    assert decide(reading, PolicySnapshot(mode=plan)).verdict is Verdict.ALLOW
    assert must_be_confined(reading, PolicySnapshot(mode=plan), None)
    assert decide(writing, PolicySnapshot(mode=plan)).verdict is Verdict.DENY
    assert is_looser(plan, MODES.all["plan"])
    assert not is_looser(MODES.all["plan"], plan)


def test_undo_runs_without_approval_in_review_and_asks_or_is_denied_elsewhere() -> None:
    facts = CallFacts(tool="undo", effect="mutating", digest="d")
    verdicts = {name: decide(facts, PolicySnapshot(mode=mode)).verdict for name, mode in MODES.all.items()}
    assert verdicts == {
        "agent": Verdict.ALLOW,
        "supervised": Verdict.ASK,
        "review": Verdict.ALLOW,
        "plan": Verdict.DENY,
        "ask": Verdict.DENY,
    }


def test_a_line_that_nobody_could_read_hides_something() -> None:
    assert CommandLine().hidden == "line"
    assert not CommandLine().is_simple
