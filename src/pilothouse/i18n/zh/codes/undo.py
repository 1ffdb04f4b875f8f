"""Chinese texts of the codes about undo: restored files, and changes that cannot be undone."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

UNDO: Mapping[Code, str] = {
    Code.NOTHING_TO_UNDO: "没有可以撤销的更改。",
    Code.CHANGE_UNDONE: "用户撤销了你最近的文件更改。以下文件已恢复到更改之前：{paths}。继续之前请重新读取。",
    Code.UNDO_REFUSED: "没有撤销任何内容：{paths} 在智能体更改之后又被更改。",
    Code.UNDO_CONFLICT: "以下文件在智能体更改之后又有变化，保持现状：{paths}。",
    Code.UNDO_UNKEPT: "以下文件过大或无法读取，保持现状（撤销不会替换无法留存副本的文件）：{paths}。",
    Code.UNDO_SET_ASIDE: "智能体更改之前的内容保存在：{files}。",
    Code.UNDO_ASKS: "命令更改了 {paths}，期间可能也有人更改过文件，因此这里只能由人来撤销。",
    Code.UNDO_INCOMPLETE: "没有撤销任何内容：{paths} 之前的内容未能保存（{detail}）。",
    Code.UNDO_NOTHING: "没有还原任何文件。{left}再次撤销可回到更早的更改。",
    Code.UNDO_EXPIRED: "没有撤销任何内容：{paths} 之前的内容已不再保留。保留的容量和时长由 [undo] 中的设置决定。",
    Code.UNDO_UNKNOWN: "无法得知文件之前的内容：{detail}。",
    Code.UNDO_INTERRUPTED: "命令在更改得到记录之前就中断了。",
    Code.UNDO_IGNORED: "被忽略或自动生成的文件夹中的文件不会还原：{paths}。",
    Code.UNDO_UNSEEN: "项目过大，无法完整扫描，因此无法得知以下文件之前的内容：{paths}。",
    Code.UNDO_TOO_MANY: "更改的文件过多，无法全部保存：{paths}。",
    Code.UNDO_TOO_LARGE: "超过 {megabytes} MB 的文件不会保存：{paths}。",
    Code.UNDO_OVER_BUDGET: "撤销空间已满，以下文件没有保存：{paths}。可在 [undo] 的设置中增加空间。",
    Code.UNDO_SPECIAL: "套接字、管道和设备不会还原：{paths}。",
    Code.UNDO_UNREADABLE: "以下文件在命令运行之前无法读取：{paths}。",
    Code.UNDO_COVERAGE: (
        "此文件夹中的文件过多，撤销只覆盖其中一部分：层级最近的 {files} 个条目和 {megabytes} MB。"
        "在项目文件夹中工作即可全部覆盖。"
    ),
    Code.GIT_CREATED: "{repository} 中新建了 git 仓库，撤销不会将其删除。",
    Code.GIT_REMOVED: "{repository} 中的 git 仓库已不存在，撤销无法将其恢复。",
    Code.GIT_SWITCHED: (
        "{repository} 中的 git 已从 {before} 切换到 {after}，撤销不会将其切换回来。要切换回去：git switch {before}。"
    ),
    Code.GIT_MOVED: (
        "{repository} 中的分支 {branch} 从 {before} 移到了 {after}，撤销不会改变提交。要撤回提交并保留文件：git reset "
        "{before}。"
    ),
    Code.GIT_REFERENCES: "{repository} 中的分支、标签或储藏有变化，保持现状：{names}。",
    Code.GIT_INDEX: "{repository} 中的暂存区有变化，保持现状。",
    Code.GIT_OTHER: "{repository} 中的 git 设置或未完成的合并、变基有变化，保持现状。",
}
