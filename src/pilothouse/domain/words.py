"""The words of every code, in English and Chinese."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code
from pilothouse.domain.server_words import SERVER_WORDS
from pilothouse.domain.steering_words import STEERING_WORDS
from pilothouse.domain.tool_words import TOOL_WORDS
from pilothouse.domain.undo_words import UNDO_WORDS
from pilothouse.domain.window_words import WINDOW_WORDS

WORDS: Mapping[Code, tuple[str, str]] = {
    Code.UNKNOWN_MODE: (
        "There is no mode {mode!r}. Allowed: {allowed}.",
        "没有模式 {mode!r}。可用：{allowed}。",
    ),
    Code.UNKNOWN_CONTEXT: ("There is no context {context_id!r}.", "没有对话 {context_id!r}。"),
    Code.UNKNOWN_MESSAGE: (
        "There is no message {message_id!r} on branch {branch!r}.",
        "分支 {branch!r} 上没有消息 {message_id!r}。",
    ),
    Code.UNKNOWN_CALL: (
        "There is no call {call_id!r} waiting for a decision here.",
        "这里没有等待决定的调用 {call_id!r}。",
    ),
    Code.UNKNOWN_BRANCH: (
        "There is no branch {branch!r}. There are: {allowed}.",
        "没有分支 {branch!r}。现有：{allowed}。",
    ),
    Code.UNKNOWN_MODEL: (
        "There is no model {model!r}. Allowed: {allowed}.",
        "没有模型 {model!r}。可用：{allowed}。",
    ),
    Code.INVALID_ID: (
        "{value!r} is no valid id: letters, digits, '-' and '_' only, 1 to 64 of them.",
        "{value!r} 不是有效的编号：只允许字母、数字、“-”和“_”，1 到 64 个字符。",
    ),
    Code.INVALID_NAME: (
        "{value!r} is no valid name: 1 to 100 characters, no control characters.",
        "{value!r} 不是有效的名称：1 到 100 个字符，不含控制字符。",
    ),
    Code.INVALID_PAYLOAD: (
        "The payload was not understood: {detail}. Allowed types: {allowed}.",
        "无法理解消息内容：{detail}。可用类型：{allowed}。",
    ),
    Code.EMPTY_MESSAGE: (
        "The message is empty: send at least one payload, and a text that is not blank.",
        "消息为空：请至少发送一项内容，文本不能只有空白。",
    ),
    Code.TEXT_TOO_LARGE: (
        "The text has {size} bytes; at most {limit} are allowed.",
        "文本有 {size} 字节；最多允许 {limit} 字节。",
    ),
    Code.NOT_TEXT: (
        "The text is not valid Unicode ({detail}); it must be encodable as UTF-8.",
        "文本不是有效的 Unicode（{detail}）；必须能编码为 UTF-8。",
    ),
    Code.UNSUPPORTED_PAYLOAD: (
        "A payload of type {type!r} is not supported yet. Supported: {allowed}.",
        "尚不支持 {type!r} 类型的内容。支持：{allowed}。",
    ),
    Code.INVALID_WORKSPACE: (
        "The workspace {path!r} is not a directory that can be opened.",
        "工作区 {path!r} 不是可以打开的目录。",
    ),
    Code.INVALID_ANSWERS: (
        "{given} answers were given to {asked} questions: one answer for each is needed.",
        "有 {asked} 个问题，却给出了 {given} 个回答：每个问题需要一个回答。",
    ),
    Code.MISSING_KEY: (
        "The model {model!r} needs a key: set {variable}. Without a key, use the model 'demo'.",
        "模型 {model!r} 需要密钥：请设置 {variable}。没有密钥时可使用模型 'demo'。",
    ),
    Code.TURN_ACTIVE: (
        "A turn is still open (state {state}): wait for it, decide what it asks, continue it if it was broken off "
        "(`continue`), or cancel it (`cancel`).",
        "当前回合尚未结束（状态 {state}）：请等待、作出决定、继续被中断的回合（`continue`）或取消（`cancel`）。",
    ),
    Code.NOT_CONTINUABLE: (
        "There is nothing to continue (state {state}).",
        "没有可以继续的内容（状态 {state}）。",
    ),
    Code.NOTHING_TO_CANCEL: ("There is no open turn to cancel.", "没有可以取消的回合。"),
    Code.NOTHING_TO_RETRY: ("Nothing is waiting for a retry (state {state}).", "没有等待重试的请求（状态 {state}）。"),
    Code.NO_QUESTION: ("No question is waiting for an answer.", "没有等待回答的问题。"),
    Code.CALL_DECIDED: (
        "The call {call_id} was decided already ({verdict} by {decided_by}, {decided_at}) and is now {status}: this "
        "decision changed nothing.",
        "调用 {call_id} 已有决定（{verdict}，{decided_by}，{decided_at}），当前状态为 {status}：此决定未更改任何内容。",
    ),
    Code.DIGEST_CHANGED: (
        "The call {call_id} is not the one that was shown (its digest differs): look again and decide anew.",
        "调用 {call_id} 与所显示的不同（摘要不一致）：请重新查看并决定。",
    ),
    Code.BRANCH_EXISTS: ("There is already a branch {branch!r}.", "分支 {branch!r} 已经存在。"),
    Code.CONTEXT_EXISTS: ("There is already a context {context_id!r}.", "对话 {context_id!r} 已经存在。"),
    Code.MESSAGE_INCOMPLETE: (
        "The message {message_id!r} is still being written: fork at a complete one.",
        "消息 {message_id!r} 仍在写入：请在完整的消息处分叉。",
    ),
    Code.RUNTIME_CLOSED: ("The runtime is closed.", "运行时已经关闭。"),
    Code.MODE_RUNS: ("Mode {mode} lets this call run.", "模式 {mode} 允许此调用运行。"),
    Code.MODE_WAITS: ("Mode {mode} lets a person decide this call.", "模式 {mode} 由人来决定此调用。"),
    Code.MODE_DENIED: (
        "Mode {mode} does not allow {tool}. Switch to {hint} to let it run.",
        "当前为 {mode} 模式，不允许 {tool}。请切换到 {hint} 模式执行操作。",
    ),
    Code.ELEVATION_OFFERED: (
        "Mode {mode} only reads. Run this one call as in agent mode?",
        "模式 {mode} 只读。是否像 agent 模式那样运行这一次调用？",
    ),
    Code.APPROVED: ("Approved by {by}.", "由 {by} 批准。"),
    Code.ELEVATED: ("Elevated for this one call by {by}.", "由 {by} 为这一次调用提升权限。"),
    Code.QUESTION: ("A question to the person.", "向人提出的问题。"),
    Code.UNKNOWN_TOOL: ("There is no tool {tool!r}. There are: {allowed}.", "没有工具 {tool!r}。现有：{allowed}。"),
    Code.TOOL_DISABLED: ("The tool {tool!r} is disabled.", "工具 {tool!r} 已停用。"),
    Code.INVALID_ARGUMENTS: (
        "The arguments of {tool} are not valid: {detail}. Nothing was run.",
        "{tool} 的参数无效：{detail}。没有执行任何操作。",
    ),
    Code.OUTSIDE_WORKSPACE: (
        "{path!r} is outside the workspace: file tools use only paths inside it, and no approval changes that. A "
        "person can open its folder to them ([[roots]] in config.toml), or let a command read it in supervised or "
        "agent mode.",
        "{path!r} 在工作区之外：文件工具只能使用工作区内的路径，批准也无法改变。"
        "可以在 config.toml 的 [[roots]] 中开放该文件夹，"
        "或在 supervised 或 agent 模式下用命令读取。",
    ),
    Code.PROTECTED_PATH: (
        "{path!r} is protected: no file tool touches it, and no command may name it to change it, in any mode. Use the "
        "program that it belongs to (such as git), or ask the person to change it.",
        "{path!r} 受保护：在任何模式下，文件工具都不能使用它，命令也不能指名修改它。"
        "请使用它所属的程序（例如 git），或请用户自己修改。",
    ),
    Code.CLEANS_DATA: (
        "Not run: git clean with -x or -X would delete {path!r}, where Pilothouse keeps conversations, tokens and "
        "settings. Leave that out: git clean -fdx {options}",
        "未运行：带 -x 或 -X 的 git clean 会删除 {path!r}，其中有 Pilothouse 的对话、令牌和设置。"
        "请将其排除：git clean -fdx {options}",
    ),
    Code.REJECTED: (
        "The person rejected this call{because}. Do not try the same call again.",
        "此调用被拒绝{because}。不要再次尝试同样的调用。",
    ),
    Code.REJECTED_BY_SWITCH: (
        "Not run: the person switched to mode {mode}, which does not allow this call.",
        "未运行：已切换到 {mode} 模式，该模式不允许此调用。",
    ),
    Code.ROUND_DENIED: (
        "Not run: another call of the same round was denied by mode {mode}.",
        "未运行：同一轮中的另一调用被 {mode} 模式拒绝。",
    ),
    Code.NOT_RUN: ("Not run.", "未运行。"),
    Code.CANCELLED: ("Cancelled by the person.", "已被取消。"),
    Code.INTERRUPTED_CALL: ("Interrupted before it had a result.", "在得到结果之前被中断。"),
    Code.MAY_HAVE_RUN: (
        "Interrupted, may have run: check before repeating it.",
        "被中断，可能已经运行：重复之前请先检查。",
    ),
    Code.ARGUMENTS_EDITED: (
        "The person changed the arguments before approving. It ran with: {arguments}",
        "批准前参数被修改。实际运行的参数：{arguments}",
    ),
    Code.TOOL_FAILED: ("{tool} failed: {detail}", "{tool} 失败：{detail}"),
    Code.TOOL_TIMED_OUT: (
        "{tool} was ended after its time limit of {seconds} seconds.",
        "{tool} 超过 {seconds} 秒时限，已被终止。",
    ),
    Code.FILE_MISSING: ("{path!r} does not exist.", "{path!r} 不存在。"),
    Code.FILE_NOT_TEXT: ("{path!r} is not a text file.", "{path!r} 不是文本文件。"),
    Code.FILE_TOO_LARGE: (
        "{path!r} has {size} bytes; at most {limit} can be handled at once. Read it by lines, change it by a command.",
        "{path!r} 有 {size} 字节；一次最多处理 {limit} 字节。请按行读取，用命令修改。",
    ),
    Code.NOT_A_FILE: ("{path!r} is not a regular file.", "{path!r} 不是普通文件。"),
    Code.NOT_A_DIRECTORY: ("{path!r} is not a directory.", "{path!r} 不是目录。"),
    Code.FILE_UNREADABLE: ("{path!r} cannot be used: {detail}.", "无法使用 {path!r}：{detail}。"),
    Code.FILE_CHANGED: (
        "{path!r} has changed since this call was shown. Read it again.",
        "{path!r} 在此调用显示之后已被修改。请重新读取。",
    ),
    Code.COMMAND_FILES_CHANGED: (
        "Files that the command {command!r} runs have changed since it was shown, so it was not run. Ask for it again.",
        "命令 {command!r} 要运行的文件在显示之后发生了变化，因此没有运行。请重新请求。",
    ),
    Code.TEXT_NOT_FOUND: (
        "Edit {number}: the old text was not found in {path!r}. It must match exactly.",
        "第 {number} 处修改：在 {path!r} 中找不到原文。必须完全一致。",
    ),
    Code.TEXT_NOT_UNIQUE: (
        "Edit {number}: the old text stands {count} times in {path!r}. Give more of it, or set replace_all.",
        "第 {number} 处修改：原文在 {path!r} 中出现 {count} 次。请给出更多上下文或设置 replace_all。",
    ),
    Code.TOO_MANY_EDITS: (
        "{count} edits are too many for {path!r} ({size} bytes): at most {limit} fit into one call. Split them up.",
        "{path!r}（{size} 字节）一次最多可做 {limit} 处修改，而这次有 {count} 处。请分几次修改。",
    ),
    Code.BAD_LINE_RANGE: (
        "Lines {start} to {end} are no range of {path!r}, which has {lines} lines.",
        "{path!r} 共 {lines} 行，没有第 {start} 到 {end} 行。",
    ),
    Code.INTERRUPTED: (
        "The runtime stopped before this turn had ended. Continue to go on from here.",
        "运行时在回合结束之前停止。可以从这里继续。",
    ),
    Code.LIMIT_ROUNDS: (
        "Stopped: the limit of {limit} rounds in a turn was reached. Continue to go on.",
        "已停止：达到每回合 {limit} 轮的上限。可以继续。",
    ),
    Code.LIMIT_REPEATED_CALL: (
        "Stopped: the model asked for {tool} with the same arguments {count} times in a row and seems to be stuck, so "
        "this last time nothing was run. Tell it what to do differently, or continue to let it try again.",
        "已停止：模型以相同参数连续 {count} 次请求 {tool}，似乎陷入了循环，因此最后一次没有运行。"
        "请告诉它换一种做法，或继续让它再试。",
    ),
    Code.LIMIT_TURN_TIME: (
        "Stopped: the turn took longer than its limit of {seconds} seconds. Continue to go on.",
        "已停止：回合超过了 {seconds} 秒的时限。可以继续。",
    ),
    Code.LIMIT_TOKENS: (
        "Stopped: the turn used {used} tokens; its limit is {limit}. Continue to go on.",
        "已停止：回合使用了 {used} 个令牌；上限为 {limit}。可以继续。",
    ),
    Code.EMPTY_ANSWER: (
        "The model gave an empty answer. Continue to ask it again.",
        "模型给出了空回答。可以继续，让模型重新回答。",
    ),
    Code.ANSWER_RESTARTED: (
        "The connection to the model was lost. The text so far is incomplete; the answer begins again.",
        "与模型的连接中断。以上内容不完整，回答将重新开始。",
    ),
    Code.ANSWER_TOO_LONG: (
        "The answer is incomplete: the model reached its output limit. Continue to let it go on.",
        "回答不完整：模型达到了输出长度上限。可以继续，让模型接着回答。",
    ),
    Code.ANSWER_FILTERED: (
        "The answer is incomplete: the model's provider stopped it with its content filter. Continue to ask again, or "
        "say it in other words.",
        "回答不完整：模型服务的内容过滤中止了回答。可以继续重试，或换一种说法。",
    ),
    Code.ANSWER_REFUSED: (
        "The model refused to answer. Continue to ask again, or say it in other words.",
        "模型拒绝回答。可以继续重试，或换一种说法。",
    ),
    Code.ARGUMENTS_CUT: (
        "The call of {tool} was cut off by the model's output limit before its arguments were complete. Nothing was "
        "run. Send it again with shorter arguments, in several calls if needed.",
        "对 {tool} 的调用因模型的输出长度上限而中断，参数不完整。没有执行任何操作。"
        "请用更短的参数重新调用，必要时分多次。",
    ),
    Code.MODEL_CONNECT: (
        "The model at {address} cannot be reached: {detail}.",
        "无法连接 {address} 的模型：{detail}。",
    ),
    Code.MODEL_TIMEOUT: ("The model did not answer within {seconds} seconds.", "模型在 {seconds} 秒内没有回应。"),
    Code.MODEL_CUT: ("The connection was lost in the middle of the answer.", "回答途中连接中断。"),
    Code.MODEL_RATE_LIMITED: ("The model's provider asks to slow down: {detail}", "模型服务要求降低频率：{detail}"),
    Code.MODEL_OVERLOADED: ("The model's provider failed ({status}): {detail}", "模型服务出错（{status}）：{detail}"),
    Code.MODEL_REFUSED: (
        "The model's provider refused the request ({status}): {detail}",
        "模型服务拒绝了请求（{status}）：{detail}",
    ),
    Code.MODEL_AUTH: (
        "The model's provider refused the key ({status}): {detail}",
        "模型服务拒绝了密钥（{status}）：{detail}",
    ),
    Code.MODEL_GARBLED: (
        "The model's provider sent something that is not its protocol: {detail}",
        "模型服务发来不合协议的内容：{detail}",
    ),
    Code.MODEL_ENDLESS: (
        "The answer went beyond {limit} characters and was cut off.",
        "回答超过 {limit} 个字符，已被截断。",
    ),
    Code.SCRIPT_EXHAUSTED: (
        "The script has no answer left for purpose {purpose!r} (it had {count}).",
        "脚本中用途 {purpose!r} 的回答已用完（共 {count} 个）。",
    ),
    Code.SCRIPT_INVALID: ("The script is not valid: {detail}", "脚本无效：{detail}"),
    Code.STORE_REFUSED: (
        "Could not save: {detail}. What was saved before is intact. Make room or repair the disk, then try again.",
        "无法保存：{detail}。之前保存的内容完好。请腾出空间或修复磁盘后重试。",
    ),
    Code.STORE_READ_ONLY: (
        "Could not save: a sync to the disk failed ({detail}). What was saved before is intact. Check the disk, "
        "then continue.",
        "无法保存：向磁盘同步失败（{detail}）。之前保存的内容完好。请检查磁盘，然后继续。",
    ),
    Code.STORE_UNAVAILABLE: (
        "The data directory {path} cannot be used: {detail}. Put it back, or start again with another one.",
        "数据目录 {path} 无法使用：{detail}。请将其恢复，或使用其他目录重新启动。",
    ),
    Code.CHANGE_NOT_KEPT: (
        "Nothing was changed: what {path} holds now could not be kept for undo ({detail}). Make room on the disk, "
        "then try again.",
        "没有任何更改：无法为撤销保存 {path} 的当前内容（{detail}）。请腾出磁盘空间后重试。",
    ),
    Code.SANDBOX_INCOMPLETE: (
        "The command was not run: since it was decided, the kernel's sandbox has become incomplete, and the command "
        "needs an approval now. Call it again.",
        "命令未运行：自作出决定以来，内核沙箱已不再完整，该命令现在需要批准。请重新调用。",
    ),
    Code.SANDBOX_TOO_MANY_ENTRIES: (
        "Nothing was run: {folder} has more than {most} entries beside private data of Pilothouse, too many to confine "
        "a program to each of them. Move the data directory into a folder of its own, or remove entries. Then try "
        "again.",
        "未运行任何内容：{folder} 中与 Pilothouse 私有数据并列的条目超过 {most} 个，无法逐一限制程序的访问范围。"
        "请将数据目录移到单独的文件夹，或减少条目后重试。",
    ),
    Code.DISK_SPACE_LOW: (
        "Only {free_mb} MB are free on the disk with the data directory {path}. Make room before it is full.",
        "数据目录 {path} 所在磁盘仅剩 {free_mb} MB。请在磁盘写满之前腾出空间。",
    ),
    Code.STORE_LOCKED: (
        "The data directory {path!r} is in use by another process ({holder}). Stop it, or choose another directory.",
        "数据目录 {path!r} 正被另一进程（{holder}）使用。请停止它，或选择其他目录。",
    ),
    Code.STALE_VERSION: (
        "Another writer was first: expected version {expected}, found {found}.",
        "已有其他写入：期望版本 {expected}，实际为 {found}。",
    ),
    Code.STALE_FENCE: ("This writer no longer owns the context.", "此写入者不再拥有该对话。"),
    Code.CONTEXT_DAMAGED: (
        "The context {context_id!r} is damaged: {detail}.",
        "对话 {context_id!r} 已损坏：{detail}。",
    ),
    Code.FORMAT_TOO_NEW: (
        "The context {context_id!r} was written by a newer version (format {format}, known up to {known}).",
        "对话 {context_id!r} 由更新的版本写入（格式 {format}，已知最高 {known}）。",
    ),
    Code.TAIL_CUT: (
        "An unfinished write of {size} bytes was cut off and kept as {kept}.",
        "一次未完成的写入（{size} 字节）已被截断并保存为 {kept}。",
    ),
    Code.JOURNAL_GAP: (
        "{size} unreadable bytes in the journal were passed over and kept as {kept}.",
        "日志中 {size} 字节无法读取，已跳过并保存为 {kept}。",
    ),
    Code.METADATA_REBUILT: (
        "The metadata could not be read ({detail}); it was rebuilt from the messages, the old file is kept as {kept}.",
        "元数据无法读取（{detail}）；已根据消息重建，旧文件保存为 {kept}。",
    ),
    Code.MESSAGE_DAMAGED: ("This message cannot be read: {detail}.", "此消息无法读取：{detail}。"),
    Code.AUDIT_BROKEN: (
        "The audit was cut or rewritten: entry {sequence} is missing, unreadable or not the one that was written.",
        "审计记录被截断或改写：第 {sequence} 条缺失、无法读取或已不是原来的内容。",
    ),
    Code.AUDIT_CHANGED: (
        "The audit of this conversation was changed outside of Pilothouse after it was last read, so nothing was "
        "accepted. Look at it again, then accept it once more.",
        "此对话的审计记录在上次读取之后又在 Pilothouse 之外被改动，因此没有接受任何内容。请重新查看，然后再次接受。",
    ),
    Code.AUDIT_CUT: (
        "This conversation was cut, rewritten or removed outside of Pilothouse: entry {sequence} of its audit is "
        "missing, unreadable or not the one that was written. Its mode and rules may not be those that you chose, so "
        "every call waits for you. Look at its mode and rules, then revoke the rule that asks about every tool. Or "
        "stop Pilothouse and accept all records as they are now: pilothouse audit verify --accept",
        "此对话在 Pilothouse 之外被截断、改写或删除：审计记录的第 {sequence} 条缺失、无法读取或已不是原来的内容。"
        "其模式和规则可能不是你所选的，因此所有调用都会等待你的批准。请检查模式和规则，然后撤销那条对所有工具进行询问的规则。"
        "也可以停止 Pilothouse，然后一次接受所有记录的当前内容：pilothouse audit verify --accept",
    ),
    Code.AUDIT_NOT_CONFIRMED: (
        "The audit is whole. It is not confirmed here: nothing was noted of it on this machine yet, as for a copied "
        "folder. The next entry confirms it.",
        "审计记录完整，但尚未在此确认：本机还没有为它留下凭据（例如复制来的目录）。写入下一条记录后即得到确认。",
    ),
    Code.AUDIT_WHOLE: ("The audit is whole.", "审计记录完整。"),
    Code.AUDIT_LOST: (
        "The conversation is gone: its folder was removed outside of Pilothouse.",
        "对话已不存在：其目录在 Pilothouse 之外被删除。",
    ),
    Code.INTERNAL: (
        "An error of ours: {detail}. Nothing that was acknowledged is lost.",
        "内部错误：{detail}。已确认的内容没有丢失。",
    ),
    **SERVER_WORDS,
    **STEERING_WORDS,
    **TOOL_WORDS,
    **UNDO_WORDS,
    **WINDOW_WORDS,
}
