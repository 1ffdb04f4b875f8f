"""Chinese texts of the codes about how a turn ends, and incomplete answers."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

TURNS: Mapping[Code, str] = {
    Code.INTERRUPTED: "本轮进行期间，Pilothouse 重新启动了。要继续吗？",
    Code.LIMIT_ROUNDS: "已停止：本轮达到 {limit} 步的上限。要继续吗？",
    Code.LIMIT_REPEATED_CALL: (
        "已停止：模型以相同参数连续 {count} 次请求 {tool}，似乎陷入了循环，因此最后一次没有运行。请告诉模型换一种做法，"
        "或继续让模型再试。"
    ),
    Code.LIMIT_TURN_TIME: "已停止：本轮超过了 {seconds} 秒的时限。要继续吗？",
    Code.LIMIT_TOKENS: "已停止：本轮使用了 {used} 个 token，上限为 {limit}。要继续吗？",
    Code.EMPTY_ANSWER: "模型给出了空回答。可以继续，让模型重新回答。",
    Code.ANSWER_RESTARTED: "与模型的连接已中断。以上内容不完整，回答将重新开始。",
    Code.ANSWER_TOO_LONG: "回答不完整：模型达到了输出长度上限。可以继续，让模型接着回答。",
    Code.ANSWER_FILTERED: "回答不完整：服务商的内容过滤器中止了回答。可以继续重试，或换一种说法。",
    Code.ANSWER_REFUSED: "模型拒绝回答。可以继续重试，或换一种说法。",
    Code.ARGUMENTS_CUT: (
        "没有执行任何操作：模型达到了输出长度上限，对 {tool} 的请求被截断，参数不完整。请用更短的参数重新请求，"
        "必要时分多次进行。"
    ),
}
