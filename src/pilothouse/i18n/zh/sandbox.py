"""Chinese texts of the sandbox's promises about a command."""

from collections.abc import Mapping

from pilothouse.domain.promises import SandboxPromise

PROMISES: Mapping[SandboxPromise, str] = {
    SandboxPromise.WRITES: "不能更改文件和文件夹，也不能更改其权限、所有者、时间和属性",
    SandboxPromise.TRUNCATION: "不能清空或截断任何文件",
    SandboxPromise.NETWORK: "不能建立任何网络连接",
    SandboxPromise.SIGNALS: "不能向命令之外的进程发送信号",
    SandboxPromise.MEMORY: "无法访问其他进程的内存和环境变量",
    SandboxPromise.IPC: "无法访问其他进程的共享内存、信号量、消息队列、密钥和锁",
    SandboxPromise.DEVICES: "无法访问终端和其他设备",
}
