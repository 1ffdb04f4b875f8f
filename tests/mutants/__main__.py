"""Runs the tests of an area against a seeded sample of mutants, and names those that no test noticed.

python -m tests.mutants gate --count 50 --seed 1
"""

import argparse
import ast
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from tests.mutants.changes import Mutant, mutants_of

ROOT = Path(__file__).parents[2]
_TIMES = itertools.count(1)
MAX_SLOWDOWN = 5
"""How many times longer than without a change the tests may take on a mutant. One that never ends has been noticed."""


class Area(NamedTuple):
    sources: tuple[str, ...]
    tests: tuple[str, ...]
    """The quick ones first: a run ends with the first failure."""


AREAS = {
    "gate": Area(
        (
            "domain/decisions.py",
            "domain/modes.py",
            "runtime/authorization/authorization.py",
            "runtime/turn/steps/gate.py",
            "domain/rules.py",
        ),
        (
            "tests/domain",
            "tests/stories/test_rules.py",
            "tests/stories/test_steering_races.py",
            "tests/stories/test_subagents.py",
            "tests/availability/test_bounds.py",
            "tests/security/test_approvals.py",
            "tests/security/test_self_escalation.py",
            "tests/stories",
        ),
    ),
    "sandbox": Area(
        (
            *("sandbox/*.py", "sandbox/shell/*.py", "tools/command/git_clean.py", "tools/command/globs.py"),
            *("tools/command/installed_programs.py", "domain/command_variables.py"),
        ),
        (
            "tests/domain/test_command_variables.py",
            "tests/sandbox",
            "tests/tools/command",
            "tests/security/test_danger_marks.py",
            "tests/security/test_promises.py",
            "tests/security/test_strict_commands.py",
            "tests/security/test_line_mutations.py",
            "tests/security/test_shell_cases.py",
            "tests/security/test_sandbox_alone.py",
            "tests/stories/test_conversation_environments.py",
            "tests/security/test_hostile_folders.py",
            "tests/security/test_lingering_processes.py",
        ),
    ),
    "access": Area(
        (
            "server/access.py",
            "server/forwarded.py",
            "server/tokens.py",
            "server/sign_in.py",
            "server/connections.py",
            "runtime/context/context_ids.py",
        ),
        (
            "tests/server/test_sign_in.py",
            "tests/server/test_forwarded.py",
            "tests/server/test_base_path.py",
            "tests/server/test_ownership.py",
            "tests/server/test_access.py",
            "tests/server",
        ),
    ),
    "undo": Area(("tools/undo/*.py",), ("tests/tools/undo", "tests/stories/test_undo.py")),
}


class Task(NamedTuple):
    source: Path
    mutant: Mutant


def tasks_of(area: Area) -> list[Task]:
    package = Path("src/pilothouse")
    sources = [path.relative_to(ROOT) for name in area.sources for path in sorted((ROOT / package).glob(name))]
    return [
        Task(source, mutant)
        for source in sources
        for mutant in mutants_of((ROOT / source).read_text())
        if _is_python(mutant.text)
    ]


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


class Outcome(Enum):
    SURVIVED = "survived"
    NOTICED = "noticed"
    TIMED_OUT = "timed out"


def outcome_of(task: Task, copy: Path, tests: tuple[str, ...], max_seconds: float) -> Outcome:
    target = copy / task.source
    before = target.read_text()
    _write(target, task.mutant.text)
    try:
        return Outcome.NOTICED if run_in(copy, tests, max_seconds).returncode else Outcome.SURVIVED
    except subprocess.TimeoutExpired:
        return Outcome.TIMED_OUT
    finally:
        _write(target, before)


def _write(target: Path, text: str) -> None:
    """Write a version of a file with a modification time of its own, so that Python never takes the bytecode of another
    version for this one."""
    target.write_text(text)
    seconds = next(_TIMES)
    os.utime(target, (seconds, seconds))


def run_in(copy: Path, tests: tuple[str, ...], max_seconds: float | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the tests in a copy of the project. Raises: TimeoutExpired."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(copy / "src")}
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=max_seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("areas", nargs="*", choices=[*AREAS, []], metavar="area", help=", ".join(AREAS))
    parser.add_argument("--count", type=int, default=25, help="mutants for each area (default: 25)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(options.jobs):
            copy = Path(folder, str(number))
            shutil.copytree(ROOT, copy, symlinks=True, ignore=_left_out)
            copies.put(copy)
        for name in options.areas or AREAS:
            _run_area(name, options, copies)


def _left_out(folder: str, names: list[str]) -> set[str]:
    packages = {"node_modules"} if Path(folder) == ROOT / "web" else set()  # the tests read the sources of the page
    return packages | {
        name for name in names if name in (".git", ".venv", ".bench-venv", ".wheels") or name.endswith(".pyc")
    }


def _run_area(name: str, options: argparse.Namespace, copies: "SimpleQueue[Path]") -> None:
    area = AREAS[name]
    tasks = tasks_of(area)
    sample = random.Random(options.seed).sample(tasks, min(options.count, len(tasks)))

    # If the tests failed without a mutation, every mutant would seem to be noticed.
    copy = copies.get()
    begin = time.monotonic()
    unchanged = run_in(copy, area.tests)
    if unchanged.returncode:
        sys.exit(f"{unchanged.stdout}{unchanged.stderr}\nThe tests of {name} fail without any change.")
    copies.put(copy)
    max_seconds = MAX_SLOWDOWN * (time.monotonic() - begin)

    def run(task: Task) -> Outcome:
        copy = copies.get()
        try:
            return outcome_of(task, copy, area.tests, max_seconds)
        finally:
            copies.put(copy)

    with ThreadPoolExecutor(options.jobs) as pool:
        noticed = 0
        for task, outcome in zip(sample, pool.map(run, sample), strict=True):
            noticed += outcome is not Outcome.SURVIVED
            if outcome is not Outcome.NOTICED:
                print(f"  {outcome.value}: {task.source}:{task.mutant.line}: {task.mutant.change}", flush=True)
    print(f"{name}: {noticed} of {len(sample)} mutants noticed (of {len(tasks)} possible)", flush=True)


if __name__ == "__main__":
    main()
