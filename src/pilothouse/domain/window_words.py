"""The words of the window: what fits, what was compressed, what was left out, images. English, then Chinese."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

WINDOW_WORDS: Mapping[Code, tuple[str, str]] = {
    Code.WINDOW_FULL: (
        "The context window of {budget} tokens has no room for the conversation: the system prompt takes {prompt} "
        "tokens and the tool definitions {tools}. Switch off tools or MCP servers, shorten the persona or the "
        "branch's own prompt, or choose a model with a larger context window.",
        "上下文窗口只有 {budget} 个令牌，放不下对话：系统提示词占 {prompt} 个，工具定义占 {tools} 个。"
        "请停用部分工具或 MCP 服务器，精简角色设定或分支提示词，或换用上下文窗口更大的模型。",
    ),
    Code.NOTHING_TO_COMPRESS: (
        "There is nothing to compress: of {messages} messages, the last ones (up to {recent}, as many as fit) and the "
        "pinned ones stay.",
        "没有可压缩的内容：共 {messages} 条消息，最近的消息（最多 {recent} 条，以放得下为限）和置顶的消息会保留。",
    ),
    Code.NOT_COMPRESSED: (
        "The branch {branch!r} has not been compressed.",
        "分支 {branch!r} 没有被压缩过。",
    ),
    Code.ORIGINAL_GONE: (
        "What was compressed cannot be put back: the branch {original!r} that held it was deleted.",
        "无法恢复被压缩的内容：保存它的分支 {original!r} 已被删除。",
    ),
    Code.TOO_MANY_PINS: ("At most {limit} messages can be pinned.", "最多可以置顶 {limit} 条消息。"),
    Code.RESULTS_CUT: (
        "Long results sent cut short: {count}, {tokens} tokens less. Otherwise the request would not fit.",
        "{count} 个较长的结果以截断形式发送，减少 {tokens} 个令牌：否则请求放不下。",
    ),
    Code.MESSAGES_SHORTENED: (
        "Messages sent to the model shortened: {count}. With all of their text, the request would not fit into "
        "the context window of {budget} tokens. The whole text is kept here.",
        "有 {count} 条消息以缩短形式发送给模型：全文超出 {budget} 个令牌的上下文窗口。完整内容仍保存在这里。",
    ),
    Code.MESSAGES_LEFT_OUT: (
        "Messages not sent to the model: {count}. The whole conversation does not fit into the context window of "
        "{budget} tokens. Everything is kept here. Compress the conversation to send a summary of them.",
        "有 {count} 条消息没有发送给模型：超出 {budget} 个令牌的上下文窗口。消息仍保存在这里；压缩对话可改为发送摘要。",
    ),
    Code.PINS_SHORTENED: (
        "Together, the pinned messages are too long for the context window of {budget} tokens: {count} of them were "
        "sent shortened or left out. Unpin some to send the others whole.",
        "置顶消息合计超出 {budget} 个令牌的上下文窗口：其中 {count} 条被缩短或未发送。"
        "取消部分置顶即可完整发送其余消息。",
    ),
    Code.MODEL_TOO_LONG: (
        "The model says that the request is too long for it: {detail}",
        "模型表示请求过长：{detail}",
    ),
    Code.IMAGE_SOURCE: (
        "An image comes from exactly one of: {allowed}. Given: {given}.",
        "图片必须且只能来自其中之一：{allowed}。给出的是：{given}。",
    ),
    Code.IMAGE_ADDRESS: (
        "This is no address of an image. Allowed: {allowed}.",
        "这不是图片地址。允许：{allowed}。",
    ),
    Code.IMAGE_BASE64: ("The image is not valid base64: {detail}.", "图片不是有效的 base64：{detail}。"),
    Code.IMAGE_KIND: (
        "These {size} bytes are no image that can be used. Allowed, told by how the bytes begin: {allowed}.",
        "这 {size} 字节不是可用的图片。允许（按开头的字节判断）：{allowed}。",
    ),
    Code.IMAGE_TOO_LARGE: (
        "The image has {size} bytes; at most {limit} are allowed.",
        "图片有 {size} 字节；最多允许 {limit} 字节。",
    ),
    Code.IMAGE_UNSEEN: (
        "The model does not see images. Take one that does, or send the image again with recognition 'ocr'.",
        "该模型看不到图片。请换用能看图的模型，或以 recognition 'ocr' 重新发送图片。",
    ),
    Code.IMAGE_ELSEWHERE: (
        "An image at an address is never fetched here, so only a model that sees images can look at it itself. "
        "Send the image's own bytes, or take such a model without recognition 'ocr'.",
        "地址上的图片不会在这里下载，只有能看图的模型可以自己查看。请直接发送图片内容，"
        "或换用能看图的模型且不使用 recognition 'ocr'。",
    ),
    Code.OCR_MISSING: (
        "The program tesseract, which reads text in images, is not installed: 'apt install tesseract-ocr' does that. "
        "Or take a model that sees images.",
        "没有安装识别图片文字的程序 tesseract：可用 'apt install tesseract-ocr' 安装，或换用能看图的模型。",
    ),
    Code.OCR_TIMED_OUT: (
        "Reading the text in the image took longer than {seconds} seconds.",
        "识别图片文字超过了 {seconds} 秒。",
    ),
    Code.OCR_FAILED: (
        "The text in the image could not be read (tesseract: {detail}). The image may be damaged or too large.",
        "无法识别图片文字（tesseract：{detail}）。图片可能已损坏或过大。",
    ),
    Code.OCR_EMPTY: ("No text was found in the image.", "图片中没有找到文字。"),
}
