"""The words of tools, trust and servers of tools: English, then Chinese."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

TOOL_WORDS: Mapping[Code, tuple[str, str]] = {
    Code.SETTINGS_WAIT: (
        "Your settings let a person decide about this call of {tool}.",
        "按照你的设置，{tool} 的此次调用由人来决定。",
    ),
    Code.RULE_MAY_APPLY: (
        "What it starts cannot be told, and a rule speaks of {tool} [{where}], given by {given}: a person decides.",
        "无法判断它会启动什么，而有规则涉及 {tool} [{where}]（来自 {given}）：由人来决定。",
    ),
    Code.RULE_WORDS: (
        "A rule names 1 to {limit} plain words of one command.",
        "规则需要给出一条命令开头的 1 到 {limit} 个普通单词。",
    ),
    Code.RUNS_CODE: (
        "{path!r} can make programs of yours run code: only you can allow this change.",
        "{path!r} 可能让你的程序执行代码：只有你能允许此修改。",
    ),
    Code.TOOL_CHANGED: (
        "{server} has changed its tool {tool} since you allowed it: it needs your approval again.",
        "{server} 在你允许之后更改了工具 {tool}：需要你重新批准。",
    ),
    Code.FILE_CHANGED_SINCE_READ: (
        "{path!r} has changed since it was read. Read it again before you change it.",
        "{path!r} 在读取之后已被修改。请先重新读取再修改。",
    ),
    Code.INVALID_PATTERN: (
        "{pattern!r} is no pattern that can be searched: {detail}.",
        "无法搜索 {pattern!r}：{detail}。",
    ),
    Code.INVALID_NOTEBOOK: ("{path!r} is not a notebook: {detail}.", "{path!r} 不是笔记本：{detail}。"),
    Code.UNKNOWN_CELL: (
        "{path!r} has no cell {cell!r}. It has {count} cells, counted from 0.",
        "{path!r} 没有单元格 {cell!r}。共有 {count} 个单元格，从 0 开始计数。",
    ),
    Code.TOOL_NEEDS: (
        "The tool {tool} needs {needs}, which is not there.",
        "工具 {tool} 需要 {needs}，但它不存在。",
    ),
    Code.TOOL_TWICE: ("Two tools have the name {tool!r}.", "有两个工具都叫 {tool!r}。"),
    Code.INVALID_TOOL: ("{tool!r} cannot be a tool: {detail}.", "{tool!r} 不能作为工具：{detail}。"),
    Code.UNKNOWN_SERVER: (
        "There is no server of tools {server!r}. There are: {allowed}.",
        "没有工具服务器 {server!r}。现有：{allowed}。",
    ),
    Code.TRUST_CHANGED: (
        "The configuration in {folder!r} is not what was shown: look at it again.",
        "{folder!r} 中的配置与显示的不同：请重新查看。",
    ),
    Code.NO_OUTPUT: (
        "Nothing more than its result is kept of the call {call_id!r}.",
        "调用 {call_id!r} 除结果外没有保存其他输出。",
    ),
    Code.ONLY_LOCAL_USER: (
        "This concerns the whole machine: only its own user (local) decides it.",
        "这关系到整台机器：只能由本机用户（local）决定。",
    ),
    Code.ONLY_LOCAL: (
        "This can only be set in {file}, not over the network.",
        "只能在 {file} 中设置，不能通过网络设置。",
    ),
}
