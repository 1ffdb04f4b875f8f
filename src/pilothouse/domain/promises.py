"""What the kernel's sandbox promises about a command that runs by itself because it only reads, and what keeps it.

A promise is kept by Landlock, by a filter of system calls (seccomp), or by both together. Landlock grew: each version
of its ABI came with a kernel. The filter needs a table of the architecture's system calls.
"""

from collections.abc import Mapping
from enum import StrEnum

from pilothouse.domain.values import Value

KERNEL_OF_ABI: Mapping[int, str] = {1: "5.13", 2: "5.19", 3: "6.2", 4: "6.7", 5: "6.10", 6: "6.12", 7: "6.15"}
"""The first Linux version with each version of the Landlock ABI."""
ARCHITECTURES = ("x86_64", "aarch64")
"""Architectures whose system calls are known here."""


class SandboxPromise(StrEnum):
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
    """No device is used but the empty ones: no terminal, no disk, no request that changes a device's state."""


class Means(Value):
    """One way to keep a promise."""

    landlock: int = 0
    """The lowest Landlock ABI that does it; 0 where Landlock is not needed."""
    filter: bool = False
    """Whether a filter of system calls is needed too."""

    @property
    def needs(self) -> str:
        """For example "Landlock ABI 3 (Linux 6.2) + seccomp (x86_64, aarch64)"."""
        landlock = f"Landlock ABI {self.landlock} (Linux {KERNEL_OF_ABI[self.landlock]})" if self.landlock else ""
        seccomp = f"seccomp ({', '.join(ARCHITECTURES)})" if self.filter else ""
        return " + ".join(part for part in (landlock, seccomp) if part)


MEANS: Mapping[SandboxPromise, tuple[Means, ...]] = {
    # Landlock knows no modes, owners, times and attributes.
    SandboxPromise.WRITES: (Means(landlock=1, filter=True),),
    # Below ABI 3 the filter refuses O_TRUNC without write access; with write access Landlock refuses the opening.
    SandboxPromise.TRUNCATION: (Means(landlock=3), Means(landlock=1, filter=True)),
    # Landlock knows TCP only (ABI 4), and abstract Unix sockets (ABI 6).
    SandboxPromise.NETWORK: (Means(filter=True),),
    # Below ABI 6 the filter asks the command's keeper about each signal (user notification).
    SandboxPromise.SIGNALS: (Means(landlock=6), Means(landlock=1, filter=True)),
    SandboxPromise.MEMORY: (Means(landlock=1),),
    SandboxPromise.IPC: (Means(filter=True),),
    # Landlock grants single nodes; the filter knows which ioctl requests only ask.
    SandboxPromise.DEVICES: (Means(landlock=1, filter=True),),
}


class Kernel(Value):
    """What the running kernel has to keep promises with."""

    landlock: int = 0
    """Version of the Landlock ABI; 0 where the kernel has none, or where it is switched off."""
    filter: bool = False
    """Whether a filter of system calls can be installed, and the architecture's numbers are known."""

    def means_for(self, promise: SandboxPromise) -> Means | None:
        """What keeps a promise here, None where nothing does."""
        fitting = (each for each in MEANS[promise] if self.landlock >= each.landlock and self.filter >= each.filter)
        return next(fitting, None)

    @property
    def broken(self) -> tuple[SandboxPromise, ...]:
        """The promises that nothing keeps here."""
        return tuple(promise for promise in SandboxPromise if self.means_for(promise) is None)

    @property
    def is_complete(self) -> bool:
        """Whether every promise is kept. Where not, only the strict list of commands runs by itself."""
        return not self.broken

    @property
    def keeps_to_workspace(self) -> bool:
        """Whether a command can be kept from writing outside its workspace (`sandbox = "workspace"`)."""
        # Without the filter a command mounts file systems in a user namespace, which write where Landlock lets nobody.
        return self.means_for(SandboxPromise.WRITES) is not None
