"""`RuntimeDependencies`: everything that a runtime is built from, passed by constructor; protocols of its services."""

import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from pilothouse.domain.budgets import Budget, OverviewSettings
from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import Change, ContextCore
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.messages import Message
from pilothouse.domain.model_names import ModelName
from pilothouse.domain.modes import Modes
from pilothouse.domain.personas import Persona, Personas
from pilothouse.domain.provider_setup import Setup, SetupRequest, SetupTrial
from pilothouse.domain.sampling import Sampling
from pilothouse.domain.states import State
from pilothouse.domain.trust import FolderTrust
from pilothouse.domain.value import ContextId, Timestamp
from pilothouse.domain.workspace_policy import WorkspacePolicy
from pilothouse.llm.base import Adapter
from pilothouse.llm.model_catalog import ModelCatalog, ModelFacts
from pilothouse.llm.providers import DEFAULT_PROVIDER, DEMO, PROVIDERS
from pilothouse.runtime.events.hub import Hub
from pilothouse.runtime.events.signal_bus import SignalBus
from pilothouse.runtime.limits import Limits
from pilothouse.runtime.ownership.ownership import Ownership, SoleProcess
from pilothouse.sandbox.command_environment import NOTHING_INHERITED, CommandEnvironment
from pilothouse.sandbox.workspace import Root
from pilothouse.storage.base import Store
from pilothouse.system.ambient import Ambient, timestamp
from pilothouse.tools.artifacts import ArtifactFolder, ArtifactStore
from pilothouse.tools.mcp.servers import MCPServers
from pilothouse.tools.registry import Registry
from pilothouse.tools.undo.limits import UndoLimits
from pilothouse.window.compression import Scorer, default_importance
from pilothouse.window.tokens import Counter, counter_for

_LOG = logging.getLogger("pilothouse")

Trace = Callable[[ContextId, State], None]
Processor = Callable[[Sequence[Message]], Awaitable[Sequence[Message]]]


class TitleModel(NamedTuple):
    """The model that generates titles, which may differ from the working model."""

    adapter: Adapter
    model: str


class ModelChoice(NamedTuple):
    """The model of a context's requests, and all that follows from it. Looked up once for each step of a round."""

    name: str
    facts: ModelFacts
    counter: Counter
    sampling: Sampling
    """The context's own sampling settings, and its persona's where it has none."""
    budget: Budget
    """In the provider's tokens."""
    token_ratio: float
    """The provider's tokens for one token of our own count; 1 where the ratio is not known for this model."""

    def provider_tokens(self, tokens: int) -> int:
        """Our own count of tokens in the provider's tokens, by the ratio of its last counts."""
        return round(tokens * self.token_ratio)

    @property
    def own_budget(self) -> Budget:
        """The budget in tokens of our own count."""
        budget: Budget = msgspec.structs.replace(self.budget, tokens=int(self.budget.tokens / self.token_ratio))
        return budget


class ProviderHandle(NamedTuple):
    """A provider that is ready for use."""

    adapter: Adapter
    model: str
    models: Sequence[str]
    """Further models of the adapter."""
    titles: TitleModel | None


class ProviderService(Protocol):
    """Stores the provider and model that the person has set up, where neither program nor environment names them."""

    def status(self) -> Setup: ...

    async def trial(self, requested: SetupRequest) -> SetupTrial:
        """Try a setup with a small request. Raises: InvalidInput."""

    def keep(self, requested: SetupRequest) -> ProviderHandle | None:
        """Store a setup. Returns None where that setup is in use already.

        Raises: Conflict, InvalidInput, StoreRefused.
        """

    def forget(self) -> ProviderHandle | None:
        """Delete the stored setup. Raises: InvalidInput, StoreRefused."""

    def secrets(self) -> Sequence[str]:
        """Strings that must not appear in any log."""


class TrustService(Protocol):
    """Stores which folders' own configuration counts, in the form that the person saw."""

    def status(self, folder: str) -> FolderTrust:
        """Raises: InvalidInput."""

    def trust(self, folder: str, digest: str) -> None:
        """Raises: Conflict where the configuration is not the one that was shown, InvalidInput for settings that a
        folder may not make."""

    def distrust(self, folder: str) -> None: ...

    def mcp_servers_text(self, folder: str) -> str | None:
        """The file of a folder's own MCP servers, as it was trusted."""

    def has_unchanged_programs(self, folder: str) -> bool:
        """Whether the programs that start these servers are still those that were trusted."""


@dataclass(frozen=True)
class RuntimeDependencies:
    """The parts of a runtime. Nothing below `app` obtains a part in another way."""

    store: Store
    adapter: Adapter
    model: str
    """The model that a context uses unless the context or its persona names another one."""
    registry: Registry
    ambient: Ambient
    modes: Modes = field(default_factory=Modes)
    personas: Callable[[str | None], Personas] = lambda _: Personas()
    """The personas that the configuration gives for a workspace."""
    workspace_policy: Callable[[str | None], WorkspacePolicy] = lambda _: WorkspacePolicy()
    """The policy that the configuration gives for a workspace."""
    trust: TrustService | None = None
    provider: ProviderService | None = None
    mcp_servers: MCPServers | None = None
    processors: Sequence[Processor] = ()
    """Hooks that may change or refuse a person's message."""
    catalog: ModelCatalog = field(default_factory=ModelCatalog)
    """Facts about models: window, tokenizer, price."""
    models: Sequence[str] = ()
    """Further models of the adapter."""
    budget: Budget = Budget()
    token_budget: int | None = None
    """Tokens that a request may hold, where that is less than the model's window."""
    importance: Scorer = default_importance
    """Scores messages for the compression strategy `importance`."""
    overview: OverviewSettings | None = None
    """None: the model gets no overview of the workspace unless the person adds one."""
    titles: TitleModel | None = None
    limits: Limits = Limits()
    command_environment: CommandEnvironment = NOTHING_INHERITED
    """The environment of commands."""
    private_folders: Sequence[Path] = ()
    """The runtime's own folders, which no tool may touch."""
    roots: Sequence[Path] = ()
    """The folders beneath which workspaces must lie; empty where workspaces may lie anywhere."""
    user_roots: Mapping[str, Sequence[Path]] = field(default_factory=dict)
    """By user: the folders, within `roots`, to which workspaces and `extra_roots` are restricted."""
    extra_roots: Sequence[Root] = ()
    """Folders that every context's tools may reach beside the workspace."""
    baseline_cache: Path | None = None
    """The folder in which undo caches the contents of workspaces, for all contexts."""
    undo: UndoLimits = UndoLimits()
    hub: SignalBus = field(default_factory=Hub)
    ownership: Ownership = field(default_factory=SoleProcess)
    trace: Trace | None = None
    """Called with every state that a context enters."""
    trace_change: Callable[[ContextId, Change], None] | None = None
    """Called with every committed change."""
    max_idle_contexts: int = 100
    """Contexts that stay in memory without being used."""
    runtime_id: str = field(default="", init=False)
    """Distinguishes grants of this process from those of an earlier one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "runtime_id", self.ambient.new_id())

    def use(self, provider: ProviderHandle) -> list[Adapter]:
        """Replace the adapters and models from now on, and return the previous adapters."""
        previous = [self.adapter, *([self.titles.adapter] if self.titles is not None else [])]
        for name, value in provider._asdict().items():
            object.__setattr__(self, name, value)
        self.catalog.forget_learned()
        return previous

    @property
    def is_demo(self) -> bool:
        return self.adapter.name == DEMO

    def artifacts_of(self, context_id: ContextId) -> ArtifactStore | None:
        """The files of a context beside its messages; None where its store keeps no files."""
        folder = self.store.artifacts_folder(context_id)
        return ArtifactFolder(folder, self.baseline_cache, self.undo) if folder is not None else None

    def workspace_roots(self, user: str) -> Sequence[Path]:
        """The folders beneath which a user's workspaces must lie; empty where workspaces may lie anywhere."""
        return self.user_roots.get(user, self.roots)

    def is_beneath_a_root(self, workspace: str, user: str) -> bool:
        lists = [roots for roots in (self.roots, self.user_roots.get(user, ())) if roots]
        if not lists:
            return True
        real_path = Path(os.path.realpath(workspace))
        return all(any(real_path == root or root in real_path.parents for root in roots) for roots in lists)

    def workspace_roots_of_others(self, user: str) -> Sequence[Path]:
        """Other users' roots, which a user with roots of their own must not read, not even inside system folders."""
        own = self.workspace_roots(user)
        others = [root for name, roots in self.user_roots.items() if name != user for root in roots]
        return [root for root in others if not any(_overlap(root, own_root) for own_root in own)] if own else []

    def extra_roots_of(self, user: str) -> Sequence[Root]:
        """The extra roots that a user's tools may reach."""
        return [
            root
            for root in self.extra_roots
            if user not in self.user_roots or self.is_beneath_a_root(str(root.path), user)
        ]

    def persona_of(self, core: ContextCore) -> Persona | None:
        """The persona of a context; None where the configuration no longer has it. Every tool is then denied."""
        return self.personas(core.workspace).get(core.persona) if core.persona is not None else None

    def model_of(self, core: ContextCore) -> ModelChoice:
        """The context's own model, or its persona's, where the adapter has it; else the runtime's model."""
        persona = self.persona_of(core)
        persona_model, persona_sampling = (persona.model, persona.sampling) if persona is not None else (None, None)
        name = self.own_model(core.model) or self.own_model(persona_model) or self.model
        facts = self.catalog.facts(name)
        sampling = (core.sampling or Sampling()).or_else(persona_sampling or Sampling())
        return ModelChoice(
            name=name,
            facts=facts,
            counter=counter_for(facts.tokenizer),
            sampling=sampling,
            budget=self.budget_of(name, sampling.max_output_tokens),
            token_ratio=core.token_ratio if core.token_ratio_of == name else 1.0,
        )

    def has_model(self, name: str) -> bool:
        return name == self.model or name in self.models

    def own_model(self, text: str | None) -> str | None:
        """The adapter's model by its name, with or without the provider; None where the adapter has no such model."""
        if text is None:
            return None
        model = ModelName.parse(text, PROVIDERS, default=DEFAULT_PROVIDER)
        return model.name if model.provider == DEFAULT_PROVIDER and self.has_model(model.name) else None

    def check_model(self, name: str | None) -> None:
        """Raises: InvalidInput for an unknown model."""
        if name is not None and not self.has_model(name):
            allowed = ", ".join(dict.fromkeys((self.model, *self.models)))
            raise InvalidInput(Code.UNKNOWN_MODEL, model=name, allowed=allowed)

    def budget_of(self, model: str, max_output_tokens: int | None = None) -> Budget:
        """The budget of requests to a model; never more than a window that its provider has reported."""
        configured = self.token_budget or self.catalog.facts(model).window or self.budget.tokens
        tokens = min(configured, self.catalog.learned_window(model) or configured)
        if (tokens, max_output_tokens) == (self.budget.tokens, None):
            return self.budget
        budget: Budget = msgspec.structs.replace(self.budget, tokens=tokens, max_output_tokens=max_output_tokens)
        return budget

    def now(self) -> Timestamp:
        return timestamp(self.ambient.now())

    def report(self, error: Exception) -> None:
        """Log an unexpected exception with its traceback; the person sees the state only."""
        _LOG.error("a turn failed", exc_info=error)


def _overlap(path: Path, other: Path) -> bool:
    return path == other or path in other.parents or other in path.parents
