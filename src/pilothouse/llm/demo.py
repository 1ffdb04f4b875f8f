"""The demo model: a small rule-based stand-in with which a newcomer can try every mode without a key.

It is no model and says so. Tests do not use it.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable
from typing import Any

import msgspec

from pilothouse.domain.messages import Usage
from pilothouse.llm.base import (
    CallDelta,
    Connected,
    Finished,
    ModelEvent,
    ModelMessage,
    ModelRequest,
    TextDelta,
    UsageReported,
)
from pilothouse.llm.chat_form import encode_body, encode_message

_WORD_SECONDS = 0.01
_LOOKED_BACK = 40
_LINE_SHOWN, _SHORT = 100, 2000

Ask = tuple[str, dict[str, Any]]

_RULES: list[tuple[re.Pattern[str], Callable[[re.Match[str]], Ask]]] = [
    (
        re.compile(r"(?is)^\s*(?:write|create|写入?|创建)\s*(\S+?)\s*[:：]\s*(.*)$"),
        lambda found: ("write_file", {"path": found[1], "content": found[2] + "\n"}),
    ),
    (
        re.compile(r"(?is)^\s*+(?:replace|把)(?>(.+?)(?:with|换成))(.+)(?:\bin\b|在)\s*+([^\s在]++)\s*+$"),
        lambda found: (
            "edit_file",
            {"path": found[3], "edits": [{"old_text": found[1].strip(), "new_text": found[2].strip()}]},
        ),
    ),
    (
        re.compile(r"(?is)^\s*(?:run|execute|运行|执行)\s*(.+)$"),
        lambda found: ("execute", {"command": found[1].strip()}),
    ),
    (
        re.compile(r"(?is)^\s*(?:read|show|open|读取?|查看)\s*(\S+)\s*$"),
        lambda found: ("read_file", {"path": found[1]}),
    ),
    (
        re.compile(r"(?is)^\s*(?:list|ls|列出)(?:\s+(?:the\s+)?(?:files|文件))?(?:\s+(?:in|of)?\s*(\S+))?\s*$"),
        lambda found: ("list_directory", {"path": found[1] or "."}),
    ),
    (
        re.compile(r"(?is)^\s*(?:delegate|委派)\s*[:：]?\s*(.+)$"),
        lambda found: ("delegate", {"task": found[1].strip()}),
    ),
    (
        re.compile(r"(?is)^\s*(?:ask me|问我).*$"),
        lambda _: ("ask_user", {"questions": [{"question": "Tea or coffee?", "options": ["tea", "coffee"]}]}),
    ),
]

_STEPS = re.compile(r"(?i)^\s*(?:work in|分)\s*([1-9])\s*(?:steps?|步.*)\s*$")

_HELP = (
    "I am the demo model: a few rules, no intelligence, no key. The runtime around me is the real one. Try:\n"
    "  list · read README.md · write notes.txt: hello · replace hello with bye in notes.txt\n"
    "  run date · ask me · delegate: list · work in 4 steps\n"
    "then switch the mode (/plan, /supervised, /review, /ask, /agent) and try the same again."
)
_HELP_ZH = (
    "我是演示模型：只有几条规则，没有智能，也不需要密钥。周围的运行时是真实的。试试：\n"
    "  列出 · 读取 README.md · 写入 notes.txt: 你好 · 运行 date · 问我 · 委派: 列出 · 分4步\n"
    "然后切换模式（/plan、/supervised、/review、/ask、/agent）再试一次。"
)
_NO_TOOLS = "In this mode I have no tools, so I can only talk. Switch with /agent, /review or /plan to let me look."
_NO_TOOLS_ZH = "这个模式下我没有工具，只能对话。用 /agent、/review 或 /plan 切换后我就可以查看。"


class DemoAdapter:
    name = "demo"

    def encode(self, message: ModelMessage) -> bytes:
        return encode_message(message)

    def body(self, request: ModelRequest) -> bytes:
        return encode_body(request)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        yield Connected()
        history = [msgspec.json.decode(each) for each in request.messages[-_LOOKED_BACK:]]
        text, ask = _answer(history, request) if request.purpose == "turn" else (_in_short(history), None)
        for word in re.findall(r"\S+\s*|\s+", text):
            await asyncio.sleep(_WORD_SECONDS)
            yield TextDelta(text=word)
        if ask is not None:
            tool, arguments = ask
            yield CallDelta(index=0, id="demo", tool=tool, arguments=msgspec.json.encode(arguments).decode())
        yield Finished(reason="stop" if ask is None else "tool_calls")
        size = sum(map(len, request.messages)) + len(request.system)
        yield UsageReported(usage=Usage(input_tokens=size // 4, output_tokens=len(text) // 4))

    async def close(self) -> None:
        pass


def _answer(history: list[dict[str, Any]], request: ModelRequest) -> tuple[str, Ask | None]:
    last = history[-1] if history else {}
    asked: dict[str, Any] = next((each for each in reversed(history) if each["role"] == "user"), {})
    content = str(asked.get("content", ""))
    chinese = bool(re.search(r"[\u4e00-\u9fff]", content))
    steps = _STEPS.match(content)
    if steps is not None and request.tools:
        since = history[::-1].index(asked)
        done = sum(each["role"] == "tool" for each in history[len(history) - since :])
        return _next_step(done, int(steps[1]), chinese)
    if last.get("role") == "tool":
        return f"That is what came back:\n{last.get('content', '')}", None
    for pattern, make in _RULES:
        found = pattern.match(content)
        if found is not None:
            if not request.tools:
                return (_NO_TOOLS_ZH if chinese else _NO_TOOLS), None
            ask = make(found)
            return (f"我来使用 {ask[0]}。" if chinese else f"I will use {ask[0]}."), ask
    return (_HELP_ZH if chinese else _HELP), None


def _in_short(history: list[dict[str, Any]]) -> str:
    """No summary and no title, but what one can do with rules: how each entry begins."""
    lines = "\n".join(str(each.get("content", "")) for each in history).splitlines()
    return "\n".join(line.strip()[:_LINE_SHOWN] for line in lines if line.strip())[:_SHORT]


def _next_step(done: int, total: int, chinese: bool) -> tuple[str, Ask | None]:
    """Work that takes a while, so that there is something to pause."""
    if done >= total:
        return (f"{total} 步都完成了。" if chinese else f"All {total} steps are done."), None
    number = done + 1
    command = f"sleep 1; echo step {number} of {total}"
    return (f"第 {number} 步。" if chinese else f"Step {number}."), ("execute", {"command": command})
