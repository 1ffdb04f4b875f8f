"""The words of the window: what fits, what was compressed, what was left out. English, then Chinese."""

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
}
