"""Small windows that fill quickly: a model that never runs out of answers, and conversations on the brink."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from pilothouse.domain.budgets import Budget
from pilothouse.domain.contexts import Change
from pilothouse.domain.errors import ModelRefused
from pilothouse.domain.messages import Message, SystemControl, Usage
from pilothouse.domain.value import ContextId
from pilothouse.llm.base import ModelEvent, ModelRequest, Purpose
from pilothouse.llm.script import Answer, Player, Script, ScriptedCall
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.request.builder import count_tokens, make_outline
from pilothouse.testing.world import World
from tests.support.valid_requests import assert_valid_request

SMALL = Budget(tokens=3000)
ROOMY = Budget(tokens=6000)  # here the last messages alone are less than the target
WORDS = "word " * 70  # about eighty tokens
MANY_WORDS = "word " * 400  # about four hundred and fifty


async def own_count(live: LiveContext) -> int:
    """The tokens of a turn's present request by our own count."""
    branch = live.core.active_branch
    outline = await make_outline(live, branch)
    history = await live.history_cache.history(live, branch, live.model(), with_tools=outline.has_tools)
    return count_tokens(live, outline, history, live.model()).total


class _Endless(Player):
    """Plays the script, then the default answers."""

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self._count = 0

    def answer(self, purpose: Purpose) -> Answer:
        try:
            return super().answer(purpose)
        except ModelRefused:
            self._count += 1
            return Answer(text=f"{purpose} {self._count} {WORDS if purpose == 'turn' else ''}")


class Model(ScriptedAdapter):
    """`hold` makes summary requests set `requested` and wait for `release`. `reports` is the number of
    tokens that the provider counts for a request of a turn."""

    def __init__(self, turn: Sequence[Answer] = (), summary: Sequence[Answer] = ()) -> None:
        super().__init__(Script())
        self._player = _Endless(Script(turn=tuple(turn), summary=tuple(summary)))
        self.hold = False
        self.requested, self.release = asyncio.Event(), asyncio.Event()
        self.reports: Callable[[], Awaitable[int]] | None = None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        if self.hold and request.purpose == "summary":
            self.requested.set()
            await self.release.wait()
        async with aclosing(super().stream(request)) as events:
            async for event in events:
                yield event
        if self.reports is not None and request.purpose == "turn":
            usage = Usage(input_tokens=await self.reports(), output_tokens=1)
            for event in Answer(usage=usage).events():
                yield event

    def answers_next(self, *turn: Answer, summary: Sequence[Answer] = ()) -> None:
        """Set the next answers, before the default ones."""
        self._player = _Endless(Script(turn=turn, summary=tuple(summary)))

    def requests_for(self, purpose: Purpose) -> list[ModelRequest]:
        return [request for request in self.requests if request.purpose == purpose]


class SmallWindowWorld(World):
    """A world with a small window. `changes` are its commits."""

    model: Model

    def __init__(
        self,
        workspace: Path,
        *answers: Answer,
        summaries: Sequence[Answer] = (),
        model: Model | None = None,
        budget: Budget = SMALL,
        **options: Any,
    ) -> None:
        self.changes: list[Change] = []
        used_model = model or Model(answers, summaries)
        options.setdefault("trace_change", lambda _, change: self.changes.append(change))
        super().__init__(workspace, adapter=used_model, budget=budget, **options)
        self.model = used_model

    async def ids(self, context_id: ContextId, branch: str = "main") -> list[str]:
        return list(await self.dependencies.store.branch_ids(context_id, branch))

    async def messages(self, context_id: str, branch: str | None = None) -> list[Message]:
        return await self.runtime.messages.read(context_id, branch=branch, limit=10**6)

    async def summaries(self, context_id: str, branch: str | None = None) -> list[SystemControl]:
        """The summaries on a branch."""
        messages = await self.messages(context_id, branch)
        return [each for each in messages if isinstance(each, SystemControl) and each.kind == "summary"]

    async def fill(self, context_id: str) -> None:
        """Turns, until a message of many words is too much for the window."""
        while (meter := await self.runtime.window.meter(context_id)).tokens + 300 < meter.trigger:
            await self.turn(context_id, f"question {len(self.model.requests)} {WORDS}")

    async def filled(self, mode: str = "agent") -> ContextId:
        context_id = await self.start(mode)
        await self.fill(context_id)
        self.entered.clear()
        self.changes.clear()
        return context_id

    async def compressed(self) -> ContextId:
        """A context after an automatic compression."""
        context_id = await self.filled()
        await self.turn(context_id, f"and then {MANY_WORDS}")
        assert len(await self.summaries(context_id)) == 1
        self.entered.clear()
        self.changes.clear()
        return context_id

    def set_budget(self, tokens: int) -> None:
        """Change the budget, as the choice of a larger or a smaller model does."""
        object.__setattr__(self.dependencies, "token_budget", tokens)

    def trace(self) -> list[str]:
        """The states, each stay in one of them once."""
        return [name for name, _ in groupby(self.states)]

    def compressions(self) -> list[Change]:
        return [change for change in self.changes if change.renamed]

    def check_requests(self) -> None:
        for request in self.model.requests:
            assert_valid_request(request)


def text_of(request: ModelRequest) -> str:
    """The whole text of a request, without the system prompt."""
    return "\n".join(str(msgspec.json.decode(message).get("content")) for message in request.messages)


def look_calls(*texts: str) -> Answer:
    return Answer(calls=tuple(ScriptedCall(tool="look", arguments={"text": text}) for text in texts))
