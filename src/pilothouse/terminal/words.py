"""What the terminal itself says, in English and Chinese."""

from pilothouse.domain.codes import Language

_WORDS: dict[str, tuple[str, str]] = {
    "welcome": (
        "Pilothouse · {workspace}\n/help shows the commands, Ctrl-C cancels a turn, Ctrl-D leaves.",
        "Pilothouse · {workspace}\n/help 显示命令，Ctrl-C 取消当前回合，Ctrl-D 退出。",
    ),
    "demo": (
        "This is the demo model: a stand-in made of a few rules. Set OPENAI_API_KEY for a real one.",
        "这是演示模型：由几条规则组成的替身。设置 OPENAI_API_KEY 即可使用真实模型。",
    ),
    "help": (
        "/mode [name]   show or switch the mode (also /agent /supervised /review /plan /ask)\n"
        "/continue      go on after a cancel, a limit or an error\n"
        "/cancel        end a turn that waits\n"
        "/branch [name] show or switch branches\n"
        "/fork NAME     a new branch from here\n"
        "/audit         what was decided, by whom and why\n"
        "/quit          leave",
        "/mode [名称]   显示或切换模式（也可用 /agent /supervised /review /plan /ask）\n"
        "/continue      在取消、达到上限或出错后继续\n"
        "/cancel        结束等待中的回合\n"
        "/branch [名称] 显示或切换分支\n"
        "/fork 名称     从这里新建分支\n"
        "/audit         决定了什么、由谁、为什么\n"
        "/quit          退出",
    ),
    "unknown": (
        "There is no command {command}. /help shows what there is.",
        "没有命令 {command}。/help 显示可用命令。",
    ),
    "switched": ("Mode: {icon} {title}. {meaning}", "模式：{icon} {title}。{meaning}"),
    "started": ("{count} waiting call(s) started.", "{count} 个等待中的调用已开始。"),
    "rejected": ("{count} waiting call(s) rejected.", "{count} 个等待中的调用已拒绝。"),
    "approve": (
        "y = yes, n = no (n REASON), a = all, e = edit the arguments, q = later > ",
        "y = 是，n = 否（n 理由），a = 全部，e = 修改参数，q = 稍后 > ",
    ),
    "edit": ("New arguments as JSON > ", "新的参数（JSON）> "),
    "not_json": ("That is no JSON object: {detail}", "这不是 JSON 对象：{detail}"),
    "dangerous": ("Careful: {what}", "小心：{what}"),
    "cancelled": ("Cancelled. /continue goes on from here.", "已取消。/continue 从这里继续。"),
    "recovery": ("Not saved: {reason} Make room, then /continue.", "未保存：{reason} 腾出空间后使用 /continue。"),
    "failed": ("Failed: {reason}", "失败：{reason}"),
    "bye": (
        "Kept. Come back with: pilothouse --context {context_id}",
        "已保存。返回：pilothouse --context {context_id}",
    ),
    "branches": ("Branches: {names}", "分支：{names}"),
    "active": ("Active branch: {name}", "当前分支：{name}"),
}


def tell(key: str, language: Language, **params: object) -> str:
    english, chinese = _WORDS[key]
    return (chinese if language == "zh" else english).format(**params)
