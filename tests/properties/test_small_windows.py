"""Any conversation with any window over 4,096 tokens gets its next answer, and every request fits."""

import asyncio
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pilothouse.domain.budgets import Budget
from pilothouse.domain.errors import Conflict
from pilothouse.domain.messages import Processing, Text, is_sent_to_model, is_state_notice
from pilothouse.domain.payloads import MessageAttachments
from pilothouse.llm.base import ModelRequest
from pilothouse.llm.script import Answer, ScriptedCall, ScriptedError
from pilothouse.testing import wire
from pilothouse.testing.tools import NoteArguments, NoteTool
from pilothouse.tools.base import ToolContext
from pilothouse.tools.builtin import builtin_tools
from pilothouse.window.tokens import Estimate
from tests.support.full_windows import Model, SmallWindowWorld
from tests.support.live_contexts import live_context
from tests.support.scale import LONG

MAX_PROMPT_TOKENS = 3000
_ALPHABETS = ("word ", "x", "码头灯火", "aB3/", "\n", '{}\\"', "  - item\n", "é")
_ENDS_OF_SUMMARIES = {
    "usual": Answer(text="In short."),
    "long": Answer(text="word " * 9000),
    "refused": Answer(error=ScriptedError(status=400)),
    "empty": Answer(),
}

lengths = st.one_of(st.integers(0, 300), st.integers(300, 20_000), st.integers(20_000, 120_000))
alphabets = st.sampled_from(_ALPHABETS)


class Round(NamedTuple):
    """Calls of one answer: how long each result and each call's own arguments are."""

    results: Sequence[int]
    arguments: int
    alphabet: str


class MessageStep(NamedTuple):
    """A person's message, its attachments, and the rounds before its answer."""

    length: int
    alphabet: str
    attached: int
    rounds: Sequence[Round]
    answer: int


rounds = st.builds(
    Round, st.lists(lengths, min_size=1, max_size=50), st.one_of(st.just(0), st.just(0), lengths), alphabets
)
says = st.builds(
    MessageStep,
    lengths,
    alphabets,
    st.one_of(st.just(0), st.just(0), lengths),
    st.one_of(st.just([]), st.lists(rounds, max_size=6)),
    lengths,
)
acts = st.one_of(
    says,
    says,
    says,
    st.sampled_from(["compress", "undo", "ask", "agent"]),
    st.tuples(st.just("pin"), st.integers(0, 100)),
    st.just("pin all"),
)


class VerboseTool(NoteTool):
    """Gives results of the length that its call names."""

    def __init__(self) -> None:
        super().__init__("look", "read_only")

    async def run(self, arguments: NoteArguments, job: ToolContext) -> str:
        length, _, alphabet, _ = arguments.text.split("|", 3)
        return _text(int(length), _ALPHABETS[int(alphabet)])


def _text(length: int, alphabet: str) -> str:
    return (alphabet * (length // len(alphabet) + 1))[:length]


def _answers(step: MessageStep) -> list[Answer]:
    answers = [
        Answer(
            calls=tuple(
                ScriptedCall(
                    tool="look",
                    arguments={
                        "text": f"{size}|{number}.{place}|{_ALPHABETS.index(each.alphabet)}|"
                        + _text(each.arguments, each.alphabet)
                    },
                )
                for place, size in enumerate(each.results)
            )
        )
        for number, each in enumerate(step.rounds)
    ]
    return [*answers, Answer(text="Answer. " + _text(step.answer, step.alphabet))]


class BuiltinToolsWorld(SmallWindowWorld):
    """A world with the tools that come with the runtime, and a small window."""

    def __init__(self, workspace: Path, budget: Budget, summaries: str) -> None:
        tools = [*builtin_tools(), VerboseTool()]
        model = Model(summary=[_ENDS_OF_SUMMARIES[summaries]] * 500)
        super().__init__(workspace, model=model, budget=budget, tools=tools)

    async def act(self, context_id: str, act: Any) -> None:
        match act:
            case MessageStep():
                await self._say(context_id, act)
            case "compress":
                with suppress(Conflict):
                    preview = await self.runtime.compression.preview(context_id)
                    done = await self.runtime.compression.compress(context_id)
                    assert done.messages == preview.messages
            case "undo":
                with suppress(Conflict):
                    await self.runtime.compression.undo(context_id)
            case "ask" | "agent":
                await self.runtime.modes.switch(context_id, act)
            case "pin all" | ("pin", _):
                await self._pin(context_id, act)

    async def _say(self, context_id: str, step: MessageStep) -> None:
        live = await live_context(self.runtime, context_id)
        self.model.answers_next(*(_answers(step) if live.core.mode == "agent" else _answers(step)[-1:]))
        extra = ("More. " + _text(step.attached, step.alphabet),) if step.attached else ()
        text = "Please look. " + _text(step.length, step.alphabet)
        await self.turn(context_id, text, attached=MessageAttachments(extra_user_messages=extra))
        assert live.core.last_turn == "complete", (await self.messages(context_id))[-1]
        last = (await self.messages(context_id))[-1]
        assert isinstance(last, Text)
        assert last.role == "assistant"

    async def _pin(self, context_id: str, act: Any) -> None:
        ids = [
            message.id
            for message in await self.messages(context_id)
            if is_sent_to_model(message) and not is_state_notice(message)
        ]
        chosen = ids[:50] if act == "pin all" else ids[act[1] % len(ids) :][:1] if ids else []
        for message_id in chosen:
            with suppress(Conflict):
                await self.runtime.compression.pin(context_id, message_id)

    async def check(self, context_id: str, budget: Budget) -> None:
        for request in self.model.requests:
            wire.check(msgspec.json.decode(self.model.format.body(request)))
            limit = budget.tokens if request.purpose == "summary" else budget.request_tokens
            assert counted(request) <= limit + 20, "what joins the parts of the prompt is not counted"
        for message in await self.messages(context_id):
            if isinstance(message, Processing):
                assert message.detail["params"]["count"] > 0
        self.model.requests.clear()


def counted(request: ModelRequest) -> int:
    """A request by our own count."""
    count = Estimate().count
    total = count(request.system)
    total += count(msgspec.json.encode(request.tools).decode()) if request.tools else 0
    for fragment in request.messages:
        message = msgspec.json.decode(fragment)
        total += count(message["content"] or "") + 4
        for call in message.get("tool_calls", ()):
            total += count(call["function"]["name"]) + count(call["function"]["arguments"]) + 8
    return total


@settings(
    max_examples=600 if LONG else 12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    window=st.integers(4097, 20_000),
    strategy=st.sampled_from(["recent_n", "intelligent", "importance"]),
    auto=st.booleans(),
    recent=st.integers(1, 20),
    summaries=st.sampled_from(sorted(_ENDS_OF_SUMMARIES)),
    acted=st.lists(acts, min_size=1, max_size=12),
)
def test_any_conversation_with_any_window_over_4096_tokens_gets_its_next_answer(
    window: int, strategy: str, auto: bool, recent: int, summaries: str, acted: list[Any]
) -> None:
    given_budget = {"tokens": window, "strategy": strategy, "auto_compress": auto, "recent": recent}
    budget = msgspec.convert(given_budget, Budget)

    async def play() -> None:
        with tempfile.TemporaryDirectory() as folder:
            world = BuiltinToolsWorld(Path(folder), budget, summaries)
            context_id = await world.start()
            for act in [*acted, MessageStep(20, "word ", 0, (), 20)]:
                await world.act(context_id, act)
                await world.check(context_id, budget)
            await world.runtime.close()

    asyncio.run(play())


async def test_the_prompt_and_the_tools_that_come_with_the_runtime_leave_room_in_a_small_window(tmp_path: Path) -> None:
    world = BuiltinToolsWorld(tmp_path, Budget(tokens=4097), "usual")
    meter = await world.runtime.window.meter(await world.start())
    assert meter.tokens <= MAX_PROMPT_TOKENS
