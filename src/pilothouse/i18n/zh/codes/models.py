"""Chinese texts of the codes about models, their providers and scripts."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

MODELS: Mapping[Code, str] = {
    Code.MODEL_CONNECT: "无法连接 {address}：{detail}。",
    Code.MODEL_TIMEOUT: "模型在 {seconds} 秒内没有回答。",
    Code.MODEL_CUT: "回答途中连接中断。",
    Code.MODEL_RATE_LIMITED: "请求过于频繁，已被服务商限制：{detail}",
    Code.MODEL_OVERLOADED: "服务商出错（{status}）：{detail}",
    Code.MODEL_REFUSED: "服务商拒绝了请求（{status}）：{detail}",
    Code.MODEL_AUTH: "API 密钥无效（{status}）：{detail}",
    Code.MODEL_GARBLED: "服务商返回了无效的响应：{detail}",
    Code.MODEL_ENDLESS: "回答超过 {limit} 个字符，已被截断。",
    Code.SCRIPT_EXHAUSTED: "脚本中用途 {purpose!r} 的回答已用完（共 {count} 个）。",
    Code.SCRIPT_INVALID: "脚本无效：{detail}",
}
