"""Chinese texts of the codes about rules, policies, elevation, branches, queues and configuration."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

STEERING: Mapping[Code, str] = {
    Code.UNKNOWN_RULE: "没有可以撤销的规则 {rule!r}，可能已被撤销。",
    Code.UNKNOWN_PERSONA: "未知角色 {persona!r}。可选：{allowed}。",
    Code.UNKNOWN_QUEUED: "队列中没有消息 {message_id!r}，该消息可能已发送。",
    Code.INVALID_CURSOR: "位置 {cursor!r} 无效。请使用之前某一页返回的 next 值。",
    Code.INVALID_EXPORT: "无法导入此文件：{detail}。",
    Code.INVALID_CONFIG: "{file} 第 {line} 行，{key}：{detail} 可用：{allowed}。",
    Code.IGNORED_KEY: "{file} 第 {line} 行：未知的键 {key}，已忽略。",
    Code.IGNORED_GRANT: "{file} 第 {line} 行：键 {key} 不起作用。哪些操作无需询问由你的模式和规则决定。",
    Code.SERVER_WITHOUT_TARGET: "{file} 第 {line} 行：未启用 MCP 服务器 {name}，因为缺少 {needed}。请补上。",
    Code.SERVER_TWO_TARGETS: (
        "{file} 第 {line} 行：未启用 MCP 服务器 {name}，因为同时写了 command 和 url。请只保留一个。"
    ),
    Code.SERVER_KEY_TWICE: (
        "{file} 第 {line} 行：未启用 MCP 服务器 {name}，因为同时写了含义相同的 {first} 和 {second}。请只保留一个。"
    ),
    Code.SERVER_FOLDER: "{file} 第 {line} 行：未启用 MCP 服务器 {name}，因为 cwd 不是绝对路径。请写出完整路径。",
    Code.SERVER_VARIABLE: (
        "{file} 第 {line} 行：未启用 MCP 服务器 {name}，因为 {key} 中的 {variable} 在此处不会被替换。请直接写出值。"
    ),
    Code.SERVER_TRANSPORT: (
        "{file} 第 {line} 行：未启用 MCP 服务器 {name}，因为不支持传输方式 {transport}。请使用 stdio 或 streamable "
        "HTTP。"
    ),
    Code.SERVER_NAME: (
        "{file} 第 {line} 行：未启用 MCP 服务器 {name}，因为名称无效。请使用 1 到 40 个字母、数字、“-”和“_”，"
        "且不能有连续两个“_”。"
    ),
    Code.SERVER_NAME_TAKEN: (
        "{file} 第 {line} 行：未启用 MCP 服务器 {name}，因为名称与 {other} 过于相似。请重命名其中一个。"
    ),
    Code.FILE_HAS_COMMENTS: "未更改 {file}：其中有注释，自动改写会丢失注释。请手动编辑该文件。",
    Code.KEY_REUSED: "幂等键 {key!r} 已用于另一个请求。请使用新的键。",
    Code.NOT_ELEVATABLE: "“{mode}”模式不支持临时放行，仅支持：{allowed}。",
    Code.NO_ELEVATION: "当前没有临时放行，无需结束。",
    Code.NOT_PAUSABLE: "没有可以暂停的内容。",
    Code.NOT_PAUSED: "本轮没有暂停。",
    Code.QUEUE_FULL: "队列已满：已有 {limit} 条消息。请等待，或移除一些。",
    Code.TOO_MANY_RULES: "你已有 {limit} 条规则。请先撤销一些。",
    Code.BRANCH_IN_USE: (
        "分支 {branch!r} 正在使用，无法删除或恢复：该分支是当前分支、有未结束的轮次，或保存着其他分支压缩前的消息。"
    ),
    Code.RULE_IN_FILE: "此规则在 {file} 中定义。请在该文件中编辑。",
    Code.ELEVATION_RUNS: "“{mode}”模式已临时放行，与“智能体”模式相同。",
    Code.ANCESTOR_DENIED: "上级对话为“{mode}”模式，不允许 {tool}。",
    Code.ANCESTOR_WAITS: "上级对话为“{mode}”模式，需要你批准。",
    Code.DIRECTORY_DENIED: "{folder!r} 中适用“{mode}”模式，不允许 {tool}。",
    Code.DIRECTORY_WAITS: "{folder!r} 中适用“{mode}”模式，需要你批准。",
    Code.RULE_ALLOWS: "规则允许：{tool} [{where}]，来源：{given}。",
    Code.RULE_ASKS: "规则要求先询问：{tool} [{where}]，来源：{given}。",
    Code.RULE_DENIES: "规则不允许：{tool} [{where}]，来源：{given}。",
    Code.POLICY_WAITS: "根据额外审批规则（{policy}），需要你批准。",
    Code.PERSONA_DENIED: "角色 {persona} 不能使用 {tool}。",
    Code.DELEGATION_TOO_DEEP: "第 {depth} 层子智能体不能再启动子智能体。",
    Code.SUBAGENT_ENDED: "子智能体没有给出回答（{end}）。其对话为 {context_id}。",
    Code.SUBAGENT_INCOMPLETE: "子智能体没有完成（{end}）。其对话为 {context_id}。最后写下的内容：\n{text}",
    Code.WHY_RUN: "已自动允许（“{mode}”模式）。",
    Code.WHY_WAIT: "需要批准（“{mode}”模式）。",
    Code.WHY_DENY: "不允许（“{mode}”模式）。",
    Code.WHY_APPROVED: "由 {by} 批准（“{mode}”模式）。",
    Code.WHY_REJECTED: "由 {by} 拒绝（“{mode}”模式）。",
    Code.WHY_STARTED: "已开始运行（“{mode}”模式）。",
    Code.WHY_ENDED: "结果：{status}。",
    Code.LIMIT_COST: "已停止：本轮费用为 {used}，上限为 {limit}。要继续吗？",
    Code.RULES_CUT: (
        "你的规则记录在 Pilothouse 之外被截断、改写或删除：此前有 {known} 条，现在已不完整或被更改。"
        "你撤销过的规则可能重新生效，禁止某些操作的规则可能丢失，因此所有操作都需要你批准。请检查规则，"
        "然后撤销那条对所有工具都要求询问的规则。如果数据文件夹是你自己删除的，或者你已检查完毕，也可以停止 "
        "Pilothouse，然后接受所有记录的当前内容：pilothouse audit verify --accept"
    ),
    Code.RULES_IN_DOUBT: (
        "你的规则或此对话的记录被截断、改写或无法读取。在你检查规则并撤销那条对所有工具都要求询问的规则之前，"
        "所有操作都需要你批准。"
    ),
    Code.RULES_DAMAGED: (
        "无法完整读取你保存的规则（{detail}）；损坏的数据已保留。在你撤销代替这些数据的规则之前，所有操作都需要你批准。"
    ),
    Code.PROCESSOR_FAILED: "消息处理器出错：{detail}",
    Code.INVALID_PATH: "路径 {path!r} 无效。",
    Code.INVALID_NUMBER: "请输入 1 到 {limit} 之间的数字。",
    Code.RULE_WITHOUT_TOOL: "规则没有指定工具。请指定一个工具，或用 '*' 表示所有工具。",
    Code.RULE_FOLDER: "{folder!r} 不是项目中的文件夹。",
    Code.RULE_NOT_OFFERED: "此操作不提供规则 {scope!r}。可选：{allowed}。",
    Code.RULE_MINUTES: "规则的有效期最长为 {limit} 分钟。",
    Code.RULE_WITH_EDIT: "“始终允许”只适用于所显示的原操作，不适用于编辑后的操作。",
    Code.POLICY_DEPTH: "步数至少为 1。",
    Code.ELEVATION_END: "请只设置一个限度：calls、turn 或 minutes。",
    Code.ELEVATION_CALLS: "请输入 1 到 {limit} 之间的操作数量。",
    Code.ELEVATION_MINUTES: "请输入分钟数，最多 {limit}。",
    Code.ELEVATION_WITHOUT_TURN: "当前没有正在进行的轮次，无法放行本轮。请改用操作数量或分钟数。",
    Code.MERGE_INTO_ITSELF: "不能将分支 {branch!r} 合并到自身。",
    Code.MERGE_IDS: "message_ids 只能且必须用于 cherry_pick。",
    Code.MERGE_NOT_ON_SOURCE: "以下消息不在源分支上：{ids}。",
    Code.COMMAND_USAGE: "用法：{usage}",
    Code.REACH_CHANGED: "没有执行任何操作：自作出决定以来，{tool} 涉及的文件和文件夹发生了变化。请重新请求。",
}
