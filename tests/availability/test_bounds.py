"""Bounds on what one call may cost, and the order of the gate: what the mode denies is not prepared."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.llm.script import Answer
from pilothouse.runtime.authorization.call_inspection import MAX_ARGUMENTS_CHARACTERS
from pilothouse.sandbox import gitignore
from pilothouse.sandbox.workspace import Workspace
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from pilothouse.tools.base import CallPreview
from pilothouse.tools.builtin import byte_edits, patterns
from pilothouse.tools.builtin.byte_edits import Replacement, apply_edits
from pilothouse.tools.builtin.edit_file import EditFile, WriteFile
from pilothouse.tools.builtin.execute import MAX_COMMAND_CHARACTERS, Execute
from pilothouse.tools.builtin.grep.tool import Grep, find_ripgrep
from pilothouse.tools.text_encoding import UTF_8
from tests.support.mcp_tools import answer_with_calls

DONE = Answer(text="done")


class CostlyTool(NoteTool):
    """Counts how often a call is prepared; `meanwhile` happens while it is."""

    def __init__(self, name: str = "costly") -> None:
        super().__init__(name, "mutating")
        self.prepared = 0

    async def prepare(self, arguments: Any, workspace: Workspace) -> CallPreview:
        self.prepared += 1
        return await super().prepare(arguments, workspace)


async def test_a_call_that_the_mode_denies_is_denied_before_it_is_prepared(tmp_path: Path) -> None:
    tool = CostlyTool()
    world = World(tmp_path, answer_with_calls(("costly", {"text": "a"})), DONE, tools=[tool])
    async with world.runtime:
        context_id = await world.start("plan")
        await world.turn(context_id)
        (call,) = (await world.runtime.calls.read(context_id)).items
        assert (call.status, call.reason and call.reason.code) == ("denied", Code.MODE_DENIED)
    assert (tool.prepared, tool.ran) == (0, [])


async def test_a_call_that_the_mode_denies_reads_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("a")
    edits = {"path": "a.txt", "edits": [{"old_text": "a", "new_text": "b"}]}
    writes = {"path": "a.txt", "content": "b"}
    world = World(
        tmp_path, answer_with_calls(("edit_file", edits), ("write_file", writes)), DONE, tools=[EditFile(), WriteFile()]
    )

    read: list[str] = []
    original = Workspace.read

    def spy(workspace: Workspace, path: str, *limit: int) -> bytes:
        read.append(path)
        return original(workspace, path, *limit)

    monkeypatch.setattr(Workspace, "read", spy)
    async with world.runtime:
        context_id = await world.start("plan")
        await world.turn(context_id)
        calls = (await world.runtime.calls.read(context_id)).items
        assert [call.status for call in calls] == ["denied", "denied"]
        assert {call.reason.code for call in calls if call.reason} == {Code.MODE_DENIED}
    assert "a.txt" not in read


class SlowDenied(NoteTool):
    """A second tool of the round: while its call is prepared, the person switches the mode."""

    def __init__(self) -> None:
        super().__init__("slow", "read_only")
        self.is_preparing, self.may_go_on = asyncio.Event(), asyncio.Event()

    async def prepare(self, arguments: Any, workspace: Workspace) -> CallPreview:
        self.is_preparing.set()
        await self.may_go_on.wait()
        return await super().prepare(arguments, workspace)


async def test_a_call_is_prepared_when_the_mode_changes_before_its_decision(tmp_path: Path) -> None:
    tool, slow = CostlyTool(), SlowDenied()
    world = World(
        tmp_path, answer_with_calls(("costly", {"text": "a"}), ("slow", {"text": "b"})), DONE, tools=[tool, slow]
    )
    async with world.runtime:
        context_id = await world.start("plan")
        await world.runtime.messages.send(context_id, "go")
        await slow.is_preparing.wait()
        assert tool.prepared == 0
        await world.runtime.modes.switch(context_id, "agent")
        slow.may_go_on.set()
        await world.runtime.turns.rested(context_id)
        calls = (await world.runtime.calls.read(context_id)).items
        assert [call.status for call in calls] == ["executed", "executed"]
    assert (tool.prepared, tool.ran) == (1, ["a"])


async def test_arguments_that_are_too_long_are_refused_unread(tmp_path: Path) -> None:
    long = "x" * (MAX_ARGUMENTS_CHARACTERS + 1)
    world = World(tmp_path, answer_with_calls(("change", {"text": long})), DONE)
    async with world.runtime:
        context_id = await world.start("agent")
        await world.turn(context_id)
        (call,) = (await world.runtime.calls.read(context_id)).items
        assert (call.status, call.reason and call.reason.code) == ("failed", Code.INVALID_ARGUMENTS)
        assert len(str(call.arguments)) < 3_000
    assert world.change.ran == []


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (Grep(find_ripgrep()), {"pattern": "a", "glob": "*a" * 20_000}),
        (Grep(find_ripgrep()), {"pattern": "a", "path": "a/" * 20_000}),
        (EditFile(), {"path": "a", "edits": [{"old_text": "a", "new_text": "b"}] * 3_000}),
        (Execute(), {"command": "echo " + "a" * MAX_COMMAND_CHARACTERS}),
        (Execute(), {"command": "".join(f"cd d{number}; cat f{number}; " for number in range(400))}),
    ],
    ids=["a glob of 40 kB", "a path of 40 kB", "3,000 edits", "a long command", "many folders"],
)
async def test_a_call_that_would_cost_too_much_is_refused_with_a_reason(
    tmp_path: Path, tool: Any, arguments: dict[str, Any]
) -> None:
    world = World(tmp_path, answer_with_calls((tool.name, arguments)), DONE, tools=[tool])
    async with world.runtime:
        context_id = await world.start("agent")
        await world.turn(context_id)
        (call,) = (await world.runtime.calls.read(context_id)).items
        assert (call.status, call.reason and call.reason.code) == ("failed", Code.INVALID_ARGUMENTS)


def test_edits_of_a_large_file_are_bounded_by_the_searched_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_edits, "MAX_SEARCHED_BYTES", 250)
    body = "".join(f"line {number}\n" for number in range(10)).encode()
    edits = [Replacement(f"line {number}\n", f"LINE {number}\n", False) for number in range(10)]
    assert apply_edits(body, UTF_8, edits[:3], "a").startswith(b"LINE 0\nLINE 1\nLINE 2\nline 3")
    with pytest.raises(ToolError) as refused:
        apply_edits(body, UTF_8, edits, "a")
    assert refused.value.reason.code is Code.TOO_MANY_EDITS
    assert refused.value.reason.params["limit"] == 3


def test_braces_with_too_many_expansions_are_refused() -> None:
    with pytest.raises(gitignore.BadPattern, match="characters"):
        patterns.expand_braces("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}" + "*a" * 400)


def test_the_case_flag_does_not_make_checking_a_pattern_costly(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    original = re.compile

    def spy(pattern: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(pattern)
        return original(pattern, flags)

    monkeypatch.setattr(re, "compile", spy)
    patterns.check_regex("(?i)[a-\U0010ffff]")
    assert compiled == ["[a-\U0010ffff]"]


def test_the_same_ignore_file_is_compiled_once() -> None:
    text = "".join(f"*.{number}\n" for number in range(50))
    before = gitignore._compiled.cache_info().misses
    ignores = [gitignore.IgnoreFile("", ".gitignore", text) for _ in range(20)]
    assert gitignore._compiled.cache_info().misses == before + 1
    assert ignores[-1].is_ignored("a/b.7", False) is True


def test_an_ignore_rule_longer_than_any_name_matches_nothing() -> None:
    ignores = gitignore.IgnoreFile("", ".gitignore", f"{'?' * 5_000}\nkept\n[z-\n")
    assert ignores.is_ignored("kept", False) is True
    assert ignores.size < 20
