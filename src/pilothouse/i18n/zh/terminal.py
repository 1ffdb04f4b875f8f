"""Chinese texts of the conversation in a terminal."""

from collections.abc import Mapping

TERMINAL: Mapping[str, str] = {
    "welcome": "Pilothouse · {workspace}\n/help 列出命令，Ctrl-C 取消本轮，Ctrl-D 退出。",
    "demo": "当前是演示模型，只能识别几条固定指令。设置 OPENAI_API_KEY 即可使用真实模型。",
    "no_sandbox": (
        "此内核上的沙盒不完整：在“更改前确认”模式下，只有严格列表中的命令会自动运行。未生效：{broken}。运行 "
        "`pilothouse doctor` 查看缺少什么。"
    ),
    "help": (
        "/tour            两分钟导览，每步按一次回车\n"
        "/mode [名称]     显示或切换模式（或 /agent /supervised /review /plan /ask）\n"
        "/elevate N       在“更改前确认”模式下：放行接下来 N 个操作（或 turn、N minutes、end）\n"
        "/rules           列出规则；/rules revoke 编号\n"
        "/allow 工具 [文件夹]  为此对话添加规则（或 /ask-first、/deny）\n"
        "/policy [名称]   额外审批规则：auto_approve、manual、white_list 工具…、limited_auto 步数、default\n"
        "/persona [名称]  显示或选择角色；none 表示不使用角色\n"
        "/why             上一个操作为什么运行或没有运行；/audit 显示全部\n"
        "/pause /resume   暂停或继续本轮；/cancel 结束（或 Ctrl-C）\n"
        "/continue        在取消、达到上限或出错后继续，或发送排队的消息\n"
        "/queue           列出排队的消息；/queue delete N、/queue edit N 文字\n"
        "/branch [名称]   列出或切换分支；/branch delete 名称\n"
        "/fork 名称       从这里新建分支；/edit 文字 替换你的上一条消息\n"
        "/merge 名称 [rebase] [preview]   将另一个分支合并到此分支\n"
        "/undo            还原智能体最近的文件更改；!命令 运行你自己的命令\n"
        "/tools           列出工具；/tools off 名称；/allow $ git push 为命令添加规则\n"
        "/servers         列出 MCP 服务器；/resource 服务器 [URI]，/use 服务器 提示词\n"
        "/trust           查看此文件夹的项目设置并决定是否信任；/trust revoke\n"
        "/prompt [文字]   为此分支添加给模型的说明\n"
        "/tokens          上下文窗口的占用情况；/overview 附带项目概览\n"
        "/model [名称]    显示或选择模型\n"
        "/compact         将较早的消息压缩为摘要；/compact preview、undo 或要保留的重点\n"
        "/pin [off]       压缩对话时保留你的上一条消息\n"
        "/title /usage /export [--system-prompt] [文件] /archive   管理此对话\n"
        "/quit            退出，对话会保留"
    ),
    "unknown": "未知命令 {command}。/help 列出可用命令。",
    "switched": "模式：{icon} {title}。{meaning}",
    "started": "模式已切换：{count} 个待批准的操作已开始运行。",
    "rejected": "模式已切换：{count} 个待批准的操作已被拒绝。",
    "approve": "y = 批准，n = 拒绝（n 反馈），! = 始终允许，a = 全部批准，e = 编辑，q = 稍后 > ",
    "approve_without_rule": "y = 批准，n = 拒绝（n 反馈），a = 全部批准，e = 编辑，q = 稍后 > ",
    "confirm_all": "y = 同时批准以上 {count} 个操作，q = 稍后 > ",
    "more": "请先读完再决定：回车或空格 = 下一页（{number}/{count}），n = 拒绝（n 反馈），q = 稍后 > ",
    "more_texts": "还有内容：回车或空格 = 下一页，q = 稍后 > ",
    "question": "智能体的提问：",
    "question_later": "请输入回答。要稍后回答，请输入 /later 或按 Ctrl-D。",
    "question_declined": "请输入回答。要跳过，请输入 /later 或按 Ctrl-D。",
    "question_of_child": "请输入回答。要取消本轮，请输入 /later 或按 Ctrl-D。",
    "empty_answer": "请先输入回答，或输入 /later",
    "not_understood": "请从以下选项中选择。",
    "not_understood_kept": "请从以下选项中选择。你输入的文字会在下一个提示符处恢复。",
    "not_utf8": "未发送：这一行的部分字节不是 UTF-8（U+FFFD）。请更正后重新发送。要输入这些字符，请将终端设为 UTF-8。",
    "typed_before": "你在提问出现之前输入了以下内容，未作为回答：",
    "typed_unsent": "你输入了以下内容，尚未发送：",
    "allowed_by_rule": "你的规则允许此操作：",
    "applied": "已执行你的决定：{what}。",
    "applied_approved": "批准 {count} 个",
    "applied_rejected": "拒绝 {count} 个",
    "applied_by_rule": "由你的规则允许 {count} 个",
    "comma": "，",
    "dropped": "你对 {count} 个操作的决定没有执行。",
    "still_waiting": "待批准的操作（{count} 个）：",
    "later": "按回车查看，或输入 /cancel 取消。",
    "question_waits": "问题尚未回答。按回车回答，或输入 /cancel 取消。",
    "tour_end": "导览到此结束。/help 列出命令。",
    "no_contexts": "还没有对话。",
    "unarchived": "已取消归档 {context_id}。",
    "deleted": "已删除 {context_id}。",
    "edit": "新的参数（JSON），回车 = 不更改 > ",
    "edit_again": "回车 = 回到编辑器，q = 不更改 > ",
    "edited_call": "编辑后的操作：",
    "not_edited": "没有更改。以下是原来的操作。",
    "approve_edited": "y = 批准编辑后的操作，n = 拒绝（n 反馈），e = 再次编辑，o = 恢复原操作，q = 稍后 > ",
    "editor_failed": "编辑器出错：{detail}。请用 $VISUAL 或 $EDITOR 指定其他编辑器。",
    "editor_status": "编辑器已结束（{status}），没有任何更改。",
    "not_json": "不是有效的 JSON 对象：{detail}",
    "card_folder": "文件夹：",
    "card_timeout": "时间限制（秒）：",
    "card_mode": "子智能体的模式：",
    "card_arguments": "参数：",
    "card_link": "实际指向：",
    "card_reason": "原因：",
    "dangerous": "小心：{what}",
    "cancelled": "已取消。/continue 从这里继续。",
    "recovery": "{reason} 每 10 秒自动重试保存一次。输入 /continue 可立即重试并继续。",
    "failed": "失败：{reason} /continue 可从这里重试。",
    "bye": "已保存。返回此对话：{command}",
    "bye_gone": "无法保存此对话：其文件夹 {folder} 已不存在。要返回此对话，请先从备份恢复该文件夹。",
    "bye_refused": "无法保存此对话的结尾：最近的磁盘写入失败。返回其余部分：{command}",
    "active": "当前分支：{name}",
    "merged": "已从 {source} 合并 {count} 条消息。",
    "would_merge": "将从 {source} 合并 {count} 条消息。",
    "queued": "已排队（共 {count} 条）。/queue 列出排队的消息。",
    "no_queue": "队列为空。",
    "pausing": "将在下一步之前暂停…",
    "paused": "已暂停。/resume 继续。",
    "child": "子智能体（{context_id}）需要你批准（q 取消本轮）：",
    "child_asks": "子智能体（{context_id}）的提问：",
    "rule_options": "添加哪条规则？（编号，回车表示不添加）",
    "no_rule_options": "没有规则可以允许此操作，每次都会询问你。",
    "no_rules": "还没有规则。",
    "revoked": "已撤销：{rule}",
    "persona": "角色：{name}",
    "no_personas": "还没有角色。",
    "personas_untrusted": "此文件夹带有尚未信任的角色。要查看，请运行：pilothouse trust",
    "persona_of_user": "你的",
    "persona_of_project": "来自此项目",
    "persona_hidden": "被你的同名角色取代",
    "persona_mode": "初始模式：{mode}",
    "persona_model": "模型：{model}",
    "tools_all": "全部工具",
    "tools_only": "仅限 {tools}",
    "tools_not": "不含 {tools}",
    "proposed_by": "由 {origin} 提出，不是模型提出的。",
    "may_change": "你批准之后，此命令要运行的文件仍可能被更改。",
    "second_attempt": "运行“{tool}”时连接中断，正在重试一次。",
    "retry": "{error} {seconds} 秒后重试（第 {count} 次，共 {total} 次）。",
    "go_on_with": "要继续：{command}，然后输入 /continue",
    "waits_for_approval": "待批准：{call}",
    "decide_with": "查看并决定：{command}",
    "unread_start": "这将启动 {count} 个待批准的操作：",
    "sure": "y = 是，其他 = 否 > ",
    "policy": "额外审批规则：{policy}",
    "elevated": "临时放行：{left}。",
    "not_elevated": "当前没有临时放行。",
    "left_calls": "还剩 {count} 次",
    "left_until": "直到 {until}",
    "left_turn": "本轮",
    "no_calls": "还没有任何操作。",
    "compressing": "正在生成摘要…",
    "compressed": "已压缩 {count} 条消息（{before} → {after} 个 token）。要恢复：/compact undo",
    "would_compress": "将压缩 {count} 条消息（{before} → 最多 {after} 个 token）。",
    "uncompressed": "已恢复 {count} 条消息。",
    "meter": "上下文：{tokens} / {budget} 个 token（{share}%），达到 {at}% 时自动压缩。",
    "meter_manual": "上下文：{tokens} / {budget} 个 token（{share}%），自动压缩已关闭，请使用 /compact。",
    "part_persona": "角色",
    "part_tools": "工具说明",
    "part_mode": "模式",
    "part_workspace": "项目文件夹",
    "part_branch": "分支说明",
    "part_overview": "项目概览",
    "part_tool_definitions": "工具定义",
    "part_history": "对话历史",
    "part_attached": "消息附带的内容",
    "pinned": "已固定 {count} 条消息。",
    "model": "模型：{name}（可选：{allowed}）",
    "overview_added": "已附带项目概览，从下一步起对模型生效。",
    "title": "标题：{title}",
    "usage": "输入 {input} 个 token，输出 {output} 个 token{cost}",
    "usage_own": "不含子智能体：输入 {input}，输出 {output}{cost}",
    "exported": "已导出到 {file}（{size} 字节）。",
    "not_written": "无法写入 {file}：{detail}。",
    "archived": "已归档。发送消息即可取消归档此对话。",
    "prompt_set": "说明已保存，从下一步起对模型生效。",
    "prompt_gone": "此分支不再有额外说明。",
    "tour_line": "（回车：{line}）",
    "undo_left": "未能还原：{left}",
    "and_more": "{names} 等，另有 {count} 个",
    "undone": "已还原 {paths}",
    "tools_legend": "● 启用，○ 停用；/tools on 名称，/tools off 名称",
    "no_mcp_servers": "还没有 MCP 服务器。添加：pilothouse mcp add",
    "resource_added": "{uri} 会随你的下一条消息发送给模型。",
    "trust_none": "此文件夹没有项目设置。",
    "trust_new": "此文件夹有项目设置。在你信任之前，这些设置不会生效：",
    "trust_changed": "此文件夹的项目设置在你信任之后已更改。在你信任新版本之前，你信任过的版本仍然有效：",
    "trust_trusted": "此文件夹的项目设置已受信任。",
    "trust_file": "第 {number} 个文件（共 {count} 个）：",
    "trust_contents": "内容：",
    "trust_ask": "信任这些设置吗？y = 是，其他 = 否 > ",
    "trust_left": "未信任。要重新查看：/trust",
    "own_refused": "无法启动命令：{detail}",
    "mcp_server_tools": "{tools} 个工具，{changed} 个已更改",
    "own_goes_on": "命令仍在运行。再按一次 Ctrl-C 强制结束。",
    "imported": "已导入为 {context_id}。",
    "left_out": "未导入（文件可能来自他人）：{what}",
}
