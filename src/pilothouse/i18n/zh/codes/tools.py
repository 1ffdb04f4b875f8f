"""Chinese texts of the codes about tools, MCP servers and trust."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

TOOLS: Mapping[Code, str] = {
    Code.MCP_PROGRAM_MISSING: "无法启动 MCP 服务器 {name}：找不到命令 {command!r}。请安装该命令，或写出完整路径。",
    Code.MCP_FOLDER_MISSING: "无法启动 MCP 服务器 {name}：文件夹 {folder!r} 不存在。请更正 cwd。",
    Code.MCP_PROGRAM_ENDED: "MCP 服务器 {name} 的程序已退出（{ended}）。请在终端中运行其命令查看原因。",
    Code.MCP_PROGRAM_PRINTS: "MCP 服务器 {name} 的程序输出了 {line!r}，这不是 MCP。请检查其命令和参数。",
    Code.MCP_UNKNOWN_HOST: "无法连接 MCP 服务器 {name}：找不到 {address} 的主机。请检查地址和网络。",
    Code.MCP_REFUSED: "无法连接 MCP 服务器 {name}：没有程序在 {address} 上监听。请启动服务器，或更正地址。",
    Code.MCP_TLS: (
        "无法连接 MCP 服务器 {name}：无法与 {address} 建立安全连接（{detail}）。请检查证书，或地址是否应以 http 开头。"
    ),
    Code.MCP_UNREACHABLE: "无法连接 MCP 服务器 {name}：{address}（{detail}）。请检查地址和网络。",
    Code.MCP_UNAUTHORIZED: "MCP 服务器 {name} 拒绝访问（HTTP {status}）。请在 headers 中添加密钥，或更新密钥。",
    Code.MCP_NO_ENDPOINT: "{address} 处没有 MCP 服务器（HTTP {status}）。请检查地址的路径，通常以 /mcp 结尾。",
    Code.MCP_REDIRECT: (
        "MCP 服务器 {name} 重定向到 {location}，而 Pilothouse 不会跟随重定向。如果该地址正确，请直接使用。"
    ),
    Code.MCP_HTTP_STATUS: "MCP 服务器 {name} 返回错误（HTTP {status}）。请稍后重试，或联系其管理员。",
    Code.MCP_NOT_MCP: "{address} 不是 MCP 服务器：返回的是 {kind}。请检查地址，通常以 /mcp 结尾。",
    Code.MCP_SILENT: "MCP 服务器 {name} 在 {seconds} 秒内没有应答。请确认该服务器正在运行并支持 MCP。",
    Code.MCP_FAILED: "与 MCP 服务器 {name} 的连接失败：{detail}。请检查其设置。",
    Code.SETTINGS_WAIT: "按照你的设置，{tool} 的每次使用都需要你批准。",
    Code.RULE_MAY_APPLY: (
        "需要你批准：无法判断此操作会启动哪些程序，而有一条规则涉及 {tool} [{where}]（来源：{given}）。"
    ),
    Code.RULE_WORDS: "请为规则输入单条命令开头的 1 到 {limit} 个普通单词。",
    Code.RUNS_CODE: "{path!r} 可能让你的程序执行代码，因此只有你能允许此更改。",
    Code.COMMAND_NOT_CHECKED: (
        "此命令过长、嵌套过深或写法过于特殊，无法检查是否会更改那些能让你的程序执行代码的文件，因此只有你能允许。"
        "请拆成几条较短的命令，以便逐条检查。"
    ),
    Code.CODE_FILES_CHANGED: "此命令更改了能让你的程序执行代码的文件：{paths}。请先检查这些文件，再继续。",
    Code.FILE_READ_ONLY: "{path!r} 已标记为只读，因此只有你能允许此更改。",
    Code.FILE_NOT_WRITABLE: (
        "无法写入 {path!r}：{detail}。文件属于其他用户、不可更改，或者所在文件夹或磁盘为只读。请先更改权限，"
        "或写入其他文件。"
    ),
    Code.UNKNOWN_ENCODING: (
        "未知的文本编码 {encoding!r}。例如：utf-8、utf-16-le、cp1251、cp1252、iso8859-2、cp932、euc_jp、gb18030、big5、"
        "cp949。没有字节顺序标记的 UTF-16 文件请使用 utf-16-le 或 utf-16-be。"
    ),
    Code.ENCODING_UNCERTAIN: (
        "没有更改任何内容：无法确定 {path!r} 的编码，而此更改取决于编码。请在 edit_file 中用 encoding= 指定正确的编码，"
        "或在 .editorconfig 中设置 charset。按各编码读取的结果：\n{candidates}"
    ),
    Code.ENCODING_CONTRADICTED: (
        "没有更改任何内容：{path!r} 无法按 {encoding} 读取，看起来是 {likely}。请去掉 encoding=，或指定其他编码。"
    ),
    Code.NOT_ENCODABLE: (
        "没有更改任何内容：{path!r} 的编码 {encoding} 不支持字符 {character!r}。请避免使用该字符，或先将文件转换为 "
        "UTF-8。"
    ),
    Code.ENCODING_STATEFUL: "没有更改任何内容：{path!r} 的各行无法按 {encoding} 逐字节写回。请先将文件转换为 UTF-8。",
    Code.TOOL_CHANGED: "{server} 在你允许之后更改了工具 {tool}，需要你重新批准。",
    Code.FILE_CHANGED_SINCE_READ: "{path!r} 在读取之后发生了更改。请先重新读取，再进行更改。",
    Code.INVALID_PATTERN: "无法搜索 {pattern!r}：{detail}。",
    Code.INVALID_NOTEBOOK: "{path!r} 不是笔记本：{detail}。",
    Code.UNKNOWN_CELL: "{path!r} 没有单元格 {cell!r}。共有 {count} 个单元格，从 0 开始计数。",
    Code.TOOL_NEEDS: "无法使用工具 {tool}：缺少 {needs}。",
    Code.TOOL_TWICE: "有两个工具都叫 {tool!r}。请重命名其中一个。",
    Code.INVALID_EXTENSION: "无法加载 {name!r}：{detail}。",
    Code.INVALID_TOOL: "{tool!r} 不能用作工具：{detail}。",
    Code.UNKNOWN_SERVER: "未知的 MCP 服务器 {server!r}。可选：{allowed}。",
    Code.TRUST_CHANGED: "{folder!r} 中的项目设置在显示之后发生了更改。请重新查看。",
    Code.NO_OUTPUT: "这项操作除了结果，没有其他输出。",
    Code.ONLY_LOCAL_USER: "只有本机用户（local）可以更改，因为这关系到整台机器。",
    Code.ONLY_LOCAL: "只能在 {file} 中设置，不能通过网络设置。",
}
