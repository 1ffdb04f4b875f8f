"""The classifier of shell commands against real lines: none that does more than read is called read-only."""

import random
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pilothouse.sandbox.shell import classify
from pilothouse.sandbox.shell.scripts import MAX_SCRIPT_CHARACTERS
from tests.security.cases import BOUNDARY, CONTROL, SHELL, Case
from tests.security.line_corpus import BENIGN, DANGEROUS, HELD_BY_SANDBOX, Line
from tests.security.line_positions import positions
from tests.security.line_runner import Outcome, run, run_in_turn
from tests.support.scale import LONG, Record

# People rely on this: at least this part of the harmless lines runs without approval.
LET_THROUGH = 0.95
SAMPLE = 100_000 if LONG else 200
POSITIONS = 100_000 if LONG else 4000
OTHER_SHELL = ("another shell", "shells again")


def touch_is_seen(command: str) -> bool:
    """Whether a rule on the word `touch` would be asked: it is among the commands, or something may be hidden."""
    classification = classify(command)
    names = {words[0].rpartition("/")[2] for words in classification.commands if words}
    return "touch" in names or classification.hidden != "no"


def test_no_dangerous_line_is_read_only(record_property: Record) -> None:
    wrong = [line.command for line in DANGEROUS if classify(line.command).read_only]
    record_property("figure", f"shell classifier: {len(wrong)} of {len(DANGEROUS)} dangerous lines called read-only")
    assert wrong == []


def test_no_dangerous_line_is_strict() -> None:
    assert [line.command for line in DANGEROUS if classify(line.command).strict] == []


def test_no_line_that_needs_a_sandbox_is_strict() -> None:
    assert [line.command for line in HELD_BY_SANDBOX if classify(line.command).strict] == []


@pytest.mark.parametrize("command", ["sed -n '{}p' f.txt", "sed -n -e p -e '{}p' f.txt", "awk '{}1' f.txt"])
def test_a_script_is_read_only_up_to_a_length(command: str) -> None:
    assert classify(command.format(" " * (MAX_SCRIPT_CHARACTERS - 1))).read_only
    assert not classify(command.format(" " * MAX_SCRIPT_CHARACTERS)).read_only


@pytest.mark.parametrize(
    "script", ["1 , 5 ! { p ; p }", "p\n  p\n", "q 5 ;p", "/a/,+2 p", "$!N; s/a/b/g ; P;D", "5q\np"]
)
def test_scripts_of_sed_are_read_with_blanks_between_their_parts(script: str) -> None:
    assert classify(f"sed '{script}' f.txt").strict


def test_strict_is_narrower_than_read_only() -> None:
    lines = [*DANGEROUS, *HELD_BY_SANDBOX, *BENIGN]
    classes = [(line.command, classify(line.command)) for line in lines]
    assert [
        command for command, classification in classes if classification.strict and not classification.read_only
    ] == []


def test_a_hidden_command_is_found_in_every_position(record_property: Record) -> None:
    lines = list(positions())
    random.Random(5).shuffle(lines)
    lines = lines[:POSITIONS]
    wrong = [line for line in lines if classify(line).read_only or not touch_is_seen_or_written(line)]
    record_property("figure", f"shell classifier: {len(wrong)} of {len(lines)} positions overlooked")
    assert wrong[:40] == []


def touch_is_seen_or_written(command: str) -> bool:
    return "touch" not in command or touch_is_seen(command)


def test_a_rule_on_a_word_finds_the_hidden_command() -> None:
    lines = [line for line in DANGEROUS if line.starts_touch]
    assert [line.command for line in lines if not touch_is_seen(line.command)] == []


def test_harmless_lines_are_let_through(record_property: Record) -> None:
    refused = [line.command for line in BENIGN if not classify(line.command).read_only]
    record_property("figure", f"shell classifier: {len(refused)} of {len(BENIGN)} harmless lines refused: {refused}")
    assert len(refused) <= len(BENIGN) * (1 - LET_THROUGH), refused


@pytest.mark.parametrize("case", SHELL, ids=lambda case: case.id)
def test_a_known_attack_is_not_read_only(case: Case) -> None:
    classification = classify(case.command)
    assert not classification.read_only
    assert not classification.strict
    if "touch" in case.command:
        assert touch_is_seen(case.command)


@pytest.mark.parametrize("case", CONTROL, ids=lambda case: case.id)
def test_a_known_harmless_line_is_read_only(case: Case) -> None:
    assert classify(case.command).read_only


@pytest.mark.parametrize("case", BOUNDARY, ids=lambda case: case.id)
def test_a_command_keeps_its_whole_name(case: Case) -> None:
    """`gitleaks` is not `git`: the first word of the first command is the whole first word of the line."""
    classification = classify(case.command)
    assert classification.commands[0][0] == case.command.split()[0]


def test_the_inner_line_of_a_shell_is_judged_too() -> None:
    inner = classify("bash -ec 'touch x'")
    assert ("touch", "x") in inner.commands
    assert not inner.read_only
    assert ("git", "-C", "/other/repo", "log") in classify("git -C /other/repo log").commands
    assert classify("sh -lc 'curl x|sh'").hidden != "no"


@pytest.mark.parametrize(
    "line",
    ["ls > f", "ls < f", "ls 2>&1", "X=1 ls", "x=1; ls", "ls $x", "! ls", "ls &", "(ls)", "ls | cat", "ls\u00a0-la"],
)
def test_no_rule_on_a_command_is_offered_for_a_line_that_is_more_than_this_command(line: str) -> None:
    judgement = classify(line)
    assert not judgement.simple
    assert judgement.leading == ()


@pytest.mark.parametrize("line", ["env -i ls", "env - ls"])
def test_a_command_without_a_path_is_read_to_its_end_but_may_be_any_program(line: str) -> None:
    judgement = classify(line)
    assert ("ls",) in judgement.commands
    assert not judgement.read_only
    assert judgement.hidden == "program"


@pytest.mark.parametrize(("line", "is_read_only"), [("git config user.name", True), ("git config a.b c", False)])
def test_git_config_reads_the_setting_that_is_its_only_word(line: str, is_read_only: bool) -> None:
    assert classify(line).read_only is is_read_only


@pytest.mark.parametrize("line", ["env ls -i", "env cat -"])
def test_options_of_the_command_behind_env_are_not_those_of_env(line: str) -> None:
    assert classify(line).strict


@pytest.mark.parametrize("line", ["x+=hi; echo hi", "x=touch; x+=hi; echo $x", "x+=hi ls", "x[0]=hi; echo hi"])
def test_a_line_that_appends_to_a_variable_or_sets_an_element_is_uncertain(line: str) -> None:
    judgement = classify(line)
    assert not judgement.read_only
    assert judgement.is_doubtful


ODD = {
    "nothing": "",
    "a space": " ",
    "a NUL": "ls\0; touch PWNED",
    "a lone surrogate": "ls \udc80\ud800",
    "no end of a quote": "echo 'a",
    "no end of a substitution": "echo $(ls",
    "parentheses": "(" * 20_000,
    "substitutions": "echo " + "$(" * 20_000,
    "finished substitutions": "echo " + "$(" * 3000 + "ls" + ")" * 3000,
    "backquotes": "`" * 20_001,
    "braces": "{ " * 20_000,
    "expansions": "echo " + "${x:-" * 20_000,
    "brackets": "[[ " + "( " * 20_000,
    "ifs": "if " * 20_000,
    "pipes": "ls | " * 20_000 + "cat",
    "lines": "ls\n" * 50_000,
    "one word": "echo " + "a" * 1_000_000,
    "heredocs": "cat " + "<<E " * 5000 + "\n",
    "alternatives": "echo " + "{a,b}" * 5000,
    "shells in shells": "bash -c " * 3000 + "ls",
    "wrappers": "env " * 20_000 + "ls",
    "quotes": "echo " + "''" * 200_000,
    "escapes": "\\\n" * 200_000 + "ls",
    "sums": "echo $((" + "1+" * 50_000 + "1))",
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_line_is_judged_soon(name: str) -> None:
    start = time.process_time()
    classification = classify(ODD[name])
    assert time.process_time() - start < 5
    if "touch" in ODD[name]:
        assert not classification.read_only


def _run_all(lines: list[Line], patience: float) -> list[tuple[Line, Outcome]]:
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda line: (line, run(line.command, patience=patience)), lines))


def _sample(lines: tuple[Line, ...]) -> list[Line]:
    # If sh is bash, differences of dash cannot be observed.
    other_shell = Path("/bin/sh").resolve().name == "dash"
    can_run = [line for line in lines if line.runs and (other_shell or line.group not in OTHER_SHELL)]
    return random.Random(7).sample(can_run, min(SAMPLE, len(can_run)))


@pytest.mark.seconds(600)
def test_the_dangerous_lines_are_dangerous(record_property: Record) -> None:
    outcomes = _run_all(_sample((*DANGEROUS, *HELD_BY_SANDBOX)), patience=2)
    struck = [line for line, outcome in outcomes if outcome.marker or outcome.changed]
    missing = [line for line, outcome in outcomes if not (outcome.marker or outcome.changed) and outcome.missing]
    record_property("figure", f"shell lines: {len(struck)} of {len(outcomes)} struck, {len(missing)} lack a program")
    idle = [line.command for line, _ in outcomes if line not in struck and line not in missing]
    assert idle == []


@pytest.mark.seconds(600)
def test_the_harmless_lines_change_nothing() -> None:
    commands = [line.command for line in _sample(BENIGN)]
    outcomes = list(zip(commands, run_in_turn(commands), strict=True))
    assert [(command, outcome.changed) for command, outcome in outcomes if outcome.changed] == []


@pytest.mark.seconds(600)
def test_some_positions_run_the_hidden_command() -> None:
    """Most combinations really run the hidden command."""
    lines = random.Random(3).sample(list(positions()), 60)
    alive = [line for line, outcome in _run_all([Line(line, "") for line in lines], patience=0.2) if outcome.marker]
    assert len(alive) > len(lines) * 0.7
