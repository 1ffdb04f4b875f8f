"""Runs the tests of an area against a seeded sample of mutants, and names those that no test noticed.

python -m tests.mutants gate --count 50 --seed 1
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from tests.mutants.changes import Mutant, mutants_of

ROOT = Path(__file__).parents[2]
MAX_SECONDS = 600
"""How long the tests may take on one mutant. One that never ends has been noticed."""


class Area(NamedTuple):
    sources: tuple[str, ...]
    tests: tuple[str, ...]
    """The quick ones first: a run ends with the first failure."""


AREAS = {
    "gate": Area(
        ("domain/decisions.py", "domain/modes.py", "runtime/deciding.py", "runtime/steps/gate.py", "domain/rules.py"),
        (
            "tests/domain",
            "tests/stories/test_rules.py",
            "tests/stories/test_steering_races.py",
            "tests/stories/test_family.py",
        ),
    ),
    "sandbox": Area(
        ("sandbox/*.py", "sandbox/shell/*.py"),
        ("tests/security/test_shell_cases.py", "tests/security", "tests/tools/test_paths.py", "tests/tools"),
    ),
    "access": Area(
        (
            "server/access.py",
            "server/tokens.py",
            "server/sign_in.py",
            "server/connections.py",
            "runtime/context_names.py",
        ),
        ("tests/server/test_sign_in.py", "tests/server/test_owners.py", "tests/server/test_access.py", "tests/server"),
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


def is_noticed(task: Task, copy: Path, tests: tuple[str, ...]) -> bool:
    target = copy / task.source
    before = target.read_text()
    target.write_text(task.mutant.text)
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=MAX_SECONDS)
    except subprocess.TimeoutExpired:
        return True
    finally:
        target.write_text(before)
    return done.returncode != 0


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
            shutil.copytree(ROOT, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", "*.pyc", ".venv", "web"))
            copies.put(copy)
        for name in options.areas or AREAS:
            _run_area(name, options, copies)


def _run_area(name: str, options: argparse.Namespace, copies: "SimpleQueue[Path]") -> None:
    area = AREAS[name]
    tasks = tasks_of(area)
    sample = random.Random(options.seed).sample(tasks, min(options.count, len(tasks)))

    def run(task: Task) -> bool:
        copy = copies.get()
        try:
            return is_noticed(task, copy, area.tests)
        finally:
            copies.put(copy)

    with ThreadPoolExecutor(options.jobs) as pool:
        noticed = 0
        for task, is_killed in zip(sample, pool.map(run, sample), strict=True):
            noticed += is_killed
            if not is_killed:
                print(f"  survived: {task.source}:{task.mutant.line}: {task.mutant.change}", flush=True)
    print(f"{name}: {noticed} of {len(sample)} mutants noticed (of {len(tasks)} possible)", flush=True)


if __name__ == "__main__":
    main()
