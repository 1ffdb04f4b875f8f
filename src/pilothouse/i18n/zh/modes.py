"""Chinese texts of the built-in modes."""

from collections.abc import Mapping

TITLES: Mapping[str, str] = {
    "agent": "智能体",
    "supervised": "逐步确认",
    "review": "更改前确认",
    "plan": "计划",
    "ask": "仅对话",
}

MEANINGS: Mapping[str, str] = {
    "agent": "执行所有操作，无需询问。",
    "supervised": "每个操作执行前都会询问。",
    "review": "读取无需询问，更改前会询问。",
    "plan": "只读取和规划，不做任何更改。",
    "ask": "不使用任何工具。",
}
