"""Writes the generated parts of the documentation: `make docs`. A test fails when they are not current."""

from pathlib import Path

from pilothouse.domain.states import RESTING, WORKING
from pilothouse.domain.transitions import STEP_OF, diagram

HERE = Path(__file__).parent
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


if __name__ == "__main__":
    (HERE / "states.md").write_text(states_page())
