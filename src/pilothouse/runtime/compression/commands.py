"""Commands about the window: compress, preview a compression, undo it, pin messages."""

import msgspec

from pilothouse.domain.branches import Branch, merged_blocks_after, merged_blocks_within
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound
from pilothouse.domain.messages import ErrorMessage, is_sent_to_model, is_state_notice
from pilothouse.domain.signals import MessageChanged
from pilothouse.domain.states import CompressingMessages, Failed, Idle, name_of
from pilothouse.domain.value import MessageId, Value
from pilothouse.runtime.commands.branches import between_turns
from pilothouse.runtime.commands.command_group import CommandGroup
from pilothouse.runtime.compression.branch import Compression, compression_effect, requested_plan
from pilothouse.runtime.compression.request import CompressionRequest
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.request.builder import count_tokens, make_outline
from pilothouse.runtime.turn.round import Round
from pilothouse.runtime.turn.turn import Turn
from pilothouse.window.compression import CompressionPlan, summary_tokens

MAX_PINS = 50
MAX_FOCUS_CHARACTERS = 1000


class Undone(Value, omit_defaults=False):
    """An undone compression."""

    branch: str
    messages: int
    """How many messages are back on the branch."""


class CompressionCommands(CommandGroup):
    """Compress the history of a branch, and undo that."""

    async def preview(self, context_id: str) -> Compression:
        """The predicted effect of a compression now, automatic or requested. Nothing changes.

        Raises: NotFound, Conflict where there is nothing to compress.
        """
        live = await self._pool.find(context_id)
        name = live.core.turn.branch if live.core.turn is not None else live.core.active_branch
        plan, total = await _plan_with_total(live, name)
        model = live.model()
        longest_summary = summary_tokens(plan.tokens, plan.earlier, model.own_budget)
        return compression_effect(model, live.branches[name], plan, total, longest_summary)

    async def compress(self, context_id: str, *, focus: str | None = None, by: str = "local") -> Compression:
        """Compress the active branch; `focus` says what the summary must retain above all. Returns after the
        compression.

        Raises: InvalidInput, NotFound, Conflict (a turn is open, nothing to compress, cancelled while running),
        StoreError; then nothing has changed.
        """
        if focus is not None and len(focus) > MAX_FOCUS_CHARACTERS:
            raise InvalidInput(Code.TEXT_TOO_LARGE, size=len(focus), limit=MAX_FOCUS_CHARACTERS)
        async with self._pool.locked(context_id) as live:
            _check_between_turns(live)
            name = live.core.active_branch
            plan, total = await _plan_with_total(live, name)
            request = CompressionRequest(name, plan, total, by=by, focus=focus)
            turn = Turn(live, Round(compression=request))
            live.enter(CompressingMessages(messages_to_compress=plan.messages))
            self._pool.drive(live, turn)
        await turn.settled.wait()
        if request.error is not None:
            raise request.error
        if request.result is None:
            raise Conflict(Code.CANCELLED)
        return request.result

    async def undo(self, context_id: str, *, branch: str | None = None, by: str = "local") -> Undone:
        """Restore the messages as they were before the last compression, followed by all messages since.

        Raises: NotFound, Conflict (a turn is open, the branch was not compressed, its original is gone), StoreError.
        """
        async with self._pool.locked(context_id) as live:
            name = branch or live.core.active_branch
            if name not in live.branches:
                raise NotFound(Code.UNKNOWN_BRANCH, branch=name, allowed=", ".join(live.branches))
            _check_between_turns(live)
            present = live.branches[name]
            compression = present.compressed
            if compression is None:
                raise Conflict(Code.NOT_COMPRESSED, branch=name)
            if any(
                candidate.compressed is not None and candidate.compressed.original == name
                for candidate in live.branches.values()
            ):
                raise Conflict(Code.BRANCH_IN_USE, branch=name)  # this branch is the original of another one
            original = live.branches.get(compression.original)
            if original is None or original.original_of is None or original.length < compression.length:
                raise Conflict(Code.ORIGINAL_GONE, original=compression.original)
            store = live.dependencies.store
            later_ids = await store.branch_ids(live.id, name, compression.replacement_length)
            original_ids = await store.branch_ids(live.id, original.name, 0, compression.length)
            passing = CompressingMessages(messages_to_compress=compression.length)
            await between_turns(
                live,
                passing,
                lambda draft: _restore_original(live, draft, present, original, original_ids, later_ids, by),
            )
            return Undone(name, compression.length)

    async def pin(self, context_id: str, message_id: str, *, pinned: bool = True) -> None:
        """Pin or unpin a message. No compression removes a pinned message, or the call or results that belong to it.

        Raises: NotFound, Conflict (too many), StoreError.
        """
        async with self._pool.locked(context_id) as live:
            (message,) = await live.storage.messages([MessageId(message_id)])
            if isinstance(message, ErrorMessage) or not is_sent_to_model(message) or is_state_notice(message):
                raise NotFound(Code.UNKNOWN_MESSAGE, message_id=message_id, branch=live.core.active_branch)
            other_pins = tuple(pin for pin in live.core.pins if pin != message_id)
            if pinned and len(other_pins) >= MAX_PINS:
                raise Conflict(Code.TOO_MANY_PINS, limit=MAX_PINS)
            draft = live.draft()
            draft.core["pins"] = (*other_pins, message.id) if pinned else other_pins
            await live.commit(draft)
            signal = MessageChanged(context_id=live.id, version=live.version, message_id=message.id)
            self._pool.dependencies.hub.publish(signal)


def _check_between_turns(live: LiveContext) -> None:
    if not isinstance(live.state, Idle | Failed) or live.core.turn is not None:
        raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))


async def _plan_with_total(live: LiveContext, name: str) -> tuple[CompressionPlan, int]:
    """The plan of a requested compression, and the tokens that the window counts now. Raises: Conflict."""
    outline = await make_outline(live, name)
    model = live.model()
    history = await live.history_cache.history(live, name, model, with_tools=outline.has_tools)
    total = count_tokens(live, outline, history, model).total
    compression_plan = await requested_plan(live, name, history, total, model)
    if compression_plan is None:
        raise Conflict(Code.NOTHING_TO_COMPRESS, messages=live.branches[name].length, recent=model.budget.recent)
    return compression_plan, total


def _restore_original(
    live: LiveContext,
    draft: Draft,
    present: Branch,
    original: Branch,
    original_ids: list[MessageId],
    later_ids: list[MessageId],
    by: str,
) -> None:
    """Put the original list back: the original branch itself where no other branch needs it, else a copy."""
    compression = present.compressed
    assert compression is not None
    dependents = [
        candidate.name
        for candidate in live.branches.values()
        if candidate.compressed and candidate.compressed.original == original.name
    ]
    can_rename = (
        dependents == [present.name]
        and live.core.active_branch != original.name
        and original.length == compression.length
    )
    merged = (
        *merged_blocks_within(original, compression.length),
        *merged_blocks_after(
            present, compression.replacement_length, compression.length - compression.replacement_length
        ),
    )
    draft.dropped.append(present.name)
    if can_rename:
        draft.renamed[original.name] = present.name
    draft.branches[present.name] = msgspec.structs.replace(
        present,
        key=original.key if can_rename else live.dependencies.ambient.new_id(),
        merged=merged,
        compressed=original.compressed,
        keeps_whole=True,
        overview=original.overview,
    )
    draft.appended[present.name] = later_ids if can_rename else [*original_ids, *later_ids]
    draft.note("compression_undone", by, branch=present.name, original=original.name, messages=compression.length)
