"""The token budget of a context window: how much of it requests use, and when the history is compressed."""

from typing import Literal

from pilothouse.domain.value import Value

CompressionStrategy = Literal["recent_n", "intelligent", "importance"]
OverviewPart = Literal["tree", "languages", "entry_points", "recent"]
DEFAULT_WINDOW_TOKENS = 128_000
MAX_ANSWER_TOKENS = 4000


class Budget(Value, kw_only=True):
    """The size of the context window and the settings of compression."""

    tokens: int = DEFAULT_WINDOW_TOKENS
    """The size of the context window."""
    trigger: float = 0.8
    """A compression begins when a request takes more than this fraction of the window."""
    target: float = 0.5
    """A compression shortens the request to this fraction of the window."""
    recent: int = 10
    """The number of last messages that a compression keeps, where they fit."""
    strategy: CompressionStrategy = "intelligent"
    auto_compress: bool = True
    """Whether compressions begin by themselves."""
    max_output_tokens: int | None = None
    """The tokens that an answer may have by the settings of the conversation."""

    @property
    def output_tokens(self) -> int:
        """The tokens of the window that are left for the answer: most models count request and answer together."""
        usual = min(MAX_ANSWER_TOKENS, self.tokens // 10)
        return max(usual, min(self.max_output_tokens or 0, self.tokens // 2))

    @property
    def request_tokens(self) -> int:
        """The tokens of a request at most."""
        return self.tokens - self.output_tokens

    @property
    def trigger_tokens(self) -> int:
        return min(int(self.tokens * self.trigger), self.request_tokens)

    @property
    def target_tokens(self) -> int:
        return min(int(self.tokens * self.target), self.request_tokens)

    @property
    def summary_tokens(self) -> int:
        """The tokens of a summary at most."""
        return max(100, min(4000, self.tokens // 10))

    @property
    def min_saving_tokens(self) -> int:
        """The tokens that a compression must save. With less, compressions would follow each other at once."""
        return max(50, self.tokens // 50)


class Meter(Value, kw_only=True, omit_defaults=False):
    """How full the context window is. The numbers displayed are those that compression decides by."""

    tokens: int
    """The tokens of the next request."""
    budget: int
    """The size of the context window, in tokens."""
    trigger: int
    """A compression begins above so many tokens."""
    target: int
    """A compression shortens the request to so many tokens."""
    counter: str
    """The name of the token counter."""
    is_estimate: bool
    """Whether the count is an estimate that no count by the provider has corrected yet."""
    auto_compress: bool


class OverviewSettings(Value, kw_only=True):
    """The contents of the workspace overview."""

    enabled: bool = True
    depth: int = 3
    """The number of levels of the folder tree."""
    tokens: int = 1500
    """The tokens of the overview at most."""
    recent: int = 5
    """The number of most recently changed files."""
    parts: frozenset[OverviewPart] = frozenset({"tree", "languages", "entry_points", "recent"})
    every: int | None = None
    """The number of messages after which the overview is made again; None for never."""
