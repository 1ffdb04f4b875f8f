"""Chinese texts of commands of the program: `audit`, `doctor`, `clean`, `serve`, `mcp` and `trust`."""

from collections.abc import Mapping

AUDIT: Mapping[str, str] = {
    "rules": "{user} 的规则",
    "summary": "已检查：{count}。被截断、改写或无法读取：{bad}。",
    "accepted": "已接受当前内容",
    "how": "在你接受记录的当前内容之前，操作都需要你批准。如有备份，请先比较，然后运行：{command}",
}

DOCTOR: Mapping[str, str] = {
    "complete": "沙盒：完整。在“更改前确认”模式下，只读命令会自动运行。",
    "incomplete": "沙盒：不完整。在“更改前确认”模式下，只有严格列表中的命令会自动运行。请升级内核，或逐条批准命令。",
    "kept": "已生效",
    "broken": "未生效",
    "by": "依靠 {means}",
    "needs": "需要 {means}",
    "programs": "程序：",
    "missing": "未找到：{why}",
    "bash": "没有 bash，任何命令都不会自动运行；请安装 bash",
    "git": "模型无法查看 git 仓库；请安装 git",
    "rg": "搜索较慢；请安装 ripgrep",
    "tesseract": "无法读取图片中的文字；请安装 tesseract-ocr",
}

CLEAN: Mapping[str, str] = {
    "nothing": "{data} 中还没有数据。",
    "foreign": "{data} 中没有 Pilothouse 的对话，未删除任何内容。",
    "total": "{data}：{size}",
    "conversations": "  对话            {size:>10}   {count} 个",
    "outputs": "    完整输出      {size:>10}",
    "uploads": "    上传的文件    {size:>10}",
    "undo": "    撤销数据      {size:>10}",
    "largest": "  最大的对话（删除：pilothouse contexts delete ID）：",
    "cache": "  撤销缓存        {size:>10}   需要时会重新生成",
    "remnants": "  残留            {size:>10}   来自已删除的对话和早期版本",
    "expired": "  过期的撤销数据  {size:>10}   超过 {days} 天",
    "free": "可以释放 {size}。",
    "hint": "运行 `pilothouse clean --yes` 即可释放。",
    "ask": "现在释放吗？[y/N] ",
    "freed": "已释放 {size}。",
}

SERVE: Mapping[str, str] = {
    "model": "模型",
    "demo": "（演示模型：无需 API 密钥和网络）",
    "roots": "项目可以位于：",
    "workspace": "新对话的项目文件夹：",
    "open": "打开：",
    "once": "此链接可让一个浏览器登录，{seconds} 秒后失效。获取新链接：{command}",
    "listening": "监听地址：",
    "sign_in": "要获取登录链接，请运行：{command}",
    "rules_damaged": (
        "{user} 的规则记录在 Pilothouse 之外被截断或改写，或者无法读取。在 {user} 检查规则之前，其每个操作都需要批准。"
    ),
    "stopping": "正在停止。未完成的轮次已保存，之后可以继续。",
}

MCP: Mapping[str, str] = {
    "none": "还没有 MCP 服务器。添加：pilothouse mcp add 名称 -- 命令，或 pilothouse mcp add 名称 URL",
    "folder": "来自此项目",
    "untrusted": "来自此项目，尚未信任：pilothouse trust",
    "added": "已将 {name} 添加到 {file}。测试：pilothouse mcp test {name}",
    "removed": "已从 {file} 移除 {name}。",
    "connecting": "正在连接 {name}…",
}

TRUST: Mapping[str, str] = {
    "nothing": "{folder} 没有项目设置。",
    "trusted": "已信任 {folder} 目前的项目设置。",
    "shown": "{folder} 的项目设置：",
    "changed": "这些设置在你信任之后已更改。在你信任新版本之前，你信任过的版本仍然有效。",
    "ask": "信任这些设置吗？[y/N] ",
    "more": "请先读完再决定：回车 = 下一页（{number}/{count}），其他 = 否 > ",
    "left": "未信任。这些设置不会生效。",
    "kept": "未信任。你信任过的版本仍然有效，新的更改不会生效。",
    "revoked": "不再信任 {folder} 的项目设置，这些设置不再生效。",
}
