"""Preview of the window: the contents and token counts of the next request, without sending the request."""

from typing import Any

import msgspec

from pilothouse.domain.budgets import Meter
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import NotFound
from pilothouse.domain.value import Value
from pilothouse.runtime.commands.command_group import CommandGroup
from pilothouse.runtime.compression.branch import due_plan
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.dependencies import ModelChoice
from pilothouse.runtime.request.builder import (
    Counts,
    Outline,
    count_tokens,
    make_meter,
    make_outline,
)
from pilothouse.runtime.request.truncation import fit_request


class WindowPart(Value, kw_only=True, omit_defaults=False):
    name: str
    tokens: int
    text: str | None = None
    """The text of a part of the prompt; None for tools, history and attachments, which are in the request."""


class Window(Value, kw_only=True, omit_defaults=False):
    """The contents of the next request."""

    model: str
    branch: str
    meter: Meter
    parts: tuple[WindowPart, ...]
    compresses: bool
    """Whether a compression precedes the request."""
    results_cut: int
    """Results that are shortened so that the request fits."""
    messages_shortened: int
    """Other messages that are shortened."""
    messages_left_out: int
    """Messages that are omitted."""
    tokens_cut: int
    """Tokens that shortening and omitting save."""
    request: Any
    """The exact body of the request."""


class WindowCommands(CommandGroup):
    """The contents of the next request to the model, and how full the context window is."""

    @property
    def auto_compresses(self) -> bool:
        """Whether a full window is compressed without being asked."""
        return self._pool.dependencies.budget.auto_compress

    async def read(self, context_id: str) -> Window:
        """The contents of the next request, if it were sent now. Raises: NotFound, InvalidInput, StoreError."""
        live = await self._pool.find(context_id)
        branch, outline = await _branch_and_outline(live)
        wire_format, model = live.dependencies.adapter.format, live.model()
        history = await live.history_cache.history(
            live, branch, model, with_tools=outline.has_tools, wire_format=wire_format
        )
        fitted = await fit_request(live, branch, outline, history, model)
        return Window(
            model=fitted.request.model,
            branch=branch,
            meter=make_meter(model, fitted.counts.total),
            parts=tuple(_parts(model, outline, fitted.counts)),
            compresses=await due_plan(live, branch, history, fitted.counts.total, model) is not None,
            results_cut=fitted.truncation.results,
            messages_shortened=fitted.truncation.messages,
            messages_left_out=fitted.truncation.left_out,
            tokens_cut=model.provider_tokens(fitted.truncation.tokens),
            request=msgspec.json.decode(wire_format.body(fitted.request)),
        )

    async def meter(self, context_id: str) -> Meter:
        """The fill of the window, which decides when the history is compressed.

        Raises: NotFound, InvalidInput, StoreError.
        """
        live = await self._pool.find(context_id)
        branch, outline = await _branch_and_outline(live)
        model = live.model()
        history = await live.history_cache.history(live, branch, model, with_tools=outline.has_tools)
        return make_meter(model, count_tokens(live, outline, history, model).total)


async def _branch_and_outline(live: LiveContext) -> tuple[str, Outline]:
    branch = live.core.turn.branch if live.core.turn is not None else live.core.active_branch
    if branch not in live.branches:
        raise NotFound(Code.UNKNOWN_BRANCH, branch=branch, allowed=", ".join(live.branches))
    return branch, await make_outline(live, branch)


def _parts(model: ModelChoice, outline: Outline, counts: Counts) -> list[WindowPart]:
    texts = [
        WindowPart(name=part.name, tokens=model.provider_tokens(tokens), text=part.text)
        for part, tokens in zip(outline.prompt, counts.prompt, strict=True)
    ]
    rest = {"tool_definitions": counts.tools, "history": counts.history, "attached": counts.attached}
    return texts + [WindowPart(name=name, tokens=model.provider_tokens(tokens)) for name, tokens in rest.items()]
