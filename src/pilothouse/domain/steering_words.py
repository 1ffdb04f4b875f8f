"""The words of what a person steers with: rules, policies, elevation, branches, queues, configuration."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

STEERING_WORDS: Mapping[Code, tuple[str, str]] = {
    Code.UNKNOWN_RULE: (
        "There is no rule {rule!r} that you could revoke.",
        "没有可以撤销的规则 {rule!r}。",
    ),
    Code.UNKNOWN_PERSONA: (
        "There is no persona {persona!r}. There are: {allowed}.",
        "没有角色 {persona!r}。现有：{allowed}。",
    ),
    Code.UNKNOWN_QUEUED: (
        "There is no queued message {message_id!r}.",
        "队列中没有消息 {message_id!r}。",
    ),
    Code.INVALID_CURSOR: (
        "{cursor!r} is no place in this list: use the 'next' of an earlier answer.",
        "{cursor!r} 不是列表中的位置：请使用之前返回的 next。",
    ),
    Code.INVALID_EXPORT: (
        "This is no export that can be imported: {detail}.",
        "无法导入此文件：{detail}。",
    ),
    Code.INVALID_CONFIG: (
        "{file}, line {line}, {key}: {detail} Allowed: {allowed}.",
        "{file} 第 {line} 行，{key}：{detail} 可用：{allowed}。",
    ),
    Code.IGNORED_KEY: (
        "{file}, line {line}: the key {key} is not known and has no effect.",
        "{file} 第 {line} 行：未知的键 {key}，已忽略。",
    ),
    Code.IGNORED_GRANT: (
        "{file}, line {line}: the key {key} has no effect: your mode and your rules decide what runs without asking.",
        "{file} 第 {line} 行：键 {key} 不起作用：哪些操作无需询问由你的模式和规则决定。",
    ),
    Code.SERVER_WITHOUT_TARGET: (
        "{file}, line {line}: the MCP server {name} was left out because it has no {needed}. Add one.",
        "{file} 第 {line} 行：MCP 服务器 {name} 未启用，因为缺少 {needed}。请补上。",
    ),
    Code.SERVER_TWO_TARGETS: (
        "{file}, line {line}: the MCP server {name} was left out because it has both a command and a url. Keep one.",
        "{file} 第 {line} 行：MCP 服务器 {name} 未启用，因为同时写了 command 和 url。请只保留一个。",
    ),
    Code.SERVER_KEY_TWICE: (
        "{file}, line {line}: the MCP server {name} was left out because it has both {first} and {second}, which mean "
        "the same. Keep one.",
        "{file} 第 {line} 行：MCP 服务器 {name} 未启用，因为同时写了含义相同的 {first} 和 {second}。请只保留一个。",
    ),
    Code.SERVER_FOLDER: (
        "{file}, line {line}: the MCP server {name} was left out because its cwd is not an absolute path. "
        "Write the path in full.",
        "{file} 第 {line} 行：MCP 服务器 {name} 未启用，因为 cwd 不是绝对路径。请写出完整路径。",
    ),
    Code.SERVER_VARIABLE: (
        "{file}, line {line}: the MCP server {name} was left out because {key} holds {variable}, which is not filled "
        "in here. Write the value itself.",
        "{file} 第 {line} 行：MCP 服务器 {name} 未启用，因为 {key} 中的 {variable} 在这里不会被替换。请直接写出值。",
    ),
    Code.SERVER_TRANSPORT: (
        "{file}, line {line}: the MCP server {name} was left out because the transport {transport} is not supported. "
        "Use stdio or streamable HTTP.",
        "{file} 第 {line} 行：MCP 服务器 {name} 未启用，因为不支持传输方式 {transport}。"
        "请使用 stdio 或 streamable HTTP。",
    ),
    Code.SERVER_NAME: (
        "{file}, line {line}: the MCP server {name} was left out because of its name. Use 1 to 40 letters, digits, "
        "'-' and '_', without two '_' in a row.",
        "{file} 第 {line} 行：MCP 服务器 {name} 未启用，因为名称无效。请使用 1 到 40 个字母、数字、“-” 和 “_”，"
        "且不能有连续两个 “_”。",
    ),
    Code.SERVER_NAME_TAKEN: (
        "{file}, line {line}: the MCP server {name} was left out because its name is too similar to {other}. "
        "Rename one of them.",
        "{file} 第 {line} 行：MCP 服务器 {name} 未启用，因为名称与 {other} 过于相似。请重命名其中一个。",
    ),
    Code.FILE_HAS_COMMENTS: (
        "{file} has comments, which would be lost. Edit the file by hand.",
        "{file} 中有注释，自动改写会丢失它们。请手动编辑该文件。",
    ),
    Code.KEY_REUSED: (
        "The idempotency key {key!r} was used for another request: use a new one.",
        "幂等键 {key!r} 已用于另一个请求：请使用新的键。",
    ),
    Code.NOT_ELEVATABLE: (
        "Mode {mode} has no elevation; only these have: {allowed}.",
        "模式 {mode} 不支持提升权限；仅支持：{allowed}。",
    ),
    Code.NO_ELEVATION: (
        "There is no elevation to end.",
        "没有可以结束的权限提升。",
    ),
    Code.NOT_PAUSABLE: (
        "Nothing is going on that could be paused (state {state}).",
        "没有可以暂停的操作（状态 {state}）。",
    ),
    Code.NOT_PAUSED: (
        "The turn is not paused (state {state}).",
        "回合没有暂停（状态 {state}）。",
    ),
    Code.QUEUE_FULL: (
        "The queue is full: {limit} messages are waiting already.",
        "队列已满：已有 {limit} 条消息在等待。",
    ),
    Code.TOO_MANY_RULES: (
        "There are {limit} rules already: revoke some first.",
        "已有 {limit} 条规则：请先撤销一些。",
    ),
    Code.BRANCH_IN_USE: (
        "The branch {branch!r} is in use and cannot be deleted.",
        "分支 {branch!r} 正在使用，不能删除。",
    ),
    Code.RULE_IN_FILE: (
        "This rule stands in {file}: change it there.",
        "此规则写在 {file} 中：请在那里修改。",
    ),
    Code.ELEVATION_RUNS: (
        "Mode {mode} is elevated for now: it runs as in agent mode.",
        "模式 {mode} 已临时提升：像 agent 模式那样运行。",
    ),
    Code.ANCESTOR_DENIED: (
        "Mode {mode} of the conversation that sent this sub-agent does not allow {tool}.",
        "派出此子智能体的对话处于 {mode} 模式，不允许 {tool}。",
    ),
    Code.ANCESTOR_WAITS: (
        "Mode {mode} of the conversation that sent this sub-agent lets a person decide.",
        "派出此子智能体的对话处于 {mode} 模式，由人来决定。",
    ),
    Code.DIRECTORY_DENIED: (
        "In {folder!r} mode {mode} holds, which does not allow {tool}.",
        "{folder!r} 中适用 {mode} 模式，不允许 {tool}。",
    ),
    Code.DIRECTORY_WAITS: (
        "In {folder!r} mode {mode} holds, which lets a person decide.",
        "{folder!r} 中适用 {mode} 模式，由人来决定。",
    ),
    Code.RULE_ALLOWS: (
        "A rule allows it: {tool} [{where}], given by {given}.",
        "规则允许：{tool} [{where}]，来自 {given}。",
    ),
    Code.RULE_ASKS: (
        "A rule lets a person decide: {tool} [{where}], given by {given}.",
        "规则要求询问：{tool} [{where}]，来自 {given}。",
    ),
    Code.RULE_DENIES: (
        "A rule denies it: {tool} [{where}], given by {given}.",
        "规则拒绝：{tool} [{where}]，来自 {given}。",
    ),
    Code.POLICY_WAITS: (
        "The approval policy {policy} lets a person decide.",
        "审批策略 {policy} 由人来决定。",
    ),
    Code.PERSONA_DENIED: (
        "The persona {persona} may not use {tool}.",
        "角色 {persona} 不可使用 {tool}。",
    ),
    Code.DELEGATION_TOO_DEEP: (
        "A sub-agent of depth {depth} may not send others.",
        "第 {depth} 层子智能体不能再派出子智能体。",
    ),
    Code.SUBAGENT_ENDED: (
        "The sub-agent came to no answer ({end}). Its conversation is {context_id}.",
        "子智能体没有得出答案（{end}）。其对话为 {context_id}。",
    ),
    Code.SUBAGENT_INCOMPLETE: (
        "The sub-agent did not finish ({end}). Its conversation is {context_id}. The last text it wrote:\n{text}",
        "子智能体没有完成（{end}）。其对话为 {context_id}。它最后写下的内容：\n{text}",
    ),
    Code.WHY_RUN: (
        "Decided in mode {mode}: run.",
        "在 {mode} 模式下决定：运行。",
    ),
    Code.WHY_WAIT: (
        "Decided in mode {mode}: a person is asked.",
        "在 {mode} 模式下决定：询问人。",
    ),
    Code.WHY_DENY: (
        "Decided in mode {mode}: not run.",
        "在 {mode} 模式下决定：不运行。",
    ),
    Code.WHY_APPROVED: (
        "{by} said yes in mode {mode}.",
        "{by} 在 {mode} 模式下同意。",
    ),
    Code.WHY_REJECTED: (
        "{by} said no in mode {mode}.",
        "{by} 在 {mode} 模式下拒绝。",
    ),
    Code.WHY_STARTED: (
        "It started in mode {mode}.",
        "在 {mode} 模式下开始运行。",
    ),
    Code.WHY_ENDED: (
        "It ended: {status}.",
        "结果：{status}。",
    ),
    Code.LIMIT_COST: (
        "Stopped: the turn cost {used}; its limit is {limit}. Continue to go on.",
        "已停止：回合费用为 {used}；上限为 {limit}。可以继续。",
    ),
    Code.RULES_CUT: (
        "The record of your rules was cut, rewritten or removed outside of Pilothouse: {known} entries were noted, and "
        "they are no longer there as they were. A rule that you revoked may be back, one that forbids may be gone, so "
        "every call waits for you. Look through your rules, then revoke the one that asks about every tool. If you "
        "removed the data directory yourself, or after you have looked, you can also stop Pilothouse and accept all "
        "records as they are now: pilothouse audit verify --accept",
        "规则记录在 Pilothouse 之外被截断、改写或删除：此前记下了 {known} 条，现在已不是原样。"
        "已撤销的规则可能重新出现，禁止性规则可能丢失，因此所有调用都会等待你的批准。请检查规则列表，然后撤销那条对所有工具进行询问的规则。"
        "如果数据目录是你自己删除的，或者你已检查完毕，也可以停止 Pilothouse，然后一次接受所有记录的当前内容："
        "pilothouse audit verify --accept",
    ),
    Code.RULES_IN_DOUBT: (
        "A record of rules or of this conversation was cut, rewritten or unreadable: every call waits for you until "
        "you have looked at the rules and revoked the one that asks about every tool.",
        "规则或此对话的记录被截断、改写或无法读取：在你检查规则并撤销那条对所有工具进行询问的规则之前，"
        "所有调用都会等待你的批准。",
    ),
    Code.RULES_DAMAGED: (
        "The stored rules could not be read in full ({detail}); the bytes are kept. "
        "Every call waits until you revoke the rule that stands for it.",
        "已存规则无法完整读取（{detail}）；字节已保留。撤销代表此情况的规则之前，所有调用都会等待。",
    ),
    Code.PROCESSOR_FAILED: ("A message processor failed: {detail}", "消息处理器出错：{detail}"),
    Code.INVALID_PATH: ("{path!r} is no path that can be used.", "{path!r} 不是可用的路径。"),
    Code.INVALID_NUMBER: ("Give a number from 1 to {limit}.", "请给出 1 到 {limit} 之间的数字。"),
    Code.RULE_WITHOUT_TOOL: (
        "A rule needs a tool; '*' means every tool.",
        "规则需要工具名；'*' 表示所有工具。",
    ),
    Code.RULE_FOLDER: (
        "{folder!r} is no folder below the workspace.",
        "{folder!r} 不是工作区中的目录。",
    ),
    Code.RULE_NOT_OFFERED: (
        "The rule {scope!r} is not offered for this call. Offered: {allowed}.",
        "此调用不提供规则 {scope!r}。可用：{allowed}。",
    ),
    Code.RULE_MINUTES: (
        "A rule may last for up to {limit} minutes.",
        "规则最多持续 {limit} 分钟。",
    ),
    Code.RULE_WITH_EDIT: (
        "'always' goes with approving the call as it was shown.",
        "“总是”只适用于按所显示的内容批准调用。",
    ),
    Code.POLICY_DEPTH: (
        "The depth of a policy is 1 or more.",
        "策略的深度至少为 1。",
    ),
    Code.ELEVATION_END: (
        "An elevation needs an end: exactly one of calls, turn and minutes.",
        "提升权限需要期限：次数、回合、分钟三者之一。",
    ),
    Code.ELEVATION_CALLS: (
        "An elevation needs an end: 1 to {limit} calls.",
        "提升权限需要期限：1 到 {limit} 次调用。",
    ),
    Code.ELEVATION_MINUTES: (
        "An elevation needs an end: up to {limit} minutes.",
        "提升权限需要期限：最多 {limit} 分钟。",
    ),
    Code.ELEVATION_WITHOUT_TURN: (
        "An elevation for this turn needs one: no turn is open.",
        "当前没有进行中的回合，不能按回合提升权限。",
    ),
    Code.MERGE_INTO_ITSELF: (
        "The branch {branch!r} cannot be merged into itself.",
        "分支 {branch!r} 不能与自身合并。",
    ),
    Code.MERGE_IDS: (
        "message_ids belong to cherry_pick, and to it alone.",
        "message_ids 只用于 cherry_pick，且必须给出。",
    ),
    Code.MERGE_NOT_ON_SOURCE: (
        "These are not on the source: {ids}.",
        "以下消息不在源分支上：{ids}。",
    ),
    Code.COMMAND_USAGE: (
        "Use it like this: {usage}",
        "用法：{usage}",
    ),
    Code.REACH_CHANGED: (
        "{tool} would now touch something else than when it was decided. Nothing was run; ask for it again.",
        "{tool} 现在会触碰与决定时不同的位置。没有执行任何操作；请重新提出。",
    ),
}
