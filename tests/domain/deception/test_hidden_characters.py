"""Printed text contains no character that hides or moves other text."""

import pytest

from pilothouse.domain.deception.hidden_characters import exact, visible, without_hidden


@pytest.mark.parametrize("text", ["plain\ttext\n", "ümläut 你好", "⚡ 🛡️ 👩‍💻 ✓", "a…b – c"])
def test_text_that_people_write_is_left_alone(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    "hidden",
    [
        *("\x1b", "\x07", "\r", "\b", "\x9b", "\x7f", "\u202e", "\u2066", "\u200b", "\u200d", "\u00ad", "\u2028"),
        *("\ufe0f", "\u3164", "\u115f", "\u2800", "\U0001d159", "\U000e0101", "\U000e0041", "\ufeff", "\ud800"),
    ],
)
def test_characters_that_hide_or_move_text_are_printed_as_codes(hidden: str) -> None:
    assert visible(f"a{hidden}b") == f"a⟨U+{ord(hidden):04X}⟩b"


@pytest.mark.parametrize(
    "text",
    [
        *("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0915\u094d\u200d\u0937", "\u0915\u094d\u200c\u0937"),
        *("\u0d28\u0d4d\u200d", "\u09b0\u200d\u09cd\u09af", "\u1797\u200b\u1781", "\u845b\U000e0100"),
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        *("👩\u200d💻", "🏳\ufe0f\u200d🌈", "👩🏽\u200d💻", "❤\ufe0f", "1\ufe0f\u20e3", "↔\ufe0f"),
    ],
)
def test_joiners_in_emoji_and_in_persian_and_indic_words_survive(text: str) -> None:
    assert visible(text) == exact(text) == without_hidden(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("👩\u200dx", "👩\u200d", "👩\ufe0f\ufe0f", "a\u200c\u0645", "\u0645\u200c", "x\u200dy"),
        *("\u0628\u200d\u0628", "a\u094d\u200cb", "\u094d\u200d/x", "x\ufe0f\u20e3", "\u1797\u200bx", "a\U000e0100"),
        "\U0001f3f4\U000e0072\U000e006d\U000e007f",
        *("echo x >\u200d> f", "make |\u200d| ./x", "rm -rf ~\ufe0f/x", "cat a |\ufe0fsh"),
    ],
)
def test_a_joiner_that_joins_nothing_is_shown(text: str) -> None:
    assert "⟨U+" in visible(text)
    assert len(without_hidden(text)) < len(text)


def test_text_for_an_approval_shows_every_unusual_blank_as_a_code() -> None:
    assert exact("rm\u00a0-rf\u3000x\ty\nz") == "rm⟨U+00A0⟩-rf⟨U+3000⟩x\ty\nz"
    assert visible("10\u00a0km\u3000x") == "10\u00a0km\u3000x"


def test_a_long_run_of_one_hidden_character_is_written_once_with_its_length() -> None:
    assert exact("echo ok" + "\u2003" * 2_100 + "; rm x") == "echo ok⟨U+2003 ×2100⟩; rm x"


def test_three_megabytes_of_hidden_characters_are_written_out_in_one_pass() -> None:
    assert visible("⚡" + "\u200d" * 3_000_000) == "⚡⟨U+200D ×3000000⟩"
    assert len(visible("a\u200b" * 500_000)) == 9 * 500_000
