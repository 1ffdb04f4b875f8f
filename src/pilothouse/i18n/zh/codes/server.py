"""Chinese texts of the codes about requests over HTTP, access, uploads and sessions."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

SERVER: Mapping[Code, str] = {
    Code.INVALID_REQUEST: "请求无效：{detail}。",
    Code.NOT_HTTP: "请求不是有效的 HTTP。",
    Code.NOT_JSON: "请求内容不是有效的 JSON：{detail}。",
    Code.NO_SUCH_PATH: "找不到 {path!r}。可用接口见 api/docs。",
    Code.OUTSIDE_BASE_PATH: "找不到 {path!r}。此服务器的地址以 {base_path}/ 开头。",
    Code.METHOD_NOT_ALLOWED: "此处不允许 {method}。可用：{allowed}。",
    Code.UNSUPPORTED_TYPE: "此处不接受内容类型 {type!r}。可用：{allowed}。",
    Code.BODY_TOO_LARGE: "请求内容超过 {limit} 字节。请减少内容。",
    Code.BODY_TOO_SLOW: "请求内容没有在 {seconds} 秒内到达。请重试。",
    Code.AMBIGUOUS_DECISION: "有 {count} 个对话等待你处理：请用 ID 指明每个操作，并指明回答所属的对话。",
    Code.EDIT_WITHOUT_ARGUMENTS: "“args”只能且必须用于“edit”类型的决定。",
    Code.POLICY_TOOLS: "工具过多，或工具名称过长：审批规则最多列出 {limit} 个工具，每个名称最多 {length} 个字符。",
    Code.QUERY_TOO_LARGE: "请求网址超过 {limit} 字节。请缩短。",
    Code.UNAUTHORIZED: (
        "你尚未登录。请在服务器所在的机器上运行“pilothouse open”（如服务器使用了 --data-dir，请加上），"
        "然后打开该命令显示的链接；或打开服务器的地址并输入你的访问令牌。程序请发送“Authorization: Bearer 令牌”。"
    ),
    Code.LINK_EXPIRED: (
        "此链接已失效：已被使用，或已超过一分钟。请在服务器所在的机器上运行“pilothouse open”获取新链接，"
        "或输入你的访问令牌。"
    ),
    Code.WRONG_TOKEN: (
        "登录失败：访问令牌在此服务器上无效。请检查令牌，或请服务器的管理员生成新令牌（“pilothouse users token "
        "用户名”）。"
    ),
    Code.TOO_MANY_ATTEMPTS: "此地址输入错误访问令牌的次数过多。请在 {seconds} 秒后重试。",
    Code.FOREIGN_HOST: (
        "此服务器不接受主机名 {host!r}。可用：{allowed}。如需其他名称，请在配置的 [server] 中设置 hosts。"
    ),
    Code.FOREIGN_ORIGIN: "来自其他来源（{origin!r}）的页面不能使用此服务器。请从服务器自己的地址打开网页客户端。",
    Code.FORWARDED_SCHEME: (
        "此服务器前面的网关发送了 X-Forwarded-Proto: {scheme!r}。请配置网关，将此请求头设为 http 或 https。"
    ),
    Code.OUTSIDE_ROOTS: "无法使用项目文件夹 {path!r}：不在此服务器向你开放的文件夹中（{allowed}）。",
    Code.CONFIG_MISSING: "配置文件 {path!r} 不存在。请更正 --config 或 PILOTHOUSE_CONFIG，或创建该文件。",
    Code.INVALID_BASE_URL: (
        "OPENAI_BASE_URL 不是有效的网址：{address!r} 没有以 http:// 或 https:// 开头。例如：http://127.0.0.1:11434/v1。"
    ),
    Code.USER_TABLE_UNUSED: (
        "配置中的 [users.{user}] 不对任何人生效：没有名为 {user!r} 且持有访问令牌的用户。持有访问令牌的用户：{users}。"
        "请检查拼写：没有此表的用户可以使用服务器的所有文件夹。"
    ),
    Code.USER_ROOT_MISSING: (
        "服务器未启动：用户 {user!r} 的文件夹 {path!r}（配置中 [users.{user}] 的 roots）不存在或不是文件夹。"
        "请创建该文件夹，或更正路径。"
    ),
    Code.USER_ROOT_OUTSIDE: (
        "服务器未启动：用户 {user!r} 的文件夹 {path!r}（配置中 [users.{user}] 的 roots）"
        "不在服务器的文件夹中（{allowed}）。请改用其中的文件夹，或用 --root 添加文件夹。"
    ),
    Code.TOO_MANY_CONNECTIONS: "服务器的连接数已达到上限（{limit} 个）。请关闭一个，或稍后重试。",
    Code.TOO_MANY_CONNECTIONS_OF_USER: "你的连接数已达到单个用户的上限（{limit} 个）。请关闭一个，或稍后重试。",
    Code.TOO_MANY_IMPORTS: "你同时进行的导入已达到单个用户的上限（{limit} 个）。请等其中一个完成后重试。",
    Code.TOO_MANY_BODIES: "你同时发送的请求合计超过 {limit} MB。请逐个发送较大的请求。",
    Code.TOO_MANY_VALUES: "请求被拒绝：其中的 JSON 超过 {limit} 个值。请减少单次请求的内容。",
    Code.TOO_MANY_STREAMS_OF_USER: "你打开的事件流已达到单个用户的上限（{limit} 个）。请关闭一个，或稍后重试。",
    Code.TOO_MANY_STREAMS: "服务器的事件流已达到上限（{limit} 个）。请关闭一个，或稍后重试。",
    Code.SERVER_STOPPING: "服务器正在停止。已确认的内容都已保存。请在服务器恢复后重新连接。",
    Code.NOTHING_TO_RESUME: "此对话没有待批准的操作。",
    Code.TOO_MANY_DECISIONS: (
        "给出了 {given} 个决定，但有 {pending} 个操作待批准。请用 ID 指明每个操作，或按顺序给出决定。"
    ),
    Code.PLAN_DENIED: "当前为思考模式，请切换到 build 模式执行操作",
    Code.NOBODY_HERE: "此处无人可以询问，因此需要批准或回答的操作不会执行。请跳过这些操作继续，并说明未能完成的内容。",
    Code.NOT_DONE: "未执行，因为无人可以询问：{calls}",
    Code.WEAK_ACCESS: (
        "{source} 中的访问令牌过短（共 {length} 个字符）或含有不允许的字符。请使用至少 {limit} 个字母、数字或 -._~+/=。"
    ),
    Code.OPEN_ACCESS: (
        "服务器未启动：其他机器可以访问 {host!r}。请先把 PILOTHOUSE_TOKEN 设为你自己的访问令牌（至少 {limit} 个字符），"
        "或监听 127.0.0.1。"
    ),
    Code.CANNOT_LISTEN: "无法监听 {host}:{port}：{detail}。请用 --host 指定其他地址，或用 --port 指定其他端口。",
    Code.PORT_TAKEN: (
        "无法监听 {host}:{port}：端口已被其他程序占用。请结束该程序，或用 --port 指定其他端口（0 表示任意空闲端口）。"
    ),
    Code.USER_EXISTS: "用户 {user!r} 已存在。请换一个名称。",
    Code.UNKNOWN_USER: "未知用户 {user!r}。可选：{allowed}。",
    Code.TOKEN_FROM_ENVIRONMENT: (
        "未生成新的访问令牌：用户 local 的访问令牌由变量 PILOTHOUSE_TOKEN 设定。请更改该变量并重新启动服务器。"
    ),
    Code.NO_SERVER: (
        "未生成链接：数据文件夹 {path} 没有运行中的服务器。请用“pilothouse serve”启动，或用 --data-dir "
        "指定运行中服务器的数据文件夹。"
    ),
    Code.DATA_IN_REPOSITORY: (
        "数据文件夹 {path} 位于 git 仓库 {repository} 中。其中的 .gitignore 使该文件夹不会被提交，但 git clean -x "
        "会将其连同所有对话一起删除。请将其移到仓库之外，并用 --data-dir 指定新位置。"
    ),
    Code.SHARED_SERVER: (
        "有多人使用此服务器（{users}），他们都以本机的同一个账户工作。在“智能体”模式下，或命令获得批准后，"
        "任何一人的命令都能读取和更改该账户能访问的一切，包括其他人的文件和对话。在 tools.toml 的 [tools.execute] "
        '中设置 sandbox = "workspace" 可阻止更改，但不能阻止读取。要把各人彼此隔开，'
        "请为每个人用单独的账户运行一个服务器。"
    ),
    Code.UPLOAD_NAME: "文件名 {name!r} 无效。请使用 1 到 200 个字符。",
    Code.UNKNOWN_UPLOAD: "此对话没有名为 {name!r} 的上传文件。",
    Code.UPLOAD_READ_ONLY: "{path!r} 是上传的文件，只能读取。请先复制到项目文件夹，再更改副本。",
    Code.UPLOADS_RESERVED: (
        "无法创建 {path!r}：这个文件夹名代表此对话的上传文件，只能读取。请在其他文件夹中创建该文件。"
    ),
    Code.UPLOAD_NOT_STORED: (
        "无法随对话保存 {name!r}：{detail}。该文件完全没有保存。请释放磁盘空间或检查数据文件夹，然后重试。"
    ),
    Code.HIDDEN_TEXTS: "只有模型能看到的文本（消息数：{count}）。",
    Code.UPLOAD_LEFT_OUT: "导出文件不包含上传的 {name!r}（{size} 字节）：导出文件中的上传文件最多共 {limit} 字节。",
    Code.UPLOADS_NOT_KEPT: "此对话只保存在内存中，不能接收上传文件。请改为把文件放入项目文件夹。",
    Code.UPLOADS_FULL: (
        "此对话的上传文件总量过大：已有 {held} 字节，再加 {size} 字节就会超过 {limit} 字节。请先移除一些。"
    ),
    Code.TOO_MANY_UPLOADS: "此对话已有 {limit} 个上传文件。请先移除一些。",
    Code.FILE_EXISTS: "{path!r} 已存在，且内容不同。请选择其他路径。",
    Code.PAGE_NOT_BUILT: (
        "网页客户端尚未构建。请停止服务器，然后用“make run”启动，该命令会先构建客户端。API 不受影响：api/docs。"
    ),
    Code.INVALID_ADDRESS: (
        "请输入有效的网址，例如 https://api.openai.com/v1。网址应以 https:// 或 http:// 开头，包含主机名，"
        "且不含用户名、“?”或“#”。"
    ),
    Code.SETUP_FIXED: "模型由 {by} 指定。要在此处更改，请取消该设置并重新启动。",
    Code.STALE_SESSION: "你的标签页或偏好设置已在别处更改（版本 {found}，而不是 {expected}）。请重新加载。",
    Code.TOO_MANY_TABS: "最多打开 {limit} 个标签页。请先关闭一个。",
    Code.DOCUMENT_DAMAGED: "无法读取文档 {name!r}：{detail}。",
    Code.SESSION_DAMAGED: "无法读取你保存的标签页和偏好设置（{detail}），现在使用空白设置。损坏的文件保存为 {kept}。",
    Code.TOKENS_DAMAGED: "无法读取访问令牌文件 {path}：{detail}。请修复或删除该文件。",
}
