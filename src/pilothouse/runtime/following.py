"""Following a turn: signals say that something changed, pulls say what. Right again after any number of losses."""

from collections.abc import AsyncIterator, Callable

from pilothouse.domain.messages import Message, pieces
from pilothouse.domain.signals import ContentDelta, MessageCompleted
from pilothouse.domain.states import State
from pilothouse.domain.values import ContextId, MessageId, TurnId, Value
from pilothouse.runtime.hub import Subscription
from pilothouse.runtime.live import Live
from pilothouse.runtime.runtime import Runtime

_PIECE = 8000


class Piece(Value):
    """New text of an answer that is being written."""

    message_id: MessageId
    text: str


class Seen(Value):
    """A message is complete. Its text, if it was streamed, has been given in pieces before."""

    message: Message
    streamed: bool


class At(Value):
    state: State


class ChildWaits(Value):
    """A sub-agent waits for the person. Nothing may go on before they have decided there."""

    context_id: ContextId


Event = Piece | Seen | At | ChildWaits


def rests(live: Live) -> bool:
    return live.is_resting


async def follow(
    runtime: Runtime,
    context_id: str,
    *,
    position: int,
    signals: Subscription | None = None,
    is_over: Callable[[Live], bool] = rests,
) -> AsyncIterator[Event]:
    """Everything behind `position` of the active branch, as it comes, until it is over (the context rests) or the
    subscription `signals` is closed."""
    follower = _Follower(runtime, context_id, position)
    known: State | None = None
    told: set[ContextId] = set()
    with signals or runtime.signals([context_id]) as subscription:
        while True:
            live = await runtime.context(context_id)
            state, over = live.state, is_over(live)
            async for event in follower.pull(live):
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
            signals_since = await subscription.batch()
            if not signals_since:
                return
            if any(isinstance(signal, ContentDelta | MessageCompleted) for signal in signals_since):
                for piece in follower.more(live):
                    yield piece


async def follow_turn(
    runtime: Runtime,
    context_id: str,
    turn: TurnId | None,
    *,
    position: int,
    has_begun: bool = False,
    signals: Subscription | None = None,
    is_over: Callable[[Live], bool] = rests,
) -> AsyncIterator[Event]:
    """Only what belongs to one turn: what came before it is passed over, and the next one ends it."""
    async for event in follow(runtime, context_id, position=position, signals=signals, is_over=is_over):
        if isinstance(event, Seen) and event.message.metadata.turn is not None:
            if event.message.metadata.turn == turn:
                has_begun = True
            elif has_begun:
                return
        if has_begun or not isinstance(event, Seen | Piece):
            yield event


class _Follower:
    def __init__(self, runtime: Runtime, context_id: str, position: int) -> None:
        self._runtime = runtime
        self._context_id = context_id
        self._position = position
        self._sequences: dict[MessageId, int] = {}
        self._complete: set[MessageId] = set()

    def more(self, live: Live) -> list[Piece]:
        """What has been written since of the message that is being written."""
        outlet = live.outlet
        if outlet is None or outlet.message_id in self._complete:
            return []
        text = "".join(outlet.pieces_after(self._sequences.get(outlet.message_id, 0)))
        self._sequences[outlet.message_id] = outlet.flushed
        return _pieces(outlet.message_id, text)

    async def pull(self, live: Live) -> AsyncIterator[Event]:
        length = live.branches[live.core.active_branch].length
        count = length - self._position
        if count <= 0:
            return
        self._position = length
        for message in await self._runtime.read_messages(self._context_id, before=length, limit=count):
            self._complete.add(message.id)
            known = self._sequences.pop(message.id, None)
            for piece in _pieces(message.id, "".join(pieces(message)[known:]) if known is not None else ""):
                yield piece
            yield Seen(message=message, streamed=known is not None)


def _pieces(message_id: MessageId, text: str) -> list[Piece]:
    """Few, whoever reads text does not care in how many parts it came; but none too large to be read at once."""
    return [Piece(message_id=message_id, text=text[at : at + _PIECE]) for at in range(0, len(text), _PIECE)]
