"""What a runtime is made of. Everything arrives here by constructor; nothing below asks the system for it."""

import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from pilothouse.ambient import Ambient, timestamp
from pilothouse.domain.budgets import Budget, OverviewSettings
from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import Change
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.messages import Message
from pilothouse.domain.models import Catalogue
from pilothouse.domain.modes import Modes
from pilothouse.domain.personas import Personas
from pilothouse.domain.setup import Setup, SetupTrial, WantedSetup
from pilothouse.domain.states import State
from pilothouse.domain.steering import Steering
from pilothouse.domain.trust import FolderTrust
from pilothouse.domain.values import ContextId, Timestamp, Value
from pilothouse.llm.base import Adapter
from pilothouse.runtime.hub import Hub
from pilothouse.sandbox.workspace import Root
from pilothouse.storage.base import Store
from pilothouse.tools.mcp.servers import Servers
from pilothouse.tools.registry import Registry
from pilothouse.tools.undo.limits import UndoLimits
from pilothouse.window.compression import Scorer, usual_importance

_LOG = logging.getLogger("pilothouse")

Trace = Callable[[ContextId, State], None]
Processor = Callable[[Sequence[Message]], Awaitable[Sequence[Message]]]


class Titles(NamedTuple):
    """The model that makes titles, beside the one that works."""

    adapter: Adapter
    model: str


class Provided(NamedTuple):
    """A provider as the runtime uses it."""

    adapter: Adapter
    model: str
    models: Sequence[str]
    titles: Titles | None


class Providing(Protocol):
    """Keeps which provider and model are set up, where nothing else names them."""

    def look(self) -> Setup: ...

    async def trial(self, wanted: WantedSetup) -> SetupTrial:
        """Raises: InvalidInput."""

    def keep(self, wanted: WantedSetup) -> Provided | None:
        """None where that is what is used already. Raises: Conflict, InvalidInput, StoreRefused."""

    def forget(self) -> Provided | None:
        """Raises: InvalidInput, StoreRefused."""

    def secrets(self) -> Sequence[str]:
        """What must not be seen in any log."""


class Trusting(Protocol):
    """Keeps which folders' own configuration counts, in the form in which the person saw it."""

    def look(self, folder: str) -> FolderTrust:
        """Raises: InvalidInput."""

    def trust(self, folder: str, digest: str) -> None:
        """Raises: Conflict where it is not what was shown, InvalidInput for what may not be said there."""

    def distrust(self, folder: str) -> None: ...

    def servers_of(self, folder: str) -> str | None:
        """The file of a folder's own servers of tools, as it was trusted."""

    def are_programs_as_trusted(self, folder: str) -> bool:
        """Whether what those are started with is still what was trusted."""


class Limits(Value):
    """What ends a turn or a call by itself. None is no limit."""

    rounds: int = 50
    call_seconds: float = 120
    turn_seconds: float | None = None
    turn_tokens: int | None = None
    repeated_calls: int = 3
    retries: int = 5
    retry_seconds: float = 0.5
    retry_seconds_at_most: float = 120
    parallel_reads: int = 16
    turn_cost: float | None = None
    delegation_depth: int = 2
    delta_spacing: float = 0.03


@dataclass(frozen=True)
class Parts:
    """`private` are the runtime's own folders, which no tool may touch; `roots` are those beneath which workspaces must
    lie, where there are any; `also` are folders that every context's tools may reach beside its workspace.
    `trace` sees every state entered, `trace_change` every
    commit. `steering` and `personas` give what configuration says for a workspace, `trust` keeps which folders may
    say anything, `provider` keeps which model is set up. `processors` may change or refuse a person's message. `models`
    are others that the adapter has beside the usual one; `catalogue` is what is known of them; `token_budget` is
    what a window may hold, where it is not all that the model's holds; `importance` scores messages for the strategy of
    that name. Without `overview`, nobody looks at the workspace beforehand. `runtime_id` tells this process's grants
    from those of an earlier one."""

    store: Store
    adapter: Adapter
    model: str
    registry: Registry
    ambient: Ambient
    modes: Modes = field(default_factory=Modes)
    personas: Callable[[str | None], Personas] = lambda _: Personas()
    steering: Callable[[str | None], Steering] = lambda _: Steering()
    trust: Trusting | None = None
    provider: Providing | None = None
    servers: Servers | None = None
    processors: Sequence[Processor] = ()
    catalogue: Catalogue = field(default_factory=Catalogue)
    models: Sequence[str] = ()
    budget: Budget = Budget()
    token_budget: int | None = None
    importance: Scorer = usual_importance
    overview: OverviewSettings | None = None
    titles: Titles | None = None
    limits: Limits = Limits()
    private: Sequence[Path] = ()
    roots: Sequence[Path] = ()
    user_roots: Mapping[str, Sequence[Path]] = field(default_factory=dict)
    """The folders to which a user is kept, within `roots`: workspaces and `also`."""
    also: Sequence[Root] = ()
    baselines: Path | None = None
    """Where undo caches what workspaces hold, for all contexts."""
    undo: UndoLimits = UndoLimits()
    hub: Hub = field(default_factory=Hub)
    trace: Trace | None = None
    trace_change: Callable[[ContextId, Change], None] | None = None
    contexts_kept: int = 100
    runtime_id: str = field(default="", init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "runtime_id", self.ambient.new_id())

    def use(self, provided: Provided) -> list[Adapter]:
        """From now on these are asked, and nobody else; gives those that were. All of them encode messages alike, so
        what is kept encoded stays right."""
        before = [self.adapter, *([self.titles.adapter] if self.titles is not None else [])]
        for name, value in provided._asdict().items():
            object.__setattr__(self, name, value)
        self.catalogue.forget_learned()
        return before

    @property
    def is_demo(self) -> bool:
        return self.adapter.name == "demo"

    def roots_of(self, user: str) -> Sequence[Path]:
        """The folders beneath which a user's workspaces must lie; none where they may lie anywhere."""
        return self.user_roots.get(user, self.roots)

    def is_beneath_a_root(self, workspace: str, user: str) -> bool:
        real = Path(os.path.realpath(workspace))
        lists = [roots for roots in (self.roots, self.user_roots.get(user, ())) if roots]
        return all(any(real == root or root in real.parents for root in roots) for roots in lists)

    def roots_of_others(self, user: str) -> Sequence[Path]:
        """Other users' roots that a user who has roots must not read, not even where they lie among the system's."""
        own = self.roots_of(user)
        others = [root for name, roots in self.user_roots.items() if name != user for root in roots]
        return [root for root in others if not any(_overlap(root, each) for each in own)] if own else []

    def also_of(self, user: str) -> Sequence[Root]:
        """The folders beside the workspace that a user's tools may reach."""
        return [
            root for root in self.also if user not in self.user_roots or self.is_beneath_a_root(str(root.path), user)
        ]

    def has_model(self, name: str) -> bool:
        return name == self.model or name in self.models

    def check_model(self, name: str | None) -> None:
        """Raises: InvalidInput for one that there is not."""
        if name is not None and not self.has_model(name):
            allowed = ", ".join(dict.fromkeys((self.model, *self.models)))
            raise InvalidInput(Code.UNKNOWN_MODEL, model=name, allowed=allowed)

    def budget_of(self, model: str) -> Budget:
        """What a request to a model may hold; never more than its provider has said that it takes."""
        usual = self.token_budget or self.catalogue.facts(model).window or self.budget.tokens
        tokens = min(usual, self.catalogue.learned_window(model) or usual)
        if tokens == self.budget.tokens:
            return self.budget
        changed: Budget = msgspec.structs.replace(self.budget, tokens=tokens)
        return changed

    def now(self) -> Timestamp:
        return timestamp(self.ambient.now())

    def report(self, error: Exception) -> None:
        """A bug of ours: the person sees the state, the log has the trace."""
        _LOG.error("a turn failed", exc_info=error)


def _overlap(one: Path, other: Path) -> bool:
    return one == other or one in other.parents or other in one.parents
