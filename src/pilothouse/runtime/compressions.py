"""Commands about the window: compress, look at what that would do, undo it, pin messages."""

import msgspec

from pilothouse.domain.branches import Branch, merged_from, merged_within
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound
from pilothouse.domain.messages import ErrorMessage, is_told
from pilothouse.domain.signals import MessageChanged
from pilothouse.domain.states import CompressingMessages, Failed, Idle, name_of
from pilothouse.domain.values import MessageId, Value
from pilothouse.runtime.branches import between_turns
from pilothouse.runtime.compressing import Compression, outcome, requested_plan
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.draft import Draft
from pilothouse.runtime.live import Live
from pilothouse.runtime.rounds import count, load, outline
from pilothouse.runtime.summarising import own_budget
from pilothouse.runtime.turn import Compressing, Turn
from pilothouse.window.compression import Plan, summary_tokens

PINS_AT_MOST = 50
FOCUS_AT_MOST = 1000


class Undone(Value, omit_defaults=False):
    """`messages` are back on the branch."""

    branch: str
    messages: int


async def preview_compression(contexts: Contexts, context_id: str) -> Compression:
    """What a compression would do now, by itself or on request. Nothing changes.

    Raises: NotFound, Conflict where there is nothing to compress.
    """
    live = await contexts.find(context_id)
    name = live.core.turn.branch if live.core.turn is not None else live.core.active_branch
    made, total = await _planned(live, name)
    return outcome(live, live.branches[name], made, total, summary_tokens(made.tokens, made.earlier, own_budget(live)))


async def compress(contexts: Contexts, context_id: str, *, focus: str | None = None, by: str = "local") -> Compression:
    """Compress the active branch; `focus` says what to keep above all. Returns when it is done.

    Raises: InvalidInput, NotFound, Conflict (a turn is open, nothing to compress, cancelled meanwhile), StoreError;
    then nothing has changed.
    """
    if focus is not None and len(focus) > FOCUS_AT_MOST:
        raise InvalidInput(Code.TEXT_TOO_LARGE, size=len(focus), limit=FOCUS_AT_MOST)
    async with contexts.locked(context_id) as live:
        _check_between_turns(live)
        name = live.core.active_branch
        made, total = await _planned(live, name)
        turn = Turn(live)
        asked = turn.compressing = Compressing(name, made, total, by=by, focus=focus)
        live.enter(CompressingMessages(messages_to_compress=made.messages))
        contexts.drive(live, turn)
    await turn.settled.wait()
    if asked.error is not None:
        raise asked.error
    if asked.done is None:
        raise Conflict(Code.CANCELLED)
    return asked.done


def _check_between_turns(live: Live) -> None:
    if not isinstance(live.state, Idle | Failed) or live.core.turn is not None:
        raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))


async def _planned(live: Live, name: str) -> tuple[Plan, int]:
    """Raises: Conflict."""
    made = await outline(live, name)
    history = await load(live, name, made)
    total = count(live, made, history).total
    found = await requested_plan(live, name, history, total)
    if found is None:
        raise Conflict(Code.NOTHING_TO_COMPRESS, messages=live.branches[name].length, recent=live.budget.recent)
    return found, total


async def undo_compression(
    contexts: Contexts, context_id: str, *, branch: str | None = None, by: str = "local"
) -> Undone:
    """The messages as they were before the last compression, followed by everything since.

    Raises: NotFound, Conflict (a turn is open, it was not compressed, its original is gone), StoreError.
    """
    async with contexts.locked(context_id) as live:
        name = branch or live.core.active_branch
        if name not in live.branches:
            raise NotFound(Code.UNKNOWN_BRANCH, branch=name, allowed=", ".join(live.branches))
        _check_between_turns(live)
        present = live.branches[name]
        done = present.compressed
        if done is None:
            raise Conflict(Code.NOT_COMPRESSED, branch=name)
        if any(each.compressed is not None and each.compressed.original == name for each in live.branches.values()):
            raise Conflict(Code.BRANCH_IN_USE, branch=name)  # another one's originals are this very list
        original = live.branches.get(done.original)
        if original is None or original.original_of is None or original.length < done.length:
            raise Conflict(Code.ORIGINAL_GONE, original=done.original)
        store = live.parts.store
        since = await store.branch_ids(live.id, name, done.kept)
        old = await store.branch_ids(live.id, original.name, 0, done.length)
        passing = CompressingMessages(messages_to_compress=done.length)
        await between_turns(live, passing, lambda draft: _put_back(live, draft, present, original, old, since, by))
        return Undone(name, done.length)


def _put_back(
    live: Live, draft: Draft, present: Branch, original: Branch, old: list[MessageId], since: list[MessageId], by: str
) -> None:
    """Under the old list itself, where nothing else needs it; else under a copy."""
    done = present.compressed
    assert done is not None
    needed = [
        each.name for each in live.branches.values() if each.compressed and each.compressed.original == original.name
    ]
    is_free = needed == [present.name] and live.core.active_branch != original.name and original.length == done.length
    merged = (*merged_within(original, done.length), *merged_from(present, done.kept, done.length - done.kept))
    draft.dropped.append(present.name)
    if is_free:
        draft.renamed[original.name] = present.name
    draft.branches[present.name] = msgspec.structs.replace(
        present,
        key=original.key if is_free else live.parts.ambient.new_id(),
        merged=merged,
        compressed=original.compressed,
        keeps_whole=True,
    )
    draft.appended[present.name] = since if is_free else [*old, *since]
    draft.note("compression_undone", by, branch=present.name, original=original.name, messages=done.length)


async def pin(contexts: Contexts, context_id: str, message_id: str, *, pinned: bool = True) -> None:
    """Whether compressions leave a message as it is, with the call or the results that belong to it.

    Raises: NotFound, Conflict (too many), StoreError.
    """
    async with contexts.locked(context_id) as live:
        (message,) = await contexts.parts.store.messages(live.id, [MessageId(message_id)])
        if isinstance(message, ErrorMessage) or not is_told(message):
            raise NotFound(Code.UNKNOWN_MESSAGE, message_id=message_id, branch=live.core.active_branch)
        others = tuple(each for each in live.core.pins if each != message_id)
        if pinned and len(others) >= PINS_AT_MOST:
            raise Conflict(Code.TOO_MANY_PINS, limit=PINS_AT_MOST)
        draft = live.draft()
        draft.core["pins"] = (*others, message.id) if pinned else others
        await live.commit(draft)
        told = MessageChanged(context_id=live.id, version=live.version, message_id=message.id)
        contexts.parts.hub.publish(told)
