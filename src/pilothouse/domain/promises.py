"""The promises of the sandbox about read-only commands that run without approval, and the kernel features behind them.

Landlock, a system call filter (seccomp) or both together keep a promise. Landlock grew: each version of its ABI came
with a kernel. The filter needs a table of the system calls of the architecture.
"""

from collections.abc import Mapping
from enum import StrEnum

from pilothouse.domain.value import Value

KERNEL_OF_ABI: Mapping[int, str] = {1: "5.13", 2: "5.19", 3: "6.2", 4: "6.7", 5: "6.10", 6: "6.12", 7: "6.15"}
"""The first Linux version with each version of the Landlock ABI."""
ARCHITECTURES = ("x86_64", "aarch64")
"""Architectures whose system calls are known here."""


class SandboxPromise(StrEnum):
    """Things that a sandboxed command cannot do."""

    WRITES = "writes"
    """No file or folder is made, changed, moved or removed, nor its mode, owner, attributes or time of change."""
    TRUNCATION = "truncation"
    """No file is emptied or cut, not even one that is opened for reading."""
    NETWORK = "network"
    """No connection is made, to another machine or to a process of this one."""
    SIGNALS = "signals"
    """No process outside the command is sent a signal."""
    MEMORY = "memory"
    """The memory, environment and open files of processes outside the command are not read or changed."""
    IPC = "ipc"
    """No shared memory, semaphore, queue, key or lock of other processes is used or left behind."""
    DEVICES = "devices"
    """No device is used except null devices: no terminal, no disk, no request that changes the state of a device."""


class Means(Value):
    """The kernel features that together keep a promise."""

    landlock: int = 0
    """The lowest Landlock ABI that is sufficient; 0 where Landlock is not needed."""
    filter: bool = False
    """Whether a system call filter is needed."""

    @property
    def needs(self) -> str:
        """For example "Landlock ABI 3 (Linux 6.2) + seccomp (x86_64, aarch64)"."""
        landlock = f"Landlock ABI {self.landlock} (Linux {KERNEL_OF_ABI[self.landlock]})" if self.landlock else ""
        seccomp = f"seccomp ({', '.join(ARCHITECTURES)})" if self.filter else ""
        return " + ".join(part for part in (landlock, seccomp) if part)


MEANS: Mapping[SandboxPromise, tuple[Means, ...]] = {
    # Landlock knows no modes, owners, times and attributes.
    SandboxPromise.WRITES: (Means(landlock=1, filter=True),),
    # Below ABI 3 the filter refuses O_TRUNC without write access, and Landlock refuses opening with write access.
    SandboxPromise.TRUNCATION: (Means(landlock=3), Means(landlock=1, filter=True)),
    # Landlock knows TCP only (ABI 4), and abstract Unix sockets (ABI 6).
    SandboxPromise.NETWORK: (Means(filter=True),),
    # Below ABI 6 the filter asks the command's supervisor about each signal (user notification).
    SandboxPromise.SIGNALS: (Means(landlock=6), Means(landlock=1, filter=True)),
    SandboxPromise.MEMORY: (Means(landlock=1),),
    SandboxPromise.IPC: (Means(filter=True),),
    # Landlock grants single device nodes; the filter allows the ioctl requests that only query.
    SandboxPromise.DEVICES: (Means(landlock=1, filter=True),),
}


class Kernel(Value):
    """The features of the running kernel that keep promises."""

    landlock: int = 0
    """The version of the Landlock ABI; 0 where the kernel has none or has it switched off."""
    filter: bool = False
    """Whether a system call filter can be installed and the architecture is in `ARCHITECTURES`."""

    def means_for(self, promise: SandboxPromise) -> Means | None:
        """The means by which this kernel keeps a promise; None where it has none."""
        available = (
            means for means in MEANS[promise] if self.landlock >= means.landlock and self.filter >= means.filter
        )
        return next(available, None)

    @property
    def broken(self) -> tuple[SandboxPromise, ...]:
        """The promises that this kernel cannot keep."""
        return tuple(promise for promise in SandboxPromise if self.means_for(promise) is None)

    @property
    def is_complete(self) -> bool:
        """Whether the kernel keeps every promise. Otherwise only commands of the strict list run without approval."""
        return not self.broken

    @property
    def keeps_to_workspace(self) -> bool:
        """Whether a command can be kept from writing outside its workspace (`sandbox = "workspace"`)."""
        # Without the filter a command could mount file systems in a user namespace and write through them, past
        # Landlock.
        return self.means_for(SandboxPromise.WRITES) is not None
