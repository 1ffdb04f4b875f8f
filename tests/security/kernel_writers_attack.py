"""Run inside `sandbox = "workspace"`: asks the kernel to write, or to start programs, on behalf of the command.

Argument: a JSON object with the numbers of the system calls, a folder and a process outside. Prints a JSON object: 0 or
more if the kernel complied, else the negative error number. Only the standard library.
"""

import ctypes
import json
import os
import resource
import sys
from collections.abc import Callable

HERE = json.loads(sys.argv[1])
LIBC = ctypes.CDLL(None, use_errno=True)
NUMBERS, OUTSIDE, PID = HERE["numbers"], HERE["outside"], HERE["pid"]
NEW_NAMESPACE, NEW_USER = 0x00020000, 0x10000000
SIGCHLD = 17
SET_STRING, CREATE = 1, 6
CORE = resource.RLIMIT_CORE
FOUND: dict[str, int] = {}


def call(name: str, *arguments: object) -> int:
    converted: list[object] = []
    for each in arguments:
        converted.append(ctypes.c_long(each) if isinstance(each, int) else each)
    ctypes.set_errno(0)
    result: int = LIBC.syscall(ctypes.c_long(NUMBERS[name]), *converted)
    return result if result >= 0 else -ctypes.get_errno()


def path(text: str) -> ctypes.c_char_p:
    return ctypes.c_char_p(os.fsencode(text))


def in_child(action: Callable[[], int]) -> int:
    """The result of an action in a process of its own, which may end in another namespace."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, str(action()).encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    answer = os.read(reader, 100)
    os.close(reader)
    return int(answer)


def opened(name: str, flags: int) -> int:
    try:
        return os.open(name, flags)
    except OSError as error:
        return -(error.errno or 1)


def overlay() -> int:
    """overlayfs empties its work directory as soon as it is configured. No mount is needed."""
    for name in ("lower", "upper"):
        os.makedirs(name, exist_ok=True)
    separated = call("unshare", NEW_USER | NEW_NAMESPACE)
    context = call("fsopen", path("overlay"), 0)
    if context < 0:
        return context if separated >= 0 else separated
    for key, value in (("lowerdir", "lower"), ("upperdir", "upper"), ("workdir", OUTSIDE)):
        call("fsconfig", context, SET_STRING, path(key), path(value), 0)
    return call("fsconfig", context, CREATE, 0, 0, 0)


def cloned(flags: int) -> int:
    child = call("clone", flags | SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    if child > 0:
        os.waitpid(child, 0)
    return child


def cloned_by_structure() -> int:
    how = (ctypes.c_uint64 * 11)(NEW_USER, 0, 0, 0, SIGCHLD)
    child = call("clone3", ctypes.byref(how), ctypes.sizeof(how))
    if child == 0:
        os._exit(0)
    return child


FOUND["overlay"] = in_child(overlay)
FOUND["unshare user"] = in_child(lambda: call("unshare", NEW_USER))
FOUND["unshare mounts"] = in_child(lambda: call("unshare", NEW_NAMESPACE))
FOUND["unshare files"] = in_child(lambda: call("unshare", 0x400))
FOUND["clone user"] = cloned(NEW_USER)
FOUND["clone mounts"] = cloned(NEW_USER | NEW_NAMESPACE)
FOUND["clone"] = min(cloned(0), 0)
FOUND["clone3"] = cloned_by_structure()
FOUND["setns"] = in_child(lambda: call("setns", os.open("/proc/self/ns/user", os.O_RDONLY), 0))
FOUND["mount"] = call("mount", path("none"), path("."), path("tmpfs"), 0, 0)
FOUND["bind"] = call("mount", path("."), path("sub"), 0, 0x1000, 0)
FOUND["umount2"] = call("umount2", path("/"), 2)
FOUND["pivot_root"] = call("pivot_root", path("."), path("sub"))
FOUND["mount_setattr"] = call("mount_setattr", -100, path("."), 0, (ctypes.c_uint64 * 4)(1), 32)
FOUND["fsopen"] = call("fsopen", path("tmpfs"), 0)
FOUND["fsconfig"] = call("fsconfig", 0, CREATE, 0, 0, 0)
FOUND["fsmount"] = call("fsmount", 0, 0, 0)
FOUND["fspick"] = call("fspick", -100, path("."), 0)
FOUND["move_mount"] = call("move_mount", -100, path("."), -100, path("sub"), 0)
FOUND["open_tree clone"] = call("open_tree", -100, path("."), 1)
FOUND["open_tree"] = min(call("open_tree", -100, path("."), 0), 0)
FOUND["open_tree_attr"] = call("open_tree_attr", -100, path("."), 1, (ctypes.c_uint64 * 4)(1), 32)
FOUND["fuse"] = opened("/dev/fuse", os.O_RDWR)
FOUND["loop"] = opened("/dev/loop-control", os.O_RDWR)
FOUND["core pattern"] = opened("/proc/sys/kernel/core_pattern", os.O_WRONLY)
FOUND["swapon"] = call("swapon", path("f.txt"), 0)
FOUND["swapoff"] = call("swapoff", path("f.txt"))
FOUND["acct"] = call("acct", path("f.txt"))
FOUND["quotactl"] = call("quotactl", 0x800002 << 8, path("/dev/sda"), 0, path("f.txt"))
FOUND["bpf"] = call("bpf", 0, ctypes.create_string_buffer(128), 128)
FOUND["io_uring_setup"] = call("io_uring_setup", 1, ctypes.create_string_buffer(256))
FOUND["request_key"] = call("request_key", path("user"), path("debug:x"), path("x"), -2)
FOUND["fanotify that decides"] = call("fanotify_init", 4, 0)
FOUND["pidfd_getfd"] = call("pidfd_getfd", call("pidfd_open", PID, 0), 0, 0)
buffer = ctypes.create_string_buffer(8)
vector = (ctypes.c_uint64 * 2)(ctypes.addressof(buffer), 8)
FOUND["process_vm_writev"] = call("process_vm_writev", PID, vector, 1, vector, 1, 0)

before = resource.getrlimit(CORE)
limits = (ctypes.c_uint64 * 2)(0, 0)
FOUND["core limit outside"] = call("prlimit64", PID, CORE, limits, 0)
FOUND["core limit"] = call("prlimit64", 0, CORE, limits, 0)
FOUND["setrlimit core"] = call("setrlimit", CORE, limits)
FOUND["core limit is kept"] = int(resource.getrlimit(CORE) == before)
FOUND["other limit"] = call("prlimit64", 0, resource.RLIMIT_FSIZE, (ctypes.c_uint64 * 2)(1 << 40, 1 << 40), 0)
print(json.dumps(FOUND))
