"""The window in the terminal: its fill, compressions, pins, the model, the overview; and turns that compress."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.codes import Language
from pilothouse.i18n import ui_text
from pilothouse.llm.script import Answer, Script
from pilothouse.testing.history import make_history
from pilothouse.testing.provider import FakeProvider
from tests.cli.test_main import Command

LANGUAGES = {"en": "C.UTF-8", "zh": "zh_CN.UTF-8"}
SETTINGS = "[window]\ntoken_budget = {budget}\n[overview]\nenabled = false\n"
LOOK = {"tool": "read_file", "arguments": {"path": "large.txt"}}
PERSONA = 'name = "Ada"\nprompt = "Begin with the soil."\n'


class LongConversationCommand(Command):
    """`long` is a conversation of forty messages, about 8,000 tokens; prompt and tools take some 2,500 more."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.settle(200_000)
        self.long = asyncio.run(make_history(folder / "data", self.workspace, 40, size=800))
        (self.workspace / "large.txt").write_text("word " * 3000)

    def settle(self, budget: int, more: str = "") -> None:
        (self.folder / "config.toml").write_text(SETTINGS.format(budget=budget) + more)

    def scripted(self, *answers: dict[str, Any], summary: tuple[str, ...] = ("In short.",) * 5) -> str:
        path = self.folder / "script.json"
        path.write_text(json.dumps({"turn": answers, "summary": [{"text": text} for text in summary]}))
        return f"scripted:{path}"

    def talk(self, *lines: str, language: str = "en", model: str | None = None) -> str:
        """The output of a conversation with these lines."""
        self.environment["LANG"] = LANGUAGES[language]
        stdin = "\n".join([*lines, "/quit", ""])
        code, output, errors = self.run("--context", self.long, "--model", model or self.scripted(), stdin=stdin)
        assert (code, errors) == (0, "")
        return output

    def exported(self) -> list[dict[str, Any]]:
        """The messages of the conversation."""
        self.talk("/export out.jsonl")
        file = self.workspace / "out.jsonl"
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        file.unlink()
        return [line["message"] for line in lines if line["type"] == "message"]


@pytest.fixture
def command(tmp_path: Path) -> LongConversationCommand:
    return LongConversationCommand(tmp_path)


def figures(text: str, pattern: str) -> tuple[int, ...]:
    match = re.search(pattern, text)
    assert match is not None, text
    return tuple(map(int, match.groups()))


METER = {
    "en": r"Context: ≈(\d+) of (\d+) tokens \((\d+)%\)\. Auto-compacts at (\d+)%\.",
    "zh": r"上下文：≈(\d+) / (\d+) 个 token（(\d+)%），达到 (\d+)% 时自动压缩。",
}
MANUAL = {
    "en": r"Context: ≈(\d+) of (\d+) tokens \((\d+)%\)\. Auto-compact is off; use /compact\.",
    "zh": r"上下文：≈(\d+) / (\d+) 个 token（(\d+)%），自动压缩已关闭，请使用 /compact。",
}
PREVIEW = {
    "en": r"Messages to compact: (\d+) \((\d+) → at most (\d+) tokens\)\.",
    "zh": r"将压缩 (\d+) 条消息（(\d+) → 最多 (\d+) 个 token）。",
}
COMPRESSED = {
    "en": r"Messages compacted: (\d+) \((\d+) → (\d+) tokens\)\. To restore them: /compact undo",
    "zh": r"已压缩 (\d+) 条消息（(\d+) → (\d+) 个 token）。要恢复：/compact undo",
}
UNDONE = {"en": r"Messages restored: (\d+)\.", "zh": r"已恢复 (\d+) 条消息。"}
NOTHING = {"en": "Nothing to compact: of ", "zh": "没有可压缩的内容：共 "}
NOT_COMPRESSED = {
    "en": "Nothing to restore: the branch 'main' hasn't been compacted.",
    "zh": "分支 'main' 没有被压缩过。",
}
PINNED = {"en": "Pinned messages: {}.", "zh": "已固定 {} 条消息。"}
USED = {"en": "7 input tokens, 3 output tokens", "zh": "输入 7 个 token，输出 3 个 token"}
TOLD = {"en": "The model sees it from the next step on.", "zh": "从下一步起对模型生效。"}
MODEL = {"en": "Model: {} (available: {})", "zh": "模型：{}（可选：{}）"}
UNKNOWN = {"en": "Unknown model 'huge'", "zh": "未知模型 'huge'"}


# the commands


@pytest.mark.parametrize("language", LANGUAGES)
def test_tokens_shows_the_fill_of_the_window_its_parts_and_the_usage(
    command: LongConversationCommand, language: Language
) -> None:
    model = command.scripted({"text": "hello", "usage": {"input_tokens": 7, "output_tokens": 3}})
    output = command.talk("/tokens", "hi", "/usage", "/tokens", language=language, model=model)
    first, second, third = [tuple(map(int, match)) for match in re.findall(METER[language], output)]
    assert first[1] == 200_000
    assert (first[2], first[3]) == (100 * first[0] // 200_000, 80)
    assert first[0] < second[0] == third[0]
    assert USED[language] in output
    parts = [(int(tokens), name) for tokens, name in re.findall(r"^ {2,}(\d+)  (\S.*)$", output, re.MULTILINE)]
    one = parts[: len(parts) // 2]
    names = ["persona", "tools", "mode", "workspace", "tool_definitions", "history", "attached"]
    assert [name for _, name in one] == [ui_text("terminal", f"part_{name}", language) for name in names]
    assert sum(tokens for tokens, _ in one) == first[0]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_token_meter_says_when_compression_is_manual(command: LongConversationCommand, language: Language) -> None:
    (command.folder / "config.toml").write_text("[window]\nauto_compress = false\n")
    output = command.talk("/tokens", language=language)
    assert figures(output, MANUAL[language])[1] == 128_000


@pytest.mark.parametrize("language", LANGUAGES)
def test_compressing_is_previewed_done_with_a_focus_and_undone(
    command: LongConversationCommand, language: Language
) -> None:
    lines = ("/compress preview", "/compress the colour of the door", "/tokens", "/compress undo", "/compress undo")
    output = command.talk(*lines, language=language)
    count, before, at_most = figures(output, PREVIEW[language])
    assert figures(output, COMPRESSED[language])[:2] == (count, before)
    after = figures(output, COMPRESSED[language])[2]
    assert after <= at_most < before
    assert figures(output, METER[language])[0] == after
    assert figures(output, UNDONE[language]) == (40,)
    assert NOT_COMPRESSED[language] in output
    assert ("Summarizing…" if language == "en" else "正在生成摘要…") in output
    assert output.count("In short.") == 0, "a summary is not shown by itself"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_compression_without_a_model_summary_says_why(command: LongConversationCommand, language: Language) -> None:
    output = command.talk("/compact", "/compress", language=language, model=command.scripted(summary=()))
    match = [line for line in output.splitlines() if re.search(COMPRESSED[language], line)]
    assert len(match) == 1
    assert "summary" in match[0].partition(" (")[2]
    assert NOTHING[language] in output


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_last_message_is_pinned_and_unpinned(command: LongConversationCommand, language: Language) -> None:
    model = command.scripted({"text": "yes"})
    output = command.talk("keep this", "/pin", "/pin", "/pin off", "/pin now", language=language, model=model)
    lines = [PINNED[language].format(number) for number in (1, 0)]
    assert [output.count(each) for each in lines] == [2, 1]
    assert "/pin [off]" in output


def test_pin_pins_the_persons_last_message(command: LongConversationCommand) -> None:
    model = command.scripted({"text": "yes"}, *[{"text": "x"}] * 12)
    later = [f"later {number}" for number in range(12)]
    command.talk("keep this", "/pin", *later, "/compress", model=model)
    output = command.talk("/compress preview", "/compress")
    assert NOTHING["en"] in output
    (summary,) = [each for each in command.exported() if each.get("kind") == "summary"]
    assert summary["detail"]["messages"] == 40 + 26 - 10 - 1, "all but the last ten and what was pinned"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_model_is_shown_and_an_unknown_one_refused(command: LongConversationCommand, language: Language) -> None:
    model = command.scripted()
    output = command.talk("/model", "/model huge", "/model", language=language, model=model)
    name = model.removeprefix("scripted:")
    assert output.count(MODEL[language].format(name, name)) == 2
    assert UNKNOWN[language] in output


def test_a_model_is_chosen_among_those_that_the_file_names(command: LongConversationCommand) -> None:
    more = '[models."house-a"]\nwindow = 30_000\n[models."house-b"]\nwindow = 9_000\n'
    (command.folder / "config.toml").write_text("[overview]\nenabled = false\n" + more)
    command.environment.update(OPENAI_BASE_URL="http://127.0.0.1:9/v1", OPENAI_API_KEY="")
    output = command.talk("/model", "/model house-b", "/tokens", "/model nobody", model="openai:house-a")
    assert "Model: house-a (available: house-a, house-b)" in output
    assert "Model: house-b (available: house-a, house-b)" in output
    assert figures(output, METER["en"])[1] == 9_000
    assert "Unknown model 'nobody'. Choose one of: house-a, house-b." in output


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_overview_is_shown_and_sent_from_then_on(command: LongConversationCommand, language: Language) -> None:
    (command.workspace / "bad\x1b[2Jname.py").write_text("x")
    output = command.talk("/tokens", "/overview", "/tokens", language=language)
    assert f"Workspace: {command.workspace}" in output
    assert "large.txt" in output
    assert "\x1b[2J" not in output
    assert TOLD[language] in output
    history = re.findall(rf"^ {{2,}}(\d+)  {ui_text('terminal', 'part_history', language)}$", output, re.MULTILINE)
    before, after = map(int, history)
    assert before < after, "the model already answered, so the overview is a message"
    assert output.count("large.txt") <= 3, "it is shown once"


def test_a_command_while_a_turn_waits_is_refused_with_its_reason(command: LongConversationCommand) -> None:
    model = command.scripted(
        {"calls": [{"tool": "write_file", "arguments": {"path": "b", "content": "x"}}]}, {"text": "ok"}
    )
    output = command.talk("/mode supervised", "go", "q", "/compress", "/tokens", "", "y", model=model)
    assert output.count("The current turn isn't finished.") == 1
    assert figures(output, METER["en"])
    assert (command.workspace / "b").read_text() == "x"


# turns that compress by themselves


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_automatic_compression_prints_one_line_and_the_answer_once(
    command: LongConversationCommand, language: Language
) -> None:
    command.settle(12_000)
    output = command.talk("go on", "/tokens", language=language, model=command.scripted({"text": "Here it is."}))
    lines = output.splitlines()
    match = [line for line in lines if re.search(COMPRESSED[language], line)]
    assert len(match) == 1
    assert "— " in match[0]
    count, before, after = figures(match[0], COMPRESSED[language])
    assert before > 9600 >= 6000 >= after
    assert output.count("Here it is.") == 1
    assert lines.index(match[0]) < next(number for number, line in enumerate(lines) if "Here it is." in line)
    assert output.count("In short.") == 0


def test_a_run_through_a_turn_that_compresses_prints_only_the_answer(command: LongConversationCommand) -> None:
    command.settle(12_000)
    model = command.scripted({"text": "I will look.", "calls": [LOOK]}, {"text": "It says so."})
    code, output, errors = command.run("run", "go on", "--context", command.long, "--model", model)
    assert (code, output) == (0, "I will look.\nIt says so.\n")
    assert [line for line in errors.splitlines() if not line.startswith("· read_file")] == []
    kinds = [each.get("kind") for each in command.exported()]
    assert kinds.count("summary") == 1


def test_a_run_whose_window_fills_in_the_middle_prints_only_the_answer(command: LongConversationCommand) -> None:
    command.settle(15_500)
    answers = {"text": "I will look.", "calls": [LOOK]}, {"text": "It says so."}
    code, output, _ = command.run("run", "go on", "--context", command.long, "--model", command.scripted(*answers))
    assert (code, output) == (0, "I will look.\nIt says so.\n")
    messages = command.exported()
    (summary,) = [each for each in messages if each.get("kind") == "summary"]
    (request,) = [each for each in messages if each["type"] == "tool_request"]
    assert summary["timestamp"] > request["timestamp"], "it came in the second round"


def test_json_lines_of_a_run_have_the_compression_and_every_message_once(command: LongConversationCommand) -> None:
    command.settle(12_000)
    model = command.scripted({"text": "I will look.", "calls": [LOOK]}, {"text": "It says so."})
    arguments = ("--context", command.long, "--model", model, "--output-format", "stream-json")
    code, output, _ = command.run("run", "go on", *arguments)
    lines = [json.loads(line) for line in output.splitlines()]
    assert (code, lines[-1]["text"], lines[-1]["exit_code"]) == (0, "It says so.", 0)
    assert "".join(line["text"] for line in lines if line["type"] == "delta") == "I will look.It says so."
    messages = [line["message"] for line in lines if line["type"] == "message"]
    types = [each["type"] for each in messages]
    assert sorted(types) == sorted(["system_control", "text", "tool_request", "tool_result", "text"])
    assert len({each["message_id"] for each in messages}) == len(messages)


def test_a_run_that_can_never_fit_fails_with_figures(command: LongConversationCommand) -> None:
    command.settle(1000)
    code, output, errors = command.run("run", "go", "--context", command.long, "--model", command.scripted())
    assert (code, output) == (53, "")
    assert "doesn't fit into the context window of 1000 tokens" in errors


# personas


async def test_the_persona_of_a_run_is_in_its_prompt(command: LongConversationCommand) -> None:
    (command.folder / "personas").mkdir()
    (command.folder / "personas/ada.toml").write_text(PERSONA)
    async with FakeProvider(Script(turn=(Answer(text="x"),) * 3)) as provider:
        command.environment.update(OPENAI_BASE_URL=provider.base_url, OPENAI_API_KEY="")
        run = ("run", "go", "--model", "openai:house", "--output-format", "json")
        for chosen in ((), ("--persona", "ada"), ("--persona", "ada", "--mode", "plan")):
            code, _, _ = await asyncio.to_thread(command.run, *run, *chosen)
            assert code == 0
    plain, ada, planning = (request["messages"][0]["content"] for request in provider.requests)
    assert plain.startswith("You are an agent in Pilothouse")
    assert "the soil" not in plain
    for system in (ada, planning):
        assert system.startswith("Your name is Ada.")
        assert system.index("Begin with the soil.") < system.index("Your tools are the ones")
    assert ["You are in plan mode." in system for system in (plain, ada, planning)] == [False, False, True]
    tools = [{tool["function"]["name"] for tool in request["tools"]} for request in provider.requests]
    assert ["write_file" in names for names in tools] == [True, True, False]
