"""Every module of the package can be imported on systems without the names that only Linux has."""

import json
import subprocess
import sys

# Names that Python has on Linux, and not on macOS.
LINUX_NAMES = {
    "os": (
        "CLONE_ EFD_ GRND_ MFD_ O_DIRECT$ O_LARGEFILE O_NOATIME O_PATH O_RSYNC O_TMPFILE PIDFD_ POSIX_FADV_ P_PIDFD "
        "RWF_ SCHED_BATCH SCHED_IDLE SCHED_RESET SPLICE_ TFD_ XATTR_ copy_file_range eventfd getrandom getresgid "
        "getresuid getxattr listxattr memfd_create pidfd_open pipe2 posix_fadvise posix_fallocate removexattr "
        "sched_get sched_set setns setresgid setresuid setxattr splice timerfd_ unshare"
    ),
    "signal": "SIGCLD SIGPOLL SIGPWR SIGRTMAX SIGRTMIN SIGSTKFLT pidfd_send_signal sigtimedwait sigwaitinfo",
    "select": "EPOLL epoll",
    "resource": "RLIMIT_MSGQUEUE RLIMIT_NICE RLIMIT_RT RLIMIT_SIGPENDING RUSAGE_THREAD prlimit",
    "fcntl": "F_ADD_SEALS F_GETPIPE_SZ F_GET_SEALS F_NOTIFY F_OFD_ F_SEAL_ F_SETPIPE_SZ F_SETSIG",
    "socket": "AF_ALG AF_NETLINK AF_PACKET AF_VSOCK SO_BINDTODEVICE SO_PASSCRED SO_PEERCRED SOCK_CLOEXEC SOCK_NONBLOCK",
    "mmap": "MAP_POPULATE MAP_STACK",
}
PROGRAM = """
import importlib, json, pkgutil, sys

for holder, names in json.loads(sys.argv[1]).items():
    for module in filter(None, map(importlib.import_module, {"os": ("os", "posix")}.get(holder, (holder,)))):
        for name in dir(module):
            if any((name + "$").startswith(prefix) for prefix in names.split()):
                delattr(module, name)
import os
assert not hasattr(os, "O_PATH") and hasattr(os, "O_DIRECTORY")

import pilothouse
failed = {}
for found in pkgutil.walk_packages(pilothouse.__path__, "pilothouse."):
    if not found.name.endswith(".__main__"):
        try:
            importlib.import_module(found.name)
        except AttributeError as error:
            failed[found.name] = str(error)
print(json.dumps(failed))
"""


def test_every_module_can_be_imported_without_the_names_of_linux() -> None:
    program = [sys.executable, "-c", PROGRAM, json.dumps(LINUX_NAMES)]
    child = subprocess.run(program, check=False, capture_output=True, text=True, timeout=120)
    assert child.returncode == 0, child.stderr
    assert json.loads(child.stdout) == {}
