"""The rules of wording for the web client: comments with a subject, and names that a newcomer knows."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "web"
FOLDERS = ("src", "tests", "e2e", "bench")
FILES = sorted(path for folder in FOLDERS for path in (WEB / folder).rglob("*.ts*"))

# A comment, or a string: comments and code inside of strings do not count.
_PIECE = re.compile(
    r"""(?P<comment>/\*.*?\*/|(?<![:\\"'\w])//[^\n]*)"""
    r"""|(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')""",
    re.DOTALL,
)
# A comment names its subject: "The delay before a retry.", not "What one waits before the next time."
SUBJECTS = re.compile(
    r"(what|it|that|this|one|they|those|these|whoever|who|whom|where|nothing|nobody|somebody|there)\b(?!:)",
    re.IGNORECASE,
)
# A variable is named after what it is: `record`, `plan`, `match`. Properties and keys of texts may have these names.
LOCALS = {
    *("asked", "found", "given", "got", "heard", "kept", "known", "looks", "made", "said", "seen", "taken"),
    *("thing", "things", "told", "wanted"),
}
_NAME = re.compile(r"(?<![\w$.])(" + "|".join(sorted(LOCALS)) + r")(?![\w$])(?!\s*\??:)")
# A number at the top of a module is a limit, or says its unit.
_NUMBER = re.compile(r"^(?:export )?const ([A-Z][A-Z0-9_]*) = -?\d[-\d_.e* ]*;", re.MULTILINE)
_UNITS = re.compile(
    r"(?:^|_)(?:MAX|MIN)_|_(?:MS|SECONDS|BYTES|CHARACTERS|CODE_UNITS|PX|LINES|ROWS|COUNT|DEPTH|STEP|BUTTON|RUNS)$|_PER_"
)


def pieces(path: Path, kind: str) -> Iterator[str]:
    for match in _PIECE.finditer(path.read_text()):
        if match[kind] is not None:
            yield match[kind]


def code_of(path: Path) -> str:
    code = _PIECE.sub(" ", path.read_text())
    return re.sub(r"`[^`]*`", lambda template: " ".join(re.findall(r"\$\{([^}]*)\}", template[0])), code)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(WEB)))
def test_a_comment_names_its_subject(path: Path) -> None:
    for comment in pieces(path, "comment"):
        text = re.sub(r"^(?:/\*+|//|\s|\*(?!/))+", "", comment)
        assert not SUBJECTS.match(text), f"name the subject: {comment}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(WEB)))
def test_a_variable_is_named_after_what_it_is(path: Path) -> None:
    names = {match[1] for match in _NAME.finditer(code_of(path))}
    assert not names, f"name {sorted(names)} after what they are"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(WEB)))
def test_a_number_says_its_unit(path: Path) -> None:
    names = [match[1] for match in _NUMBER.finditer(code_of(path)) if not _UNITS.search(match[1])]
    assert not names, f"give {names} a unit or MAX_…"


def test_no_two_modules_differ_only_in_case_or_ending() -> None:
    stems = [str(path.with_suffix("")).lower() for path in FILES]
    assert sorted(stems) == sorted(set(stems))
