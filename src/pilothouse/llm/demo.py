"""The demo model: a small rule-based stand-in with which a newcomer can try every mode without an API key.

Its answers say that it is no real model. Tests do not use it.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable
from typing import Any

import msgspec

from pilothouse.domain.codes import Language
from pilothouse.domain.messages import Usage
from pilothouse.i18n import ui_text
from pilothouse.llm.base import (
    CallDelta,
    Connected,
    Finished,
    ModelEvent,
    ModelRequest,
    TextDelta,
    UsageReported,
)
from pilothouse.llm.chat_completions import CHAT_COMPLETIONS

_WORD_SECONDS = 0.01
_MAX_MESSAGES_SEARCHED = 40
_MAX_LINE_CHARACTERS = 100
_MAX_SUMMARY_CHARACTERS = 2000

DemoCall = tuple[str, dict[str, Any]]
"""The name of a tool, and the arguments."""

_RULES: list[tuple[re.Pattern[str], Callable[[re.Match[str]], DemoCall]]] = [
    (
        re.compile(r"(?is)^\s*(?:write|create|写入?|创建)\s*(\S+?)\s*[:：]\s*(.*)$"),
        lambda match: ("write_file", {"path": match[1], "content": match[2] + "\n"}),
    ),
    (
        re.compile(r"(?is)^\s*+(?:replace|把)(?>(.+?)(?:with|换成))(.+)(?:\bin\b|在)\s*+([^\s在]++)\s*+$"),
        lambda match: (
            "edit_file",
            {"path": match[3], "edits": [{"old_text": match[1].strip(), "new_text": match[2].strip()}]},
        ),
    ),
    (
        re.compile(r"(?is)^\s*(?:run|execute|运行|执行)\s*(.+)$"),
        lambda match: ("execute", {"command": match[1].strip()}),
    ),
    (
        re.compile(r"(?is)^\s*(?:read|show|open|读取?|查看)\s*(\S+)\s*$"),
        lambda match: ("read_file", {"path": match[1]}),
    ),
    (
        re.compile(r"(?is)^\s*(?:list|ls|列出)(?:\s+(?:the\s+)?(?:files|文件))?(?:\s+(?:in|of)?\s*(\S+))?\s*$"),
        lambda match: ("list_directory", {"path": match[1] or "."}),
    ),
    (
        re.compile(r"(?is)^\s*(?:delegate|委派)\s*[:：]?\s*(.+)$"),
        lambda match: ("delegate", {"task": match[1].strip()}),
    ),
    (
        re.compile(r"(?is)^\s*(?:ask me|问我).*$"),
        lambda match: ("ask_user", {"questions": [_question("zh" if "问" in match[0] else "en")]}),
    ),
]


def _question(language: Language) -> dict[str, Any]:
    options = [ui_text("demo", name, language) for name in ("tea", "coffee")]
    return {"question": ui_text("demo", "question", language), "options": options}


_STEPS = re.compile(r"(?i)^\s*(?:work in|分)\s*([1-9])\s*(?:steps?|步.*)\s*$")


class DemoAdapter:
    name = "demo"
    format = CHAT_COMPLETIONS

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        yield Connected()
        history = [msgspec.json.decode(message) for message in request.messages[-_MAX_MESSAGES_SEARCHED:]]
        text, call = _answer(history, request) if request.purpose == "turn" else (_mechanical_summary(history), None)
        for word in re.findall(r"\S+\s*|\s+", text):
            await asyncio.sleep(_WORD_SECONDS)
            yield TextDelta(text=word)
        if call is not None:
            tool, arguments = call
            yield CallDelta(index=0, id="demo", tool=tool, arguments=msgspec.json.encode(arguments).decode())
        yield Finished(reason="stop" if call is None else "tool_calls")
        size = sum(map(len, request.messages)) + len(request.system)
        yield UsageReported(usage=Usage(input_tokens=size // 4, output_tokens=len(text) // 4))

    async def close(self) -> None:
        pass


def _answer(history: list[dict[str, Any]], request: ModelRequest) -> tuple[str, DemoCall | None]:
    last = history[-1] if history else {}
    question: dict[str, Any] = next((message for message in reversed(history) if message["role"] == "user"), {})
    content = str(question.get("content", ""))
    language: Language = "zh" if re.search(r"[\u4e00-\u9fff]", content) else "en"
    steps = _STEPS.match(content)
    if steps is not None and request.tools:
        since = history[::-1].index(question)
        done = sum(message["role"] == "tool" for message in history[len(history) - since :])
        return _next_step(done, int(steps[1]), language)
    if last.get("role") == "tool":
        return ui_text("demo", "result", language, result=last.get("content", "")), None
    for pattern, make in _RULES:
        match = pattern.match(content)
        if match is not None:
            if not request.tools:
                return ui_text("demo", "no_tools", language), None
            call = make(match)
            return ui_text("demo", "call", language, tool=call[0]), call
    return ui_text("demo", "help", language), None


def _mechanical_summary(history: list[dict[str, Any]]) -> str:
    """The first lines of the entries, in place of a summary or a title."""
    lines = "\n".join(str(message.get("content", "")) for message in history).splitlines()
    return "\n".join(line.strip()[:_MAX_LINE_CHARACTERS] for line in lines if line.strip())[:_MAX_SUMMARY_CHARACTERS]


def _next_step(done: int, total: int, language: Language) -> tuple[str, DemoCall | None]:
    """A turn of several slow commands, so that a person can pause it."""
    if done >= total:
        return ui_text("demo", "steps_done", language, total=total), None
    number = done + 1
    command = f"sleep 1; echo step {number} of {total}"
    return ui_text("demo", "step", language, number=number), ("execute", {"command": command})
