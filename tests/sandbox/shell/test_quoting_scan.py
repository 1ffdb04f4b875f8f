"""The classifier believes no line in which a shell sees a substitution that the parse tree does not show."""

import pytest

from pilothouse.sandbox.shell import classify
from tests.security.shell_runner import ShellRunner
from tests.security.test_shell_differential import runner  # noqa: F401

UNSEEN = [
    'echo "$ $(touch PWNED)"',
    'echo "a $ $(touch PWNED) b"',
    'cat <<< "$ $(touch PWNED)"',
    '[ a = "$ $(touch PWNED)" ]',
    '[[ -n "$ $(touch PWNED)" ]]',
    'echo "$(echo "$ $(touch PWNED)")"',
    "[[ a<(touch PWNED) ]]",
    "[[ a>(touch PWNED) ]]",
    "[[ a == b<(touch PWNED) ]]",
    "[[ ! a<(touch PWNED) ]]",
    "[[ a && b<(touch PWNED) ]]",
]


@pytest.mark.parametrize("line", UNSEEN)
def test_a_substitution_that_the_grammar_does_not_show_makes_a_line_uncertain(
    runner: ShellRunner,  # noqa: F811
    line: str,
) -> None:
    classification = classify(line)
    assert not classification.read_only
    assert classification.hidden == "line"
    assert not classification.is_complete
    assert "touch" in runner.run("bash", line).started, "bash does run the command"


@pytest.mark.parametrize(
    "line",
    [
        *('echo "$"', 'echo "$ 5"', 'echo "costs $5"', 'echo "$ $x"', 'grep -E "a$" f', 'echo "100% of $"; ls'),
        *("grep '$(' f", "grep 'a<(b)' f", "echo '`'", 'echo "\\$(rm x)"', "echo \\$\\(ls\\)", 'echo "\\`ls\\`"'),
        *('echo "a <(b) >(c)"', 'echo "it\'s $(ls)"', "echo \"$(echo 'a)' b)\"", 'echo "$(ls "$(pwd)")"'),
        *("ls # don't $(x", "echo a#$(ls)", "echo $((1+2))", 'echo "$((1+2))$"', "echo ${x:-a} ${#x}", "echo $'a\\'b'"),
        *(
            "cat <<'E'\n$(rm x) don't\nE",
            "cat <<E\nit's $x\nE\nls",
            "cat <(ls) <(pwd)",
            "echo `ls` a",
            "wc -l <<< 'a $('",
        ),
        *(
            "case x in a) ls;; esac",
            "(ls; echo ')')",
            "[[ $x == 'a<(b)' ]]",
            "[[ $x =~ ^a(b|c)$ ]]",
            "echo a \\\n  'b'",
        ),
    ],
)
def test_ordinary_lines_are_still_read_only(line: str) -> None:
    classification = classify(line)
    assert classification.read_only
    assert classification.is_complete


@pytest.mark.parametrize(
    "line",
    ["echo ${x:-$(pwd)}", 'echo "${x:-"a"}"', 'echo "$(case a in a) ls;; esac)"', 'echo "`echo "a"`"', "echo $[1]"],
)
def test_a_line_that_the_scan_cannot_follow_is_uncertain_and_nothing_of_it_is_left_out(line: str) -> None:
    """In `agent` such a line runs as before."""
    classification = classify(line)
    assert not classification.read_only
    assert classification.is_complete


@pytest.mark.parametrize("part", ["$ ", "'a' ", '"$(', "`", "${x", "(", "<(", "# ", "\\", '"$ $(a)" ', '"`', "$'"])
def test_a_long_line_of_one_sign_is_judged(part: str) -> None:
    """At any depth, and without an end of the construct."""
    line = "echo " + part * (1900 // len(part))
    assert classify(line).lines == (line,)
