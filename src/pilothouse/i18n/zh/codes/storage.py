"""Chinese texts of the codes about the data directory, its records and their audit."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

STORAGE: Mapping[Code, str] = {
    Code.STORE_REFUSED: "无法保存：{detail}。之前保存的内容完好。请释放磁盘空间或修复磁盘，然后重试。",
    Code.STORE_READ_ONLY: "无法保存：向磁盘同步失败（{detail}）。之前保存的内容完好。请检查磁盘，然后继续。",
    Code.STORE_UNAVAILABLE: "无法使用数据文件夹 {path}：{detail}。请恢复该文件夹，或使用其他文件夹重新启动。",
    Code.CHANGE_NOT_KEPT: "没有更改任何内容：无法为撤销保存 {path} 的当前内容（{detail}）。请释放磁盘空间，然后重试。",
    Code.SANDBOX_INCOMPLETE: "未运行命令：自作出决定以来，内核沙盒已不再完整，该命令现在需要批准。请重新请求。",
    Code.SANDBOX_TOO_MANY_ENTRIES: (
        "没有执行任何操作：{folder} 中与 Pilothouse 私有数据并列的条目超过 {most} 个，无法逐一为程序授予访问权限。"
        "请将数据文件夹移到单独的文件夹，或减少条目，然后重试。"
    ),
    Code.DISK_SPACE_LOW: "数据文件夹 {path} 所在磁盘仅剩 {free_mb} MB。请在磁盘写满之前释放空间。",
    Code.STORE_LOCKED: "数据文件夹 {path!r} 正被另一进程（{holder}）使用。请停止该进程，或选择其他文件夹。",
    Code.STALE_VERSION: "未保存：另一项更改已先保存（版本 {found}，而不是 {expected}）。请重新加载后重试。",
    Code.STALE_FENCE: "未保存：此对话已由另一进程接管。请在该进程中继续，或停止该进程并重新启动当前进程。",
    Code.CONTEXT_DAMAGED: "对话 {context_id!r} 已损坏：{detail}。",
    Code.FORMAT_TOO_NEW: (
        "对话 {context_id!r} 由更新版本的 Pilothouse 写入（格式 {format}，当前版本最高支持 {known}）。请更新 "
        "Pilothouse。"
    ),
    Code.TAIL_CUT: "一次未完成的写入（{size} 字节）已移除，并保存为 {kept}。",
    Code.JOURNAL_GAP: "日志中有 {size} 字节无法读取，已跳过并保存为 {kept}。",
    Code.METADATA_REBUILT: "无法读取元数据（{detail}），已根据消息重建；旧文件保存为 {kept}。",
    Code.MESSAGE_DAMAGED: "无法读取此消息：{detail}。",
    Code.AUDIT_BROKEN: "审计记录被截断或改写：第 {sequence} 条缺失、无法读取或已不是原来的内容。",
    Code.AUDIT_CHANGED: (
        "没有接受任何内容：此对话的审计记录在上次读取之后又在 Pilothouse 之外被更改。请重新检查，然后再接受。"
    ),
    Code.AUDIT_CUT: (
        "此对话在 Pilothouse 之外被截断、改写或删除：审计记录的第 {sequence} 条缺失、无法读取或已不是原来的内容。"
        "其模式和规则可能不是你所选的，因此所有操作都需要你批准。请检查模式和规则，"
        "然后撤销那条对所有工具都要求询问的规则。也可以停止 Pilothouse，然后接受所有记录的当前内容：pilothouse audit "
        "verify --accept"
    ),
    Code.AUDIT_NOT_CONFIRMED: (
        "审计记录完整，但尚未在本机确认：本机还没有登记过该记录（例如文件夹是复制来的）。写入下一条记录后即可确认。"
    ),
    Code.AUDIT_WHOLE: "审计记录完整。",
    Code.AUDIT_LOST: "对话已不存在：其文件夹在 Pilothouse 之外被删除。",
    Code.INTERNAL: "Pilothouse 内部错误：{detail}。已确认的内容都已保存。",
}
