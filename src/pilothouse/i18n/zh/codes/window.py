"""Chinese texts of the codes about the context window, compression and images."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

WINDOW: Mapping[Code, str] = {
    Code.WINDOW_FULL: (
        "对话超出 {budget} 个 token 的上下文窗口：系统提示词占 {prompt} 个 token，工具定义占 {tools} 个。"
        "请停用部分工具或 MCP 服务器，精简角色或分支说明，或换用上下文窗口更大的模型。"
    ),
    Code.NOTHING_TO_COMPRESS: (
        "没有可压缩的内容：共 {messages} 条消息，最近的消息（最多 {recent} 条，以放得下为限）和固定的消息会保留。"
    ),
    Code.NOT_COMPRESSED: "没有可恢复的内容：分支 {branch!r} 没有被压缩过。",
    Code.ORIGINAL_GONE: "无法恢复被压缩的消息：保存这些消息的分支 {original!r} 已被删除。",
    Code.TOO_MANY_PINS: "最多可以固定 {limit} 条消息。",
    Code.RESULTS_CUT: "为适应上下文窗口的大小，{count} 个较长的结果缩短后发送，节省 {tokens} 个 token。",
    Code.MESSAGES_SHORTENED: (
        "为适应 {budget} 个 token 的上下文窗口，{count} 条消息缩短后发送给模型。完整内容仍保存在此处。"
    ),
    Code.MESSAGES_LEFT_OUT: (
        "为适应 {budget} 个 token 的上下文窗口，{count} 条消息没有发送给模型。所有消息仍保存在此处。压缩对话后，"
        "会改为发送这些消息的摘要。"
    ),
    Code.PINS_SHORTENED: (
        "固定的消息合计超出 {budget} 个 token 的上下文窗口，其中 {count} 条被缩短或未发送。"
        "取消固定其中一些，即可完整发送其余的。"
    ),
    Code.MODEL_TOO_LONG: "请求对模型来说过长：{detail}",
    Code.IMAGE_SOURCE: "图片必须且只能有一个来源。可选：{allowed}。给出的是：{given}。",
    Code.IMAGE_ADDRESS: "这不是有效的图片 URL。可用：{allowed}。",
    Code.IMAGE_BASE64: "图片不是有效的 base64：{detail}。",
    Code.IMAGE_KIND: "这不是受支持的图片（{size} 字节）。可用：{allowed}（按开头的字节判断）。",
    Code.IMAGE_TOO_LARGE: "图片过大：共 {size} 字节，最多允许 {limit} 字节。",
    Code.IMAGE_UNSEEN: "此模型无法查看图片。请换用能查看图片的模型，或将 recognition 设为 'ocr' 后重新发送图片。",
    Code.IMAGE_ELSEWHERE: (
        "以 URL 指定的图片不会在此处下载，只有能查看图片的模型可以自行查看。请直接发送图片，"
        "或换用能查看图片的模型且不使用 recognition 'ocr'。"
    ),
    Code.OCR_MISSING: (
        "无法读取图片中的文字：没有安装程序 tesseract。请用 'apt install tesseract-ocr' 安装，或换用能查看图片的模型。"
    ),
    Code.OCR_TIMED_OUT: "读取图片中的文字超过了 {seconds} 秒。请发送较小的图片，或换用能查看图片的模型。",
    Code.OCR_FAILED: (
        "无法读取图片中的文字（tesseract：{detail}）。图片可能已损坏或过大，请换一张图片，或换用能查看图片的模型。"
    ),
    Code.OCR_EMPTY: "图片中没有找到文字。",
}
