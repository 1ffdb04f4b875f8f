"""How much a window may hold, and what is done before it is full."""

from typing import Literal

from pilothouse.domain.values import Value

CompressionStrategy = Literal["recent_n", "intelligent", "importance"]
OverviewPart = Literal["tree", "languages", "entry_points", "recent"]
USUAL_TOKENS = 128_000
MAX_ANSWER_TOKENS = 4000


class Budget(Value, kw_only=True):
    """How much of the context window is used, and when the history is compressed."""

    tokens: int = USUAL_TOKENS
    """The context window."""
    trigger: float = 0.8
    """Over this fraction of the window the history is compressed."""
    target: float = 0.5
    """Down to this fraction of the window."""
    recent: int = 10
    """So many of the last messages stay, where they fit."""
    strategy: CompressionStrategy = "intelligent"
    auto_compress: bool = True

    @property
    def request_tokens(self) -> int:
        """What a request may hold. The rest of the window is left for the answer: most models share it."""
        return self.tokens - min(MAX_ANSWER_TOKENS, self.tokens // 10)

    @property
    def trigger_tokens(self) -> int:
        return min(int(self.tokens * self.trigger), self.request_tokens)

    @property
    def target_tokens(self) -> int:
        return int(self.tokens * self.target)

    @property
    def summary_tokens(self) -> int:
        """What a summary may take."""
        return max(100, min(4000, self.tokens // 10))

    @property
    def worth(self) -> int:
        """What a compression must save by itself to be worth it: else it would come again and again."""
        return max(50, self.tokens // 50)


class Meter(Value, kw_only=True, omit_defaults=False):
    """How full the window is: the figure that is shown is the figure that decides. `counter` names how tokens were
    counted; it is an estimate until the provider's own count has corrected it."""

    tokens: int
    budget: int
    trigger: int
    target: int
    counter: str
    is_estimate: bool
    auto_compress: bool


class OverviewSettings(Value, kw_only=True):
    """What a model is told of the workspace beforehand: `depth` levels of its tree, `recent` files that changed last,
    `tokens` at most in all. `every` so many messages it is looked at anew, if wanted."""

    enabled: bool = True
    depth: int = 3
    tokens: int = 1500
    recent: int = 5
    parts: frozenset[OverviewPart] = frozenset({"tree", "languages", "entry_points", "recent"})
    every: int | None = None
