"""Several runs of the tests at the same time on one machine do not disturb each other."""

import os
import subprocess
import sys

from pilothouse.testing.ambient import ManualAmbient
from tests.support.scale import HANG_SECONDS

FIRST_ID = "from pilothouse.testing.ambient import ManualAmbient; print(ManualAmbient().new_id())"


def printed(code: str, environment: dict[str, str]) -> str:
    program = [sys.executable, "-c", code]
    return subprocess.check_output(program, env=environment, text=True, timeout=HANG_SECONDS).strip()


def test_two_runs_give_different_ids_and_a_process_of_one_run_continues_its_ids() -> None:
    """The end of a call may end every process on this machine that carries the call's id."""
    own = ManualAmbient().new_id()
    of_another_run = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "TEST_RUN"))}
    assert printed(f"import tests.conftest; {FIRST_ID}", of_another_run) != own
    assert printed(FIRST_ID, dict(os.environ)) == own
