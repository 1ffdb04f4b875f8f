"""The contents of a model request and their token counts, for a turn and for previews."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from pilothouse.domain.budgets import Meter
from pilothouse.domain.contexts import CONTINUABLE_ENDS
from pilothouse.domain.decisions import PolicySnapshot, verdict_of_modes
from pilothouse.domain.messages import Metadata
from pilothouse.domain.modes import Mode, Verdict
from pilothouse.domain.tool_offers import ToolDescription
from pilothouse.domain.value import MessageId
from pilothouse.llm.base import ModelMessage, ModelRequest, WireFormat
from pilothouse.runtime.authorization.policy_snapshot import current_snapshot
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.dependencies import ModelChoice
from pilothouse.runtime.request.last_input import read_last_input
from pilothouse.runtime.request.overview import overview_in_prompt
from pilothouse.window.history import History
from pilothouse.window.model_messages import attachment_messages, tokens_in
from pilothouse.window.prompt import OfferedTool, PromptPart, join_parts, persona_text, prompt_parts
from pilothouse.window.summary import fit_text

_MAX_TOOLS = 128  # providers refuse a request with more
_OVERVIEW_DIVISOR = 8
"""The overview in the prompt may take this fraction of the window."""


@dataclass(frozen=True)
class Outline:
    """All of a request except its history."""

    mode: Mode
    offers: tuple[ToolDescription, ...]
    """The tools that the mode offers."""
    prompt: tuple[PromptPart, ...]
    attached: tuple[ModelMessage, ...]
    """Attachments of the person's message."""

    @property
    def has_tools(self) -> bool:
        return bool(self.offers)


async def make_outline(live: LiveContext, branch: str) -> Outline:
    """The outline of a request now. Raises: InvalidInput for errors in a workspace's configuration files."""
    snapshot = current_snapshot(live)
    available = live.dependencies.registry.offered(snapshot, live.core.workspace)
    offers = available[:_MAX_TOOLS]
    metadata = await _turn_metadata(live)
    prompt = prompt_parts(
        snapshot.mode,
        _offered_tools(live, offers, snapshot),
        persona=persona_text(live.dependencies.persona_of(live.core)),
        ancestor_modes=[ancestor.mode for ancestor in snapshot.ancestors],
        workspace=live.core.workspace,
        left_out=len(available) - len(offers),
        addition=live.branches[branch].prompt_addition,
        overview=_bounded_overview(live, await overview_in_prompt(live, branch)),
        max_description_characters=live.dependencies.adapter.format.max_description_characters,
    )
    return Outline(mode=snapshot.mode, offers=offers, prompt=prompt, attached=tuple(attachment_messages(metadata)))


def _offered_tools(live: LiveContext, offers: Sequence[ToolDescription], snapshot: PolicySnapshot) -> list[OfferedTool]:
    tools = live.dependencies.registry.tools_in(live.core.workspace)
    offered_tools = []
    for offer in offers:
        tool = tools[offer.name]
        verdict = verdict_of_modes(offer.name, tool.effect, snapshot)
        reads_freely = verdict is not Verdict.ALLOW and getattr(tool, "effect_varies", False)
        reads_freely = reads_freely and verdict_of_modes(offer.name, "read_only", snapshot) is Verdict.ALLOW
        offered_tools.append(OfferedTool(offer, verdict, reads_freely))
    return offered_tools


async def make_system_prompt(live: LiveContext, branch: str) -> str:
    """The system prompt of a request now. Raises: InvalidInput for errors in a workspace's configuration files."""
    return join_parts((await make_outline(live, branch)).prompt)


async def _turn_metadata(live: LiveContext) -> Metadata:
    """The metadata of the message that opened the turn; empty for a message that the model must not see."""
    turn = live.core.turn
    message_id = turn.message_id if turn is not None else await _message_to_continue(live)
    if message_id is None:
        return Metadata()
    message = await live.history_cache.message(live, message_id)
    return message.metadata if message.metadata.held is None else Metadata()


async def _message_to_continue(live: LiveContext) -> MessageId | None:
    """The message whose turn `continue` would continue, if any."""
    if live.core.last_turn not in CONTINUABLE_ENDS:
        return None
    return (await read_last_input(live)).message_id


def _bounded_overview(live: LiveContext, overview: str | None) -> str | None:
    """The overview, shortened to its share of the window."""
    model = live.model()
    max_tokens = model.budget.tokens // _OVERVIEW_DIVISOR
    if overview is None or live.history_cache.count_tokens(overview, model.counter) <= max_tokens:
        return overview
    return fit_text(overview, model.counter, max_tokens)


class Counts(msgspec.Struct, frozen=True):
    """Tokens by our own count, without the correction by the provider's count."""

    prompt: tuple[int, ...]
    tools: int
    history: int
    attached: int

    @property
    def total(self) -> int:
        return sum(self.prompt) + self.tools + self.history + self.attached


def count_tokens(live: LiveContext, outline: Outline, history: History, model: ModelChoice) -> Counts:
    counter, cache = model.counter, live.history_cache
    return Counts(
        prompt=tuple(cache.count_tokens(part.text, counter) for part in outline.prompt),
        tools=cache.count_tokens(msgspec.json.encode(outline.offers).decode(), counter) if outline.offers else 0,
        history=history.tokens,
        attached=sum(tokens_in(message, counter) for message in outline.attached),
    )


def make_meter(model: ModelChoice, total: int) -> Meter:
    """The fill of the window. `total` is in tokens of our own count."""
    budget = model.budget
    return Meter(
        tokens=model.provider_tokens(total),
        budget=budget.tokens,
        trigger=budget.trigger_tokens,
        target=budget.target_tokens,
        counter=model.counter.name,
        is_estimate=model.counter.is_estimate and model.token_ratio == 1.0,
        auto_compress=budget.auto_compress,
    )


def build_request(
    model: ModelChoice,
    outline: Outline,
    wire_format: WireFormat,
    fragments: Sequence[bytes],
    attached: Sequence[ModelMessage] | None = None,
) -> ModelRequest:
    """The model request, in the format of its fragments. `attached` replaces the outline's attachments."""
    attachments = outline.attached if attached is None else attached
    messages = [*fragments, *(wire_format.encode(message) for message in attachments)] if attachments else fragments
    sampling = model.sampling
    if sampling.max_output_tokens is not None:  # an answer never gets more than the window leaves for it
        max_output_tokens = min(sampling.max_output_tokens, model.budget.output_tokens)
        sampling = msgspec.structs.replace(sampling, max_output_tokens=max_output_tokens)
    return ModelRequest(
        model=model.name,
        system=join_parts(outline.prompt),
        messages=messages,
        tools=outline.offers,
        sampling=sampling,
    )
