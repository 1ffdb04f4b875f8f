"""The schema of the configuration files: tables, keys and their types. `interpret` converts them to domain values."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from pilothouse.config.toml_document import TomlTable
from pilothouse.domain.budgets import CompressionStrategy, OverviewPart
from pilothouse.domain.codes import Language
from pilothouse.domain.policies import Danger, PolicyKind
from pilothouse.domain.rules import RuleEffect
from pilothouse.domain.tool_offers import Category

VerdictName = Literal["allow", "ask", "deny", "run", "wait"]
Positive = Annotated[float, Meta(gt=0)]
Count = Annotated[int, Meta(ge=1)]
Amount = Annotated[float, Meta(ge=0, le=1_000_000)]


class ModeTable(TomlTable, frozen=True):
    """A mode of the user: a built-in mode with changes."""

    closed: ClassVar[bool] = True
    base: str = "agent"
    title: str | None = None
    title_zh: str | None = None
    icon: str | None = None
    meaning: str | None = None
    meaning_zh: str | None = None
    aliases: tuple[str, ...] | None = None
    offers: Literal["all", "read_only", "none"] | None = None
    read_only: VerdictName | None = None
    mutating: VerdictName | None = None
    withholds: tuple[str, ...] | None = None
    only_beneath: tuple[str, ...] | None = None
    elevates: bool | None = None
    denial_ends_turn: bool | None = None
    denial_hint: str | None = None
    prompt: str | None = None


class ApprovalTable(TomlTable, frozen=True):
    closed: ClassVar[bool] = True
    policy: PolicyKind = "auto_approve"
    tools: tuple[str, ...] = ()
    depth: Count = 5
    always_ask: tuple[Danger, ...] = ()


class RuleTable(TomlTable, frozen=True):
    closed: ClassVar[bool] = True
    effect: RuleEffect
    tool: str = "*"
    folder: str | None = None
    command: str | None = None
    workspace: str | None = None


class PersonaToolsTable(TomlTable, frozen=True):
    closed: ClassVar[bool] = True
    allowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    allowed_categories: tuple[Category, ...] = ()
    denied_categories: tuple[Category, ...] = ()


class ModelTable(TomlTable, frozen=True):
    """Facts about a model."""

    window: Annotated[int, Meta(ge=1, le=1_000_000_000)] | None = None
    """The size of the context window in tokens."""
    vision: bool | None = None
    tokenizer: Literal["o200k", "cl100k", "estimate"] | None = None
    input: Amount | None = None
    """The price of a million input tokens."""
    output: Amount | None = None
    """The price of a million output tokens."""


class ToolTable(TomlTable, frozen=True):
    """Settings of a tool or a category of tools."""

    enabled: bool | None = None
    require_approval: bool = False
    whitelist: tuple[str, ...] | None = None
    sandbox: Literal["off", "workspace"] | None = None


class RootTable(TomlTable, frozen=True):
    """A folder outside the workspace that tools may access."""

    path: str
    writable: bool = False


class LimitsTable(TomlTable, frozen=True):
    rounds: Count | None = None
    call_seconds: Positive | None = None
    turn_seconds: Positive | None = None
    turn_tokens: Count | None = None
    turn_cost: Positive | None = None


class WindowTable(TomlTable, frozen=True):
    """The token budget of a request, and when and how the conversation is compressed."""

    token_budget: Annotated[int, Meta(ge=1000, le=1_000_000_000)] | None = None
    trigger: Annotated[float, Meta(gt=0, le=1)] | None = None
    target: Annotated[float, Meta(gt=0, le=1)] | None = None
    recent: Annotated[int, Meta(ge=1, le=1000)] | None = None
    strategy: CompressionStrategy | None = None
    auto_compress: bool | None = None


class OverviewTable(TomlTable, frozen=True):
    """The overview of the workspace that the model receives."""

    enabled: bool | None = None
    depth: Annotated[int, Meta(ge=1, le=5)] | None = None
    tokens: Annotated[int, Meta(ge=50, le=20_000)] | None = None
    recent: Annotated[int, Meta(ge=0, le=50)] | None = None
    parts: tuple[OverviewPart, ...] | None = None
    every: Count | None = None


class UndoTable(TomlTable, frozen=True):
    """How much data is stored for undoing changes."""

    conversation_megabytes: Annotated[int, Meta(ge=1, le=1_000_000)] = 200
    days: Annotated[int, Meta(ge=1, le=3650)] = 30
    baseline_megabytes: Annotated[int, Meta(ge=1, le=1_000_000)] = 500
    files: Annotated[int, Meta(ge=100, le=1_000_000)] = 100_000


class ProjectFile(TomlTable, frozen=True):
    """The config.toml of a project folder, which can only restrict."""

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


class ServerTable(TomlTable, frozen=True):
    host: str | None = None
    port: Annotated[int, Meta(ge=0, le=65535)] | None = None
    roots: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    """Host names that requests may address, beside the server's own."""
    completions_mode: str = "review"
    """The mode of chat completions, whose clients cannot approve calls."""


class ServerUserTable(TomlTable, frozen=True):
    """Settings of one user of the server."""

    closed: ClassVar[bool] = True
    roots: tuple[str, ...]
    """The folders that may contain the user's workspaces, instead of all roots of the server."""


class UserFile(ProjectFile, frozen=True):
    """The user's config.toml. Tables with free names are checked one by one, so that errors can name the table."""

    model: str | None = None
    title_model: str | None = None
    data_dir: str | None = None
    language: Language | None = None
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


_CONFIG_TOML_KEYS = dict.fromkeys(UserFile.__struct_fields__, "config.toml")


class ToolsFile(TomlTable, frozen=True):
    """tools.toml."""

    restrictions: ClassVar[frozenset[str]] = frozenset({"tools"})
    misplaced: ClassVar[Mapping[str, str]] = _CONFIG_TOML_KEYS

    tools: dict[str, Any] = {}
    files: tuple[str, ...] = ()
    """Python files with tools of the user."""


class PersonaFile(TomlTable, frozen=True):
    """personas/ID.toml."""

    restrictions: ClassVar[frozenset[str]] = frozenset({"tools"})
    misplaced: ClassVar[Mapping[str, str]] = _CONFIG_TOML_KEYS

    name: str = ""
    role: str = ""
    identity: str = ""
    communication_style: str = ""
    principles: tuple[str, ...] = ()
    prompt: str = ""
    model: str | None = None
    default_mode: str | None = None
    tools: PersonaToolsTable = PersonaToolsTable()
