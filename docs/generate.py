"""Writes what is generated from the code, of the documentation and of the page: `make docs`. A test fails when it is
not current."""

import json
import re
from pathlib import Path
from typing import Any

from typescript import typescript

from pilothouse.domain.contexts import CONTINUABLE
from pilothouse.domain.modes import Modes
from pilothouse.domain.state_words import STATE_WORDS
from pilothouse.domain.states import RESTING, WORKING, ProcessingUserMessage, name_of
from pilothouse.domain.transitions import STEP_OF, TRANSITIONS, diagram
from pilothouse.domain.words import WORDS
from pilothouse.server.documents import document

HERE = Path(__file__).parent
WEB = HERE.parent / "web/src"
_QUOTED = re.compile(r"\{(\w+)!r\}")
INTRODUCTION = """# The states of a context

Generated from the one table that decides it, `src/pilothouse/domain/transitions.py`: do not edit, run `make docs`.

Left out of the picture, because they hold for all: from every state but Idle a cancel leads to Cancelling, from
every state a refused write leads to WaitingForRecovery and a bug to Failed, and every working state of a turn can
be paused. Recovery after a crash is no transition: it rewrites what was found before the machine runs again.

"""


def states_page() -> str:
    rows = "\n".join(f"| {state.__name__} | {STEP_OF[state]} |" for state in WORKING)
    resting = ", ".join(state.__name__ for state in RESTING)
    table = f"Resting states: {resting}.\n\n| working state | step |\n| --- | --- |\n{rows}\n"
    return f"{INTRODUCTION}```mermaid\n{diagram()}```\n\n{table}"


def states_for_the_page() -> dict[str, list[str]]:
    """Which states rest, in which a message is taken at once, and after which ends of a turn one can go on."""
    taking = [state for state, row in TRANSITIONS.items() if ProcessingUserMessage in row]
    return {
        "resting": sorted(map(name_of, RESTING)),
        "taking_messages": sorted(map(name_of, taking)),
        "continuable": sorted(CONTINUABLE),
    }


def words(language: int) -> dict[str, dict[str, str]]:
    """The words of every code, every state and every mode that comes with it, in the language at this place. What
    Python would quote stands in quotes."""
    return {
        "codes": {code.value: _QUOTED.sub(r"'{\1}'", each[language]) for code, each in WORDS.items()},
        "states": {name: each[language] for name, each in STATE_WORDS.items()},
        "modes": {name: (mode.title, mode.title_zh)[language] for name, mode in Modes().all.items()},
    }


def generated() -> dict[Path, str]:
    return {
        HERE / "states.md": states_page(),
        WEB / "api/schema.ts": typescript(document()),
        WEB / "api/states.json": _json(states_for_the_page()),
        WEB / "i18n/words.en.json": _json(words(0)),
        WEB / "i18n/words.zh.json": _json(words(1)),
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    for path, text in generated().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
