"""The promises of the sandbox in words, in English and Chinese."""

from collections.abc import Mapping

from pilothouse.domain.codes import Language
from pilothouse.domain.promises import MEANS, Kernel, SandboxPromise

_NAMES: Mapping[SandboxPromise, tuple[str, str]] = {
    SandboxPromise.WRITES: (
        "files and folders are not changed, nor their modes, owners, times and attributes",
        "不更改文件和文件夹，也不更改其权限、所有者、时间和属性",
    ),
    SandboxPromise.TRUNCATION: ("no file is emptied or cut", "不清空或截断任何文件"),
    SandboxPromise.NETWORK: ("no connection is made", "不建立任何连接"),
    SandboxPromise.SIGNALS: ("no process outside the command is sent a signal", "不向命令之外的进程发送信号"),
    SandboxPromise.MEMORY: (
        "the memory and environment of other processes are out of reach",
        "无法触及其他进程的内存和环境变量",
    ),
    SandboxPromise.IPC: (
        "shared memory, semaphores, queues, keys and locks of others are out of reach",
        "无法触及他人的共享内存、信号量、队列、密钥和锁",
    ),
    SandboxPromise.DEVICES: ("terminals and other devices are out of reach", "无法触及终端及其他设备"),
}
_OR = (" or ", "，或 ")


def say_promise(promise: SandboxPromise, language: Language) -> str:
    return _NAMES[promise][language == "zh"]


def say_means(promise: SandboxPromise, kernel: Kernel, language: Language) -> str:
    """What keeps a promise here, or what would keep it."""
    kept_by = kernel.means_for(promise)
    return _OR[language == "zh"].join(means.needs for means in ((kept_by,) if kept_by is not None else MEANS[promise]))


def say_broken(kernel: Kernel, language: Language) -> str:
    """The promises that nothing keeps here, as one list."""
    return ("; ", "；")[language == "zh"].join(say_promise(promise, language) for promise in kernel.broken)
