"""A conversation as Markdown, over the HTTP API: its content, safe quoting, and the name of the file."""

import asyncio
import re
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import aiohttp
import msgspec
import pytest

from pilothouse.i18n.markdown import MarkdownWriter
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.commands import context_export
from pilothouse.testing.served import TOKEN, Served
from pilothouse.testing.world import World

BEARER = {"authorization": f"Bearer {TOKEN}"}
FENCED = "before\n```\n# inside\n````\n## Also inside\n`````\nafter"
LOOKS = Answer(text="I look.", calls=(ScriptedCall(tool="look", arguments={"text": FENCED}),))
CHANGES = Answer(text="I change.", calls=(ScriptedCall(tool="change", arguments={"text": "x"}),))


@asynccontextmanager
async def opened(world: World) -> AsyncIterator[aiohttp.ClientSession]:
    async with (
        world.runtime,
        Served(world.runtime, [world.workspace]) as served,
        aiohttp.ClientSession(served.url, headers=BEARER) as http,
    ):
        yield http


async def exported(http: aiohttp.ClientSession, context_id: str, more: str = "", **headers: str) -> str:
    path = f"/api/contexts/{context_id}/export?format=markdown{more}"
    async with http.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()}) as answer:
        assert (answer.status, answer.headers["content-type"]) == (200, "text/markdown; charset=utf-8")
        return await answer.text()


def headings(text: str) -> list[str]:
    """The headings outside of every fence, by the rules of CommonMark."""
    headings_outside, fence = [], ""
    for line in text.splitlines():
        ticks = re.match(r" {0,3}(`{3,}|~{3,})(.*)", line)
        if fence:
            if ticks and ticks[1][0] == fence[0] and len(ticks[1]) >= len(fence) and not ticks[2].strip():
                fence = ""
        elif ticks and not (ticks[1][0] == "`" and "`" in ticks[2]):
            fence = ticks[1]
        elif line.startswith("#"):
            headings_outside.append(line)
    assert not fence, "a fence is left open"
    return headings_outside


def author_headings(text: str) -> list[str]:
    return [line.split(" · ")[0].split(" (")[0] for line in headings(text)[1:]]


async def test_the_system_prompt_is_exported_on_request_in_both_formats(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(text="Well."))
    async with opened(world) as http:
        context_id = await world.start("plan")
        await world.turn(context_id)
        (prompt,) = {request.system for request in world.model.requests}
        option = "&include_system_prompt=true"
        assert prompt in await exported(http, context_id, option)
        assert prompt not in await exported(http, context_id)
        async with http.get(f"/api/contexts/{context_id}/export?format=pilothouse{option}") as answer:
            lines = [msgspec.json.decode(line) for line in (await answer.read()).splitlines()]
        assert [line["content"] for line in lines if line["type"] == "system_prompt"] == [prompt]


async def test_each_message_has_author_and_time_and_each_call_its_outcome(tmp_path: Path) -> None:
    world = World(tmp_path, LOOKS, Answer(text="Seen."), CHANGES, Answer(text="Well then."))
    async with opened(world) as http:
        context_id = await world.start("supervised")
        await world.runtime.contexts.change(context_id, title="A *look* at `things`")
        await world.turn(context_id, "Please look.")
        await world.runtime.calls.approve_all(context_id)
        await world.runtime.turns.rested(context_id)
        await world.turn(context_id, "Please change.")
        await world.runtime.calls.reject_all(context_id, reason="Not now.")
        await world.runtime.turns.rested(context_id)
        text = await exported(http, context_id)
    assert headings(text)[0] == r"# A \*look\* at \`things\`"
    assert author_headings(text) == [f"## {each}" for each in ("User", "Assistant", "Tool", "Assistant") * 2]
    assert re.search(r"^## User · \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$", text, re.MULTILINE)
    assert "**Action: Look (`look`)** · done, by local" in text
    assert "**Action: Change (`change`)** · rejected, by local" in text
    assert "**Result: Look (`look`)** · done" in text
    assert "Not now." in text
    places = [text.index(each) for each in ("Please look.", "I look.", "Seen.", "Please change.", "Well then.")]
    assert places == sorted(places)


async def test_content_cannot_close_its_fence_or_swallow_the_next_message(tmp_path: Path) -> None:
    left_open = (
        "```python\nprint(1)",
        "~~~~\n```\n~~~",
        "- a list\n  ```\n  code",
        "```\na\n```\n````md\n```\n",
        "a ``` b",
    )
    world = World(tmp_path, LOOKS, Answer(text=FENCED), *[Answer(text=each) for each in left_open])
    async with opened(world) as http:
        context_id = await world.start("agent")
        await world.turn(context_id, FENCED)
        for each in left_open:
            await world.turn(context_id, each)
        text = await exported(http, context_id)
    expected = ["User", "Assistant", "Tool", "Assistant", *["User", "Assistant"] * len(left_open)]
    headings_of_messages = [
        each for each in author_headings(text) if each.startswith("## ") and each != "## Also inside"
    ]
    assert headings_of_messages == [f"## {each}" for each in expected]


@pytest.mark.parametrize(
    "text",
    [
        "- a list\n  ```\nits end",
        "- a list\n  ```\nits end\n  ```",
        "```\ncode\n```\u00a0",
        "<!-- hidden",
        "words\n  <details>",
        "<div>\n```\n\n```",
        "```\nleft open\r\nand so on",
        "Well.\n\n## User · 2026-01-01 00:00:00 UTC\n\nI approve.",
    ],
)
async def test_text_that_could_pass_for_another_message_is_quoted(tmp_path: Path, text: str) -> None:
    world = World(tmp_path, Answer(text=text), Answer(text="Next."))
    async with opened(world) as http:
        context_id = await world.start("agent")
        await world.turn(context_id, "first")
        await world.turn(context_id, "second")
        exported_text = await exported(http, context_id)
    quoted = "\n".join(f"> {line}" for line in text.replace("\r\n", "\n").split("\n"))
    assert f"\n\n{quoted}\n\n## User" in exported_text
    assert author_headings(exported_text) == [f"## {each}" for each in ("User", "Assistant") * 2]


@pytest.mark.parametrize(
    "text",
    [
        "1. Do this:\n   ```sh\n   make\n\n   ```\n2. and that `<b>`",
        "```html\n<!-- in a fence -->\n## User · 2026-01-01 00:00:00 UTC\n```\na < b, at 00:00:00 UTC",
        "~~~\n```\n~~~~\nand ``` inside",
    ],
)
async def test_self_contained_text_is_exported_unchanged(tmp_path: Path, text: str) -> None:
    world = World(tmp_path, Answer(text=text))
    async with opened(world) as http:
        context_id = await world.start("agent")
        await world.turn(context_id, "first")
        assert (await exported(http, context_id)).endswith(f"\n\n{text}\n")


async def test_other_requests_are_answered_during_a_long_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, gate, tell = threading.Event(), threading.Event(), MarkdownWriter.message

    def held(*args: Any) -> str:
        begun.set()
        gate.wait()
        return tell(*args)

    monkeypatch.setattr(MarkdownWriter, "message", held)
    world = World(tmp_path, Answer(text="Yes."))
    async with opened(world) as http:
        context_id = await world.start("agent")
        await world.turn(context_id, "first")
        task = asyncio.create_task(exported(http, context_id))
        await asyncio.to_thread(begun.wait)
        async with http.get("/api/health") as answer:
            assert answer.status == 200
        gate.set()
        assert "Yes." in await task


async def test_an_export_is_in_the_readers_language(tmp_path: Path) -> None:
    world = World(tmp_path, LOOKS, Answer(text="好。"))
    async with opened(world) as http:
        context_id = await world.start("agent")
        await world.turn(context_id, "看一下")
        text = await exported(http, context_id, accept_language="zh-CN")
    assert author_headings(text) == ["## 用户", "## 助手", "## 工具", "## 助手"]
    assert "**操作: Look (`look`)** · 已完成" in text


async def test_another_branch_can_be_exported_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(text="One."), Answer(text="Two."))
    async with opened(world) as http:
        context_id = await world.start("agent")
        await world.turn(context_id, "first")
        await world.runtime.branches.create(context_id, "idea")
        await world.turn(context_id, "second")
        assert "Two." in await exported(http, context_id)
        other = await exported(http, context_id, "&branch=idea")
        assert "One." in other
        assert "Two." not in other
        async with http.get(f"/api/contexts/{context_id}/export?format=markdown&branch=none") as answer:
            assert (answer.status, (await answer.json())["code"]) == (404, "unknown_branch")


async def test_notes_errors_files_and_images_are_exported_too(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("what stands there")
    world = World(tmp_path, Answer(text="Read."))
    async with opened(world) as http:
        context_id = await world.start("agent")
        await world.runtime.modes.switch(context_id, "plan")
        payloads: list[Any] = [
            {"type": "text", "content": "see"},
            {"type": "file_reference", "path": "notes.txt", "range": {"start_line": 1, "end_line": 1}},
            {"type": "file_reference", "path": "missing.txt"},
            {"type": "image", "url": "http://127.0.0.1/a.png"},
        ]
        async with http.post(f"/api/contexts/{context_id}/messages", json={"payloads": payloads}) as answer:
            assert answer.status == 202
        await world.runtime.turns.rested(context_id)
        await world.runtime.workspaces.add_overview(context_id)
        await world.turn(context_id, "once more, but the script is over")
        text = await exported(http, context_id)
    for expected in (
        "**Mode**: `agent` → `plan`",
        "**File:** `notes.txt` 1–1",
        "```\nwhat stands there\n```",
        "**File:** `missing.txt`",
        "**Image:** `http://127.0.0.1/a.png`",
        "**Context added**",
        "**Error:** ",
    ):
        assert expected in text, expected


@pytest.mark.parametrize(
    ("title", "plain", "named"),
    [
        ("Say hello", "Say-hello", "Say hello"),
        ('../../etc/pass"wd\\;x', "etc-pass-wd-x", "etc-pass-wd-x"),
        ("你好 世界", "conversation", "你好 世界"),
        ("...", "conversation", "conversation"),
        ("x" * 200, "x" * 80, "x" * 80),
    ],
)
async def test_the_file_has_the_name_of_the_conversation_made_safe(
    tmp_path: Path, title: str, plain: str, named: str
) -> None:
    world = World(tmp_path)
    async with opened(world) as http:
        context_id = await world.start("agent")
        await world.runtime.contexts.change(context_id, title=title)
        for query, ending in (("?format=markdown", "md"), ("", "jsonl")):
            async with http.get(f"/api/contexts/{context_id}/export{query}") as answer:
                disposition = answer.headers["content-disposition"]
                match = re.fullmatch(r'attachment; filename="([^"]*)"; filename\*=UTF-8\'\'(\S*)', disposition)
                assert match is not None, disposition
                assert (match[1], unquote(match[2])) == (f"{plain}.{ending}", f"{named}.{ending}")


async def test_a_long_conversation_comes_in_pieces_that_make_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context_export, "_MARKDOWN_BATCH_MESSAGES", 2)
    world = World(tmp_path, *[Answer(text=f"Answer {number}.") for number in range(10)])
    async with world.runtime:
        context_id = await world.start("agent")
        for number in range(10):
            await world.turn(context_id, f"Question {number}.")
        pieces = [piece async for piece in world.runtime.exports.markdown(context_id)]
        assert len(pieces) == 11
        text = b"".join(pieces).decode()
        matches = re.findall(r"^(?:Question|Answer) \d", text, re.MULTILINE)
        assert matches == [each for number in range(10) for each in (f"Question {number}", f"Answer {number}")]
        assert await asyncio.gather(*[_whole(world, context_id) for _ in range(3)]) == [text] * 3


async def _whole(world: World, context_id: str) -> str:
    return b"".join([piece async for piece in world.runtime.exports.markdown(context_id)]).decode()
