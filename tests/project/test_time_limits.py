"""Every test has a time limit: a hanging test fails with a trace, and the others run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HANGING = """
import asyncio
import subprocess
import threading

import pytest


@pytest.mark.seconds(0.2)
def test_reading_from_a_silent_pipe():
    with subprocess.Popen(["sleep", "1000"], stdout=subprocess.PIPE) as process:
        try:
            process.stdout.read()
        finally:
            process.kill()


@pytest.mark.seconds(0.2)
async def test_waiting_for_an_event_that_is_never_set():
    await asyncio.Event().wait()


@pytest.mark.seconds(0.2)
def test_waiting_for_a_held_lock():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


@pytest.fixture
def stuck():
    threading.Event().wait()


@pytest.mark.seconds(0.2)
def test_with_a_fixture_that_hangs(stuck):
    pass


def test_that_runs_after_the_hanging_ones():
    pass
"""


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_test_that_hangs_fails_and_says_where(tmp_path: Path, workers: str) -> None:
    (tmp_path / "conftest.py").write_text(
        "import tests.conftest as limits\nlimits.FIXTURE_SECONDS, limits.STUCK_SECONDS = 0.3, 30\n"
    )
    (tmp_path / "test_hanging.py").write_text(HANGING)
    ignored = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]
    completed = subprocess.run(
        [
            *ignored,
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-Wignore",
            "-ptests.conftest",
            "-n",
            workers,
            "--rootdir=.",
            ".",
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert "3 failed, 1 passed, 1 error" in completed.stdout, completed.stdout
    for place in ("process.stdout.read()", "lock.acquire()", "threading.Event().wait()", "asyncio.Event().wait()"):
        assert place in completed.stdout
