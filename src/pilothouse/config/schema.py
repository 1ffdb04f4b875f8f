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
    """The built-in mode that provides all values that the table does not set."""
    title: str | None = None
    title_zh: str | None = None
    icon: str | None = None
    meaning: str | None = None
    """A sentence that describes the mode."""
    meaning_zh: str | None = None
    aliases: tuple[str, ...] | None = None
    """Further names of the mode."""
    offers: Literal["all", "read_only", "none"] | None = None
    """The tools that the model is offered."""
    read_only: VerdictName | None = None
    """The decision about calls that only read."""
    mutating: VerdictName | None = None
    """The decision about calls that may change something."""
    withholds: tuple[str, ...] | None = None
    """Tools that are neither offered nor run."""
    only_beneath: tuple[str, ...] | None = None
    """The only folders in which calls may change files."""
    elevates: bool | None = None
    denial_ends_turn: bool | None = None
    denial_hint: str | None = None
    """The mode that the message about a denial recommends."""
    prompt: str | None = None
    """Instructions for the model."""


class ApprovalTable(TomlTable, frozen=True):
    """An approval policy, which makes a mode stricter."""

    closed: ClassVar[bool] = True
    policy: PolicyKind = "auto_approve"
    tools: tuple[str, ...] = ()
    """The tools of a `white_list` policy, which need no approval."""
    depth: Count = 5
    """The rounds without approval under a `limited_auto` policy."""
    always_ask: tuple[Danger, ...] = ()
    """Dangers that need approval in every mode."""


class RuleTable(TomlTable, frozen=True):
    """A rule that allows or denies calls, or makes them ask."""

    closed: ClassVar[bool] = True
    effect: RuleEffect
    tool: str = "*"
    """The tool; `*` for all tools."""
    folder: str | None = None
    """The only folder in which the rule applies, relative to the workspace."""
    command: str | None = None
    """The leading words of the commands to which the rule applies."""
    workspace: str | None = None
    """The only workspace in which the rule applies; by default, all."""


class PersonaToolsTable(TomlTable, frozen=True):
    """The tools that a persona may use. Denials win; if anything is allowed, everything else is denied."""

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
    """Whether every call needs approval."""
    whitelist: tuple[str, ...] | None = None
    """The leading words of the allowed commands; only for commands."""
    sandbox: Literal["off", "workspace"] | None = None
    """The sandbox of commands that may change files; only for commands."""


class RootTable(TomlTable, frozen=True):
    """A folder outside the workspace that tools may access."""

    path: str
    writable: bool = False


class LimitsTable(TomlTable, frozen=True):
    """The limits of turns and calls."""

    rounds: Count | None = None
    """The model requests of a turn."""
    call_seconds: Positive | None = None
    turn_seconds: Positive | None = None
    turn_tokens: Count | None = None
    turn_cost: Positive | None = None
    """The cost of a turn, in the currency of the model's prices."""


class WindowTable(TomlTable, frozen=True):
    """The token budget of a request, and when and how the conversation is compressed."""

    token_budget: Annotated[int, Meta(ge=1000, le=1_000_000_000)] | None = None
    """The largest request in tokens; by default, the context window of the model."""
    trigger: Annotated[float, Meta(gt=0, le=1)] | None = None
    """The share of the window above which the conversation is compressed."""
    target: Annotated[float, Meta(gt=0, le=1)] | None = None
    """The share of the window to which the conversation is compressed."""
    recent: Annotated[int, Meta(ge=1, le=1000)] | None = None
    """The number of recent messages that a compression keeps."""
    strategy: CompressionStrategy | None = None
    auto_compress: bool | None = None
    """Whether the conversation is compressed without a command."""
    scorer: str | None = None
    """The scorer of the strategy `importance`: the name of an installed one, or `FILE.py:NAME`."""


class CommandsTable(TomlTable, frozen=True):
    """Settings of the commands that the agent runs."""

    environment: tuple[str, ...] = ()
    """The names of environment variables that commands get besides the default ones."""


class OverviewTable(TomlTable, frozen=True):
    """The overview of the workspace that the model receives."""

    enabled: bool | None = None
    depth: Annotated[int, Meta(ge=1, le=5)] | None = None
    """The levels of the file tree."""
    tokens: Annotated[int, Meta(ge=50, le=20_000)] | None = None
    """The largest overview in tokens."""
    recent: Annotated[int, Meta(ge=0, le=50)] | None = None
    """The number of recently changed files that are listed."""
    parts: tuple[OverviewPart, ...] | None = None
    every: Count | None = None
    """The number of messages after which the overview is renewed; by default, only a change of the workspace renews the
    overview."""


class UndoTable(TomlTable, frozen=True):
    """Limits on the data that is stored for undo."""

    conversation_megabytes: Annotated[int, Meta(ge=1, le=1_000_000)] = 200
    """The earlier contents of files that are stored for a conversation."""
    days: Annotated[int, Meta(ge=1, le=3650)] = 30
    """The days for which earlier contents are stored."""
    baseline_megabytes: Annotated[int, Meta(ge=1, le=1_000_000)] = 500
    """The cache with which changes by commands are found in a workspace."""
    files: Annotated[int, Meta(ge=100, le=1_000_000)] = 100_000
    """The entries of a workspace that are scanned for changes by commands."""


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
    """The mode of new conversations."""
    approval: ApprovalTable | None = None
    directories: dict[str, Any] = {}
    """The modes of folders, by path."""
    rules: tuple[Any, ...] = ()


class ServerTable(TomlTable, frozen=True):
    """Settings of the server."""

    host: str | None = None
    """The address to listen on."""
    port: Annotated[int, Meta(ge=0, le=65535)] | None = None
    roots: tuple[str, ...] = ()
    """The folders that may contain workspaces."""
    hosts: tuple[str, ...] = ()
    """Host names that requests may address, beside the server's own."""
    base_path: str = "/"
    """The path prefix below which a proxy offers the server."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses and networks of proxies whose X-Forwarded headers count."""
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
    """The model that writes titles; without one, the first line of a conversation is its title."""
    data_dir: str | None = None
    language: Language | None = None
    plan_commands: Literal["none", "read_only"] = "none"
    """The commands that plan mode may run."""
    processors: tuple[str, ...] = ()
    """Functions that may change or refuse each message of the user, as `FILE.py:NAME`."""
    roots: tuple[Any, ...] = ()
    """Folders outside the workspace that tools may access."""
    limits: LimitsTable = LimitsTable()
    commands: CommandsTable = CommandsTable()
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
    temperature: float | None = None
    max_output_tokens: int | None = None
    default_mode: str | None = None
    tools: PersonaToolsTable = PersonaToolsTable()
