"""Chinese texts of the codes about tool calls: how they are decided and how they end."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

CALLS: Mapping[Code, str] = {
    Code.MODE_RUNS: "“{mode}”模式自动允许此操作。",
    Code.MODE_WAITS: "当前为“{mode}”模式，需要你批准。",
    Code.MODE_DENIED: "“{mode}”模式不允许 {tool}，切换到“{hint}”模式后可继续。",
    Code.ELEVATION_OFFERED: "“{mode}”模式在更改前询问。允许此操作一次？",
    Code.APPROVED: "由 {by} 批准。",
    Code.ELEVATED: "由 {by} 允许一次。",
    Code.QUESTION: "智能体有问题要问你。",
    Code.UNKNOWN_TOOL: "未知工具 {tool!r}。可用工具：{allowed}。",
    Code.TOOL_DISABLED: "工具 {tool!r} 已停用。",
    Code.INVALID_ARGUMENTS: "没有执行任何操作，因为 {tool} 的参数无效：{detail}。",
    Code.OUTSIDE_WORKSPACE: (
        "{path!r} 在项目文件夹之外：文件工具只能使用项目文件夹内的路径，批准也无法改变。可以在 config.toml 的 "
        "[[roots]] 中开放该文件夹，或在“逐步确认”或“智能体”模式下用命令读取。"
    ),
    Code.PROTECTED_PATH: (
        "{path!r} 受保护：在任何模式下，文件工具都不能使用该路径，命令也不能通过指明该路径来更改。"
        "请使用该文件所属的程序（例如 git），或请用户自己更改。"
    ),
    Code.CLEANS_DATA: (
        "未运行：带 -x 或 -X 的 git clean 会删除 {path!r}，其中有 Pilothouse 的对话、访问令牌和设置。请将其排除：git "
        "clean -fdx {options}"
    ),
    Code.REJECTED: "用户拒绝了此操作{because}。不要再次尝试相同的操作。",
    Code.REJECTED_BY_SWITCH: "未运行：用户已切换到“{mode}”模式，该模式不允许此操作。",
    Code.ROUND_DENIED: "未运行：“{mode}”模式不允许同一步中的另一个操作。",
    Code.NOT_RUN: "未运行。",
    Code.CANCELLED: "已被用户取消。",
    Code.INTERRUPTED_CALL: "在得到结果之前被中断。",
    Code.MAY_HAVE_RUN: "已中断，但操作可能已经运行。请先检查，再决定是否重复。",
    Code.ARGUMENTS_EDITED: "用户在批准前编辑了参数。实际运行的参数：{arguments}",
    Code.TOOL_FAILED: "{tool} 失败：{detail}",
    Code.TOOL_TIMED_OUT: "{tool} 超过 {seconds} 秒的时限，已被停止。",
    Code.FILE_MISSING: "{path!r} 不存在。",
    Code.FILE_NOT_TEXT: "{path!r} 不是文本文件。",
    Code.FILE_TOO_LARGE: "{path!r} 过大：共 {size} 字节，一次最多处理 {limit} 字节。请按行分段读取，或用命令更改。",
    Code.NOT_A_FILE: "{path!r} 不是普通文件。",
    Code.NOT_A_DIRECTORY: "{path!r} 不是文件夹。",
    Code.FILE_UNREADABLE: "无法使用 {path!r}：{detail}。",
    Code.FILE_CHANGED: "{path!r} 在显示此操作之后发生了更改。请重新读取。",
    Code.COMMAND_FILES_CHANGED: "未运行命令 {command!r}：在显示该命令之后，其要运行的文件发生了更改。请重新请求。",
    Code.TEXT_NOT_FOUND: "第 {number} 处编辑：在 {path!r} 中找不到原文。原文必须与文件内容完全一致。",
    Code.TEXT_NOT_UNIQUE: (
        "第 {number} 处编辑：原文在 {path!r} 中出现 {count} 次。请给出更多上下文，或设置 replace_all。"
    ),
    Code.TOO_MANY_EDITS: "对 {path!r}（{size} 字节）的编辑过多：共 {count} 处，一次最多 {limit} 处。请分几次编辑。",
    Code.TOO_MANY_MATCHES: (
        "第 {number} 处编辑：原文在 {path!r} 中出现的次数过多。对这种编码的文件，一次最多替换 {limit} 处。"
        "请给出更多上下文，分几次编辑，或使用命令。"
    ),
    Code.BAD_LINE_RANGE: "{path!r} 共 {lines} 行，没有第 {start} 到 {end} 行。",
}
