"""Rows of a card hold on every terminal: with an old table of widths, with a newer one, with wide ambiguous letters."""

import locale
import os
import unicodedata
from collections.abc import Callable, Iterator

import pytest

from pilothouse.terminal import foreign_text
from pilothouse.terminal.character_width import max_columns, text_columns

HEXAGRAMS = "".join(map(chr, range(0x4DC0, 0x4E00)))
SCREEN = os.terminal_size((40, 24))


@pytest.fixture(autouse=True)
def screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign_text, "_screen", lambda: SCREEN)


@pytest.fixture(autouse=True)
def user_language(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """People with a terminal for East Asian text have such a locale."""
    parameters = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    name = "ja_JP" if parameters.get("draw") is east_asian_terminal else "ru_RU"
    monkeypatch.setattr(locale, "getlocale", lambda: (name, "UTF-8"))
    max_columns.cache_clear()
    yield
    max_columns.cache_clear()


def old_terminal(row: str) -> int:
    """Draws each character by the oldest table; whatever the table does not hold takes one column."""
    table = unicodedata.ucd_3_2_0
    wide = [each for each in row if table.category(each) != "Cn" and table.east_asian_width(each) in "WF"]
    return len(wide) + sum(table.category(each) not in ("Mn", "Me") for each in row)


def east_asian_terminal(row: str) -> int:
    """Draws ambiguous characters wide, marks on their letters."""
    return sum(
        0 if unicodedata.category(each) in ("Mn", "Me") else 1 + (unicodedata.east_asian_width(each) in "WFA")
        for each in row
    )


def newer_terminal(row: str) -> int:
    """Draws symbols, and whatever lies in the blocks of ideographs and in the higher planes, wide; a selector makes
    the sign before it wide."""
    columns = last = 0
    for each in row:
        is_mark = unicodedata.category(each) in ("Mn", "Me", "Cf")
        is_symbol = unicodedata.category(each) in ("So", "Sm") and each >= "\u2000"
        is_wide = is_symbol or "\u2e80" <= each <= "\ua4cf" or each >= "\U00010000"
        last = 2 - last if each == "\ufe0f" else 0 if is_mark else 1 + is_wide
        columns += last
    return columns


TEXTS = {
    "hexagrams": HEXAGRAMS * 3,
    "trigrams and digrams": "\u2630\u2637\u268a\u268f" * 30,
    "counting rods": "\U0001d360\U0001d376\U0001d300" * 30,
    "letters and hexagrams": "echo \u4dc0" * 30,
    "emoji by selector": "\u2764\ufe0f\u00a9\ufe0f1\ufe0f\u20e3" * 30,
    "flags": "\U0001f1e9\U0001f1ea" * 30,
    "joined emoji": "\U0001f469\u200d\U0001f4bb" * 30,
    "ambiguous": "жλ—“”→é" * 20,
    "marks of later versions": "a\u1ab0\u1dc4b\U0001e130" * 20,
    "a mark of an ideograph": "\u302a\u3099" * 30,
}


@pytest.mark.parametrize("draw", [old_terminal, east_asian_terminal, newer_terminal])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_row_fits_whatever_width_a_terminal_gives_to_its_characters(text: str, draw: Callable[[str], int]) -> None:
    card = foreign_text.quoted(text, is_exact=True)
    assert [row for row in card.split("\n") if draw(row) > SCREEN.columns] == []
    assert "".join(row.removeprefix(foreign_text.MARK) for row in card.split("\n")) == text


@pytest.mark.parametrize("draw", [old_terminal, east_asian_terminal, newer_terminal])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_an_answer_that_comes_in_pieces_fits_its_rows(
    text: str, draw: Callable[[str], int], capsys: pytest.CaptureFixture[str]
) -> None:
    stream = foreign_text.QuotedStream()
    for start in range(0, len(text), 3):
        stream.write(text[start : start + 3])
    stream.end()
    rows = capsys.readouterr().out.splitlines()
    assert [row for row in rows if draw(row) > SCREEN.columns or not row.startswith(foreign_text.MARK)] == []


def test_a_page_of_hexagrams_leaves_the_command_on_the_screen() -> None:
    """Rows that a terminal wraps would push the first row of a page out of sight before the question comes."""
    pages = foreign_text.PagedText(foreign_text.quoted("$ touch ran; : " + HEXAGRAMS * 20, is_exact=True))
    while pages.has_more:
        rows = pages.next().split("\n")
        drawn = sum(-(-newer_terminal(row) // SCREEN.columns) for row in rows)
        assert drawn <= SCREEN.lines - 2


@pytest.mark.parametrize("code", [0x2FFF, 0x31E4, 0xA48D, 0xD7FD, 0x16FF5, 0x1B132, 0x1FAFF, 0x2FFFF, 0x3FFFF])
def test_a_place_that_is_unassigned_in_a_wide_block_counts_as_wide(code: int) -> None:
    assert max_columns(chr(code)) == 2


def test_no_character_counts_for_less_than_its_stated_width() -> None:
    for code in range(0x20, 0x30000):
        character = chr(code)
        is_mark = unicodedata.category(character) in ("Mn", "Me")
        stated = 2 if unicodedata.east_asian_width(character) in "WF" else 0 if is_mark else 1
        assert max_columns(character) >= stated, hex(code)


def test_letters_of_common_alphabets_take_one_column() -> None:
    for word in ("hello", "naïveté", "привет", "γειά", "שלום", "सकल", "สวด", "ｱｲｳ"):
        assert text_columns(word) == len(word), word
