"""Export a conversation as Markdown: each message with author and time, each tool call with its outcome.

Text by a person or a model is written unchanged where its Markdown certainly ends with the text; otherwise it is
quoted, which closes all fences and HTML that the text leaves open. Content of tools and files is written in a fence
that is longer than every fence inside.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from pilothouse.domain.calls import CallRecord, display_name
from pilothouse.domain.codes import Language
from pilothouse.domain.exit_status import is_failure
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
    shown_text,
    undone_paths,
)
from pilothouse.domain.value import CallId, Timestamp
from pilothouse.i18n.translate import translate, translate_failed_command, ui_text

_RUNS = re.compile(r"`+")
_FENCE = re.compile(r"( {0,3})(`{3,}|~{3,})(.*)")
# HTML that may continue behind the end of a text, and lines that look like the heading of another message.
_AMBIGUOUS_LINE = re.compile(r" {0,3}<[A-Za-z/!?]|.* · \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC")
_LINE_END = re.compile(r"\r\n?|\n")
_SIGNS = re.compile(r"([\\`*_\[\]<>#&|~])")


class MarkdownWriter:
    """Writes a conversation as Markdown in one language."""

    def __init__(self, language: Language) -> None:
        self._language = language

    def _text(self, name: str) -> str:
        return ui_text("markdown", name, self._language)

    def head(self, title: str | None, branch: str, system_prompt: str | None = None) -> str:
        head = f"# {_escape(title or self._text('untitled'))}\n\n{self._text('branch')}: {_code(branch)}\n"
        if system_prompt is None:
            return head
        return f"{head}\n## {self._text('system_prompt')}\n\n{_fence(system_prompt)}\n"

    def message(self, message: Message, calls: Mapping[CallId, CallRecord]) -> str:
        """Format a message, after an empty line; empty for a message that does not belong to the conversation."""
        body = self._body(message, calls)
        if body is None:
            return ""
        model = message.metadata.model if message.role == "assistant" else None
        author = f"{self._text(message.role)} ({_code(model)})" if model else self._text(message.role)
        return f"\n## {author} · {_date_text(message.timestamp)}\n\n{body}\n"

    def _body(self, message: Message, calls: Mapping[CallId, CallRecord]) -> str | None:
        match message:
            case Text(content="", ended="complete"):
                return None  # an answer of reasoning alone
            case Text():
                return _join(
                    _quote_if_open(shown_text(message)),
                    "" if message.ended == "complete" else self._note(message.ended),
                )
            case ToolRequest():
                texts = (self._call(call, calls.get(call.id)) for call in message.calls)
                return _join(_quote_if_open(message.content), *texts)
            case ToolResult():
                title = f"**{self._text('result')}: {_tool_text(message.tool)}** · {self._outcome(message)}"
                return _join(title, self._reason(message), _fence(message.content))
            case SystemControl():
                return self._control(message)
            case ErrorMessage():
                return f"**{self._text('error')}:** {_escape(translate(message.reason, self._language))}"
            case Processing():
                return None
            case _:
                return self._attachment(message)

    def _note(self, name: str) -> str:
        return f"*{self._text(name)}*"

    def _call(self, call: ToolCall, record: CallRecord | None) -> str:
        title = f"**{self._text('call')}: {_tool_text(call.tool)}**"
        if record is None:
            return _join(title, _fence(call.arguments, "json"))
        title += f" · {self._outcome(record)}"
        title += f", {self._text('edited')}" if record.edited else ""
        title += f", {self._text('by')} {_escape(record.decided_by)}" if record.decided_by else ""
        return _join(title, _fence(_json(record.arguments), "json"))

    def _outcome(self, call: ToolResult | CallRecord) -> str:
        if call.exit_status is not None and is_failure(call.exit_status):
            return translate_failed_command(call.exit_status, self._language)
        return self._text(call.status)

    def _reason(self, message: ToolResult | FileReference | Image | WorkflowExecution) -> str:
        return _escape(translate(message.error, self._language)) if message.error is not None else ""

    def _control(self, message: SystemControl) -> str:
        title, detail = f"**{self._text(message.kind)}**", message.detail
        match message.kind:
            case "mode_switch":
                return f"{title}: {_code(str(detail.get('from', '')))} → {_code(str(detail.get('to', '')))}"
            case "branch_merge":
                return f"{title}: {_code(str(detail.get('source', '')))}"
            case "summary":
                return _join(title, _quote_if_open(message.content))
            case "injection" if detail.get("about") == UNDO:
                return f"**{self._text(UNDO)}**: {', '.join(_code(path) for path in undone_paths(detail))}"
            case _:
                return _join(title, _fence(message.content))

    def _attachment(self, message: Message) -> str:
        """Format a file, an image, a resource or another message without text."""
        match message:
            case FileReference():
                lines = message.range
                line_range = f" {lines.start_line or 1}–{lines.end_line or ''}" if lines is not None else ""
                label = _escape(message.metadata.display_text or "")
                path = f"{_code(message.path)}{line_range}"
                title = f"**{self._text('file')}:** " + (f"{label} ({path})" if label else path)
                return _join(title, self._reason(message), _fence(message.content or ""))
            case Image():
                title = f"**{self._text('image')}:** {_code(message.name)}"
                return _join(title, self._reason(message), _fence(message.recognised_text or ""))
            case MCPResource():
                title = f"**{self._text('resource')}:** {_code(message.uri)} ({_code(message.server)})"
                return _join(title, _fence(message.content))
            case ProjectStructure():
                return _join(f"**{self._text('structure')}:** {_code(message.root)}", _fence(message.content))
            case WorkflowExecution():
                title = f"**{self._text('workflow')}:** {_code(message.workflow)} · {_escape(message.status)}"
                return _join(title, self._reason(message), _fence(message.result or ""))
            case _:
                return ""


def _join(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def _date_text(at: Timestamp) -> str:
    return f"{at[:10]} {at[11:19]} UTC"


def _tool_text(tool: str) -> str:
    return f"{_escape(display_name(tool))} ({_code(tool)})"


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def _escape(text: str) -> str:
    """Return a text as one line, with its Markdown escaped."""
    return _SIGNS.sub(r"\\\1", " ".join(text.split()))


def _longest_run(text: str) -> int:
    return max((len(run) for run in _RUNS.findall(text)), default=0)


def _code(text: str) -> str:
    text = " ".join(text.split()) or "–"
    ticks = "`" * (_longest_run(text) + 1)
    return f"{ticks} {text} {ticks}" if "`" in text else f"{ticks}{text}{ticks}"


def _fence(text: str, kind: str = "") -> str:
    if not text:
        return ""
    fence = "`" * max(3, _longest_run(text) + 1)
    body = text.removesuffix("\n")
    return f"{fence}{kind}\n{body}\n{fence}"


def _quote_if_open(text: str) -> str:
    lines = _LINE_END.split(text)
    return text if _is_self_contained(lines) else "\n".join(f"> {line}" for line in lines)


def _is_self_contained(lines: Sequence[str]) -> bool:
    """Whether a text leaves no fence open, as far as that is certain without parsing lists and HTML."""
    indent, fence = 0, ""
    for line in lines:
        match = _FENCE.fullmatch(line)
        if fence:
            if line.strip(" \t") and len(line) - len(line.lstrip(" ")) < indent:
                return False  # in a list, this line ends the list with the fence; the closing marks open a new fence
            if match and match[2].startswith(fence) and not match[3].strip(" \t"):
                fence = ""
        elif match and not (match[2][0] == "`" and "`" in match[3]):
            indent, fence = len(match[1]), match[2]
        elif _AMBIGUOUS_LINE.match(line):
            return False
    return not fence
