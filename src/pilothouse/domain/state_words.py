"""What a person is told that is going on, for every state, in English and Chinese. Idle says nothing."""

from collections.abc import Mapping

from pilothouse.domain.codes import Language
from pilothouse.domain.states import State, name_of

STATE_WORDS: Mapping[str, tuple[str, str]] = {
    "idle": ("", ""),
    "awaiting_tool_approval": ("Waiting for your decision", "等待你的决定"),
    "awaiting_user_answer": ("Waiting for your answer", "等待你的回答"),
    "paused": ("Paused", "已暂停"),
    "waiting_for_recovery": ("Could not save", "无法保存"),
    "failed": ("Failed", "失败"),
    "initializing": ("Starting", "正在启动"),
    "processing_user_message": ("Taking your message", "正在处理消息"),
    "resolving_file_references": ("Reading files", "正在读取文件"),
    "enhancing_system_prompt": ("Preparing", "正在准备对话上下文"),
    "optimizing_context": ("Fitting the history", "正在优化对话历史"),
    "preparing_llm_request": ("Preparing the request", "正在准备请求"),
    "connecting_to_llm": ("Connecting to the model", "正在连接模型"),
    "awaiting_llm_first_chunk": ("The model is thinking", "模型正在思考"),
    "streaming_llm_response": ("The model is answering", "模型正在回答"),
    "processing_llm_response": ("Reading the answer", "正在处理回答"),
    "transient_error": ("Trying again soon", "稍后重试"),
    "parsing_tool_calls": ("Looking at what it asks for", "正在查看工具请求"),
    "executing_tool": ("Running {tool_name}", "正在运行 {tool_name}"),
    "collecting_tool_results": ("Collecting results", "正在收集结果"),
    "processing_tool_results": ("Handing on results", "正在处理结果"),
    "tool_auto_loop": ("Going on (round {depth})", "继续处理（第 {depth} 轮）"),
    "switching_branch": ("Switching the branch", "正在切换分支"),
    "merging_branches": ("Merging branches", "正在合并分支"),
    "saving_context": ("Saving", "正在保存"),
    "saving_message": ("Saving", "正在保存"),
    "loading_messages": ("Loading messages ({loaded} of {total})", "正在加载消息（{loaded}/{total}）"),
    "compressing_messages": ("Compressing the history", "正在压缩历史"),
    "generating_summary": ("Summing up", "正在生成摘要"),
    "cancelling": ("Cancelling", "正在取消"),
}


def say_state(state: State, language: Language = "en") -> str:
    english, chinese = STATE_WORDS[name_of(state)]
    data = {name: getattr(state, name) for name in state.__struct_fields__}
    return (chinese if language == "zh" else english).format(**data)
