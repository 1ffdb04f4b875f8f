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
    "no_sandbox": (
        "The sandbox is not complete on this kernel: in review, only a strict list of commands runs by itself. Not "
        "kept: {broken}. `pilothouse doctor` says what is missing.",
        "此内核上的沙箱不完整：在审阅模式下只有严格列表中的命令会自动运行。未能保证：{broken}。"
        "运行 `pilothouse doctor` 查看缺少什么。",
    ),
    "help": (
        "/tour            two minutes that show everything, one Enter a step\n"
        "/mode [NAME]     show or switch the mode (also /agent /supervised /review /plan /ask)\n"
        "/elevate N       in review: let the next N changes run (also: turn, N minutes, end)\n"
        "/rules           what is always allowed, asked, denied; /rules revoke NUMBER\n"
        "/allow TOOL [FOLDER]  a rule for this conversation (also /ask-first, /deny)\n"
        "/policy [NAME]   auto_approve, manual, white_list TOOL…, limited_auto DEPTH, default\n"
        "/persona [ID]    show or choose who the model is asked to be; none for nobody in particular\n"
        "/why             why the last call ran or did not; /audit for everything\n"
        "/pause /resume   hold the turn and go on; /cancel ends it (Ctrl-C too)\n"
        "/continue        go on after a cancel, a limit or an error, or with the queue\n"
        "/queue           messages typed while it worked; /queue delete N, /queue edit N TEXT\n"
        "/branch [NAME]   show or switch branches; /branch delete NAME\n"
        "/fork NAME       a new branch from here; /edit TEXT says your last message otherwise\n"
        "/merge NAME [rebase] [preview]   bring over what is not here yet\n"
        "/undo            take back the agent's last change of files; !COMMAND runs one of your own\n"
        "/tools           what it can use; /tools off NAME; /allow $ git push: a rule for a command\n"
        "/servers         servers of tools (MCP); /resource SERVER [URI], /use SERVER PROMPT\n"
        "/trust           show this folder's own configuration and decide whether to trust it; /trust revoke\n"
        "/prompt [TEXT]   what the model is told on this branch beside the rest\n"
        "/tokens          how full the window is, and with what; /model [NAME], /overview\n"
        "/compress        tell the earlier part in short; /compress preview, undo, or WHAT TO KEEP; /pin [off]\n"
        "/title /usage /export [FILE] /archive   the conversation as a thing\n"
        "/quit            leave",
        "/tour            两分钟了解全部功能，每步按一次回车\n"
        "/mode [名称]     显示或切换模式（也可用 /agent /supervised /review /plan /ask）\n"
        "/elevate N       在 review 中：允许接下来 N 次修改（也可用：turn、N minutes、end）\n"
        "/rules           总是允许、询问、拒绝的规则；/rules revoke 编号\n"
        "/allow 工具 [目录]  此对话的规则（另有 /ask-first、/deny）\n"
        "/policy [名称]   auto_approve、manual、white_list 工具…、limited_auto 深度、default\n"
        "/persona [ID]    显示或选择模型扮演的角色；none 表示不指定\n"
        "/why             上一次调用为什么运行或没有运行；/audit 显示全部\n"
        "/pause /resume   暂停与恢复；/cancel 结束（Ctrl-C 亦可）\n"
        "/continue        在取消、达到上限或出错后继续，或继续队列\n"
        "/queue           工作期间输入的消息；/queue delete N、/queue edit N 文字\n"
        "/branch [名称]   显示或切换分支；/branch delete 名称\n"
        "/fork 名称       从这里新建分支；/edit 文字 重新表述上一条消息\n"
        "/merge 名称 [rebase] [preview]   合并这里还没有的内容\n"
        "/undo            撤销智能体最近一次文件修改；!命令 由你自己执行\n"
        "/tools           可用的工具；/tools off 名称；/allow $ git push：针对命令的规则\n"
        "/servers         工具服务器（MCP）；/resource 服务器 [URI]，/use 服务器 提示\n"
        "/trust           显示此文件夹自己的配置并决定是否信任；/trust revoke\n"
        "/prompt [文字]   在此分支上额外告诉模型的内容\n"
        "/tokens          窗口用了多少、装了什么；/model [名称]，/overview\n"
        "/compress        将较早的部分压缩为摘要；/compress preview、undo 或要保留的重点；/pin [off]\n"
        "/title /usage /export [文件] /archive   对话本身\n"
        "/quit            退出",
    ),
    "unknown": (
        "There is no command {command}. /help shows what there is.",
        "没有命令 {command}。/help 显示可用命令。",
    ),
    "switched": ("Mode: {icon} {title}. {meaning}", "模式：{icon} {title}。{meaning}"),
    "started": ("{count} waiting call(s) started.", "{count} 个等待中的调用已开始。"),
    "rejected": ("{count} waiting call(s) rejected.", "{count} 个等待中的调用已拒绝。"),
    "approve": (
        "y = yes, n = no (n REASON), ! = always, a = all, e = edit the arguments, q = later > ",
        "y = 是，n = 否（n 理由），! = 总是，a = 全部，e = 修改参数，q = 稍后 > ",
    ),
    "approve_without_rule": (
        "y = yes, n = no (n REASON), a = all, e = edit the arguments, q = later > ",
        "y = 是，n = 否（n 理由），a = 全部，e = 修改参数，q = 稍后 > ",
    ),
    "confirm_all": (
        "y = approve the {count} calls above as well, q = later > ",
        "y = 同时批准以上 {count} 项调用，q = 稍后 > ",
    ),
    "more": (
        "Read on before you decide: Enter or Space = next page ({number} of {count}), n = no (n REASON), q = later > ",
        "请先读完再决定：回车或空格 = 下一页（{number}/{count}），n = 否（n 理由），q = 稍后 > ",
    ),
    "more_texts": (
        "There is more to read: Enter or Space = next page, q = later > ",
        "还有内容要读：回车或空格 = 下一页，q = 稍后 > ",
    ),
    "question": ("The agent asks:", "智能体提问："),
    "question_later": (
        "Type your answer. /later or Ctrl-D leaves the question for later.",
        "请输入回答。/later 或 Ctrl-D 稍后再答。",
    ),
    "question_declined": (
        "Type your answer. /later or Ctrl-D declines to answer.",
        "请输入回答。/later 或 Ctrl-D 表示不回答。",
    ),
    "question_of_child": (
        "Type your answer. /later or Ctrl-D cancels the turn.",
        "请输入回答。/later 或 Ctrl-D 取消回合。",
    ),
    "empty_answer": ("Your answer is empty. Type an answer, or /later", "回答为空。请输入回答，或 /later"),
    "not_understood": ("Please answer with one of these.", "请选择其中之一。"),
    "not_understood_kept": (
        "Please answer with one of these. Your text comes back at the next prompt.",
        "请选择其中之一。你输入的文字会回到下一个提示符。",
    ),
    "not_utf8": (
        "Your line was not sent: some of its bytes are not UTF-8 (U+FFFD). Correct the line and send it. "
        "Set your terminal to UTF-8 to type such letters.",
        "未发送：部分字节不是 UTF-8（U+FFFD）。请修改后再发送。要输入这些字符，请将终端设为 UTF-8。",
    ),
    "typed_before": (
        "You had typed this before a question. It was not taken as the answer:",
        "你在提问之前输入了以下内容，未当作回答：",
    ),
    "typed_unsent": ("You had typed this. It was not sent:", "你输入了以下内容，尚未发送："),
    "allowed_by_rule": ("Your rule lets this call run:", "你的规则允许此调用运行："),
    "applied": ("Applied: {what}.", "已执行你的决定：{what}。"),
    "applied_approved": ("{count} approved", "批准 {count} 项"),
    "applied_rejected": ("{count} rejected", "拒绝 {count} 项"),
    "applied_by_rule": ("{count} allowed by your rule", "由你的规则允许 {count} 项"),
    "comma": (", ", "，"),
    "dropped": (
        "Your decisions at these cards ({count}) were not applied.",
        "你对这些调用作出的决定（{count} 项）未执行。",
    ),
    "still_waiting": ("Calls that wait for your decision ({count}):", "等待你决定的调用（{count} 项）："),
    "later": ("Press Enter to decide, or /cancel.", "按回车作出决定，或 /cancel。"),
    "question_waits": (
        "The question waits. Press Enter to answer it, or /cancel.",
        "问题在等待你的回答。按回车作答，或 /cancel。",
    ),
    "tour_end": ("That was all. /help shows the commands.", "以上就是全部。/help 显示命令。"),
    "no_contexts": ("There are no conversations.", "没有对话。"),
    "done": ("Done: {what}", "完成：{what}"),
    "edit": ("New arguments as JSON, Enter = leave them > ", "新的参数（JSON），回车 = 不修改 > "),
    "edit_again": ("Enter = back to the editor, q = leave the call as it was > ", "回车 = 回到编辑器，q = 不修改 > "),
    "edited_call": ("The call as you edited it:", "你修改后的调用："),
    "not_edited": ("The call is as it was.", "调用未修改。"),
    "approve_edited": (
        "y = run the edited call, n = no (n REASON), e = edit again, o = back to the original, q = later > ",
        "y = 运行修改后的调用，n = 否（n 理由），e = 再次修改，o = 回到原调用，q = 稍后 > ",
    ),
    "editor_failed": (
        "The editor failed: {detail}. $VISUAL or $EDITOR names the editor.",
        "编辑器出错：{detail}。编辑器由 $VISUAL 或 $EDITOR 指定。",
    ),
    "editor_status": (
        "The editor ended with {status}: the call is as it was.",
        "编辑器以{status}结束：调用未修改。",
    ),
    "not_json": ("That is no JSON object: {detail}", "这不是 JSON 对象：{detail}"),
    "dangerous": ("Careful: {what}", "小心：{what}"),
    "cancelled": ("Cancelled. /continue goes on from here.", "已取消。/continue 从这里继续。"),
    "recovery": (
        "{reason} It is tried again every 10 seconds, and with /continue, which then goes on.",
        "{reason} 每 10 秒自动重试一次；/continue 会立即重试并继续。",
    ),
    "failed": ("Failed: {reason} /continue tries again from here.", "失败：{reason} /continue 可从这里重试。"),
    "bye": (
        "Kept. Come back with: {command}",
        "已保存。返回：{command}",
    ),
    "bye_gone": (
        "This conversation was not kept: its folder {folder} is gone. Restore the folder from a backup to come back.",
        "此对话未能保存：其目录 {folder} 已不存在。从备份恢复该目录后才能返回。",
    ),
    "bye_refused": (
        "The end of this conversation was not kept: the last writes to the disk failed. Come back to the rest with: "
        "{command}",
        "此对话的结尾未能保存：最近的磁盘写入失败。返回其余部分：{command}",
    ),
    "active": ("Active branch: {name}", "当前分支：{name}"),
    "merged": ("Merged {count} message(s) from {source}.", "已从 {source} 合并 {count} 条消息。"),
    "would_merge": ("Would merge {count} message(s) from {source}.", "将从 {source} 合并 {count} 条消息。"),
    "queued": ("Queued ({count} waiting). /queue shows them.", "已排队（{count} 条等待）。/queue 查看。"),
    "no_queue": ("Nothing is queued.", "队列为空。"),
    "pausing": ("Pausing before the next step…", "将在下一步之前暂停…"),
    "paused": ("Paused. /resume goes on.", "已暂停。/resume 继续。"),
    "child": (
        "A sub-agent ({context_id}) waits for your decision (q cancels the turn):",
        "子智能体（{context_id}）等待你的决定（q 取消回合）：",
    ),
    "child_asks": ("A sub-agent ({context_id}) asks:", "子智能体（{context_id}）提问："),
    "ladder": ("Which rule? (number, Enter for none)", "选择哪条规则？（编号，回车取消）"),
    "no_ladder": ("No rule can allow this here: decide each call.", "这里没有规则可以放行：请逐次决定。"),
    "no_rules": ("There are no rules.", "没有规则。"),
    "revoked": ("Revoked: {rule}", "已撤销：{rule}"),
    "persona": ("Persona: {name}", "角色：{name}"),
    "no_personas": ("There are no personas.", "没有角色。"),
    "personas_untrusted": (
        "This folder brings personas that are not trusted: pilothouse trust",
        "此文件夹带有尚未信任的角色：pilothouse trust",
    ),
    "persona_of_user": ("yours", "你的"),
    "persona_of_project": ("this folder's", "来自此文件夹"),
    "persona_hidden": ("hidden by yours", "被你的同名角色取代"),
    "persona_mode": ("begins in {mode}", "初始模式 {mode}"),
    "persona_model": ("model {model}", "模型 {model}"),
    "tools_all": ("all tools", "全部工具"),
    "tools_only": ("only {tools}", "仅限 {tools}"),
    "tools_not": ("not {tools}", "不含 {tools}"),
    "may_change": (
        "The files that this command runs can still change after you approve it.",
        "你批准之后，此命令所运行的文件仍可能被更改。",
    ),
    "retry": (
        "{error} Retry {count} of {total} in {seconds} s.",
        "{error}将在 {seconds} 秒后第 {count}/{total} 次重试。",
    ),
    "go_on_with": ("Go on with: {command}, then /continue", "继续：{command}，然后输入 /continue"),
    "waits_for_approval": ("Waits for approval: {call}", "等待批准：{call}"),
    "decide_with": ("Decide with: {command}", "作出决定：{command}"),
    "unread_start": ("This would start {count} call(s) that wait:", "这将启动 {count} 个等待中的调用："),
    "sure": ("y = yes, anything else = no > ", "y = 是，其他 = 否 > "),
    "policy": ("Approval policy: {policy}", "审批策略：{policy}"),
    "elevated": ("Elevated: {left}.", "已提升权限：{left}。"),
    "not_elevated": ("Not elevated.", "没有提升权限。"),
    "left_calls": ("{count} call(s) left", "剩余 {count} 次"),
    "left_until": ("until {until}", "直到 {until}"),
    "left_turn": ("for this turn", "仅此回合"),
    "no_calls": ("No call was made yet.", "还没有任何调用。"),
    "compressing": ("Summing up…", "正在生成摘要…"),
    "compressed": (
        "History compressed: {count} message(s), {before} → {after} tokens. /compress undo brings them back.",
        "历史已压缩：{count} 条消息，{before} → {after} 个令牌。/compress undo 可恢复。",
    ),
    "would_compress": (
        "Would compress {count} message(s): {before} → at most {after} tokens.",
        "将压缩 {count} 条消息：{before} → 至多 {after} 个令牌。",
    ),
    "uncompressed": ("{count} message(s) are back.", "已恢复 {count} 条消息。"),
    "meter": (
        "Window: {tokens} of {budget} tokens ({share} %), compressed at {at} %",
        "窗口：{tokens} / {budget} 个令牌（{share}%），达到 {at}% 时压缩",
    ),
    "meter_manual": (
        "Window: {tokens} of {budget} tokens ({share} %), compressed only by /compress",
        "窗口：{tokens} / {budget} 个令牌（{share}%），仅在 /compress 时压缩",
    ),
    "part_persona": ("persona", "角色"),
    "part_tools": ("tools, in words", "工具说明"),
    "part_mode": ("mode", "模式"),
    "part_workspace": ("workspace", "工作区"),
    "part_branch": ("branch's own prompt", "分支提示"),
    "part_overview": ("overview of the workspace", "工作区概览"),
    "part_open_files": ("open files", "打开的文件"),
    "part_tool_definitions": ("definitions of the tools", "工具定义"),
    "part_history": ("history", "历史"),
    "part_attached": ("what came with the message", "随消息附带的内容"),
    "pinned": ("{count} message(s) are pinned.", "已置顶 {count} 条消息。"),
    "model": ("Model: {name} (there are: {allowed})", "模型：{name}（可选：{allowed}）"),
    "overview_told": ("The model is told so from the next round on.", "从下一轮起告知模型。"),
    "title": ("Title: {title}", "标题：{title}"),
    "usage": ("{input} tokens in, {output} out{cost}", "输入 {input} 个令牌，输出 {output} 个{cost}"),
    "usage_own": (
        "without sub-agents: {input} in, {output} out{cost}",
        "不含子智能体：输入 {input}，输出 {output}{cost}",
    ),
    "exported": ("Written to {file} ({size} bytes).", "已写入 {file}（{size} 字节）。"),
    "not_written": ("{file} cannot be written: {detail}.", "无法写入 {file}：{detail}。"),
    "archived": ("Archived. A new message brings it back.", "已归档。新消息会将其恢复。"),
    "prompt_set": ("The model is told so from the next round on.", "从下一轮起告知模型。"),
    "prompt_gone": ("Nothing more is told on this branch.", "此分支上不再额外告知。"),
    "tour_line": ("(Enter: {line}) ", "（回车：{line}）"),
    "undo_left": ("Not put back: {left}", "未恢复：{left}"),
    "and_more": ("{names} and {count} more", "{names} 等，另有 {count} 个"),
    "undone": ("Undone: {paths}", "已撤销：{paths}"),
    "tools_told": ("● on, ○ off; /tools on NAME, /tools off NAME", "● 启用，○ 停用；/tools on 名称，/tools off 名称"),
    "no_servers": (
        "There are no servers of tools. Add one with: pilothouse mcp add",
        "没有工具服务器。使用 pilothouse mcp add 添加。",
    ),
    "resource_added": ("The model gets {uri} with your next message.", "模型会随你的下一条消息得到 {uri}。"),
    "trust_none": ("This folder brings no configuration of its own.", "此文件夹没有自己的配置。"),
    "trust_new": (
        "This folder brings configuration of its own. Nothing of it counts until you trust it:",
        "此文件夹带有自己的配置。在你信任之前不会生效：",
    ),
    "trust_changed": (
        "This folder's configuration has changed since you trusted it. Until you do again, the old one holds:",
        "此文件夹的配置在你信任之后已更改。在你再次信任之前，原来的仍然有效：",
    ),
    "trust_trusted": ("This folder's configuration is trusted.", "此文件夹的配置已受信任。"),
    "trust_ask": ("Trust it? y = yes, anything else = no > ", "信任它吗？y = 是，其他 = 否 > "),
    "trust_left": ("Not trusted; /trust shows it again.", "未信任；/trust 再次显示。"),
    "own_refused": ("It could not be started: {detail}", "无法启动：{detail}"),
    "server_tools": ("{tools} tools, {changed} of them changed", "{tools} 个工具，其中 {changed} 个已更改"),
    "own_goes_on": (
        "The command is still running. Press Ctrl-C again to end it by force.",
        "命令仍在运行。再按一次 Ctrl-C 强制结束。",
    ),
    "imported": ("Imported as {context_id}.", "已导入为 {context_id}。"),
    "left_out": ("Left out, since a file may come from anybody: {what}", "未导入（文件可能来自任何人）：{what}"),
}


def tell(key: str, language: Language, **params: object) -> str:
    english, chinese = _WORDS[key]
    return (chinese if language == "zh" else english).format(**params)
