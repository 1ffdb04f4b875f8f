"""The needle: early decisions are in the window after ten compressions, by a summarizer that follows its instruction.

The summarizer keeps only what the instruction asks for: the lines that the transcript marks, under the headings that it
names, and the lines under them in the earlier summary. So a missing heading or transcript would be noticed.
"""

import re
from collections.abc import AsyncGenerator
from pathlib import Path

import msgspec
import pytest

from pilothouse.domain.budgets import Budget, CompressionStrategy
from pilothouse.domain.states import Idle
from pilothouse.domain.value import ContextId
from pilothouse.llm.base import Finished, ModelEvent, ModelRequest, TextDelta
from pilothouse.llm.script import Answer, ScriptedCall, ScriptedError
from pilothouse.llm.scripted import scripted_error
from tests.support.full_windows import MANY_WORDS, WORDS, Model, SmallWindowWorld, text_of

TIMES = 10
MARKS = {
    "Standing instructions": re.compile(r"^Person: (From now on .*)"),
    "Decisions": re.compile(r"^(?:Person|Agent): (Decision: .*)"),
    "Files": re.compile(r"^Person: (The plan lies in .*)"),
    "Open tasks": re.compile(r"^Person: (Later: .*)"),
    "Facts": re.compile(r"^Result of look \(executed\): (noted Fact: .*)"),
}
NEEDLES = {
    "Standing instructions": "From now on answer in Breton.",
    "Decisions": "Decision: the hull is of larch, because oak is too heavy.",
    "Files": "The plan lies in drawings/hull-7b.svg.",
    "Open tasks": "Later: order 14 sheets of copper.",
    "Facts": "noted Fact: the keel is 11.45 m long.",
}


class InstructedSummarizer(Model):
    """Writes the summary that the instruction asks for, and nothing else. `fails` makes it fail."""

    def __init__(self, *answers: Answer) -> None:
        super().__init__(answers)
        self.fails = False

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        if request.purpose != "summary":
            async for event in super().stream(request):
                yield event
            return
        self.requests.append(request)
        if self.fails:
            raise scripted_error(ScriptedError(status=400))
        for text in re.findall(r"(?s).{1,40}", _summed_up(request)):
            yield TextDelta(text=text)
        yield Finished(reason="stop")


def _summed_up(request: ModelRequest) -> str:
    headings = re.findall(r"^## (.+)$", request.system, re.MULTILINE)
    record = text_of(request).splitlines()
    sections: dict[str, dict[str, None]] = {heading: {} for heading in headings}
    below: str | None = None
    for line in record:
        heading = line.removeprefix("## ") if line.startswith("## ") else None
        if heading is not None:
            below = heading
        elif not line:
            below = None
        elif below in sections:
            sections[below][line] = None
        for name, mark in MARKS.items():
            if name in sections and (match := mark.match(line)) is not None:
                sections[name][match[1]] = None
    parts = ["\n".join([f"## {heading}", *lines]) for heading, lines in sections.items() if lines]
    return "\n\n".join(parts) or "Nothing to keep."


def _look(text: str, path: str) -> Answer:
    return Answer(calls=(ScriptedCall(tool="look", arguments={"text": text, "path": path}),))


LOOKS = (_look("Fact: the keel is 11.45 m long.", "keel.txt"), Answer(text="Seen."), _look("the mast", "mast.txt"))


async def with_needles(world: SmallWindowWorld) -> ContextId:
    context_id = await world.start()
    await world.turn(context_id, "Look at the keel.")
    for needle in (name for heading, name in NEEDLES.items() if heading != "Facts"):
        await world.turn(context_id, needle)
    return context_id


async def compress_often(world: SmallWindowWorld, context_id: str, times: int) -> None:
    """Run turns until that many more automatic compressions."""
    wanted = len(world.compressions()) + times
    while len(world.compressions()) < wanted:
        await world.turn(context_id, f"hay {WORDS}")


async def next_window(world: SmallWindowWorld, context_id: str) -> str:
    """The messages of the next request, as they would be sent."""
    window = await world.runtime.window.read(context_id)
    texts = [message["content"] or "" for message in window.request["messages"] if message["role"] != "system"]
    return "\n".join(texts)


@pytest.mark.parametrize("strategy", ["intelligent", "importance"])
async def test_early_decisions_are_in_the_window_after_ten_compressions(
    tmp_path: Path, strategy: CompressionStrategy
) -> None:
    world = SmallWindowWorld(
        tmp_path, model=InstructedSummarizer(*LOOKS), budget=Budget(tokens=4000, strategy=strategy)
    )
    context_id = await with_needles(world)
    early = await world.ids(context_id)
    await compress_often(world, context_id, TIMES)
    window = await next_window(world, context_id)
    for heading, needle in NEEDLES.items():
        assert needle in window, heading
    if strategy == "intelligent":
        assert set(early).isdisjoint(await world.ids(context_id)), "they are told in the summary alone"
    assert "Files touched: keel.txt, mast.txt" in window
    assert any(summary.detail["files"] == ["keel.txt", "mast.txt"] for summary in await world.summaries(context_id))
    world.check_requests()


async def test_early_decisions_survive_a_failed_summary_in_between(tmp_path: Path) -> None:
    model = InstructedSummarizer(*LOOKS)
    world = SmallWindowWorld(tmp_path, model=model)
    context_id = await with_needles(world)
    await compress_often(world, context_id, 2)
    for _ in range(3):
        model.fails = True
        await compress_often(world, context_id, 1)
        (summary,) = await world.summaries(context_id)
        assert summary.detail["how"] == "truncated"
        window = await next_window(world, context_id)
        for heading, needle in NEEDLES.items():
            assert needle in window, heading
        assert "keel.txt" in window
        model.fails = False
        await compress_often(world, context_id, 1)
    window = await next_window(world, context_id)
    for heading, needle in NEEDLES.items():
        assert needle in window, heading


@pytest.mark.parametrize("strategy", ["recent_n", "intelligent", "importance"])
async def test_pins_and_touched_files_stay_in_the_window_without_a_model_summary(
    tmp_path: Path, strategy: CompressionStrategy
) -> None:
    model = InstructedSummarizer(*LOOKS)
    world = SmallWindowWorld(tmp_path, model=model, budget=Budget(tokens=4000, strategy=strategy))
    context_id = await with_needles(world)
    before = await world.messages(context_id)
    pinned = [message for message in before if getattr(message, "content", "") in NEEDLES.values()]
    assert len(pinned) == len(NEEDLES)
    for message in pinned:
        await world.runtime.compression.pin(context_id, message.id)
    model.fails = True
    await compress_often(world, context_id, TIMES)
    window = await next_window(world, context_id)
    for heading, needle in NEEDLES.items():
        assert needle in window, heading
    now = {message.id: message for message in await world.messages(context_id)}
    assert [now[message.id] for message in pinned] == pinned
    assert any("mast.txt" in summary.detail["files"] for summary in await world.summaries(context_id))
    assert "mast.txt" in window
    world.check_requests()


async def test_early_decisions_survive_manual_compressions_a_restart_and_a_smaller_model(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, model=InstructedSummarizer(*LOOKS), budget=Budget(tokens=6000))
    context_id = await with_needles(world)
    for _ in range(3):
        await world.fill(context_id)
        await world.runtime.compression.compress(context_id, focus="the boat")
    again = SmallWindowWorld(tmp_path, model=InstructedSummarizer(), store=world.dependencies.store, ids_from=10**6)
    again.set_budget(3000)
    await again.turn(context_id, MANY_WORDS)
    await compress_often(again, context_id, 3)
    window = await next_window(again, context_id)
    for heading, needle in NEEDLES.items():
        assert needle in window, heading
    assert isinstance((await again.runtime.contexts.get(context_id)).state, Idle)
    again.check_requests()


async def test_a_long_transcript_is_summarized_in_pieces_with_the_summary_so_far(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, model=InstructedSummarizer(*LOOKS), budget=Budget(tokens=60_000))
    context_id = await with_needles(world)
    for number in range(30):
        await world.turn(context_id, f"{number} {MANY_WORDS}")
    world.set_budget(4000)
    done = await world.runtime.compression.compress(context_id)
    requests = world.model.requests_for("summary")
    assert 1 < len(requests) <= 8
    for request in requests:
        assert len(msgspec.json.encode(text_of(request))) < 4000 * 5
    assert done.how == "model"
    window = await next_window(world, context_id)
    for heading, needle in NEEDLES.items():
        assert needle in window, heading
    assert len(requests) == 8 or not any("are left out here" in text_of(request) for request in requests)
    world.check_requests()
