"""The marks of a call in the reader's language."""

from collections.abc import Sequence

from pilothouse.domain.codes import Language

_CHINESE = {
    "delete": "删除",
    "overwrite": "覆盖",
    "network": "网络",
    "privilege": "权限",
    "not shown whole": "未完整显示",
    "padding": "大量空白",
    "unusual blanks": "特殊空白",
    "invisible characters": "不可见字符",
    "look-alike letters": "形似字母",
    "long numbers": "过长的数字",
}


def say_dangers(dangers: Sequence[str], language: Language) -> str:
    """What a call is marked with, in the reader's language; a tool may have marks of its own."""
    return ", ".join(_CHINESE.get(each, each) if language == "zh" else each for each in dangers)
