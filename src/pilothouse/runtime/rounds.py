"""A round before it is sent: what the request holds, and how much that is, for a turn and for who only looks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from pilothouse.domain.budgets import Meter
from pilothouse.domain.contexts import CONTINUABLE
from pilothouse.domain.messages import Message, Metadata
from pilothouse.domain.modes import Mode
from pilothouse.domain.offers import ToolOffer
from pilothouse.domain.values import MessageId
from pilothouse.llm.base import ModelMessage, ModelRequest
from pilothouse.runtime.live import Live
from pilothouse.runtime.overviews import newest_overview
from pilothouse.runtime.standing import standing_of
from pilothouse.runtime.windows import Loading, token_ratio
from pilothouse.window.history import History
from pilothouse.window.persona import persona_text
from pilothouse.window.prompt import PromptPart, joined, prompt_parts
from pilothouse.window.summary import fit_text
from pilothouse.window.telling import attached as attached_to
from pilothouse.window.telling import tokens_in

_TOOLS_AT_MOST = 128  # servers refuse a request with more
_OPEN_FILES = 20
# Of a small window, no more than these parts are spent on what the workspace is like.
_OVERVIEW_DIVISOR = 8
_OPEN_FILES_DIVISOR = 16
_LOOKED_BACK = 2000
_PATH_SHOWN = 300


@dataclass(frozen=True)
class Outline:
    """All of a request but its history: the mode of this instant, the tools that it offers, the prompt, and what came
    with the person's message."""

    mode: Mode
    offers: tuple[ToolOffer, ...]
    prompt: tuple[PromptPart, ...]
    attached: tuple[ModelMessage, ...]


async def outline(live: Live, branch: str) -> Outline:
    """What holds now. Raises: InvalidInput where a folder's files are wrong."""
    standing = standing_of(live)
    known = live.parts.registry.offered(standing, live.core.workspace)
    offers = known[:_TOOLS_AT_MOST]
    came_with = await _came_with(live)
    prompt = prompt_parts(
        standing.mode,
        offers,
        persona=persona_text(live.persona),
        above=[each.mode for each in standing.above],
        workspace=live.core.workspace,
        left_out=len(known) - len(offers),
        addition=live.branches[branch].prompt_addition,
        overview=_bounded(live, await newest_overview(live)),
        open_files=_open_files(came_with, live),
    )
    return Outline(mode=standing.mode, offers=offers, prompt=prompt, attached=tuple(attached_to(came_with)))


async def _came_with(live: Live) -> Metadata:
    """Of the message that opened the turn; what is kept from the model keeps what came with it."""
    turn = live.core.turn
    message_id = turn.message_id if turn is not None else await _would_continue(live)
    if message_id is None:
        return Metadata()
    (message,) = await live.parts.store.messages(live.id, [message_id])
    return message.metadata if message.metadata.held is None else Metadata()


async def _would_continue(live: Live) -> MessageId | None:
    """The message that `continue` would go on with, if there is anything to continue."""
    if live.core.last_turn not in CONTINUABLE:
        return None
    return (await said_last(live)).message_id


class SaidLast(NamedTuple):
    """What the person said last on the active branch: where it begins, its first message, and all since `first`."""

    start: int
    message_id: MessageId | None
    recent: list[Message]


async def said_last(live: Live) -> SaidLast:
    branch = live.branches[live.core.active_branch]
    first = max(0, branch.length - _LOOKED_BACK)
    ids = await live.parts.store.branch_ids(live.id, branch.name, first, branch.length)
    recent = await live.parts.store.messages(live.id, ids)
    said = [at for at, message in enumerate(recent) if message.role == "user" and message.metadata.turn is not None]
    begun = next((at for at in said if recent[at].metadata.turn == recent[said[-1]].metadata.turn), 0)
    return SaidLast(first + begun, recent[begun].id if said else None, recent)


def _bounded(live: Live, overview: str | None) -> str | None:
    """The overview, shortened where it would fill a small window."""
    most = live.budget.tokens // _OVERVIEW_DIVISOR
    if overview is None or live.windows.count(overview, live.counter) <= most:
        return overview
    return fit_text(overview, live.counter, most)


def _open_files(metadata: Metadata, live: Live) -> list[str]:
    named = metadata.extra.get("open_files")
    files = [each for each in named if isinstance(each, str)] if isinstance(named, list | tuple) else []
    shown: list[str] = []
    room = live.budget.tokens // _OPEN_FILES_DIVISOR
    for file in files[:_OPEN_FILES]:
        name = "".join(sign if sign.isprintable() else "?" for sign in file[:_PATH_SHOWN])
        room -= live.windows.count(name, live.counter)
        if room < 0:
            break
        shown.append(name)
    more = [f"… and {len(files) - len(shown)} more"] if len(files) > len(shown) else []
    return shown + more


class Counts(msgspec.Struct, frozen=True):
    """Tokens as we count them, before the provider's own count corrects them."""

    prompt: tuple[int, ...]
    tools: int
    history: int
    attached: int

    @property
    def total(self) -> int:
        return sum(self.prompt) + self.tools + self.history + self.attached


def count(live: Live, made: Outline, history: History) -> Counts:
    counter, windows = live.counter, live.windows
    return Counts(
        prompt=tuple(windows.count(part.text, counter) for part in made.prompt),
        tools=windows.count(msgspec.json.encode(made.offers).decode(), counter) if made.offers else 0,
        history=history.tokens,
        attached=sum(tokens_in(message, counter) for message in made.attached),
    )


def meter(live: Live, total: int) -> Meter:
    """`total` is as we count it."""
    budget = live.budget
    return Meter(
        tokens=corrected(live, total),
        budget=budget.tokens,
        trigger=budget.trigger_tokens,
        target=budget.target_tokens,
        counter=live.counter.name,
        is_estimate=live.counter.is_estimate and token_ratio(live) == 1.0,
        auto_compress=budget.auto_compress,
    )


def corrected(live: Live, tokens: int) -> int:
    return round(tokens * token_ratio(live))


async def load(live: Live, branch: str, made: Outline, loading: Loading | None = None) -> History:
    return await live.windows.history(live, branch, with_tools=bool(made.offers), loading=loading)


def request_of(
    live: Live, made: Outline, fragments: Sequence[bytes], attached: Sequence[ModelMessage] | None = None
) -> ModelRequest:
    """`attached` stands in the place of what the outline has of it."""
    encode, last = live.parts.adapter.encode, made.attached if attached is None else attached
    messages = [*fragments, *(encode(message) for message in last)] if last else fragments
    return ModelRequest(model=live.model, system=joined(made.prompt), messages=messages, tools=made.offers)
