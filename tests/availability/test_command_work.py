"""The work of checking a command line grows with its length, whatever two things the line repeats.

Work is counted, not timed: function calls by `sys.setprofile`, memory by `tracemalloc`.
"""

import pytest

from pilothouse.sandbox.shell import written_words as module
from pilothouse.sandbox.shell.levels import Finding, Simple
from pilothouse.sandbox.shell.written_words import written_words


@pytest.mark.parametrize(
    "line",
    [
        "{ " + "ls;" * 90 + "} " + ">a " * 60,
        "{ " * 40 + "ls;" * 90 + "} >a;" * 40,
        "ls " + ">a " * 60,
    ],
    ids=["outputs", "groups", "one command"],
)
def test_every_command_is_classified_a_few_times_however_often_it_is_redirected(
    monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    classified: list[Simple] = []
    known = module.known

    def counted(command: Simple) -> Finding:
        classified.append(command)
        return known(command)

    monkeypatch.setattr(module, "known", counted)
    written_words(line, is_plain=True)
    assert 0 < len(classified) <= 3 * line.count("ls")
