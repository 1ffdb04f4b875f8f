"""Chinese texts of the demo model."""

from collections.abc import Mapping

DEMO: Mapping[str, str] = {
    "help": (
        "我是演示模型，按脚本应答，无需 API 密钥；其他一切都是真实的。试试：\n"
        "  列出 · 读取 README.md · 写入 notes.txt：你好 · 运行 date · 问我 · 委派：列出 · 分 4 步执行\n"
        "然后切换模式再试一次：在网页客户端的输入框中切换，或在终端中输入 /plan、/supervised、/review、/ask 或 /agent。"
    ),
    "no_tools": "此模式下没有工具，我只能对话。切换到“智能体”“更改前确认”或“计划”模式后，我就可以查看文件。",
    "result": "结果如下：\n{result}",
    "call": "正在使用 {tool}。",
    "question": "茶还是咖啡？",
    "tea": "茶",
    "coffee": "咖啡",
    "steps_done": "{total} 步已全部完成。",
    "step": "第 {number} 步。",
}
