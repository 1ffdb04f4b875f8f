"""Run inside the sandbox: tries every known escape, and prints one JSON object with the result of each.

Arguments: a JSON object that says where the victims are. A value of 0 or more is a success of the attack,
a negative one the error number that the kernel gave. Only the standard library, and no module that is slow to import.
"""

import ctypes
import fcntl
import json
import mmap
import os
import struct
import sys
from collections.abc import Callable
from functools import partial

HERE = json.loads(sys.argv[1])
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC_MMAP = LIBC.mmap
LIBC_MMAP.restype = ctypes.c_long
LIBC_MMAP.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
NUMBERS = HERE["numbers"]
OUT, PID = HERE["file"], HERE["pid"]
BUFFER = ctypes.create_string_buffer(4096)
FOUND: dict[str, int] = {}


def call(name: str | int, *arguments: object) -> int:
    number = NUMBERS[name] if isinstance(name, str) else name
    values = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    ctypes.set_errno(0)
    result: int = LIBC.syscall(ctypes.c_long(number), *values)
    return result if result >= 0 else -ctypes.get_errno()


def path(text: str) -> ctypes.c_char_p:
    return ctypes.c_char_p(os.fsencode(text))


def attempt(name: str, action: Callable[[], int | None]) -> None:
    try:
        FOUND[name] = int(action() or 0)
    except OSError as error:
        FOUND[name] = -(error.errno or 1)


def truncations() -> None:
    how = (ctypes.c_uint64 * 3)(os.O_RDONLY | os.O_TRUNC, 0, 0)
    for name, file in (("inside", "f.txt"), ("outside", OUT)):
        attempt(f"open {name} with O_TRUNC", partial(call, "open", path(file), os.O_TRUNC))
        attempt(f"openat {name} with O_TRUNC", partial(call, "openat", -100, path(file), os.O_TRUNC))
        attempt(f"access mode 3 {name} with O_TRUNC", partial(call, "open", path(file), os.O_TRUNC | 3))
        attempt(f"openat2 {name} with O_TRUNC", partial(call, "openat2", -100, path(file), ctypes.byref(how), 24))
        attempt(f"truncate {name}", partial(call, "truncate", path(file), 0))
        attempt(f"write mode {name} with O_TRUNC", partial(call, "open", path(file), os.O_TRUNC | os.O_WRONLY))
        attempt(f"creat {name}", partial(call, "creat", path(file), 0o600))


def reads() -> None:
    for name in (OUT, HERE["folder"], os.path.join(HERE["folder"], ".ssh/id_rsa"), "/tmp", "/root", "/home", "/run"):
        attempt(f"read {name}", partial(os.open, name, os.O_RDONLY))
    for name in ("/proc/1/root", "/proc/self/root/tmp", f"/proc/{PID}/cwd", f"/proc/{PID}/root"):
        attempt(f"read {name}", partial(os.open, name, os.O_RDONLY))
    attempt("exec outside", lambda: call("execveat", os.open(OUT, os.O_PATH), path(""), 0, 0, 0x1000))


def marks() -> None:
    fd = os.open("f.txt", os.O_RDONLY)
    attempt("chmod", lambda: call("chmod", path("f.txt"), 0o777))
    attempt("fchmod", lambda: call("fchmod", fd, 0o777))
    attempt("fchmodat2", lambda: call("fchmodat2", -100, path("f.txt"), 0o777, 0))
    attempt("utimensat", lambda: call("utimensat", -100, path("f.txt"), 0, 0))
    attempt("setxattr", lambda: call("setxattr", path("f.txt"), path("user.x"), path("1"), 1, 0))
    attempt("file_setattr", lambda: call("file_setattr", -100, path("f.txt"), BUFFER, 24, 0))
    attempt("FS_IOC_SETVERSION", lambda: call("ioctl", fd, 0x40087602, ctypes.byref(ctypes.c_long(7))))
    attempt("FS_IOC_SETFLAGS", lambda: call("ioctl", fd, 0x40086602, ctypes.byref(ctypes.c_long(0x80))))
    attempt("FS_IOC_FSSETXATTR", lambda: call("ioctl", fd, 0x401C5820, BUFFER))
    attempt("flock", lambda: call("flock", fd, 2 | 4))
    lock = struct.pack("hhqqi", fcntl.F_RDLCK, 0, 0, 0, 0)
    attempt("F_SETLK", lambda: call("fcntl", fd, fcntl.F_SETLK, ctypes.c_char_p(lock + bytes(8))))
    attempt("F_OFD_SETLK", lambda: call("fcntl", fd, 37, ctypes.c_char_p(lock + bytes(8))))
    attempt("F_SETLEASE", lambda: call("fcntl", fd, 1024, fcntl.F_RDLCK))
    attempt("F_NOTIFY", lambda: call("fcntl", os.open(".", os.O_RDONLY), 1026, 1))
    attempt("inotify", lambda: call("inotify_add_watch", call("inotify_init1", 0), path(HERE["folder"]), 0xFFF))
    attempt("fanotify", lambda: call("fanotify_init", 0x200, 0))


def signals() -> None:
    attempt("kill", lambda: call("kill", PID, 9))
    attempt("kill with high bits", lambda: call("kill", PID | 1 << 32, 9))
    attempt("kill the group", lambda: call("kill", -PID, 9))
    attempt("tkill", lambda: call("tkill", PID, 9))
    attempt("tgkill", lambda: call("tgkill", PID, PID, 9))
    info = struct.pack("=iii", 9, 0, -1) + bytes(116)
    attempt("rt_sigqueueinfo", lambda: call("rt_sigqueueinfo", PID, 9, ctypes.c_char_p(info)))
    attempt("rt_tgsigqueueinfo", lambda: call("rt_tgsigqueueinfo", PID, PID, 9, ctypes.c_char_p(info)))
    attempt("pidfd_send_signal", lambda: call("pidfd_send_signal", call("pidfd_open", PID, 0), 9, 0, 0))
    reading, writing = os.pipe()
    attempt("F_SETOWN", lambda: call("fcntl", reading, 8, PID))
    call("fcntl", reading, 10, 9)  # F_SETSIG: SIGKILL
    call("fcntl", reading, 4, 0o20000)  # F_SETFL: O_ASYNC
    os.write(writing, b"x")
    attempt(
        "signal the supervisor", lambda: call("kill", os.getppid(), 18)
    )  # SIGCONT: without a sandbox it must live on
    attempt("prlimit64", lambda: call("prlimit64", PID, 7, struct.pack("QQ", 3, 3), 0))
    none = ctypes.c_char_p(bytes(16))
    attempt("a core limit that starts the crash handler", lambda: call("setrlimit", 4, none))
    attempt("the same by prlimit64", lambda: call("prlimit64", 0, 4, none, 0))
    attempt("sched_setaffinity", lambda: call("sched_setaffinity", PID, 8, ctypes.byref(ctypes.c_long(1))))
    attempt("setpriority", lambda: call("setpriority", 0, PID, 19))


def memory() -> None:
    vector = struct.pack("QQ", ctypes.addressof(BUFFER), 8)
    attempt(
        "process_vm_readv", lambda: call("process_vm_readv", PID, vector, 1, struct.pack("QQ", HERE["at"], 8), 1, 0)
    )
    attempt("ptrace", lambda: call("ptrace", 16, PID, 0, 0))
    for name in ("mem", "environ", "maps", "fd/0", "auxv"):
        attempt(f"/proc/PID/{name}", partial(os.open, f"/proc/{PID}/{name}", os.O_RDONLY))
    attempt("pidfd_getfd", lambda: call("pidfd_getfd", call("pidfd_open", PID, 0), 0, 0))
    attempt("kcmp", lambda: call("kcmp", os.getpid(), PID, 0, 0, 0))


def ipc() -> None:
    attempt("shmat", lambda: call("shmat", HERE["shm"], 0, 0o10000))
    attempt("shmctl remove", lambda: call("shmctl", HERE["shm"], 0, 0))
    attempt("msgsnd", lambda: call("msgsnd", HERE["msg"], struct.pack("q8s", 1, b"planted!"), 8, 0o4000))
    attempt("semop", lambda: call("semop", HERE["sem"], struct.pack("HhH", 0, 1, 0o4000), 1))
    attempt("mq_unlink", lambda: call("mq_unlink", path(HERE["mq"])))
    attempt("add_key", lambda: call("add_key", path("user"), path("x"), path("y"), 1, -3))
    attempt("request_key", lambda: call("request_key", path("user"), path("x"), path("y"), -3))
    pair = (ctypes.c_int * 2)()
    attempt("socketpair of datagrams", lambda: call("socketpair", 1, 2, 0, pair))
    address = struct.pack("H", 1) + b"\0" + HERE["abstract"].encode()
    attempt("sendto", lambda: call("sendto", pair[0], b"planted", 7, 0, ctypes.c_char_p(address), len(address)))
    for family in (1, 2, 10, 16, 17, 38, 40):
        attempt(f"socket {family}", partial(call, "socket", family, 3 if family == 16 else 1, 0))


def futexes() -> None:
    """Move a waiter of a futex in a readable file to a futex of our own."""
    own = mmap.mmap(-1, 4096)
    with open("f.txt", "rb") as file:
        there = LIBC_MMAP(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0)
    here = ctypes.addressof(ctypes.c_char.from_buffer(own))
    attempt("FUTEX_REQUEUE", lambda: call("futex", there, 3, 0, 99, here, 0))
    attempt("futex_requeue", lambda: call("futex_requeue", BUFFER, 0, 0, 99))


def devices() -> None:
    for name in (HERE["terminal"], "/dev/shm", HERE["shared"], "/dev/pts", "/dev/ptmx", "/dev/tty", "/dev/mem", "/dev"):
        attempt(f"open {name}", partial(os.open, name, os.O_RDONLY | os.O_NOCTTY))
    attempt("TIOCSTI", lambda: call("ioctl", 0, 0x5412, path("x")))
    attempt("mknod", lambda: call("mknod", path("n"), 0o020666, 0x0105))


def kernel() -> None:
    attempt("io_uring_setup", lambda: call("io_uring_setup", 4, BUFFER))
    attempt("unshare", lambda: call("unshare", 0x10000000))
    attempt("clone3", lambda: call("clone3", 0, 0))
    attempt("bpf", lambda: call("bpf", 0, BUFFER, 128))
    attempt("userfaultfd", lambda: call("userfaultfd", 1))
    attempt("perf_event_open", lambda: call("perf_event_open", BUFFER, 0, -1, -1, 0))
    attempt("mount", lambda: call("mount", path("x"), path("."), path("tmpfs"), 0, 0))
    attempt("fsopen", lambda: call("fsopen", path("tmpfs"), 0))
    attempt("setns", lambda: call("setns", os.open("/proc/self/ns/net", os.O_RDONLY), 0))
    attempt("a number that nobody has", lambda: call(900))
    attempt("a number of x32", lambda: call(0x40000000 | 39))
    attempt("a filter with a listener", second_listener)


def second_listener() -> int:
    """A second listener could allow calls that the first has to decide."""
    steps = struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)
    filter_steps = ctypes.create_string_buffer(steps, 8)
    program = struct.pack("=HxxxxxxQ", 1, ctypes.addressof(filter_steps))
    return call("seccomp", 1, 8, ctypes.c_char_p(program))


for each in (truncations, reads, marks, signals, memory, ipc, futexes, devices, kernel):
    each()
print(json.dumps(FOUND))
