"""The supervisor starts with every command."""

import subprocess
import sys

from pilothouse.sandbox import processes
from tests.support.scale import HANG_SECONDS

LOADED = (
    "import sys; sys.path.append(sys.argv[1]); import pilothouse.sandbox.supervisor, "
    "pilothouse.sandbox.signal_listener; print(*sys.modules, sep='\\n')"
)
# Each of these modules, with those that it loads in turn, takes milliseconds.
SLOW = {"asyncio", "collections", "contextlib", "enum", "functools", "re", "signal", "subprocess", "typing"}


def test_the_supervisor_loads_no_slow_module() -> None:
    program = [sys.executable, "-I", "-S", "-B", "-c", LOADED, processes._PACKAGES]
    loaded = subprocess.check_output(program, text=True, timeout=HANG_SECONDS).split()
    assert "pilothouse.sandbox.signal_listener" in loaded
    assert SLOW & set(loaded) == set()
