"""A tour of everything a person can decide: two minutes with the demo model, one Enter a step."""

from pilothouse.domain.codes import Language

STEPS: list[tuple[str, str, str]] = [
    ("write tour/notes.txt: hello", "In agent mode everything runs by itself.", "agent 模式下一切自动运行。"),
    (
        "/supervised",
        "Autonomy is a mode. Under supervision every call waits for you.",
        "自主程度是一种模式。监督模式下每次调用都等待你。",
    ),
    (
        "write tour/one.txt: first",
        "It will wait. When it asks, type ! and then 2: you see the exact rule before you give it.",
        "它会等待。询问时请输入 ! 再输入 2：给出规则之前会看到它的确切内容。",
    ),
    ("write tour/two.txt: second", "The rule lets this one run.", "这一次由规则放行。"),
    ("/why", "Why did it run? The audit knows.", "为什么运行了？审计记录知道。"),
    ("/rules", "Rules are listed, and /rules revoke NUMBER ends one.", "规则列在这里，/rules revoke 编号 可撤销。"),
    ("/review", "Review reads by itself; no rule gets around it.", "review 自动读取；任何规则都绕不过它。"),
    (
        "/elevate 1",
        "A person may elevate it, always with an end: here for one call.",
        "人可以提升权限，但总有期限：这里是一次调用。",
    ),
    ("write tour/one.txt: changed", "This one runs, the next would wait again.", "这一次会运行，下一次又会等待。"),
    ("/plan", "Plan changes nothing, whatever the model sends.", "plan 不做任何修改，无论模型发送什么。"),
    ("run rm -rf tour", "Denied: the wall ends the turn.", "被拒绝：回合结束。"),
    ("/agent", "Back to agent. Now branches.", "回到 agent。接下来是分支。"),
    ("/fork idea", "A branch from here; nothing is copied.", "从这里新建分支；不复制任何内容。"),
    ("write tour/idea.txt: what if", "This is said on the branch only.", "这只发生在该分支上。"),
    ("/branch main", "Back to where we were.", "回到原处。"),
    ("/merge idea preview", "What would a merge bring over?", "合并会带来什么？"),
    ("/merge idea", "Do it.", "执行合并。"),
    (
        "work in 4 steps",
        "While it works, type a line: it is queued. Type /pause, then /resume. Ctrl-C cancels.",
        "它工作时输入一行文字会排队。输入 /pause 再输入 /resume。Ctrl-C 取消。",
    ),
    ("delegate: list", "A sub-agent, never freer than you let this one be.", "子智能体，永远不会比当前对话更自由。"),
    ("/usage", "What it used, sub-agents included.", "使用量，包括子智能体。"),
    ("/export", "The whole conversation as one file.", "整个对话成为一个文件。"),
    ("/audit", "And everything that was decided, by whom and why.", "以及决定了什么、由谁、为什么。"),
]


class Tour:
    def __init__(self, language: Language) -> None:
        self._language = language
        self._next = 0

    def propose(self) -> str | None:
        """Say what comes next and give its line; None at the end. What is not taken is proposed again."""
        if self._next == len(STEPS):
            return None
        line, english, chinese = STEPS[self._next]
        print(f"\n[{self._next + 1}/{len(STEPS)}] {chinese if self._language == 'zh' else english}")
        return line

    def take(self) -> None:
        self._next += 1
