"""English texts of the sandbox's promises about a command."""

from collections.abc import Mapping

from pilothouse.domain.promises import SandboxPromise

PROMISES: Mapping[SandboxPromise, str] = {
    SandboxPromise.WRITES: "files and folders can't be changed, nor their permissions, owners, times and attributes",
    SandboxPromise.TRUNCATION: "no file can be emptied or truncated",
    SandboxPromise.NETWORK: "no network connection can be made",
    SandboxPromise.SIGNALS: "no process outside the command can be sent a signal",
    SandboxPromise.MEMORY: "the memory and environment of other processes are out of reach",
    SandboxPromise.IPC: "shared memory, semaphores, message queues, keys and locks of other processes are out of reach",
    SandboxPromise.DEVICES: "terminals and other devices are out of reach",
}
