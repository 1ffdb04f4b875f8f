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
