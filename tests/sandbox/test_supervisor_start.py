"""The supervisor starts with every command."""

import subprocess
import sys

from pilothouse.sandbox import processes
from tests.support.scale import HANG_SECONDS

LOADED = (
    "import sys; sys.path.append(sys.argv[1]); import pilothouse.sandbox.supervisor; print(*sys.modules, sep='\\n')"
)
# Each takes longer to load than everything that the supervisor needs together.
SLOW = {"asyncio", "collections", "contextlib", "enum", "functools", "re", "subprocess", "typing"}


def test_the_supervisor_loads_no_slow_module() -> None:
    program = [sys.executable, "-I", "-S", "-B", "-c", LOADED, processes._PACKAGES]
    loaded = subprocess.check_output(program, text=True, timeout=HANG_SECONDS).split()
    assert "pilothouse.sandbox.supervisor" in loaded
    assert SLOW & set(loaded) == set()
