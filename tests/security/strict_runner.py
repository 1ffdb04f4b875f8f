"""Runs strict lines under strace, and lists their system calls that no strict line may make: those that open a socket
of the network, open a device, or write a file.
"""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

from tests.security.line_runner import NOBODY

SECONDS = 10
_CALLS = (
    "?socket,?open,?openat,?openat2,?creat,?mkdir,?mkdirat,?rename,?renameat,?renameat2,?unlink,?unlinkat,?rmdir,?link,"
    "?linkat,?symlink,?symlinkat,?chmod,?fchmodat,?chown,?lchown,?fchownat,?truncate,?mknod,?mknodat,?utimensat,?sync,"
    "?setxattr,?removexattr"
)
_OPENING = re.compile(r'^\d+ +(?:open|openat|openat2)\((?:AT_FDCWD, )?"(?P<path>[^"]*)"(?P<flags>.*)$')
_WRITING = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC")
_DEVICE = re.compile(r"/dev/(?!(?:null|zero|full|random|urandom|tty|pts/\d+|fd|std\w+)(?:/|$)|shm)[^/]")
_SHELLS_OWN = frozenset({"/dev/null", "/dev/tty"})
"""bash and programs of a terminal open these for themselves."""
_NETWORK = re.compile(r"socket\((?:AF|PF)_(?!UNIX|LOCAL|NETLINK)")


def can_trace() -> bool:
    """Whether strace is installed and may trace here."""
    strace = shutil.which("strace")
    return (
        strace is not None and subprocess.run([strace, "-qq", "true"], check=False, capture_output=True).returncode == 0
    )


def refused_calls(line: str, folder: Path, log: Path, seconds: float = SECONDS) -> list[str]:
    """The system calls of a line that are refused to strict lines. The line runs in `folder`, as nobody where the tests
    run as root."""
    log.write_text("")
    log.chmod(0o666)
    as_nobody: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": ()} if os.geteuid() == 0 else {}
    process = subprocess.Popen(
        ["strace", "-f", "-qq", "-e", "signal=none", "-e", f"trace={_CALLS}", "-o", log, "bash", "-c", line],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "TERM": "dumb"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        **as_nobody,
    )
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return [call for call in log.read_text(errors="replace").splitlines() if _is_refused(call)]


def _is_refused(call: str) -> bool:
    opening = _OPENING.match(call)
    if opening is None:
        is_socket = "socket(" in call.split(" = ")[0]
        is_mutation = not any(mark in call for mark in ("resumed>", "+++", "open"))
        return bool(_NETWORK.search(call)) if is_socket else is_mutation
    if opening["path"] in _SHELLS_OWN:
        return False
    return bool(_WRITING.search(opening["flags"]) or _DEVICE.match(opening["path"]))
