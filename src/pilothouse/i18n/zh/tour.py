"""Chinese texts of the tour, by the line that each step types."""

from collections.abc import Mapping

TOUR: Mapping[str, str] = {
    "write tour/notes.txt: hello": "在“智能体”模式下，所有操作都会自动执行。",
    "/supervised": "智能体能做多少由模式决定。在“逐步确认”模式下，每个操作都需要你批准。",
    "write tour/one.txt: first": "此操作需要你批准。询问时请先输入 !，再输入 2：添加规则之前，你会看到规则的确切内容。",
    "write tour/two.txt: second": "这一次由你的规则放行。",
    "/why": "刚才的操作为什么会运行？审计记录里有答案。",
    "/rules": "这里列出你的规则。要撤销规则，请输入 /rules revoke 编号。",
    "/review": "在“更改前确认”模式下，读取无需询问，更改前会询问。任何规则都无法绕过。",
    "/elevate 1": "你可以临时放行，但始终有限度。这里放行一个操作。",
    "write tour/one.txt: changed": "这个操作会运行，下一个又需要批准。",
    "/plan": "无论模型请求什么，“计划”模式都不会做任何更改。",
    "run rm -rf tour": "不允许：本轮到此结束。",
    "/agent": "回到“智能体”模式。接下来是分支。",
    "/fork idea": "从这里新建分支，不复制任何内容。",
    "write tour/idea.txt: what if": "这条消息只存在于该分支。",
    "/branch main": "回到主分支。",
    "/merge idea preview": "预览合并会带来哪些内容。",
    "/merge idea": "合并分支。",
    "work in 4 steps": "智能体工作时输入的消息会排队。输入 /pause，再输入 /resume。按 Ctrl-C 取消。",
    "delegate: list": "子智能体的权限永远不会超过当前对话。",
    "/usage": "到目前为止使用的 token，包括子智能体。",
    "/export": "将整个对话导出为一个文件。",
    "/audit": "最后，查看每个决定由谁作出、原因是什么。",
}
