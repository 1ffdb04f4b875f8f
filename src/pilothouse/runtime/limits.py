"""`Limits`: the bounds that end a turn or a call by themselves. Field names are those of the configuration."""

from pilothouse.domain.value import Value


class Limits(Value):
    """The limits of a turn and its calls. None means no limit."""

    rounds: int = 50
    """Rounds of one turn."""
    call_seconds: float = 120
    """Seconds that one call may run. Delegating calls have no limit: the sub-agent's own calls have theirs."""
    turn_seconds: float | None = None
    """Seconds that a turn may work. Time spent waiting for the person does not count."""
    turn_tokens: int | None = None
    """Tokens of one turn, input and output of all its requests together."""
    repeated_calls: int = 3
    """How often in a row the model may make the same call with the same arguments; that repetition ends the turn."""
    retries: int = 5
    """Retries of a request after transient errors, before the turn fails."""
    retry_seconds: float = 0.5
    """Wait before the first retry; further waits grow."""
    retry_seconds_at_most: float = 120
    """The longest wait before a retry, also where the provider demands a longer one."""
    parallel_reads: int = 16
    """Calls that only read and may run at the same time."""
    turn_cost: float | None = None
    """Cost of one turn, in the unit of the catalog's prices."""
    delegation_depth: int = 2
    """How deep sub-agents may be nested."""
    delta_spacing: float = 0.03
    """The shortest time between two signals for the deltas of one answer, in seconds."""
