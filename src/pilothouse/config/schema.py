"""What may stand in a configuration file. Names, types and nothing else; what they mean is made in `meaning`."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from pilothouse.config.reading import Table
from pilothouse.domain.budgets import CompressionStrategy, OverviewPart
from pilothouse.domain.offers import Category
from pilothouse.domain.policies import Danger, PolicyKind
from pilothouse.domain.rules import RuleEffect

Word = Literal["run", "wait", "deny"]
Positive = Annotated[float, Meta(gt=0)]
Count = Annotated[int, Meta(ge=1)]
Amount = Annotated[float, Meta(ge=0, le=1_000_000)]


class ModeTable(Table, frozen=True):
    """A mode of one's own: a built-in one with some of it changed."""

    closed: ClassVar[bool] = True
    base: str = "agent"
    title: str | None = None
    title_zh: str | None = None
    icon: str | None = None
    meaning: str | None = None
    meaning_zh: str | None = None
    aliases: tuple[str, ...] | None = None
    offers: Literal["all", "read_only", "none"] | None = None
    read_only: Word | None = None
    mutating: Word | None = None
    withholds: tuple[str, ...] | None = None
    only_beneath: tuple[str, ...] | None = None
    elevates: bool | None = None
    denial_ends_turn: bool | None = None
    denial_hint: str | None = None
    prompt: str | None = None


class ApprovalTable(Table, frozen=True):
    closed: ClassVar[bool] = True
    policy: PolicyKind = "auto_approve"
    tools: tuple[str, ...] = ()
    depth: Count = 5
    always_ask: tuple[Danger, ...] = ()


class RuleTable(Table, frozen=True):
    closed: ClassVar[bool] = True
    effect: RuleEffect
    tool: str = "*"
    folder: str | None = None
    command: str | None = None
    workspace: str | None = None


class PersonaToolsTable(Table, frozen=True):
    closed: ClassVar[bool] = True
    allowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    allowed_categories: tuple[Category, ...] = ()
    denied_categories: tuple[Category, ...] = ()


class ModelTable(Table, frozen=True):
    """What is known of a model. `input` and `output` are its price for a million tokens."""

    window: Annotated[int, Meta(ge=1, le=1_000_000_000)] | None = None
    vision: bool | None = None
    tokenizer: Literal["o200k", "cl100k", "estimate"] | None = None
    input: Amount | None = None
    output: Amount | None = None


class ToolTable(Table, frozen=True):
    """One tool, or a category of them."""

    enabled: bool | None = None
    require_approval: bool = False
    whitelist: tuple[str, ...] | None = None
    sandbox: Literal["off", "workspace"] | None = None


class RootTable(Table, frozen=True):
    """A folder beside the workspace that tools may reach."""

    path: str
    writable: bool = False


class LimitsTable(Table, frozen=True):
    rounds: Count | None = None
    call_seconds: Positive | None = None
    turn_seconds: Positive | None = None
    turn_tokens: Count | None = None
    turn_cost: Positive | None = None


class WindowTable(Table, frozen=True):
    """How much a request may hold, and what is done before it is full."""

    token_budget: Annotated[int, Meta(ge=1000, le=1_000_000_000)] | None = None
    trigger: Annotated[float, Meta(gt=0, le=1)] | None = None
    target: Annotated[float, Meta(gt=0, le=1)] | None = None
    recent: Annotated[int, Meta(ge=1, le=1000)] | None = None
    strategy: CompressionStrategy | None = None
    auto_compress: bool | None = None


class OverviewTable(Table, frozen=True):
    """What the model is told of the workspace beforehand."""

    enabled: bool | None = None
    depth: Annotated[int, Meta(ge=1, le=5)] | None = None
    tokens: Annotated[int, Meta(ge=50, le=20_000)] | None = None
    recent: Annotated[int, Meta(ge=0, le=50)] | None = None
    parts: tuple[OverviewPart, ...] | None = None
    every: Count | None = None


class UndoTable(Table, frozen=True):
    """How much is kept so that changes can be undone."""

    conversation_megabytes: Annotated[int, Meta(ge=1, le=1_000_000)] = 200
    days: Annotated[int, Meta(ge=1, le=3650)] = 30
    baseline_megabytes: Annotated[int, Meta(ge=1, le=1_000_000)] = 500
    files: Annotated[int, Meta(ge=100, le=1_000_000)] = 100_000


class ProjectFile(Table, frozen=True):
    """What a folder that one merely opens may say: only what makes things stricter."""

    restrictions: ClassVar[frozenset[str]] = frozenset({"mode", "modes", "rules"})
    misplaced: ClassVar[Mapping[str, str]] = {
        "tools": "tools.toml",
        "personas": "personas/ID.toml",
        "directory": "[directories]",
        "prices": '[models."NAME"], as input and output',
    }

    mode: str | None = None
    approval: ApprovalTable | None = None
    directories: dict[str, Any] = {}
    rules: tuple[Any, ...] = ()


class ServerTable(Table, frozen=True):
    """`hosts` are names that the server answers to beside its own address; `completions_mode` is the mode of clients
    that nobody watches."""

    host: str | None = None
    port: Annotated[int, Meta(ge=0, le=65535)] | None = None
    roots: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    completions_mode: str = "review"


class ServerUserTable(Table, frozen=True):
    """What holds for one user of the server."""

    closed: ClassVar[bool] = True
    roots: tuple[str, ...]
    """The folders beneath which their workspaces may lie, instead of all of the server's."""


class UserFile(ProjectFile, frozen=True):
    """The person's own file. Tables with free names are checked one by one, so that an error can name them."""

    model: str | None = None
    title_model: str | None = None
    data_dir: str | None = None
    language: Literal["en", "zh"] | None = None
    plan_commands: Literal["none", "read_only"] = "none"
    roots: tuple[Any, ...] = ()
    limits: LimitsTable = LimitsTable()
    modes: dict[str, Any] = {}
    models: dict[str, Any] = {}
    window: WindowTable = WindowTable()
    overview: OverviewTable = OverviewTable()
    undo: UndoTable = UndoTable()
    server: ServerTable = ServerTable()
    users: dict[str, Any] = {}


_OF_CONFIG_TOML = dict.fromkeys(UserFile.__struct_fields__, "config.toml")


class ToolsFile(Table, frozen=True):
    """tools.toml. `files` are Python files with tools of one's own."""

    restrictions: ClassVar[frozenset[str]] = frozenset({"tools"})
    misplaced: ClassVar[Mapping[str, str]] = _OF_CONFIG_TOML

    tools: dict[str, Any] = {}
    files: tuple[str, ...] = ()


class PersonaFile(Table, frozen=True):
    """personas/ID.toml."""

    restrictions: ClassVar[frozenset[str]] = frozenset({"tools"})
    misplaced: ClassVar[Mapping[str, str]] = _OF_CONFIG_TOML

    name: str = ""
    role: str = ""
    identity: str = ""
    communication_style: str = ""
    principles: tuple[str, ...] = ()
    prompt: str = ""
    model: str | None = None
    default_mode: str | None = None
    tools: PersonaToolsTable = PersonaToolsTable()
