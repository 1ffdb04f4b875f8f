"""Compressing a branch: what would go, how it is told in short, and the one commit that moves the branch onto it.

The originals stay: in the pool, and on a branch of their own, which takes over the old list as it is.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from pilothouse.domain.branches import Branch, Compressed, merged_from, next_name
from pilothouse.domain.budgets import Budget
from pilothouse.domain.codes import Reason
from pilothouse.domain.contexts import OpenTurn
from pilothouse.domain.messages import Message, Metadata, SystemControl, Usage
from pilothouse.domain.states import Idle, SavingContext, State
from pilothouse.domain.values import MessageId, Value
from pilothouse.runtime.draft import Draft
from pilothouse.runtime.live import Live
from pilothouse.runtime.rounds import said_last
from pilothouse.runtime.summarising import How, Summary, own_budget, tell_in_short
from pilothouse.runtime.windows import token_ratio
from pilothouse.window.compression import Plan, plan, summary_tokens, with_pins
from pilothouse.window.history import Block, History
from pilothouse.window.telling import tokens_of

_AT_ONCE = 500


class Compression(Value, kw_only=True, omit_defaults=False):
    """What a compression did, or would do: how many messages go and stay, what the window counts before and after.
    Before it is done, `tokens_after` takes the summary to be as long as it may be."""

    branch: str
    strategy: str
    messages: int
    messages_kept: int
    pinned: int
    tokens_before: int
    tokens_after: int
    tokens_saved: int
    summary_id: MessageId | None = None
    original: str | None = None
    how: How | None = None
    why: Reason | None = None


async def due_plan(live: Live, name: str, history: History, total: int, *, must_shorten: bool = False) -> Plan | None:
    """What a compression would take by itself now; None where none is due, or it would help nothing. `must_shorten`
    says that the provider would not take it as it is."""
    branch, budget = live.branches[name], live.budget
    limit = budget.request_tokens if branch.keeps_whole else budget.trigger_tokens
    if not budget.auto_compress or not (must_shorten or round(total * token_ratio(live)) > limit):
        return None
    budget = own_budget(live)
    recents = (0,) if must_shorten else _recents(budget.recent, least=0)
    return await _first_that_fits(live, branch, history, total, budget, recents, as_far_as_possible=must_shorten)


async def requested_plan(live: Live, name: str, history: History, total: int) -> Plan | None:
    """What a compression that a person asks for would take now: down to the target; where that is reached already, as
    far as the recent messages allow. None where it would help nothing."""
    branch, budget = live.branches[name], own_budget(live)
    recents = _recents(budget.recent, least=1) if total > budget.trigger_tokens else (budget.recent,)
    far = total <= budget.target_tokens
    return await _first_that_fits(live, branch, history, total, budget, recents, as_far_as_possible=far)


def _recents(recent: int, *, least: int) -> tuple[int, ...]:
    """How many recent messages to keep: all that the budget says, then ever fewer."""
    return (recent, *_recents(recent // 2, least=least)) if recent > least else (least,)


async def _first_that_fits(
    live: Live,
    branch: Branch,
    history: History,
    total: int,
    budget: Budget,
    recents: Sequence[int],
    *,
    as_far_as_possible: bool,
) -> Plan | None:
    """The plan that keeps the most recent messages and leaves the request below the trigger; where none does, the one
    that takes the most. `total` is all that the request counts, by our own count; so is the budget."""
    blocks, length = list(history.blocks()), history.length
    turn, pinned = live.core.turn, await pinned_positions(live, branch)
    if turn is None and (said := await said_last(live)).message_id is not None:
        pinned.append(said.start)  # what the person asked last is not told in short
    is_scored = budget.strategy == "importance" and not as_far_as_possible
    score = await _importance(live, branch, blocks) if is_scored else None
    found: Plan | None = None
    for recent in recents:
        made = plan(
            blocks,
            length,
            msgspec.structs.replace(budget, recent=recent),
            total=total,
            turn_start=turn.start if turn is not None else None,
            pinned=pinned,
            as_much_as_possible=as_far_as_possible,
            importance=score,
        )
        found = made or found
        if made is not None:
            after = total - made.tokens + summary_tokens(made.tokens, made.earlier, budget)
            if after <= budget.trigger_tokens:
                break
    return found


async def pinned_positions(live: Live, branch: Branch) -> list[int]:
    if not live.core.pins:
        return []
    pins = set(live.core.pins)
    ids = await live.parts.store.branch_ids(live.id, branch.name)
    return [at for at, message_id in enumerate(ids) if message_id in pins]


async def _importance(live: Live, branch: Branch, blocks: Sequence[Block]) -> Callable[[Block], float]:
    messages = await read(live, branch, [(0, branch.length)])
    starts = [block.start for block in blocks[1:]] + ([branch.length] if blocks else [])
    scores = {
        block.start: max(map(live.parts.importance, messages[block.start : end]), default=0.0)
        for block, end in zip(blocks, starts, strict=True)
    }
    return lambda block: scores[block.start]


async def read(live: Live, branch: Branch, stretches: Sequence[tuple[int, int]]) -> list[Message]:
    """Some at a time: a long branch must not hold up a cancel."""
    found: list[Message] = []
    for first, end in stretches:
        for start in range(first, end, _AT_ONCE):
            ids = await live.parts.store.branch_ids(live.id, branch.name, start, min(end, start + _AT_ONCE))
            found += await live.parts.store.messages(live.id, ids)
    return found


def outcome(live: Live, branch: Branch, made: Plan, total: int, summary: int) -> Compression:
    """What it does to the window, in figures: `total` counts what is there now, `summary` what will stand for it."""
    ratio = token_ratio(live)
    before, after = round(total * ratio), round((total - made.tokens + summary) * ratio)
    return Compression(
        branch=branch.name,
        strategy=made.strategy,
        messages=made.messages,
        messages_kept=branch.length - made.messages,
        pinned=sum(end - start for start, end in made.kept),
        tokens_before=before,
        tokens_after=after,
        tokens_saved=before - after,
    )


async def compress_branch(
    live: Live,
    name: str,
    made: Plan,
    total: int,
    *,
    enter: Callable[[State], None],
    by: str,
    focus: str | None = None,
    between_turns: bool = False,
    told: Callable[[Compression], None] = lambda _: None,
) -> None:
    """All of it but the planning, with one commit at its end, with which `told` gets to know what was done.

    Raises: StoreError; then nothing has changed.
    """
    messages = await read(live, live.branches[name], made.goes())
    summary = await tell_in_short(live, messages, made, enter, focus)
    async with live.lock:
        branch, draft = live.branches[name], live.draft()
        made = await _with_new_pins(live, branch, made)
        figures = outcome(live, branch, made, total, tokens_of(_message(live, summary), live.counter))
        done = await _put(live, draft, branch, made, summary, figures, by)
        _add_usage(draft, summary.usage)
        if between_turns:
            enter(SavingContext())
        await live.commit(draft, Idle() if between_turns else None, then=lambda: told(done))


async def _with_new_pins(live: Live, branch: Branch, made: Plan) -> Plan:
    """What was pinned while the summary was made stays too."""
    pinned = await pinned_positions(live, branch)
    history = await live.windows.history(live, branch.name, with_tools=True) if pinned else None
    return made if history is None else with_pins(made, history.blocks(), pinned)


def _add_usage(draft: Draft, used: Usage) -> None:
    draft.core["usage"] = draft.value("usage").plus(used)
    turn: OpenTurn | None = draft.value("turn")
    if turn is not None:
        draft.core["turn"] = msgspec.structs.replace(turn, usage=turn.usage.plus(used))


async def _put(
    live: Live, draft: Draft, branch: Branch, made: Plan, summary: Summary, told: Compression, by: str
) -> Compression:
    """Move a branch onto its summary. What was appended meanwhile stays behind it."""
    ids = await live.parts.store.branch_ids(live.id, branch.name)
    kept = [message_id for start, end in made.kept for message_id in ids[start:end]]
    original = _name_for_original(live, branch)
    message = _message(live, summary, _detail(summary, told, original, by))
    after = [message.id, *kept, *ids[made.cut :]]
    shift = len(kept) + 1 - made.cut
    draft.messages.append(message)
    draft.renamed[branch.name] = original
    draft.branches[original] = msgspec.structs.replace(branch, name=original, original_of=branch.name)
    draft.branches[branch.name] = msgspec.structs.replace(
        branch,
        key=live.parts.ambient.new_id(),
        length=0,
        merged=merged_from(branch, made.cut, shift),
        compressed=Compressed(
            original=original, length=len(ids), kept=len(after), head=len(kept) + 1, summary_id=message.id
        ),
        keeps_whole=False,
    )
    draft.appended[branch.name] = [*after, *draft.appended.get(branch.name, ())]
    for other in live.branches.values():
        if other.compressed is not None and other.compressed.original == branch.name:  # it moves with its list
            moved = msgspec.structs.replace(other.compressed, original=original)
            draft.branches[other.name] = msgspec.structs.replace(other, compressed=moved)
    turn: OpenTurn | None = draft.value("turn")
    if turn is not None and turn.branch == branch.name:
        draft.core["turn"] = msgspec.structs.replace(turn, start=max(0, turn.start + shift))
    draft.note("history_compressed", by, branch=branch.name, original=original, messages=told.messages, how=summary.how)
    done: Compression = msgspec.structs.replace(
        told, summary_id=message.id, original=original, how=summary.how, why=summary.why
    )
    return done


def _name_for_original(live: Live, branch: Branch) -> str:
    named = {each.compressed.original for each in live.branches.values() if each.compressed}  # perhaps deleted since
    taken = {*live.branches, *named}
    plain = f"{branch.name[:80]}-original"
    return next_name(plain, taken) if plain in taken else plain


def _detail(summary: Summary, told: Compression, original: str, by: str) -> dict[str, Any]:
    detail: dict[str, Any] = {
        "original": original,
        "how": summary.how,
        "strategy": told.strategy,
        "messages": told.messages,
        "tokens_before": told.tokens_before,
        "tokens_after": told.tokens_after,
        "files": list(summary.files),
        "by": by,
    }
    if summary.why is not None:
        detail["why"] = msgspec.to_builtins(summary.why)
    return detail


def _message(live: Live, summary: Summary, detail: Mapping[str, Any] | None = None) -> SystemControl:
    turn = live.core.turn
    return SystemControl(
        id=MessageId(live.parts.ambient.new_id()),
        timestamp=live.parts.now(),
        role="system",
        metadata=Metadata(turn=turn.id if turn is not None else None, mode=live.core.mode, model=live.model),
        kind="summary",
        content=summary.text,
        detail=detail or {},
    )
