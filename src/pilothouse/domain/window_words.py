"""The words of the window: what fits, what was compressed, what was left out, images. English, then Chinese."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

WINDOW_WORDS: Mapping[Code, tuple[str, str]] = {
    Code.WINDOW_FULL: (
        "The conversation does not fit: {tokens} tokens, {budget} allowed. Of these, {prompt} are the prompt and the "
        "tools, {kept} are messages that stay (the last ones, this turn's, pinned ones). Unpin messages, begin a new "
        "conversation or branch, or take a model with a larger window.",
        "对话放不下：共 {tokens} 个令牌，允许 {budget} 个。其中提示词和工具占 {prompt} 个，保留的消息"
        "（最近的、本轮的、置顶的）占 {kept} 个。请取消置顶、新建对话或分支，或换用窗口更大的模型。",
    ),
    Code.NOTHING_TO_COMPRESS: (
        "There is nothing to compress: of {messages} messages, the last {recent} and the pinned ones stay.",
        "没有可压缩的内容：共 {messages} 条消息，最近 {recent} 条和置顶的消息会保留。",
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
        "{count} long results were sent cut short, {tokens} tokens less: otherwise the request would not fit.",
        "{count} 个较长的结果以截断形式发送，减少 {tokens} 个令牌：否则请求放不下。",
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
