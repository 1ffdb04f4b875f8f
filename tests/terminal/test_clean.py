"""What is printed hides nothing and moves nothing."""

import pytest

from pilothouse.terminal.clean import visible


@pytest.mark.parametrize("text", ["plain\ttext\n", "ümläut 你好", "⚡ 🛡️ 👩‍💻 ✓", "a…b – c"])
def test_text_that_people_write_is_left_alone(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    "hidden",
    [
        *("\x1b", "\x07", "\r", "\b", "\x9b", "\x7f", "\u202e", "\u2066", "\u200b", "\u200d", "\u00ad", "\u2028"),
        *("\ufe0f", "\u3164", "\u115f", "\u2800", "\U000e0101", "\U000e0041", "\ufeff", "\ud800"),
    ],
)
def test_what_would_hide_or_move_something_is_shown(hidden: str) -> None:
    assert visible(f"a{hidden}b") == f"a\\u{{{ord(hidden):x}}}b"


def test_a_megabyte_of_joiners_takes_no_time() -> None:
    assert len(visible("⚡" + "\u200d" * 1_000_000)) == 1_000_001
