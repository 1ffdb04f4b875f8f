"""Compression: before the loop, in a round, on request; undone; pinned; when the summary fails; and never for ever."""

from pathlib import Path
from typing import Any

from pilothouse.domain.budgets import Budget
from pilothouse.domain.messages import Message, SystemControl
from pilothouse.llm.script import Answer, Script
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.testing.world import World

BUDGET = Budget(tokens=2000)
LONG = "The quick brown fox jumps over the lazy dog. " * 8  # about 90 tokens


def world(path: Path, *answers: Answer, summaries: Any = (), budget: Budget = BUDGET, **options: Any) -> World:
    model = ScriptedAdapter(Script(turn=answers, summary=tuple(summaries)))
    made = World(path, adapter=model, budget=budget, **options)
    made.model = model
    return made


async def say(made: World, context_id: str, count: int) -> None:
    for number in range(count):
        await made.turn(context_id, f"{number}: {LONG}")


async def branch(made: World, context_id: str, name: str = "main") -> list[Message]:
    return await made.runtime.read_messages(context_id, branch=name, limit=10_000)


def summaries_on(messages: list[Message]) -> list[SystemControl]:
    return [each for each in messages if isinstance(each, SystemControl) and each.kind == "summary"]


async def test_a_turn_that_would_be_too_long_compresses_what_came_before_it(tmp_path: Path) -> None:
    made = world(tmp_path, *[Answer(text=LONG)] * 12, summaries=[Answer(text="They spoke of a fox.")])
    context_id = await made.start()
    await say(made, context_id, 8)
    before = await branch(made, context_id)
    made.entered.clear()
    await say(made, context_id, 1)
    assert "compressing_messages" in made.states
    assert made.states.index("compressing_messages") < made.states.index("generating_summary")
    assert made.states.index("generating_summary") < made.states.index("preparing_llm_request")
    after = await branch(made, context_id)
    (summary,) = summaries_on(after)
    assert after[0] == summary
    assert "They spoke of a fox." in summary.content
    assert after[1:-2] == before[-(len(after) - 3) :]
    assert (await branch(made, context_id, "main-original-2")) == [*before, after[-2]]
    request = made.model.requests[-1]
    assert sum(made.parts.catalogue is not None and 1 for _ in request.messages) == len(after) - 1
