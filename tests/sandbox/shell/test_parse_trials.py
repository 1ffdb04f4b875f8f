"""A failed trial of the grammar decides nothing about a line: the next classification tries again."""

import errno
import signal
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from pilothouse.sandbox.shell import classify, grammar
from pilothouse.sandbox.shell.classify import _CACHE
from pilothouse.sandbox.shell.grammar import MAX_LINE_CHARACTERS, MAX_UNTRIED_CHARACTERS, TrialFailed, parse
from pilothouse.sandbox.shell.text_cache import TextCache
from pilothouse.sandbox.shell.written_words import written_words

LONG_LINE = "ls -la; " * (MAX_UNTRIED_CHARACTERS // 8 + 1)


def no_process(*_: Any, **__: Any) -> Any:
    raise OSError(errno.EAGAIN, "Resource temporarily unavailable")


def ending_with(code: int) -> Callable[..., Any]:
    return lambda *_, **__: subprocess.CompletedProcess([], code)


FAILURES = {
    "no process": no_process,
    "killed": ending_with(-signal.SIGKILL),
    "an error": ending_with(1),
}


@pytest.fixture(autouse=True)
def empty_caches() -> None:
    grammar._TRIALS.clear()
    _CACHE.clear()


@pytest.mark.parametrize("run", FAILURES.values(), ids=FAILURES)
def test_a_line_is_classified_again_after_a_failed_trial(monkeypatch: pytest.MonkeyPatch, run: Any) -> None:
    for line in (LONG_LINE, f"sh -c '{LONG_LINE}'"):
        with monkeypatch.context() as patched:
            patched.setattr(subprocess, "run", run)
            assert not classify(line).is_complete
            assert not written_words(line, is_plain=True, keeps_written=False).is_complete
            with pytest.raises(TrialFailed):
                parse(line)
        assert classify(line).is_complete
        assert written_words(line, is_plain=True, keeps_written=False).is_complete


def test_a_trial_that_took_too_long_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", ending_with(-signal.SIGVTALRM))
    assert not classify(LONG_LINE).is_complete
    monkeypatch.setattr(subprocess, "run", no_process)
    assert parse(LONG_LINE) is None
    _CACHE.clear()
    assert not classify(LONG_LINE).is_complete


def test_the_timer_of_a_trial_ends_it_as_expected() -> None:
    assert parse(";>" * (MAX_LINE_CHARACTERS // 2)) is None


def test_a_cache_of_texts_is_bounded_by_their_size() -> None:
    cache: TextCache[str, int] = TextCache(max_entries=3, max_size=100)
    for number in range(10):
        cache.put(str(number) * 40, number)
        assert cache.size <= 100
    assert [cache.get(str(number) * 40) for number in (7, 8, 9)] == [None, 8, 9]
    cache.put("x" * 101, 1)
    assert cache.get("x" * 101) is None
    for text in "abc":
        cache.put(text, 1)
    assert (cache.get("9" * 40), cache.size) == (None, 3)
    cache.get("a")
    cache.put("d", 1)
    assert (cache.get("a"), cache.get("b")) == (1, None)
