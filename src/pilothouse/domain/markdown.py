"""A conversation as Markdown for people: each message with who and when, tool calls with what became of them.

What a person or a model wrote stands as it is, where it surely ends with itself; else it is quoted, which ends all that
it leaves open. What tools and files hold stands in a fence that nothing inside can close.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from pilothouse.domain.calls import CallRecord, display_name
from pilothouse.domain.codes import Language, say
from pilothouse.domain.exit_status import describe_exit, is_failure
from pilothouse.domain.messages import (
    UNDO,
    ErrorMessage,
    FileReference,
    Image,
    MCPResource,
    Message,
    Processing,
    ProjectStructure,
    SystemControl,
    Text,
    ToolCall,
    ToolRequest,
    ToolResult,
    WorkflowExecution,
    undone_paths,
)
from pilothouse.domain.values import CallId, Timestamp

_RUNS = re.compile(r"`+")
_FENCE = re.compile(r"( {0,3})(`{3,}|~{3,})(.*)")
# What may go on behind the end of a text, or passes for the heading of another message.
_UNSURE = re.compile(r" {0,3}<[A-Za-z/!?]|.* · \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC")
_LINE_END = re.compile(r"\r\n?|\n")
_SIGNS = re.compile(r"([\\`*_\[\]<>#&|~])")
_WORDS: Mapping[str, tuple[str, str]] = {
    "user": ("User", "用户"),
    "assistant": ("Assistant", "助手"),
    "system": ("Note", "说明"),
    "tool": ("Tool", "工具"),
    "untitled": ("Conversation", "对话"),
    "branch": ("Branch", "分支"),
    "call": ("Call", "调用"),
    "result": ("Result", "结果"),
    "file": ("File", "文件"),
    "image": ("Image", "图片"),
    "resource": ("Resource", "资源"),
    "structure": ("Project structure", "项目结构"),
    "workflow": ("Workflow", "工作流"),
    "error": ("Error", "错误"),
    "edited": ("with edited arguments", "参数已修改"),
    "by": ("by", "决定者"),
    # how a text ended
    "cut": ("It was cut here.", "内容在此处被截断。"),
    # what became of a call; also how a text ended
    "pending": ("waits for a decision", "等待决定"),
    "approved": ("approved", "已批准"),
    "executing": ("runs", "正在执行"),
    "executed": ("done", "已完成"),
    "failed": ("failed", "失败"),
    "rejected": ("rejected", "已拒绝"),
    "denied": ("not allowed", "不允许"),
    "cancelled": ("cancelled", "已取消"),
    "interrupted": ("interrupted", "已中断"),
    # notes
    "injection": ("Told to the model", "告知模型"),
    "undo": ("Undone", "已撤销"),
    "summary": ("Summary of what came before", "之前内容的摘要"),
    "mode_switch": ("Mode", "模式"),
    "prompt_change": ("Prompt addition", "附加提示"),
    "branch_merge": ("Merged branch", "合并分支"),
}


class Teller:
    """Tells a conversation in one language."""

    def __init__(self, language: Language) -> None:
        self._place = 1 if language == "zh" else 0
        self._language = language

    def _word(self, name: str) -> str:
        return _WORDS[name][self._place]

    def head(self, title: str | None, branch: str) -> str:
        return f"# {_escaped(title or self._word('untitled'))}\n\n{self._word('branch')}: {_code(branch)}\n"

    def message(self, message: Message, calls: Mapping[CallId, CallRecord]) -> str:
        """With an empty line before it; nothing for what is no part of the conversation."""
        body = self._body(message, calls)
        if body is None:
            return ""
        model = message.metadata.model if message.role == "assistant" else None
        who = f"{self._word(message.role)} ({_code(model)})" if model else self._word(message.role)
        return f"\n## {who} · {_when(message.timestamp)}\n\n{body}\n"

    def _body(self, message: Message, calls: Mapping[CallId, CallRecord]) -> str | None:
        match message:
            case Text():
                return _joined(
                    _contained(message.content), "" if message.ended == "complete" else self._note(message.ended)
                )
            case ToolRequest():
                told = (self._call(call, calls.get(call.id)) for call in message.calls)
                return _joined(_contained(message.content), *told)
            case ToolResult():
                title = f"**{self._word('result')}: {_named(message.tool)}** · {self._ended(message)}"
                return _joined(title, self._reason(message), _fenced(message.content))
            case SystemControl():
                return self._control(message)
            case ErrorMessage():
                return f"**{self._word('error')}:** {_escaped(say(message.reason, self._language))}"
            case Processing():
                return None
            case _:
                return self._thing(message)

    def _note(self, name: str) -> str:
        return f"*{self._word(name)}*"

    def _call(self, call: ToolCall, record: CallRecord | None) -> str:
        title = f"**{self._word('call')}: {_named(call.tool)}**"
        if record is None:
            return _joined(title, _fenced(call.arguments, "json"))
        title += f" · {self._ended(record)}"
        title += f", {self._word('edited')}" if record.edited else ""
        title += f", {self._word('by')} {_escaped(record.decided_by)}" if record.decided_by else ""
        return _joined(title, _fenced(_json(record.arguments), "json"))

    def _ended(self, ended: ToolResult | CallRecord) -> str:
        if ended.exit_status is not None and is_failure(ended.exit_status):
            return f"{self._word('failed')}, {describe_exit(ended.exit_status, self._language)}"
        return self._word(ended.status)

    def _reason(self, message: ToolResult | FileReference | Image | WorkflowExecution) -> str:
        return _escaped(say(message.error, self._language)) if message.error is not None else ""

    def _control(self, message: SystemControl) -> str:
        title, detail = f"**{self._word(message.kind)}**", message.detail
        match message.kind:
            case "mode_switch":
                return f"{title}: {_code(str(detail.get('from', '')))} → {_code(str(detail.get('to', '')))}"
            case "branch_merge":
                return f"{title}: {_code(str(detail.get('source', '')))}"
            case "summary":
                return _joined(title, _contained(message.content))
            case "injection" if detail.get("about") == UNDO:
                return f"**{self._word(UNDO)}**: {', '.join(_code(path) for path in undone_paths(detail))}"
            case _:
                return _joined(title, _fenced(message.content))

    def _thing(self, message: Message) -> str:
        """What was put in beside words."""
        match message:
            case FileReference():
                lines = message.range
                where = f" {lines.start_line or 1}–{lines.end_line or ''}" if lines is not None else ""
                title = f"**{self._word('file')}:** {_code(message.path)}{where}"
                return _joined(title, self._reason(message), _fenced(message.content or ""))
            case Image():
                title = f"**{self._word('image')}:** {_code(message.name)}"
                return _joined(title, self._reason(message), _fenced(message.recognised_text or ""))
            case MCPResource():
                title = f"**{self._word('resource')}:** {_code(message.uri)} ({_code(message.server)})"
                return _joined(title, _fenced(message.content))
            case ProjectStructure():
                return _joined(f"**{self._word('structure')}:** {_code(message.root)}", _fenced(message.content))
            case WorkflowExecution():
                title = f"**{self._word('workflow')}:** {_code(message.workflow)} · {_escaped(message.status)}"
                return _joined(title, self._reason(message), _fenced(message.result or ""))
            case _:
                return ""


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def _when(at: Timestamp) -> str:
    return f"{at[:10]} {at[11:19]} UTC"


def _named(tool: str) -> str:
    return f"{_escaped(display_name(tool))} ({_code(tool)})"


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def _escaped(text: str) -> str:
    """A line of plain words."""
    return _SIGNS.sub(r"\\\1", " ".join(text.split()))


def _longest_run(text: str) -> int:
    return max((len(run) for run in _RUNS.findall(text)), default=0)


def _code(text: str) -> str:
    text = " ".join(text.split()) or "–"
    ticks = "`" * (_longest_run(text) + 1)
    return f"{ticks} {text} {ticks}" if "`" in text else f"{ticks}{text}{ticks}"


def _fenced(text: str, kind: str = "") -> str:
    if not text:
        return ""
    fence = "`" * max(3, _longest_run(text) + 1)
    body = text.removesuffix("\n")
    return f"{fence}{kind}\n{body}\n{fence}"


def _contained(text: str) -> str:
    lines = _LINE_END.split(text)
    return text if _ends_itself(lines) else "\n".join(f"> {line}" for line in lines)


def _ends_itself(lines: Sequence[str]) -> bool:
    """Whether no fence is left open, as far as that can be told without reading lists and markup as a reader would."""
    indent, fence = 0, ""
    for line in lines:
        found = _FENCE.fullmatch(line)
        if fence:
            if line.strip(" \t") and len(line) - len(line.lstrip(" ")) < indent:
                return False  # in a list this ends the fence with it, and what would close it opens another
            if found and found[2].startswith(fence) and not found[3].strip(" \t"):
                fence = ""
        elif found and not (found[2][0] == "`" and "`" in found[3]):
            indent, fence = len(found[1]), found[2]
        elif _UNSURE.match(line):
            return False
    return not fence
