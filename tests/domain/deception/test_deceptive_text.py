"""Deceptive text is marked by rules; ordinary text of any language is not."""

import json
import os
import random
import re
import unicodedata
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from pilothouse.domain.deception import deceptive_text, word_scan
from pilothouse.domain.deception.deceptive_text import deception_marks, is_quick, lookalike_characters
from pilothouse.domain.deception.word_scan import MAX_CHUNK_CHARACTERS, words_of
from pilothouse.i18n import translate_dangers, without_padding
from pilothouse.sandbox.known_names import is_program_or_path

CASES = Path(__file__).parents[2] / "data/deceptive_texts.jsonl"
"""Texts of calls: each deceptive, ordinary, or a gap: one that deceives and is not marked."""
NAMES = frozenset(
    """
    apt bash bin cat cc chmod cp curl docker env find git head id jq kill ls mv node npm open pip ps python rm scp sed
    sh ssh sudo tar tee top vi vim whoami app src .env /etc /etc/passwd /usr/bin/env src/app.py src/main.py app.py
    main.py configure ./configure flock echo exec mkdir
    """.split()  # noqa: SIM905
)
CONTENTS = frozenset({"content", "new_text"})


def marks_of(arguments: object) -> tuple[str, ...]:
    return deception_marks(arguments, NAMES.__contains__, CONTENTS)


def marks(command: str) -> tuple[str, ...]:
    return marks_of({"command": command})


def cases(kind: str) -> Iterator[tuple[str, str]]:
    for line in CASES.read_text(encoding="ascii").splitlines():
        case = json.loads(line)
        if case["kind"] == kind:
            yield case["argument"], case["text"]


def test_every_text_made_to_deceive_is_marked() -> None:
    texts = list(cases("deceptive"))
    assert len(texts) == 580
    assert [ascii(text) for argument, text in texts if not marks_of({argument: text})] == []


def test_ordinary_text_of_any_language_is_not_marked() -> None:
    texts = list(cases("ordinary"))
    assert len(texts) == 540
    assert [(ascii(text), marks) for argument, text in texts if (marks := marks_of({argument: text}))] == []


def test_ordinary_text_is_not_marked_when_a_file_system_has_decomposed_it() -> None:
    decomposed = ((argument, unicodedata.normalize("NFD", text)) for argument, text in cases("ordinary"))
    assert [(ascii(text), marks) for argument, text in decomposed if (marks := marks_of({argument: text}))] == []


def test_the_texts_that_deceive_unmarked_are_known() -> None:
    """Letters of ASCII that look alike, text from right to left around signs, short names in quotation marks."""
    assert [marks_of({argument: text}) for argument, text in cases("gap")] == [()] * 4


def test_each_kind_of_deception_has_its_mark() -> None:
    assert marks("echo ok" + " " * 200 + "; rm x") == ("padding",)
    assert marks("echo ok" + "\u2003" * 2_100 + "; rm -rf x") == ("padding", "unusual blanks")
    assert marks("rm\u00a0-rf x") == ("unusual blanks",)
    assert marks("echo a\u202eb") == ("invisible characters",)
    assert deception_marks({"questions": [{"question": "cat /home/u\u0455er"}]}) == ("look-alike letters",)
    assert deception_marks({"pa\u200bth": "x"}) == ("invisible characters",), "names of arguments are shown as well"
    assert deception_marks({"ids": [1, {"id": 2**53}]}) == ("long numbers",), "a browser shows other digits"
    assert deception_marks({"ids": [2**53 - 1, True, 1e300]}) == ()


def test_the_content_of_a_file_is_marked_only_for_what_a_diff_cannot_show() -> None:
    assert marks_of({"content": " " * 500 + "\u3000\uff21\r\n\f\u00a0"}) == ()
    assert marks_of({"content": "\ufeffx = 1"}) == ()
    assert marks_of({"content": "if admin: \u2066# \u2069 \u202e"}) == ("invisible characters",)
    assert marks_of({"edits": [{"new_text": "def p\u0430y(): ..."}]}) == ("look-alike letters",)


def test_an_argument_is_content_only_where_the_tool_shows_it_as_a_diff() -> None:
    hidden_end = "echo ok" + " " * 300 + "; rm \uff0drf\u2003x"
    assert deception_marks({"content": hidden_end}) == ("padding", "unusual blanks", "look-alike letters")
    assert deception_marks({"content": hidden_end}, contents=frozenset({"content"})) == ()


@pytest.mark.parametrize(
    "command",
    [
        "bash -c 'rm \u2013rf x'",
        "python3 -c \"os.system('x') \u037e y\"",
        "ssh host 'rm\u00a0-rf x'",
        'echo "$(rm \u2014rf x)"',
        'echo "$(echo "a")" \u2502 sh "b"',
        "bash <<'EOF'\nrm \u2014rf x\nEOF",
        "cat <<EOF\n$(rm \u2014rf x)\nEOF",
        "cat $((1<<a))\nrm \u2014rf x\na",
        'echo "$(case x in x) rm \u2014rf x;; esac)"',
        'bash -c "$(echo "a"); rm \u2014rf x; "',
        "echo 'open \u2014rf x",
    ],
)
def test_quotation_marks_do_not_soften_the_rules_for_code_inside_them(command: str) -> None:
    assert marks(command)


def test_quoted_prose_and_files_that_a_command_writes_may_use_typography() -> None:
    prose = "Il a dit\u00a0: \u00ab\u00a0oui\u00a0\u00bb \u2014 \u201cyes\u201d, l\u2019\u00e9t\u00e9"
    assert marks(f'git commit -m "{prose}"') == ()
    assert marks(f"cat > notes.md <<'EOF'\n{prose}\nEOF") == ()
    assert marks(f"git commit -m \"$(cat <<'EOF'\n{prose}\nEOF\n)\"") == ()
    assert marks(f"echo {prose}") == ("unusual blanks", "look-alike letters")


def test_a_word_that_looks_like_a_program_or_an_existing_path_is_marked(tmp_path: Path) -> None:
    (tmp_path / "paca").mkdir()
    (tmp_path / "Il0").touch()

    def found(command: str) -> tuple[str, ...]:
        is_known = partial(is_program_or_path, folder=str(tmp_path), path=os.defpath)
        return deception_marks({"command": command}, is_known)

    prose = "\u043f\u0440\u0438\u0432\u0435\u0442 \u0440\u0430\u0441\u0430"  # a Russian sentence with such a word
    assert found(f"echo {prose}") == ("look-alike letters",)
    (tmp_path / "paca").rmdir()
    assert found(f"echo {prose}") == ()
    assert found("echo '\u0131s'") == (), "no such program"
    assert found("b\u0131n/x; bin") == ("look-alike letters",), "the same word in ASCII stands beside it"
    assert found("ed\u0131t; \u0131f") == ("look-alike letters",)


@pytest.mark.parametrize(
    ("command", "characters"),
    [
        ("\u0441url http://example.org/\u0430", "\u0430\u0441"),
        ("g\u00ect push '\u043f\u0440\u0438\u0432\u0435\u0442'", "\u00ec"),
        ("gi\u0300t push", "\u0300"),
        ("rm -rf \u7f13\u5b58 \uff1b ls \u3163 x", "\u3163\uff1b"),
        ("echo 'p\u0430ypal'", "\u0430"),
    ],
)
def test_the_characters_that_cause_the_mark_are_named(command: str, characters: str) -> None:
    assert "look-alike letters" in marks(command)
    assert lookalike_characters({"command": command}) == characters


def test_megabytes_are_marked_in_bounded_time() -> None:
    """Every rule is asked a bounded number of times, whatever the length."""
    loaded: list[str] = []

    def is_known(name: str) -> bool:
        loaded.append(name)
        return False

    text = " ".join(f"k\u0131l{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}" for n in range(20_000))
    deception_marks({"command": text}, is_known)
    assert len(loaded) < 10_000
    assert not is_quick({"command": "x" * 100_000})
    assert not is_quick({"command": "Æ"}), "the file system is asked for words that look like others"
    assert is_quick({"command": "ls -la"})
    assert deception_marks({"command": "\u0131 " * 100_000}) == ("look-alike letters",)


@pytest.mark.parametrize("before", [1, 49, 50, 51, 60, 200, 399])
def test_a_word_on_the_edge_of_a_chunk_is_judged_whole(before: int) -> None:
    """The first letters of the word, taken alone, look like another word of the text."""
    start = "\u0441\u043e\u0440" * 200
    shown = ("cop" * 200)[:before]
    text = shown + " " * 30 + "1 " * MAX_CHUNK_CHARACTERS
    text = text[: MAX_CHUNK_CHARACTERS - before] + start[:before] + "\u0436\u0434" * 40
    assert marks_of({"text": text}) == ()


def test_every_word_is_seen_whole_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_scan, "MAX_CHUNK_CHARACTERS", 50)
    chance = random.Random(7)
    for _ in range(200):
        words = ["\u0436" * chance.choice((1, 2, 10, 49, 50)) for _ in range(20)]
        text = "".join(word + chance.choice((" ", "  ", "12", " " * 60)) for word in words)
        expected = [(match.start(), match[0]) for match in re.finditer(r"[^\W\d_]+", text)]
        assert list(words_of(text)) == expected


def test_a_change_of_script_in_a_very_long_word_is_seen() -> None:
    for before in range(MAX_CHUNK_CHARACTERS - 1, MAX_CHUNK_CHARACTERS + 2):
        assert marks_of({"text": "a" * before + "\u0436" * 10}) == ("look-alike letters",)


def test_very_long_words_are_not_kept_in_a_cache() -> None:
    cached = deceptive_text._cached_qualities.cache_info
    deception_marks({"text": "\u0441\u0436" * 100})
    before = cached().currsize
    deception_marks({"text": " ".join("\u0441\u0436" * (100 + number) for number in range(10))})
    assert cached().currsize == before


def test_tabs_count_as_columns_and_empty_lines_as_padding() -> None:
    assert marks("true" + "\t" * 6 + "; rm x") == ("padding",)
    assert marks("true" + "\t" * 3 + "# aligned") == ()
    assert marks("true\n" + "\n" * 12 + "rm x") == ("padding",)
    assert marks("true\n\n\n\nls") == ()
    assert without_padding("a\n" + "\n" * 18 + "b", "en") == "a\n[… 18 empty lines …]\nb"
    assert without_padding("a" + " " * 100 + "b", "zh") == "a [… 100 个空白字符 …] b"


def test_marks_have_a_text_in_both_languages() -> None:
    assert (
        translate_dangers(("network", "padding", "unusual blanks", "its own"), "zh")
        == "会访问网络，含有大段空白，含有特殊空白字符，its own"
    )
    assert len(without_padding("a" + "\u2003" * 5000 + "b", "en")) < 40
