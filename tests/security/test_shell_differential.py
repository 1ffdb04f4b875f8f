"""The classifier compared with the shells themselves, on generated lines.

A line classified as read-only is run for real in bash, dash and busybox. No file may change, and no program may start
that the classifier has not named. The product runs commands with bash; without bash, every command needs approval.
"""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import pytest

from pilothouse.domain.command_line import UNKNOWN_WORD
from pilothouse.domain.deception.hidden_characters import is_odd_blank
from pilothouse.sandbox.shell import Classification, classify
from tests.security.shell_generator import MARKS, Generator
from tests.security.shell_runner import SHELLS, ShellRunner
from tests.support.scale import LONG, Record

LINES = 100_000 if LONG else 2500
SEED = 20261116
READING = (
    *("awk", "basename", "bash", "cat", "cut", "date", "diff", "dirname", "env", "find", "git", "grep", "head", "id"),
    *("jq", "ls", "rev", "sed", "seq", "sort", "stat", "tac", "tee", "tr", "uniq", "wc", "xargs", "timeout", "nice"),
)
OTHERS = ("touch", "rm", "cp", "mv", "mkdir", "dd", "sh", "python3", "evil.sh", "ln", "chmod", "node", "make", *MARKS)
# Reserved words that the trace of a shell shows where there is no command.
_KEYWORDS = {"for", "case", "[[", "((", "[", "select", "echo"}


@pytest.fixture
def runner() -> Iterator[ShellRunner]:
    # Not pytest's own folder: nobody, who runs the lines, must be able to enter it.
    base = tempfile.mkdtemp(prefix="shells-")
    try:
        with ShellRunner(Path(base), READING, OTHERS) as runner:
            yield runner
    finally:
        shutil.rmtree(base, ignore_errors=True)


def installed() -> list[str]:
    return [name for name, command in SHELLS.items() if shutil.which(command[0])]


def harmless(count: int) -> list[tuple[str, Classification]]:
    lines = islice(Generator(SEED).lines(), count)
    return [(line, classification) for line in lines if (classification := classify(line)).read_only]


def is_for(shell: str, line: str) -> bool:
    """`[[ … ]]` is a command of bash: other shells take its operators for their own."""
    return shell == "bash" or "[[" not in line


def is_printed_faithfully(line: str) -> bool:
    """bash 5.2 loses what separates commands behind a here-document inside a substitution when it prints a function."""
    return "<<" not in line.replace("<<<", "") or not any(sign in line for sign in ("$(", "`", "<("))


Commands = Sequence[tuple[str, ...]]


def are_alike(some: Commands, others: Commands) -> bool:
    """Whether each command has its like among the others; bash prints words that the classifier does not know."""
    return all(any(_is_like(one, other) for other in others) for one in some) and all(
        any(_is_like(one, other) for one in some) for other in others
    )


def _is_like(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    one, other = _without_repeated_time(one), _without_repeated_time(other)
    if UNKNOWN_WORD in (*one, *other):
        patterns = [
            next((at for at, word in enumerate(words) if word == UNKNOWN_WORD), len(words)) for words in (one, other)
        ]
        return one[: min(patterns)] == other[: min(patterns)]
    return one == other


def _without_repeated_time(words: tuple[str, ...]) -> tuple[str, ...]:
    """bash takes `time time` for one."""
    return _without_repeated_time(words[1:]) if words[:2] == ("time", "time") else words


@pytest.mark.parametrize("shell", SHELLS)
def test_the_runner_sees_a_written_file_and_a_started_program(runner: ShellRunner, shell: str) -> None:
    if shell not in installed():
        pytest.skip(f"{shell} is not installed")
    assert runner.run(shell, "[ -f f.txt > PWNED ]").changed == ["PWNED"]
    assert runner.run(shell, "rm -f victim & ./evil.sh").started == ["rm"]
    assert runner.run(shell, "(./evil.sh &) &").changed == ["PWNED"]
    assert runner.run(shell, "[ '' || PWNED ]").started == ["PWNED"]
    assert runner.run(shell, "cat f.txt | wc -l").changed == []
    assert set(runner.run(shell, "cat f.txt | wc -l").started) == {"cat", "wc"}


def test_generated_read_only_lines_quote_blanks_that_are_no_spaces() -> None:
    """The comparisons below cover them."""
    odd = [line for line, _ in harmless(LINES) if any(map(is_odd_blank, line))]
    assert len(odd) >= LINES // 1000


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "echo '\u00ab\u00a0Bonjour\u00a0: \u2026\u00a0\u00bb'",
            ("echo", "\u00ab\u00a0Bonjour\u00a0: \u2026\u00a0\u00bb"),
        ),
        ('grep "a\u3000b" f.txt', ("grep", "a\u3000b", "f.txt")),
        ("echo $'5\u2009kg'", ("echo", "5\u2009kg")),
    ],
)
def test_a_quoted_blank_that_is_no_space_is_a_character_of_its_word(
    runner: ShellRunner, line: str, words: tuple[str, ...]
) -> None:
    classification = classify(line)
    assert classification.commands == (words,)
    assert classification.read_only
    assert classification.hidden == "no"
    assert runner.run("bash", line).changed == []


@pytest.mark.parametrize(
    "line", ["ls\u00a0-la", 'echo "$(ls\u00a0)"', "echo 'a'\u3000b", 'echo "$x\u00a0"', "cat <<E\n\u00a0\nE"]
)
def test_an_unquoted_unusual_blank_hides_the_command(line: str) -> None:
    assert classify(line).hidden == "line"


@pytest.mark.seconds(1500)
def test_generated_lines_classified_as_read_only_change_nothing(runner: ShellRunner, record_property: Record) -> None:
    lines, shells, wrong = harmless(LINES), installed(), []
    for line, classification in lines:
        names = {words[0].rpartition("/")[2] for words in classification.commands if words}
        for shell in shells:
            if not is_for(shell, line):
                continue
            deed = runner.run(shell, line)
            unseen = {name for name in (*deed.started, *deed.traced) if "=" not in name} - names - _KEYWORDS
            if deed.changed or unseen:
                wrong.append((shell, line, deed.changed, unseen))
    figure = f"shell classifier: {len(lines)} of {LINES} generated lines read-only, run in {', '.join(shells)}: "
    record_property("figure", f"{figure}{len(wrong)} did more")
    assert wrong[:20] == []


@pytest.mark.seconds(900)
def test_bash_parses_generated_lines_into_the_commands_that_the_judge_names(
    runner: ShellRunner, record_property: Record
) -> None:
    """bash prints a function as it has parsed it: redirections where they belong, words and ends of lines in order."""
    lines, unread, wrong = harmless(LINES), 0, []
    for line, classification in lines:
        form = runner.form(line) if is_printed_faithfully(line) else ""
        body = classify(form.partition("{")[2].rpartition("}")[0]) if form else classification
        if body.hidden == "line":
            unread += 1  # the grammar cannot parse bash's output: no statement about the line
        elif not body.read_only or not are_alike(body.commands, classification.commands):
            wrong.append((line, form, set(body.commands) ^ set(classification.commands)))
    record_property(
        "figure", f"shell classifier: {len(lines)} lines as bash parses them, {unread} unread, {len(wrong)} else"
    )
    assert wrong[:20] == []
    assert unread <= len(lines) * 0.02
