"""A command is divided into code, quoted text and the content of files; in doubt a part is code."""

import pytest

from pilothouse.domain.deception.command_text import MAX_PARTS, Form, parts_of


def softened(command: str) -> list[str]:
    """The parts that do not count as code."""
    return [command[part.start : part.end] for part in parts_of(command) if part.form is not Form.CODE]


@pytest.mark.parametrize(
    ("command", "texts"),
    [
        ("echo 'a b' c \"d\"", ["a b'", "d"]),
        ('echo "a $(run "b") c" d', ["a ", "b", " c"]),
        ("echo \"a `run 'b'` c\" d", ["a ", "b'", " c"]),
        ("ls # it's\nrm x", [" it's"]),
        ("echo $'a\\'b' c", ["a\\'b'"]),
        ("cat > n <<'EOF'\nit's\nEOF\nrm x", ["it's\n"]),
        ("python <<EOF\nprint('x')\nEOF\nrm 'y'", ["x'", "y'"]),
        ("cat <<EOF | sh\nrm 'x'\nEOF", ["x'"]),
        ("cat <<<word 'x'", ["x'"]),
        ("bash -c 'rm x'; echo 'y'", ["y'"]),
        ("echo 'open", []),
        ('echo "$(open', []),
        ("cat <<EOF\nno end", []),
        ("cat $((1<<a))\nrm\na", []),
    ],
)
def test_only_what_no_shell_interprets_is_not_code(command: str, texts: list[str]) -> None:
    assert softened(command) == texts


def test_parts_are_in_order_and_leave_nothing_out() -> None:
    command = "a 'b' \"c $(d 'e' `f`) g\" <<X h\ni\nX\nj # k"
    parts = parts_of(command)
    assert "".join(command[part.start : part.end] for part in parts) == command


def test_a_command_of_too_many_parts_is_code() -> None:
    assert softened("'a' " * MAX_PARTS) == []


DOCUMENT = "<<'EOF'"
BODY = "ls \u2014 it's\nEOF"


@pytest.mark.parametrize(
    "command",
    [
        f"cat {DOCUMENT} > >(sh)\n{BODY}",
        f"cat {DOCUMENT} >&3 3> >(sh)\n{BODY}",
        f"cat {DOCUMENT} \\\n| sh\n{BODY}",
        f"cat {DOCUMENT} | sh\n{BODY}",
        f"( cat {DOCUMENT}\n{BODY}\n) | bash",
        f"{{ cat {DOCUMENT}\n{BODY}\n}} | sh",
        f'x=$(cat {DOCUMENT}\n{BODY}\n); eval "$x"',
        f"x=$(cat {DOCUMENT}\n{BODY}\n); $x",
        f"x=`cat {DOCUMENT}\n{BODY}\n`; $x",
        f"$(cat {DOCUMENT}\n{BODY}\n)",
        f'"$(cat {DOCUMENT}\n{BODY}\n)" x',
        f'sh -c "$(cat {DOCUMENT}\n{BODY}\n)"',
        f". <(cat {DOCUMENT}\n{BODY}\n)",
        f"cat > r.sh {DOCUMENT}\n{BODY}\nsh r.sh",
        f"cat > r.sh {DOCUMENT}; sh r.sh\n{BODY}",
        f"tee r.sh {DOCUMENT} >/dev/null && ./r.sh\n{BODY}",
        f"cat > r.sh {DOCUMENT}\n{BODY}\n's'h r.sh",
        f"cat > r.sh {DOCUMENT}\n{BODY}\nwhile true; do sh r.sh; done",
        f"cat > r.sh {DOCUMENT}\n{BODY}\nls() {{ sh r.sh; }}; ls",
        f"cat > r.sh {DOCUMENT}\n{BODY}\necho $(sh r.sh)",
        f"cat > r.sh {DOCUMENT}\n{BODY}\necho `sh r.sh`",
        f"cat > r.sh {DOCUMENT}\n{BODY}\nfind . -exec sh r.sh ';'",
        f"cat > .git/hooks/pre-commit {DOCUMENT}\n{BODY}\ngit commit -m x",
        f'git -c core.pager="$(cat {DOCUMENT}\n{BODY}\n)" log',
        f'git config alias.x "$(cat {DOCUMENT}\n{BODY}\n)"',
        f"cat > bin/ls {DOCUMENT}\n{BODY}\nPATH=bin:$PATH ls",
        f"cat > ~/bin/ls {DOCUMENT}\n{BODY}\nls",
        f"cat > x {DOCUMENT}\n{BODY}\ncp x ~/bin/ls; ls",
        f"cat > Makefile {DOCUMENT}\n{BODY}\nmake",
        f"cat > notes.md {DOCUMENT}\n{BODY}\nmake -f notes.md",
        f"cat > notes.md {DOCUMENT}\n{BODY}\nnpm exec sh n*",
        f"cat > notes.md {DOCUMENT}\n{BODY}\nsh x",
        f"cat > r.sh {DOCUMENT} # '\n{BODY}\nsh r.sh",
        f"ENV=x cat > x {DOCUMENT}\n{BODY}",
    ],
)
def test_a_document_is_code_where_a_command_of_the_line_may_run_it(command: str) -> None:
    assert Form.CONTENT not in {part.form for part in parts_of(command)}


@pytest.mark.parametrize(
    "command",
    [
        f"cat > notes.md {DOCUMENT}\n{BODY}",
        f"cat {DOCUMENT} > notes.md 2>&1 # written\n{BODY}\n# done\nls -la",
        f"mkdir -p docs && cat > docs/a.md {DOCUMENT}\n{BODY}\ncat >> docs/b.md {DOCUMENT}\n{BODY}\nls docs | wc -l",
        f"cd sub; sudo tee /etc/motd {DOCUMENT} > /dev/null\n{BODY}",
        f'git commit -m "$(cat {DOCUMENT}\n{BODY}\n)"',
        f'git add -A && git commit -q -m "$(cat {DOCUMENT}\n{BODY}\n)" --no-verify && git push origin main',
        f'gh pr create --title "A title" --body "$(cat {DOCUMENT}\n{BODY}\n)"',
        f'x=$(cat {DOCUMENT}\n{BODY}\n)\necho "$x"',
        f"if [ ! -f a.md ]; then cat > a.md {DOCUMENT}\n{BODY}\nfi",
        f"cat > notes.md {DOCUMENT}\n{BODY}\nnpm test && make docs",
        f"cat > .github/a.yml {DOCUMENT}\n{BODY}\ngit add .github .gitignore",
        f"cat > a.py {DOCUMENT}\n{BODY}\nchmod +x a.py",
    ],
)
def test_a_document_is_content_where_no_command_of_the_line_runs_it(command: str) -> None:
    assert Form.CONTENT in {part.form for part in parts_of(command)}
