"""Chinese texts of the parts of a rule's description."""

from collections.abc import Mapping

RULES: Mapping[str, str] = {
    "allow": "始终允许",
    "ask": "始终询问",
    "deny": "一律禁止",
    "stand_in": "使用任何工具前都询问 · 记录被截断、改写或无法读取 · 请检查规则，然后撤销此条",
    "this_context": "仅此对话",
    "permanent": "永久有效",
    "until": "直到 {until}",
    "workspace": "仅限 {workspace}",
    "origin": "来源：{given}",
}
