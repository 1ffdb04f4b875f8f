"""`Round`: what the steps have built so far for one request to the model. Each step gets a round and returns the next
one, so no step looks it up in shared state."""

from dataclasses import dataclass
from typing import NamedTuple

from pilothouse.domain.contexts import TurnEnd
from pilothouse.domain.messages import Message, ToolRequest
from pilothouse.domain.states import State
from pilothouse.llm.base import Adapter, ModelRequest
from pilothouse.runtime.compression.request import CompressionRequest
from pilothouse.runtime.request.builder import Outline
from pilothouse.runtime.turn.answer import StreamedAnswer


@dataclass(frozen=True)
class PreparedRequest:
    """A request with the adapter in whose format it is encoded."""

    request: ModelRequest
    adapter: Adapter
    tokens: int
    """Tokens of the request by our own count."""


@dataclass(frozen=True, kw_only=True)
class Round:
    incoming: tuple[Message, ...] = ()
    """The person's messages that are not processed or resolved yet."""
    outline: Outline | None = None
    """Set by `prepare`."""
    prepared: PreparedRequest | None = None
    """Set by `request`."""
    answer: StreamedAnswer | None = None
    """The complete answer, set by `stream`."""
    calls: ToolRequest | None = None
    """The message with the model's calls, set by `read`. The next commit stores the message."""
    retries: int = 0
    """How often the request was sent again after an error."""
    must_compress: bool = False
    """Whether to compress even below the budget's trigger, because the provider refused the request as too long."""
    end: TurnEnd = "complete"
    """How the turn ends, if `finish` is the next step."""
    is_out_of_time: bool = False
    """Whether the turn has reached its time limit."""
    compression: CompressionRequest | None = None
    """A compression that a person requested between turns. No request follows it."""


class Next(NamedTuple):
    """The state to enter after a step, and the round for the step of that state."""

    state: State
    round: Round = Round()
