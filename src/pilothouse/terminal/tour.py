"""A guided tour of the ways to control the agent: two minutes with the demo model, one Enter for each step."""

from pilothouse.domain.codes import Language
from pilothouse.i18n import ui_text

STEPS = (
    "write tour/notes.txt: hello",
    "/supervised",
    "write tour/one.txt: first",
    "write tour/two.txt: second",
    "/why",
    "/rules",
    "/review",
    "/elevate 1",
    "write tour/one.txt: changed",
    "/plan",
    "run rm -rf tour",
    "/agent",
    "/fork idea",
    "write tour/idea.txt: what if",
    "/branch main",
    "/merge idea preview",
    "/merge idea",
    "work in 4 steps",
    "delegate: list",
    "/usage",
    "/export",
    "/audit",
)
"""The line that each step types, which is also the key of the step's text in `i18n`."""


class Tour:
    def __init__(self, language: Language) -> None:
        self._language = language
        self._next = 0

    def propose(self) -> str | None:
        """Print the text of the current step and return its line; None at the end. The step changes only with
        `take`."""
        if self._next == len(STEPS):
            return None
        line = STEPS[self._next]
        print(f"\n[{self._next + 1}/{len(STEPS)}] {ui_text('tour', line, self._language)}")
        return line

    def take(self) -> None:
        self._next += 1
