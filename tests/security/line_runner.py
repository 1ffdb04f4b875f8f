"""Runs a command line for real, in a fresh folder with bait, and reports the changes.

No sandbox holds the line: its effects are those it would have for a person. So it runs with a small environment and
a time limit, as nobody where the tests run as root, and every process of its group is ended after it.
"""

import atexit
import contextlib
import functools
import hashlib
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS = 10
# A process that the line left behind may still be at work when the shell has ended.
PATIENCE = 2.0
NOBODY = 65534
MARKER = "PWNED"

EVIL = "#!/bin/sh\ntouch PWNED\n"
FILES = {
    "f.txt": "hello world\nsecond line\n",
    "g.txt": "hello: there\nx|y\n",
    "sub/inner.txt": "hello inner\n",
    "victim": "to be kept\n",
    "empty/.keep": "",
    "attr": "*.txt diff=x\n",
    "words": "touch PWNED\n",
    "expr.txt": "a[$(touch PWNED)0]\n",
    "names.txt": "-o\nPWNED\nf.txt\n",
    "data.json": '{"name": "x", "list": [1, 2]}\n',
    "package.json": '{"name": "x", "version": "1.0.0", "scripts": {"evil": "touch PWNED", "test": "touch PWNED"}}\n',
    "Makefile": "all:\n\t@touch PWNED\n",
    "shell.mk": "X := $(shell touch PWNED)\nall:\n\t@true\n",
    "evil.js": 'require("fs").writeFileSync("PWNED", "")\n',
    "evil.py": 'open("PWNED", "w").close()\n',
    "evil.pl": 'open(F, ">PWNED");\n',
    "evil.pm": 'package evil; open(F, ">PWNED"); 1;\n',
    "evil.awk": 'BEGIN { system("touch PWNED") }\n',
    "evil.sed": "w PWNED\n",
    "evil.vim": "call writefile([], 'PWNED')\nqall!\n",
    "evil.patch": "--- /dev/null\n+++ PWNED\n@@ -0,0 +1 @@\n+x\n",
    "rgconf": "--pre=./evil.sh\n",
    "gitconf": '[core]\n\tfsmonitor = "touch PWNED;false"\n[diff]\n\texternal = ./evil.sh\n',
    "lesskey": "#env\nLESSOPEN = |./evil.sh %s\n",
    # Names that become options when a glob meets them, and an expression when arithmetic does.
    "opts/--output=PWNED": "x\n",
    "opts/a.txt": "hello\n",
    "odd/a[$(touch PWNED)0]": "x\n",
}
PROGRAMS = ("evil.sh", "bin/cat", "bin/ls", "bin/git", "bin/pr", "bin/gzip", "0/cat", "10/cat", "gitexec/git-x", "ls")


@dataclass(frozen=True)
class Outcome:
    """The effects of a line: whether it left the marker or removed the victim, all changed files, and how it ended."""

    marker: bool
    changed: tuple[str, ...]
    code: int | None
    errors: str

    @property
    def missing(self) -> bool:
        """Whether a program that the line needs is not installed here."""
        return self.code in (126, 127) or "not found" in self.errors or "No such file" in self.errors


def run_in_fresh_folder(command: str) -> bool:
    """Whether the line changed anything."""
    outcome = run(command)
    return outcome.marker or bool(outcome.changed)


def run(command: str, *, patience: float = PATIENCE) -> Outcome:
    """Run a line in a fresh copy of the prepared folder; wait up to `patience` for a change."""
    with _fresh_base() as base:
        return _run_in(base, _snapshot(base), command, patience)


@contextlib.contextmanager
def fresh_folder() -> Iterator[Path]:
    """A fresh copy of the prepared folder, in a folder that any user may write to."""
    with _fresh_base() as base:
        yield base / "work"


def run_in_turn(commands: Iterable[str]) -> Iterator[Outcome]:
    """Run lines that should change nothing one after the other; the folder is recreated only after a change."""
    left = iter(commands)
    while True:
        with _fresh_base() as base:
            before = _snapshot(base)
            for command in left:
                outcome = _run_in(base, before, command, 0)
                yield outcome
                if outcome.changed:
                    break
            else:
                return


def _run_in(base: Path, before: dict[str, tuple[object, ...]], command: str, patience: float) -> Outcome:
    folder = base / "work"
    code, errors, group = _bash(command, folder)
    try:
        until = time.monotonic() + patience
        while (changed := _changes(before, base)) == () and time.monotonic() < until:
            time.sleep(0.02)
        return Outcome(_struck(changed, folder), changed, code, errors)
    finally:
        _end(group)


@contextlib.contextmanager
def _fresh_base() -> Iterator[Path]:
    """A folder with a fresh copy of the prepared one, and a place for temporary files."""
    base = Path(tempfile.mkdtemp(prefix="lines-"))
    try:
        subprocess.run(["cp", "-a", str(_prepared()), str(base / "work")], check=True)
        (base / "tmp").mkdir()
        if os.geteuid() == 0:
            os.chown(base, NOBODY, NOBODY)
            os.chown(base / "tmp", NOBODY, NOBODY)
        yield base
    finally:
        _remove(base)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():  # a line has closed a folder in it, which only root removes as it is
        subprocess.run(["chmod", "-R", "u+rwx", str(folder)], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(folder, ignore_errors=True)


def _bash(command: str, folder: Path) -> tuple[int | None, str, int]:
    """Run the line: its exit status, its errors, and its process group, which may survive."""
    as_nobody: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": ()} if os.geteuid() == 0 else {}
    process = subprocess.Popen(
        [b"/bin/bash", b"-c", os.fsencode(command)],
        cwd=folder,
        env=_environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        **as_nobody,
    )
    try:
        # Waits for the end of the pipes, hence for whatever the line left in the background, too.
        _, errors = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        _end(process.pid)
        process.communicate()
        return None, "", process.pid
    return process.returncode, errors.decode(errors="replace"), process.pid


def _end(group: int) -> None:
    if group == 0:
        return
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _struck(changed: tuple[str, ...], folder: Path) -> bool:
    return any(MARKER in Path(name).name for name in changed) or not os.path.exists(folder / "victim")


def _environment(folder: Path) -> dict[str, str]:
    tools = str(Path(sys.executable).parent)
    return {
        "PATH": f"/usr/local/bin:/usr/bin:/bin:{tools}",
        "HOME": str(folder),
        "TMPDIR": str(folder.parent / "tmp"),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "USER": "nobody",
        "GIT_CONFIG_NOSYSTEM": "1",
        "npm_config_update_notifier": "false",
        "npm_config_cache": str(folder.parent / "tmp" / "npm"),
        "npm_config_logs_max": "0",
        "npm_config_offline": "true",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@functools.cache
def _prepared() -> Path:
    """The folder that every run gets a copy of."""
    base = Path(tempfile.mkdtemp(prefix="lines-prepared-"))
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    folder = base / "work"
    folder.mkdir()
    (base / "tmp").mkdir()
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    for name in PROGRAMS:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(EVIL.replace("touch", "/usr/bin/touch"))
        (folder / name).chmod(0o755)
    if os.geteuid() == 0:
        for path in (base, *base.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
    code, errors, group = _bash(PREPARING, folder)
    _end(group)
    if code != 0:
        raise RuntimeError(f"the folder could not be prepared: {errors}")
    return folder


# Old times, and an index that compares only whole seconds and sizes: a copy is as clean as the original.
PREPARING = """set -e
exec >/dev/null
identity() { git config user.name x; git config user.email x@localhost; git config core.checkStat minimal
  git config core.trustctime false; git config gc.auto 0; }
git init -q --template= -b main .
identity
echo hello > f.txt
find . -path ./.git -prune -o -exec touch -h -d 2020-01-01 {} +
git add f.txt g.txt sub package.json evil.sh data.json
git commit -qm first
git tag v0
git branch side
git remote add origin ./hostile
printf 'hello world\\nsecond line\\n' > f.txt
git init -q --template= -b main hostile
cd hostile
identity
echo hello > h.txt; echo '*.txt diff=x' > .gitattributes
git add .; git commit -qm hostile
git config core.fsmonitor 'touch PWNED;false'
git config diff.x.textconv 'touch PWNED;cat'
git config alias.x '!touch PWNED'
git config core.pager 'touch PWNED;cat'
echo more >> h.txt
cd ..
tar cf a.tar f.txt
tar czf a.tgz f.txt
gzip -k < g.txt > g.gz
ln -s f.txt link
find . -exec touch -h -d 2020-01-02 {} +
git update-index -q --refresh || true
touch -d 2020-01-03 .git/index
"""


def _snapshot(base: Path) -> dict[str, tuple[object, ...]]:
    states: dict[str, tuple[object, ...]] = {}
    for folder, folders, files in os.walk(base):
        for name in (*folders, *files):
            path = Path(folder, name)
            states[str(path.relative_to(base))] = _state(path)
    return states


def _state(path: Path) -> tuple[object, ...]:
    """Only root can read entries that the line made unreadable (`chmod 000`); before the line there are none."""
    try:
        return _open_state(path)
    except PermissionError:
        return ("closed",)


def _open_state(path: Path) -> tuple[object, ...]:
    about = path.lstat()
    if stat.S_ISLNK(about.st_mode):
        return ("link", os.readlink(path))
    if stat.S_ISREG(about.st_mode):
        return (about.st_mode, about.st_mtime_ns, hashlib.sha256(path.read_bytes()).digest())
    return (about.st_mode,)


def _changes(before: dict[str, tuple[object, ...]], base: Path) -> tuple[str, ...]:
    try:
        after = _snapshot(base)
    except FileNotFoundError:
        # A process is still at work; the next snapshot shows its changes.
        return ()
    names = before.keys() | after.keys()
    return tuple(sorted(name for name in names if before.get(name) != after.get(name)))
