"""Chinese texts of the codes about requests and commands that cannot be done."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

REQUESTS: Mapping[Code, str] = {
    Code.UNKNOWN_MODE: "未知模式 {mode!r}。可选：{allowed}。",
    Code.UNKNOWN_CONTEXT: "对话 {context_id!r} 不存在，可能已被删除。",
    Code.UNKNOWN_MESSAGE: "分支 {branch!r} 上没有消息 {message_id!r}。",
    Code.UNKNOWN_CALL: "此操作不存在，或已不需要批准。",
    Code.UNKNOWN_BRANCH: "未知分支 {branch!r}。可选：{allowed}。",
    Code.UNKNOWN_MODEL: "未知模型 {model!r}。可选：{allowed}。",
    Code.INVALID_ID: "ID {value!r} 无效。请使用 1 到 64 个字母、数字、“-”或“_”。",
    Code.INVALID_NAME: "名称 {value!r} 无效。请使用 1 到 100 个字符，不含控制字符。",
    Code.INVALID_PAYLOAD: "无法读取消息内容：{detail}。可用类型：{allowed}。",
    Code.EMPTY_MESSAGE: "消息为空。请发送文本或附件。",
    Code.TEXT_TOO_LARGE: "文本过长：共 {size} 字节，最多允许 {limit} 字节。请缩短。",
    Code.NOT_TEXT: "文本不是有效的 Unicode（{detail}）。请发送能编码为 UTF-8 的文本。",
    Code.UNSUPPORTED_PAYLOAD: "尚不支持 {type!r} 类型的内容。可用：{allowed}。",
    Code.INVALID_WORKSPACE: "无法打开项目文件夹 {path!r}。请确认该路径存在、是文件夹且可以访问。",
    Code.ENVIRONMENT_TOO_LONG: (
        "命令无法使用客户端的环境：PATH 与所列变量共 {size} 个字符，其中 {name} 最长；最多允许 {most} 个字符。"
        "请缩短 {name}，或减少所列变量。"
    ),
    Code.PATH_TOO_LONG: "命令无法使用客户端的环境：其 PATH 含 {count} 个文件夹，最多允许 {most} 个。请缩短。",
    Code.ENVIRONMENT_NOT_TEXT: (
        "命令无法使用客户端的环境：任何程序都无法接收 {name} 的值。请将其设为不含 NUL 字符的文本。"
    ),
    Code.INVALID_ANSWERS: "共有 {asked} 个问题，但收到 {given} 个回答。请为每个问题给出一个回答。",
    Code.MISSING_KEY: "模型 {model!r} 需要 API 密钥。请设置 {variable}，或使用无需密钥的模型 'demo'。",
    Code.TURN_ACTIVE: "当前轮次尚未结束。请等待结束、处理待批准的操作和提问、继续，或取消本轮。",
    Code.NOT_CONTINUABLE: "没有可以继续的内容。",
    Code.NOTHING_TO_CANCEL: "没有可以取消的内容：当前没有正在进行的轮次。",
    Code.NOTHING_TO_RETRY: "没有可以重试的内容。",
    Code.NO_QUESTION: "没有待回答的问题，可能已经回答过。",
    Code.CALL_DECIDED: (
        "你的决定未生效：该操作已有决定（{verdict}，由 {decided_by} 于 {decided_at} 作出；当前状态：{status}）。"
    ),
    Code.DIGEST_CHANGED: "该操作在显示之后发生了更改。请重新查看后再决定。",
    Code.BRANCH_EXISTS: "分支 {branch!r} 已存在。请换一个名称。",
    Code.CONTEXT_EXISTS: "对话 {context_id!r} 已存在。请换一个 ID。",
    Code.MESSAGE_INCOMPLETE: "无法从消息 {message_id!r} 处新建分支：该消息仍在写入。请选择完整的消息。",
    Code.RUNTIME_CLOSED: "Pilothouse 已停止。请重新启动。",
}
