"""Looking at a window without sending it: what the next request would hold, and how full that is."""

from typing import Any

import msgspec

from pilothouse.domain.budgets import Meter
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import NotFound
from pilothouse.domain.values import Value
from pilothouse.runtime.compressing import due_plan
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.live import Live
from pilothouse.runtime.rounds import Counts, Outline, corrected, count, load, meter, outline
from pilothouse.runtime.truncation import fitted


class WindowPart(Value, kw_only=True, omit_defaults=False):
    """`text` is that of a part of the prompt; tools, history and what was attached stand in the request."""

    name: str
    tokens: int
    text: str | None = None


class Window(Value, kw_only=True, omit_defaults=False):
    """What the next request would carry."""

    model: str
    branch: str
    meter: Meter
    parts: tuple[WindowPart, ...]
    compresses: bool
    """Whether a compression comes before it."""
    results_cut: int
    """Results that are sent shortened, since otherwise the request would not fit."""
    messages_shortened: int
    """Other messages that are sent shortened."""
    messages_left_out: int
    """Messages that are not sent."""
    tokens_cut: int
    """What all this saves."""
    request: Any
    """Exactly what would be sent."""


async def read_window(contexts: Contexts, context_id: str) -> Window:
    """What the next request would carry, if it were sent now. Raises: NotFound, InvalidInput, StoreError."""
    live = await contexts.find(context_id)
    branch, made = await _outlined(live)
    history = await load(live, branch, made)
    found = await fitted(live, branch, made, history)
    return Window(
        model=live.model,
        branch=branch,
        meter=meter(live, found.counts.total),
        parts=tuple(_parts(live, made, found.counts)),
        compresses=await due_plan(live, branch, history, found.counts.total) is not None,
        results_cut=found.truncation.results,
        messages_shortened=found.truncation.messages,
        messages_left_out=found.truncation.left_out,
        tokens_cut=corrected(live, found.truncation.tokens),
        request=msgspec.json.decode(live.parts.adapter.body(found.request)),
    )


async def read_meter(contexts: Contexts, context_id: str) -> Meter:
    """The figure that decides when the history is compressed. Raises: NotFound, InvalidInput, StoreError."""
    live = await contexts.find(context_id)
    branch, made = await _outlined(live)
    return meter(live, count(live, made, await load(live, branch, made)).total)


async def _outlined(live: Live) -> tuple[str, Outline]:
    branch = live.core.turn.branch if live.core.turn is not None else live.core.active_branch
    if branch not in live.branches:
        raise NotFound(Code.UNKNOWN_BRANCH, branch=branch, allowed=", ".join(live.branches))
    return branch, await outline(live, branch)


def _parts(live: Live, made: Outline, counts: Counts) -> list[WindowPart]:
    texts = [
        WindowPart(name=part.name, tokens=corrected(live, tokens), text=part.text)
        for part, tokens in zip(made.prompt, counts.prompt, strict=True)
    ]
    rest = {"tool_definitions": counts.tools, "history": counts.history, "attached": counts.attached}
    return texts + [WindowPart(name=name, tokens=corrected(live, tokens)) for name, tokens in rest.items()]
