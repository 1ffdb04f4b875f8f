"""The words of the codes about requests over HTTP, access and sessions, in English and Chinese."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

SERVER_WORDS: Mapping[Code, tuple[str, str]] = {
    Code.INVALID_REQUEST: ("The request was not understood: {detail}.", "无法理解请求：{detail}。"),
    Code.NOT_HTTP: ("That is no request of HTTP.", "这不是有效的 HTTP 请求。"),
    Code.NOT_JSON: ("The body is no valid JSON: {detail}.", "请求内容不是有效的 JSON：{detail}。"),
    Code.NO_SUCH_PATH: (
        "There is nothing at {path!r}. What there is: /api/docs.",
        "{path!r} 处没有内容。可用接口见 /api/docs。",
    ),
    Code.METHOD_NOT_ALLOWED: (
        "{method} is not allowed here. Allowed: {allowed}.",
        "这里不允许 {method}。可用：{allowed}。",
    ),
    Code.UNSUPPORTED_TYPE: (
        "The content type {type!r} is not accepted here. Accepted: {allowed}.",
        "这里不接受内容类型 {type!r}。可用：{allowed}。",
    ),
    Code.BODY_TOO_LARGE: (
        "The body is larger than {limit} bytes.",
        "请求内容超过 {limit} 字节。",
    ),
    Code.BODY_TOO_SLOW: (
        "The body did not arrive within {seconds} seconds.",
        "请求内容没有在 {seconds} 秒内到达。",
    ),
    Code.AMBIGUOUS_DECISION: (
        "{count} conversations wait for you: name each call by its id, and the conversation that an answer is for.",
        "有 {count} 个对话的调用或问题在等待：请用编号指明每个调用，并指明回答所属的对话。",
    ),
    Code.EDIT_WITHOUT_ARGUMENTS: (
        "'args' belong to a decision of type 'edit', and only to that.",
        "“args” 只能且必须用于 “edit” 类型的决定。",
    ),
    Code.POLICY_TOOLS: (
        "A policy names at most {limit} tools, each with at most {length} characters.",
        "策略最多列出 {limit} 个工具，每个名称最多 {length} 个字符。",
    ),
    Code.QUERY_TOO_LARGE: (
        "The address is longer than {limit} bytes.",
        "请求地址超过 {limit} 字节。",
    ),
    Code.UNAUTHORIZED: (
        "You are not signed in. Run 'pilothouse open' on the machine of the server (with its --data-dir, if it has "
        "one) and open the link that it prints, or open the server's address and enter your access token. Programs "
        "send it as 'Authorization: Bearer TOKEN'.",
        "你尚未登录。请在服务器所在的机器上运行 “pilothouse open”（如服务器使用了 --data-dir，请加上）"
        "并打开它显示的链接，"
        "或打开服务器的地址并输入你的访问令牌。程序请发送 “Authorization: Bearer 令牌”。",
    ),
    Code.LINK_EXPIRED: (
        "This link does not sign you in: it was used already, or it is older than a minute. Run 'pilothouse open' on "
        "the machine of the server for another one, or enter your access token.",
        "此链接无法登录：它已被使用，或已超过一分钟。请在服务器所在的机器上运行 “pilothouse open” 获取新链接，"
        "或输入你的访问令牌。",
    ),
    Code.WRONG_TOKEN: (
        "You are not signed in: this is no access token of this server. Check it, or ask who runs the server for a new "
        "one ('pilothouse users token NAME').",
        "登录失败：这不是本服务器的访问令牌。请检查，或请服务器的管理者生成新令牌（“pilothouse users token 用户名”）。",
    ),
    Code.TOO_MANY_ATTEMPTS: (
        "Too many wrong tokens came from this address. Try again in {seconds} seconds.",
        "来自该地址的错误令牌过多。请在 {seconds} 秒后重试。",
    ),
    Code.FOREIGN_HOST: (
        "This server does not answer to the name {host!r}. Use one of: {allowed}. Other names are set with 'hosts' "
        "under [server] in your configuration.",
        "本服务器不使用名称 {host!r}。可用：{allowed}。其他名称可在配置的 [server] 中用 hosts 设置。",
    ),
    Code.FOREIGN_ORIGIN: (
        "A page of another origin ({origin!r}) may not use this server.",
        "其他来源（{origin!r}）的页面不能使用本服务器。",
    ),
    Code.OUTSIDE_ROOTS: (
        "The workspace {path!r} cannot be used: it lies beneath no folder that this server opens to you ({allowed}).",
        "无法使用工作区 {path!r}：它不在此服务器向你开放的目录之内（{allowed}）。",
    ),
    Code.CONFIG_MISSING: (
        "There is no configuration file {path!r}. Correct --config or PILOTHOUSE_CONFIG, or create the file.",
        "没有配置文件 {path!r}。请更正 --config 或 PILOTHOUSE_CONFIG 中的路径，或创建该文件。",
    ),
    Code.INVALID_BASE_URL: (
        "OPENAI_BASE_URL is {address!r}, which does not begin with http:// or https://. For example: "
        "http://127.0.0.1:11434/v1.",
        "OPENAI_BASE_URL 的值是 {address!r}，没有以 http:// 或 https:// 开头。例如：http://127.0.0.1:11434/v1。",
    ),
    Code.USER_TABLE_UNUSED: (
        "[users.{user}] in your configuration holds for nobody: no user {user!r} has a token. Users with a token: "
        "{users}. Check the spelling: a user without such a table may work in all folders of the server.",
        "配置中的 [users.{user}] 不对任何人生效：没有名为 {user!r} 且持有令牌的用户。持有令牌的用户：{users}。"
        "请检查拼写：没有此表的用户可以使用服务器的所有目录。",
    ),
    Code.USER_ROOT_MISSING: (
        "The server was not started: the folder {path!r} of the user {user!r} (roots in [users.{user}] of your "
        "configuration) does not exist or is no folder. Create it, or correct the path.",
        "服务器未启动：用户 {user!r} 的目录 {path!r}（配置中 [users.{user}] 的 roots）不存在或不是目录。"
        "请创建它，或更正路径。",
    ),
    Code.USER_ROOT_OUTSIDE: (
        "The server was not started: the folder {path!r} of the user {user!r} (roots in [users.{user}] of your "
        "configuration) lies beneath no folder of the server ({allowed}). Name a folder beneath one of them, or add "
        "one with --root.",
        "服务器未启动：用户 {user!r} 的目录 {path!r}（配置中 [users.{user}] 的 roots）不在服务器的任何目录之内"
        "（{allowed}）。请改用其中的目录，或用 --root 添加目录。",
    ),
    Code.TOO_MANY_CONNECTIONS: (
        "The server has {limit} connections in use, as many as it can serve: close one, or try again later.",
        "服务器正在使用的连接已达到上限（{limit} 个）：请关闭一个，或稍后重试。",
    ),
    Code.TOO_MANY_CONNECTIONS_OF_USER: (
        "You have {limit} connections in use, as many as one user may have: close one, or try again later.",
        "你正在使用的连接已达到单个用户的上限（{limit} 个）：请关闭一个，或稍后重试。",
    ),
    Code.TOO_MANY_IMPORTS: (
        "{limit} of your imports are under way, as many as one user may have at once: try again when one is done.",
        "你有 {limit} 个导入正在进行，已达到单个用户同时导入的上限：请等其中一个完成后重试。",
    ),
    Code.TOO_MANY_BODIES: (
        "Your requests together hold more than {limit} MB: send the large ones one after the other.",
        "你同时发送的请求合计超过 {limit} MB：请逐个发送较大的请求。",
    ),
    Code.TOO_MANY_VALUES: (
        "The body was refused: its JSON holds more than {limit} values. Send less in one request.",
        "请求被拒绝：其中的 JSON 超过 {limit} 个值。请减少单次请求的内容。",
    ),
    Code.TOO_MANY_STREAMS_OF_USER: (
        "You have {limit} open streams, as many as one user may have: close one, or try again later.",
        "你打开的事件流已达到单个用户的上限（{limit} 个）：请关闭一个，或稍后重试。",
    ),
    Code.TOO_MANY_STREAMS: (
        "There are {limit} open streams already: close one, or try again later.",
        "已有 {limit} 个打开的事件流：请关闭一个，或稍后重试。",
    ),
    Code.SERVER_STOPPING: (
        "The server is stopping. What was acknowledged is kept; connect again when it is back.",
        "服务器正在停止。已确认的内容都已保存；恢复后请重新连接。",
    ),
    Code.NOTHING_TO_RESUME: (
        "This thread does not wait for a decision (state {state}).",
        "该会话没有等待决定的内容（状态 {state}）。",
    ),
    Code.TOO_MANY_DECISIONS: (
        "{given} decisions were given, but {pending} calls wait. Name each by its id, or give them in order.",
        "给出了 {given} 个决定，但只有 {pending} 个调用在等待。请用编号指明，或按顺序给出。",
    ),
    Code.PLAN_DENIED: (
        "This is plan mode: nothing is run or changed. Switch to build mode to do it.",
        "当前为思考模式，请切换到 build 模式执行操作",
    ),
    Code.NOBODY_HERE: (
        "Nobody can be asked here: what would need a person is not done. Continue without it, and say what you "
        "could not do.",
        "这里无人可以询问：需要人决定的操作不会执行。请在没有它的情况下继续，并说明未能完成的内容。",
    ),
    Code.NOT_DONE: ("Not done, because it needs a person: {calls}", "未执行，因为需要人来决定：{calls}"),
    Code.WEAK_ACCESS: (
        "The access token in {source} has {length} characters: at least {limit} are needed, of letters, digits and "
        "-._~+/=.",
        "{source} 中的访问令牌有 {length} 个字符：至少需要 {limit} 个字母、数字或 -._~+/=。",
    ),
    Code.OPEN_ACCESS: (
        "Refused to listen on {host!r}: that is reachable from other machines. Set PILOTHOUSE_TOKEN to a token of "
        "your own first (at least {limit} characters), or listen on 127.0.0.1.",
        "拒绝监听 {host!r}：其他机器可以访问它。请先把 PILOTHOUSE_TOKEN 设为自己的令牌（至少 {limit} 个字符），"
        "或监听 127.0.0.1。",
    ),
    Code.CANNOT_LISTEN: (
        "Cannot listen on {host}:{port}: {detail}.",
        "无法监听 {host}:{port}：{detail}。",
    ),
    Code.PORT_TAKEN: (
        "Cannot listen on {host}:{port}: another program uses this port. End that program, or name another port "
        "with --port (0 for any free one).",
        "无法监听 {host}:{port}：端口已被其他程序占用。"
        "请结束那个程序，或用 --port 指定其他端口（0 表示任意空闲端口）。",
    ),
    Code.USER_EXISTS: ("There is a user {user!r} already.", "已有用户 {user!r}。"),
    Code.UNKNOWN_USER: ("There is no user {user!r}. There are: {allowed}.", "没有用户 {user!r}。现有：{allowed}。"),
    Code.TOKEN_FROM_ENVIRONMENT: (
        "No new token was made: the variable PILOTHOUSE_TOKEN sets the token of the user 'local'. Change it there, and "
        "start the server again.",
        "未生成新令牌：用户 local 的令牌由变量 PILOTHOUSE_TOKEN 设定。请修改该变量并重新启动服务器。",
    ),
    Code.NO_SERVER: (
        "No link was made: no server runs on the data directory {path}. Start it with 'pilothouse serve', or name the "
        "data directory of the one that runs with --data-dir.",
        "未生成链接：数据目录 {path} 上没有运行中的服务器。请用 “pilothouse serve” 启动，"
        "或用 --data-dir 指定运行中服务器的数据目录。",
    ),
    Code.DATA_IN_REPOSITORY: (
        "The data directory {path} lies in the git repository {repository}. Its .gitignore keeps it out of commits, "
        "but git clean -x deletes it with all conversations. Move it out of the repository, and name its new place "
        "with --data-dir.",
        "数据目录 {path} 位于 git 仓库 {repository} 中。其中的 .gitignore 使它不会被提交，"
        "但 git clean -x 会把它连同所有对话一起删除。请把它移到仓库之外，并用 --data-dir 指定新位置。",
    ),
    Code.SHARED_SERVER: (
        "Several people use this server ({users}), and all of them work under one account of the machine. In agent "
        "mode, or once a command is approved, a command of any of them can read and change whatever this account can: "
        'the others\' files and conversations, too. sandbox = "workspace" under [tools.execute] in tools.toml stops '
        "the changing, not the reading. To keep people apart, run a server under an account of its own for each.",
        "有多人使用此服务器（{users}），他们都以本机的同一个账户工作。在智能体模式下，或命令获得批准后，任何一人的命令都能"
        "读取和修改该账户能访问的一切，包括其他人的文件和对话。在 tools.toml 的 [tools.execute] 中设置 "
        'sandbox = "workspace" 可阻止修改，但不能阻止读取。要把各人彼此隔开，请为每个人用单独的账户运行一个服务器。',
    ),
    Code.UPLOAD_NAME: (
        "{name!r} is no name for a file: give one of 1 to 200 characters.",
        "{name!r} 不能作为文件名：请给出 1 到 200 个字符的名称。",
    ),
    Code.UNKNOWN_UPLOAD: (
        "This conversation has no upload named {name!r}.",
        "此对话没有名为 {name!r} 的上传文件。",
    ),
    Code.UPLOAD_READ_ONLY: (
        "{path!r} is an upload, and uploads are read-only. Copy it into the workspace first and change the copy.",
        "{path!r} 是上传的文件，只能读取。请先将它复制到工作区，再修改副本。",
    ),
    Code.UPLOAD_NOT_STORED: (
        "{name!r} could not be stored with the conversation: {detail}. Nothing of it was kept. Free some space or "
        "check the data directory, then try again.",
        "{name!r} 无法随对话保存：{detail}。没有保留任何内容。请释放空间或检查数据目录，然后重试。",
    ),
    Code.UPLOAD_LEFT_OUT: (
        "The export does not carry the upload {name!r} ({size} bytes): it holds {limit} bytes of uploads at most.",
        "导出文件不包含上传的 {name!r}（{size} 字节）：其中的上传文件最多共 {limit} 字节。",
    ),
    Code.UPLOADS_NOT_KEPT: (
        "This conversation is kept in memory only and takes no uploads. Put the file into the workspace instead.",
        "此对话只保存在内存中，不能接收上传文件。请改为把文件放入工作区。",
    ),
    Code.UPLOADS_FULL: (
        "The uploads of this conversation hold {held} bytes; with {size} more they would exceed {limit}. Remove some "
        "first.",
        "此对话的上传文件共 {held} 字节，再加 {size} 字节就会超过 {limit} 字节。请先移除一些。",
    ),
    Code.TOO_MANY_UPLOADS: (
        "This conversation has {limit} uploads already. Remove some first.",
        "此对话已有 {limit} 个上传文件。请先移除一些。",
    ),
    Code.FILE_EXISTS: (
        "{path!r} exists already and holds something else. Choose another path.",
        "{path!r} 已存在，且内容不同。请选择其他路径。",
    ),
    Code.PAGE_NOT_BUILT: (
        "The page was not built yet. Stop the server and start it with 'make run', which builds it first. "
        "The API works without it: /api/docs.",
        "页面尚未构建。请停止服务器并用 “make run” 启动，它会先构建页面。API 不受影响：/api/docs。",
    ),
    Code.INVALID_ADDRESS: (
        "That is no address of a provider: it begins with https:// or http://, names a host, and holds no user name, "
        "no '?' and no '#'. For example: https://api.openai.com/v1.",
        "这不是有效的服务地址：应以 https:// 或 http:// 开头，包含主机名，且不含用户名、“?” 或 “#”。"
        "例如：https://api.openai.com/v1。",
    ),
    Code.SETUP_FIXED: (
        "The model is named by {by}, which goes before what is set up here. To set it up here, remove it there and "
        "start again.",
        "模型由 {by} 指定，它优先于此处的设置。请在那里移除并重新启动，然后即可在此设置。",
    ),
    Code.STALE_SESSION: (
        "The session has changed meanwhile (version {found}, not {expected}): read it again.",
        "会话状态已被更改（版本 {found}，而不是 {expected}）：请重新读取。",
    ),
    Code.TOO_MANY_TABS: (
        "At most {limit} tabs can be open: close one first.",
        "最多打开 {limit} 个标签页：请先关闭一个。",
    ),
    Code.DOCUMENT_DAMAGED: ("The document {name!r} cannot be read: {detail}.", "无法读取文档 {name!r}：{detail}。"),
    Code.SESSION_DAMAGED: (
        "The stored session could not be read ({detail}): you begin with an empty one. The bytes are kept as {kept}.",
        "无法读取保存的会话状态（{detail}）：现在使用空白状态。原始内容保存在 {kept}。",
    ),
    Code.TOKENS_DAMAGED: (
        "The file of access tokens {path} cannot be read: {detail}. Repair or remove it.",
        "无法读取访问令牌文件 {path}：{detail}。请修复或删除它。",
    ),
}
