"""The words of tools, trust and servers of tools: English, then Chinese."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

TOOL_WORDS: Mapping[Code, tuple[str, str]] = {
    Code.MCP_PROGRAM_MISSING: (
        "The MCP server {name} could not be started: the command {command!r} was not found. Install it, or write its "
        "full path.",
        "无法启动 MCP 服务器 {name}：找不到命令 {command!r}。请安装它，或写出完整路径。",
    ),
    Code.MCP_FOLDER_MISSING: (
        "The MCP server {name} could not be started: its folder {folder!r} does not exist. Correct its cwd.",
        "无法启动 MCP 服务器 {name}：文件夹 {folder!r} 不存在。请更正 cwd。",
    ),
    Code.MCP_PROGRAM_ENDED: (
        "The program of the MCP server {name} {ended}. Run its command in a terminal to see why.",
        "MCP 服务器 {name} 的程序已退出（{ended}）。请在终端中运行它的命令查看原因。",
    ),
    Code.MCP_PROGRAM_PRINTS: (
        "The program of the MCP server {name} printed {line!r}, which is not MCP. Check its command and its arguments.",
        "MCP 服务器 {name} 的程序输出了 {line!r}，这不是 MCP。请检查它的命令和参数。",
    ),
    Code.MCP_UNKNOWN_HOST: (
        "The MCP server {name} cannot be reached: the host of {address} is not known. Check the address and your "
        "network.",
        "无法连接 MCP 服务器 {name}：找不到 {address} 的主机。请检查地址和网络。",
    ),
    Code.MCP_REFUSED: (
        "The MCP server {name} cannot be reached: nothing listens at {address}. Start the server, or correct the "
        "address.",
        "无法连接 MCP 服务器 {name}：{address} 没有程序在监听。请启动服务器或更正地址。",
    ),
    Code.MCP_TLS: (
        "The MCP server {name} cannot be reached: no secure connection to {address} ({detail}). Check the certificate, "
        "or whether the address begins with http.",
        "无法连接 MCP 服务器 {name}：无法与 {address} 建立安全连接（{detail}）。请检查证书，或地址是否应以 http 开头。",
    ),
    Code.MCP_UNREACHABLE: (
        "The MCP server {name} cannot be reached at {address} ({detail}). Check the address and your network.",
        "无法连接 MCP 服务器 {name}：{address}（{detail}）。请检查地址和网络。",
    ),
    Code.MCP_UNAUTHORIZED: (
        "The MCP server {name} refused access (HTTP {status}). Add its key to the headers, or renew it.",
        "MCP 服务器 {name} 拒绝访问（HTTP {status}）。请在 headers 中添加密钥，或更新密钥。",
    ),
    Code.MCP_NO_ENDPOINT: (
        "There is no MCP server at {address} (HTTP {status}). Check the path of the address; it often ends in /mcp.",
        "{address} 没有 MCP 服务器（HTTP {status}）。请检查地址的路径，通常以 /mcp 结尾。",
    ),
    Code.MCP_REDIRECT: (
        "The MCP server {name} redirects to {location}, which is not followed. Use that address if it is right.",
        "MCP 服务器 {name} 重定向到 {location}，不会自动跟随。如果地址正确，请直接使用它。",
    ),
    Code.MCP_HTTP_STATUS: (
        "The MCP server {name} answered with an error (HTTP {status}). Try again later, or ask whoever runs it.",
        "MCP 服务器 {name} 返回错误（HTTP {status}）。请稍后重试，或联系其维护者。",
    ),
    Code.MCP_NOT_MCP: (
        "What answers at {address} is not an MCP server: it sent {kind}. Check the address; it often ends in /mcp.",
        "{address} 不是 MCP 服务器：返回的是 {kind}。请检查地址，通常以 /mcp 结尾。",
    ),
    Code.MCP_SILENT: (
        "The MCP server {name} did not answer within {seconds} seconds. Check that it runs and speaks MCP.",
        "MCP 服务器 {name} 在 {seconds} 秒内没有应答。请确认它正在运行并支持 MCP。",
    ),
    Code.MCP_FAILED: (
        "The connection to the MCP server {name} failed: {detail}. Check its settings.",
        "与 MCP 服务器 {name} 的连接失败：{detail}。请检查它的设置。",
    ),
    Code.SETTINGS_WAIT: (
        "Your settings let a person decide about this call of {tool}.",
        "按照你的设置，{tool} 的此次调用由人来决定。",
    ),
    Code.RULE_MAY_APPLY: (
        "What it starts cannot be told, and a rule speaks of {tool} [{where}], given by {given}: a person decides.",
        "无法判断它会启动什么，而有规则涉及 {tool} [{where}]（来自 {given}）：由人来决定。",
    ),
    Code.RULE_WORDS: (
        "A rule names 1 to {limit} plain words of one command.",
        "规则需要给出一条命令开头的 1 到 {limit} 个普通单词。",
    ),
    Code.RUNS_CODE: (
        "{path!r} can make programs of yours run code: only you can allow this change.",
        "{path!r} 可能让你的程序执行代码：只有你能允许此修改。",
    ),
    Code.COMMAND_NOT_CHECKED: (
        "This command is too long, too deeply nested or too unusual to be checked for changes to files that make "
        "programs of yours run code: only you can allow it. Several shorter commands are checked one by one.",
        "此命令过长、嵌套过深或写法过于特殊，无法检查它是否会修改让你的程序执行代码的文件：只有你能允许它。"
        "拆成几条较短的命令后，会逐条检查。",
    ),
    Code.CODE_FILES_CHANGED: (
        "This command changed files that make programs of yours run code: {paths}. Look at them before you go on.",
        "此命令修改了会让你的程序执行代码的文件：{paths}。请先检查这些文件，再继续。",
    ),
    Code.FILE_READ_ONLY: (
        "{path!r} is marked read-only: only you can allow this change.",
        "{path!r} 已标记为只读：只有你能允许此修改。",
    ),
    Code.FILE_NOT_WRITABLE: (
        "{path!r} cannot be written: {detail}. It belongs to another user, is immutable, or its folder or disk is "
        "read-only. Change its permissions first, or write to another file.",
        "无法写入 {path!r}：{detail}。文件可能属于其他用户、不可更改，或者所在文件夹或磁盘为只读。"
        "请先更改权限，或写入其他文件。",
    ),
    Code.UNKNOWN_ENCODING: (
        "{encoding!r} is no text encoding that can be used here. Examples: utf-8, utf-16-le, cp1251, cp1252, "
        "iso8859-2, cp932, euc_jp, gb18030, big5, cp949. UTF-16 without a byte order mark is utf-16-le or utf-16-be.",
        "{encoding!r} 不是可用的文本编码。例如：utf-8、utf-16-le、cp1251、cp1252、iso8859-2、cp932、euc_jp、gb18030、"
        "big5、cp949。没有字节顺序标记的 UTF-16 文件请使用 utf-16-le 或 utf-16-be。",
    ),
    Code.ENCODING_UNCERTAIN: (
        "Nothing was changed: the encoding of {path!r} is not certain, and this change depends on it. Call edit_file "
        "with encoding= and the right one, or put the charset into .editorconfig. How the file reads:\n{candidates}",
        "没有改动任何内容：无法确定 {path!r} 的编码，而此修改取决于编码。"
        "请在 edit_file 中用 encoding= 指定正确的编码，或在 .editorconfig 中设置 charset。"
        "按各编码读取的结果：\n{candidates}",
    ),
    Code.ENCODING_CONTRADICTED: (
        "Nothing was changed: {path!r} does not read as {encoding}. It looks like {likely}: leave encoding= out, or "
        "give another one.",
        "没有改动任何内容：{path!r} 无法按 {encoding} 读取，看起来是 {likely}。请去掉 encoding=，或指定其他编码。",
    ),
    Code.NOT_ENCODABLE: (
        "Nothing was changed: {path!r} is in {encoding}, which has no {character!r}. Write the text without it, or "
        "convert the file to UTF-8 first.",
        "没有改动任何内容：{path!r} 的编码是 {encoding}，其中没有字符 {character!r}。"
        "请避免使用该字符，或先将文件转换为 UTF-8。",
    ),
    Code.ENCODING_STATEFUL: (
        "Nothing was changed: the lines of {path!r} cannot be written back byte for byte in {encoding}. Convert the "
        "file to UTF-8 first.",
        "没有改动任何内容：{path!r} 的各行无法按 {encoding} 逐字节写回。请先将文件转换为 UTF-8。",
    ),
    Code.TOOL_CHANGED: (
        "{server} has changed its tool {tool} since you allowed it: it needs your approval again.",
        "{server} 在你允许之后更改了工具 {tool}：需要你重新批准。",
    ),
    Code.FILE_CHANGED_SINCE_READ: (
        "{path!r} has changed since it was read. Read it again before you change it.",
        "{path!r} 在读取之后已被修改。请先重新读取再修改。",
    ),
    Code.INVALID_PATTERN: (
        "{pattern!r} is no pattern that can be searched: {detail}.",
        "无法搜索 {pattern!r}：{detail}。",
    ),
    Code.INVALID_NOTEBOOK: ("{path!r} is not a notebook: {detail}.", "{path!r} 不是笔记本：{detail}。"),
    Code.UNKNOWN_CELL: (
        "{path!r} has no cell {cell!r}. It has {count} cells, counted from 0.",
        "{path!r} 没有单元格 {cell!r}。共有 {count} 个单元格，从 0 开始计数。",
    ),
    Code.TOOL_NEEDS: (
        "The tool {tool} needs {needs}, which is not there.",
        "工具 {tool} 需要 {needs}，但它不存在。",
    ),
    Code.TOOL_TWICE: ("Two tools have the name {tool!r}.", "有两个工具都叫 {tool!r}。"),
    Code.INVALID_TOOL: ("{tool!r} cannot be a tool: {detail}.", "{tool!r} 不能作为工具：{detail}。"),
    Code.UNKNOWN_SERVER: (
        "There is no server of tools {server!r}. There are: {allowed}.",
        "没有工具服务器 {server!r}。现有：{allowed}。",
    ),
    Code.TRUST_CHANGED: (
        "The configuration in {folder!r} is not what was shown: look at it again.",
        "{folder!r} 中的配置与显示的不同：请重新查看。",
    ),
    Code.NO_OUTPUT: (
        "Nothing more than its result is kept of the call {call_id!r}.",
        "调用 {call_id!r} 除结果外没有保存其他输出。",
    ),
    Code.ONLY_LOCAL_USER: (
        "This concerns the whole machine: only its own user (local) decides it.",
        "这关系到整台机器：只能由本机用户（local）决定。",
    ),
    Code.ONLY_LOCAL: (
        "This can only be set in {file}, not over the network.",
        "只能在 {file} 中设置，不能通过网络设置。",
    ),
}
