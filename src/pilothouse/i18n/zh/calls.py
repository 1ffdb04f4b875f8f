"""Chinese texts of tool calls: the marks of a call, its exit status, and stretches of blanks that are not shown."""

from collections.abc import Mapping

DANGERS: Mapping[str, str] = {
    "delete": "会删除文件",
    "overwrite": "可能会覆盖文件",
    "network": "会访问网络",
    "privilege": "需要更高权限",
    "not shown whole": "更改过长，无法完整对比",
    "padding": "含有大段空白",
    "unusual blanks": "含有特殊空白字符",
    "invisible characters": "含有不可见字符",
    "look-alike letters": "含有容易混淆的字符",
    "long numbers": "含有过长的数字",
}

CALLS: Mapping[str, str] = {
    "exit_status": "退出代码 {status}",
    "failed_command": "失败，{exit_status}",
    "empty_lines": "… {count:,} 个空行 …",
    "blanks": "… {count:,} 个空白字符 …",
}
