"""Following a turn: signals say that something changed, pulls say what. Right again after any number of losses."""

from collections.abc import AsyncIterator, Callable
from typing import NamedTuple

from pilothouse.domain.branches import Branch, Compressed
from pilothouse.domain.messages import Message, Text, ToolRequest, pieces
from pilothouse.domain.states import State
from pilothouse.domain.values import CallId, ContextId, MessageId, TurnId, Value
from pilothouse.runtime.hub import Subscription
from pilothouse.runtime.live import Live
from pilothouse.runtime.runtime import Runtime

_PIECE = 8000


class Piece(Value):
    """New text of an answer, as it is written or when it was: every answer is told so."""

    message_id: MessageId
    text: str
    turn: TurnId | None = None


class Seen(Value):
    """A message is complete. The text of an answer has been given in pieces before."""

    message: Message


class Cut(Value):
    """The text of this message is no answer: its stream was cut."""

    message_id: MessageId


class At(Value):
    state: State


class ChildWaits(Value):
    """A sub-agent waits for the person. Nothing may go on before they have decided there."""

    context_id: ContextId


class Prints(Value):
    """A running call prints; nothing of it is kept but its result."""

    call_id: CallId
    text: str


class Asks(Value):
    """A running call asks the person something, and waits for the answer."""

    call_id: CallId


Event = Piece | Seen | Cut | At | ChildWaits | Prints | Asks


def rests(live: Live) -> bool:
    return live.is_resting


class Place(NamedTuple):
    """A position on the list of a branch, as it was when somebody looked: a compression makes another list of it."""

    key: str
    position: int


def end_of(live: Live, *, back: int = 0) -> Place:
    """The end of the branch that is worked on, or so many messages before it."""
    branch = live.branches[_present_branch(live)]
    return Place(branch.key, branch.length - back)


def _present_branch(live: Live) -> str:
    return live.core.turn.branch if live.core.turn is not None else live.core.active_branch


async def follow(
    runtime: Runtime,
    context_id: str,
    *,
    place: Place | None = None,
    signals: Subscription | None = None,
    is_over: Callable[[Live], bool] = rests,
) -> AsyncIterator[Event]:
    """Everything behind `place` of the active branch (all of it), as it comes, until it is over (the context rests) or
    the subscription `signals` is closed."""
    follower: _Follower | None = None
    known: State | None = None
    told: set[ContextId] = set()
    with signals or runtime.signals([context_id]) as subscription:
        while True:
            live = await runtime.context(context_id)
            follower = follower or _Follower(runtime, live, place)
            state, over = live.state, is_over(live)
            while follower.is_behind(live):
                async for event in follower.pull(live):
                    yield event
            # Nothing awaited since: what is being written now comes after all that was pulled.
            for event in follower.present(live):
                yield event
            if state != known:
                yield At(state=state)
            known = state
            if over:
                return
            waiting = {child.id for child in live.waiting_below()}
            for child_id in sorted(waiting - told):
                yield ChildWaits(context_id=child_id)
            told = waiting
            if not await subscription.batch():
                return


async def follow_turn(
    runtime: Runtime,
    context_id: str,
    turn: TurnId | None,
    *,
    place: Place | None = None,
    has_begun: bool = False,
    signals: Subscription | None = None,
    is_over: Callable[[Live], bool] = rests,
) -> AsyncIterator[Event]:
    """Only what belongs to one turn: what came before it is passed over, and the next one ends it."""
    async for event in follow(runtime, context_id, place=place, signals=signals, is_over=is_over):
        of = event.turn if isinstance(event, Piece) else None
        of = event.message.metadata.turn if isinstance(event, Seen) else of
        has_begun = has_begun or of == turn
        if of is not None and of != turn:
            if has_begun:
                return
            continue
        if has_begun or not isinstance(event, Seen):
            yield event


class _Follower:
    """Keeps to the branch on which it began: a person may go to another one meanwhile."""

    def __init__(self, runtime: Runtime, live: Live, place: Place | None) -> None:
        self._runtime = runtime
        self._branch = _present_branch(live)
        self._key, self._position = place or Place(live.branches[self._branch].key, 0)
        self._sequences: dict[MessageId, int] = {}
        self._writing: MessageId | None = None
        self._printed: dict[CallId, int] = {}
        self._asked: set[CallId] = set()

    def is_behind(self, live: Live) -> bool:
        branch = live.branches.get(self._branch)
        return branch is not None and (branch.key != self._key or branch.length > self._position)

    def present(self, live: Live) -> list[Event]:
        """What is not kept as a message: what is being written, what calls print and ask."""
        return [*self.dropped(live), *self.more(live), *self.printed(live), *self.asked(live)]

    def dropped(self, live: Live) -> list[Cut]:
        """The message that was being written, where another attempt has taken its place."""
        writing = self._writing
        if writing is None or (live.writing is not None and live.writing.message_id == writing):
            return []
        self._writing = None
        return [Cut(message_id=writing)]

    def more(self, live: Live) -> list[Piece]:
        """What has been written since of the message that is being written."""
        outlet = live.writing
        if outlet is None:
            return []
        text = "".join(outlet.pieces_after(self._sequences.get(outlet.message_id, 0)))
        self._sequences[outlet.message_id] = outlet.flushed
        self._writing = outlet.message_id if outlet.flushed else self._writing
        return _pieces(outlet.message_id, text, outlet.turn)

    def printed(self, live: Live) -> list[Prints]:
        """What running calls have printed since."""
        found = []
        for call_id, printed in live.printed.items():
            text = printed.after(self._printed.get(call_id, 0))
            self._printed[call_id] = printed.total
            if text:
                found.append(Prints(call_id=call_id, text=text))
        return found

    def asked(self, live: Live) -> list[Asks]:
        """Questions of running calls that were not told yet."""
        new = [call.id for call in live.asked_by_calls() if call.id not in self._asked]
        self._asked.update(new)
        return [Asks(call_id=call_id) for call_id in new]

    async def pull(self, live: Live) -> AsyncIterator[Event]:
        branch = live.branches[self._branch]
        ids = await self._new_ids(live, branch)
        found = await self._runtime.read_messages(live.id, ids=ids) if ids else []
        for message in found:
            if isinstance(message, Text | ToolRequest) and message.role == "assistant":
                rest = "".join(pieces(message)[self._sequences.pop(message.id, 0) :])
                for piece in _pieces(message.id, rest, message.metadata.turn):
                    yield piece
            if message.id == self._writing:
                self._writing = None
            yield Seen(message=message)
            if isinstance(message, Text) and message.ended == "cut":
                yield Cut(message_id=message.id)

    async def _new_ids(self, live: Live, branch: Branch) -> list[MessageId]:
        """Those behind the position; where the branch was compressed meanwhile, its summary before them."""
        summary: list[MessageId] = []
        if branch.key != self._key:
            moved = _moved(live, branch, self._key, self._position)
            self._key, self._position = branch.key, branch.length if moved is None else moved
            summary = [branch.compressed.summary_id] if branch.compressed is not None and moved is not None else []
        count, self._position = branch.length - self._position, branch.length
        new = await self._runtime.read_ids(live.id, branch.name, before=branch.length, limit=count) if count > 0 else []
        return [*(each for each in summary if each not in new), *new]


def _moved(live: Live, branch: Branch, key: str, position: int) -> int | None:
    """Where a position of the list that was compressed into this one is now; None where it was not that one."""
    passed: list[Compressed] = []
    for _ in live.branches:  # one that has the name of a deleted original may name itself
        done = branch.compressed
        if done is None or done.original not in live.branches:
            return None
        passed.append(done)
        branch = live.branches[done.original]
        if branch.key == key:
            for each in reversed(passed):
                position = max(0, position - each.length + each.kept)
            return position
    return None


def _pieces(message_id: MessageId, text: str, turn: TurnId | None) -> list[Piece]:
    """Few, whoever reads text does not care in how many parts it came; but none too large to be read at once."""
    return [Piece(message_id=message_id, text=text[at : at + _PIECE], turn=turn) for at in range(0, len(text), _PIECE)]
