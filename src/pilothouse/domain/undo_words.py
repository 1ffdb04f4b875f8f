"""The words of undo: what was put back, and what was not. English, then Chinese."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

UNDO_WORDS: Mapping[Code, tuple[str, str]] = {
    Code.NOTHING_TO_UNDO: (
        "The agent has made no change here that is left to undo.",
        "这里没有可以撤销的智能体修改。",
    ),
    Code.CHANGE_UNDONE: (
        "The person has undone your last change of files. These are again as they were before it: {paths}. Read them "
        "before you go on from what you wrote.",
        "用户撤销了你最近的文件修改。以下文件已恢复到修改之前：{paths}。继续之前请重新读取。",
    ),
    Code.UNDO_REFUSED: (
        "Not undone: {paths} changed after the agent's own change. Nothing was touched.",
        "未撤销：{paths} 在智能体修改之后又被改动。没有改动任何内容。",
    ),
    Code.UNDO_CONFLICT: (
        "Changed by somebody else after the agent's own change, and left as they are now: {paths}.",
        "在智能体修改之后又被他人改动，保持现状：{paths}。",
    ),
    Code.UNDO_UNKEPT: (
        "Left as they are, for they are too large or cannot be read, and undo replaces no file without keeping a copy:"
        " {paths}.",
        "这些文件太大或无法读取，保持现状（撤销不会替换无法留存副本的文件）：{paths}。",
    ),
    Code.UNDO_SET_ASIDE: (
        "You find what they held before the agent's change in: {files}.",
        "智能体修改之前的内容保存在：{files}。",
    ),
    Code.UNDO_ASKS: (
        "A command changed {paths}, and a person may have changed files meanwhile: only a person can undo that here.",
        "命令修改了 {paths}，期间可能也有人改动过文件：此处只能由人来撤销。",
    ),
    Code.UNDO_INCOMPLETE: (
        "Not undone: what {paths} held before was not kept ({detail}).",
        "未撤销：没有保存 {paths} 之前的内容（{detail}）。",
    ),
    Code.UNDO_NOTHING: (
        "No file was put back. {left} Undo once more to go further back.",
        "没有恢复任何文件。{left}再次撤销可回到更早的修改。",
    ),
    Code.UNDO_EXPIRED: (
        "Not undone: what {paths} held before is no longer kept. The settings [undo] say how much and how long.",
        "未撤销：{paths} 之前的内容已不再保留。保留多少、多久由设置 [undo] 决定。",
    ),
    Code.UNDO_UNKNOWN: ("It is not known what the files held before: {detail}.", "不知道文件之前的内容：{detail}。"),
    Code.UNDO_INTERRUPTED: (
        "The command was interrupted before its changes could be noted.",
        "命令在记录其修改之前被中断。",
    ),
    Code.UNDO_IGNORED: (
        "Files in ignored or generated folders are not put back: {paths}.",
        "被忽略或自动生成的文件夹中的文件不会恢复：{paths}。",
    ),
    Code.UNDO_UNSEEN: (
        "It is not known what these held before, for the workspace is too large to look at all of it: {paths}.",
        "工作区太大，无法全部查看，因此不知道这些文件之前的内容：{paths}。",
    ),
    Code.UNDO_TOO_MANY: (
        "Too many files changed to keep them all: {paths}.",
        "修改的文件太多，无法全部保存：{paths}。",
    ),
    Code.UNDO_TOO_LARGE: (
        "Files over {megabytes} MB are not kept: {paths}.",
        "超过 {megabytes} MB 的文件不会保存：{paths}。",
    ),
    Code.UNDO_OVER_BUDGET: (
        "The space for undo was full, so these were not kept: {paths}. The settings [undo] give it more.",
        "撤销空间已满，这些文件没有保存：{paths}。可在设置 [undo] 中增加。",
    ),
    Code.UNDO_SPECIAL: (
        "Sockets, pipes and devices are not put back: {paths}.",
        "套接字、管道和设备不会恢复：{paths}。",
    ),
    Code.UNDO_UNREADABLE: (
        "These could not be read before the command ran: {paths}.",
        "命令运行之前无法读取：{paths}。",
    ),
    Code.UNDO_COVERAGE: (
        "Undo covers only a part of this folder, for it holds too many files: the nearest {files} entries and"
        " {megabytes} MB. Work in a project folder to have all of it covered.",
        "此文件夹中的文件太多，撤销只覆盖其中一部分：最近的 {files} 个条目和 {megabytes} MB。"
        "在项目文件夹中工作即可全部覆盖。",
    ),
    Code.GIT_CREATED: (
        "The git repository in {repository} was created; undo does not remove it.",
        "{repository} 中新建了 git 仓库；撤销不会删除它。",
    ),
    Code.GIT_REMOVED: (
        "The git repository in {repository} is gone; undo does not bring it back.",
        "{repository} 中的 git 仓库已消失；撤销无法恢复它。",
    ),
    Code.GIT_SWITCHED: (
        "Git in {repository} was on {before} and is on {after} now; undo leaves that. To go back: git switch {before}.",
        "{repository} 中的 git 原来在 {before}，现在在 {after}；撤销不改变这一点。要切换回去：git switch {before}。",
    ),
    Code.GIT_MOVED: (
        "The branch {branch} in {repository} moved from {before} to {after}; undo leaves commits as they are. To take"
        " them back and keep the files: git reset {before}.",
        "{repository} 中的分支 {branch} 从 {before} 移到了 {after}；撤销不改变提交。要撤回提交并保留文件："
        "git reset {before}。",
    ),
    Code.GIT_REFERENCES: (
        "Branches, tags or stashes in {repository} changed and stay as they are: {names}.",
        "{repository} 中的分支、标签或储藏有变化，保持不变：{names}。",
    ),
    Code.GIT_INDEX: (
        "What is staged for the next commit in {repository} changed and stays as it is.",
        "{repository} 中的暂存区有变化，保持不变。",
    ),
    Code.GIT_OTHER: (
        "Git's settings or an unfinished merge or rebase in {repository} changed and stay as they are.",
        "{repository} 中的 git 设置或未完成的合并、变基有变化，保持不变。",
    ),
}
