"""tools.toml: disabled tools, tools that need approval, allowed commands, and files with tools of the user."""

import os
import shlex
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Literal, NoReturn

import msgspec

from pilothouse.config.schema import ToolsFile, ToolTable
from pilothouse.config.toml_document import KeyPath, TomlDocument
from pilothouse.domain.rules import ANY_TOOL, MAX_RULE_WORDS
from pilothouse.domain.spelling import sort_by_similarity, suggest_key
from pilothouse.domain.value import Value
from pilothouse.domain.workspace_policy import WorkspacePolicy

_ALIASES = {"codebase": "code_analysis", "system": "system_control"}
_COMMAND_TOOLS = frozenset({"execute", "system_control"})


class ToolSettings(Value, kw_only=True):
    """The settings of tools.toml, with aliases resolved."""

    disabled: frozenset[str] = frozenset()
    """Disabled tools and categories."""
    always_ask: frozenset[str] = frozenset()
    """Tools and categories whose calls need approval."""
    command_allowlists: tuple[tuple[tuple[str, ...], ...], ...] = ()
    """Allowlists of commands by their leading words. A command must match an entry of each list."""
    sandbox: Literal["off", "workspace"] = "off"
    """The sandbox of commands that may change files."""
    files: tuple[Path, ...] = ()
    """Python files with tools of the user."""


def tool_settings(document: TomlDocument, *, is_project: bool = False) -> ToolSettings:
    """Convert tools.toml. Raises: InvalidInput, also for keys that a project may not set."""
    file = document.validate(document.data, ToolsFile)
    if is_project and file.files:
        document.fail(("files",), "A project can't load code into Pilothouse.", "no value; remove this key")
    disabled, always_ask, command_allowlists, sandbox = set(), set(), [], None
    for name, data in file.tools.items():
        at = ("tools", name)
        canonical = _ALIASES.get(name, name)
        table = document.validate(data, ToolTable, at, closed=canonical in _COMMAND_TOOLS)
        if table.enabled is False:
            disabled.add(canonical)
        if table.require_approval:
            always_ask.add(canonical)
        for field in ("whitelist", "sandbox"):
            if getattr(table, field) is not None and canonical not in _COMMAND_TOOLS:
                document.fail((*at, field), "This key only applies to commands.", "under [tools.execute]")
        if is_project and table.sandbox is not None:
            document.fail((*at, "sandbox"), "A project can't set this key.", "no value; remove this key")
        if table.whitelist is not None:
            command_allowlists.append(tuple(_words(document, at, entry) for entry in table.whitelist))
        sandbox = "workspace" if "workspace" in (table.sandbox, sandbox) else table.sandbox or sandbox
    return ToolSettings(
        disabled=frozenset(disabled),
        always_ask=frozenset(always_ask),
        command_allowlists=tuple(command_allowlists),
        sandbox=sandbox or "off",
        files=tuple(_file(document, entry) for entry in file.files),
    )


def check_tool_names(document: TomlDocument, known_names: Collection[str]) -> None:
    """Warn about tables of unknown tools and categories. Raises: InvalidInput for a misspelt one."""
    for name in document.data.get("tools", {}):
        if name in known_names or name in _ALIASES or "__" in name:  # tools of MCP servers come and go
            continue
        suggestion = suggest_key(name, (*known_names, *_ALIASES))
        if suggestion is not None:
            document.fail(
                ("tools", name), f"Unknown tool. Did you mean {suggestion!r}?", ", ".join(sorted(known_names))
            )
        document.ignore(("tools", name))


def check_named_tools(document: TomlDocument, tool_names: Collection[str], *, is_project: bool = False) -> None:
    """Check the tools that rules, modes and the approval policy name: a misspelt name would restrict nothing. A project
    may name tools that only other users have, so that a name unlike any known one is only a warning there.

    Raises: InvalidInput.
    """
    for at, name in _named_tools(document):
        if name in tool_names or "__" in name:  # tools of MCP servers come and go
            continue
        if is_project and suggest_key(name, tool_names) is None:
            document.ignore(at)
        else:
            refuse_tool(document, at, name, tool_names)


def refuse_tool(document: TomlDocument, at: KeyPath, name: str, tool_names: Collection[str]) -> NoReturn:
    """Raises: InvalidInput about an unknown tool."""
    document.fail(at, f"Unknown tool {name!r}.", ", ".join(sort_by_similarity(name, tool_names)))


def _named_tools(document: TomlDocument) -> Iterator[tuple[KeyPath, str]]:
    """Yield every tool that a validated configuration names, with its key."""
    for number, rule in enumerate(document.data.get("rules", ())):
        if rule.get("tool", ANY_TOOL) != ANY_TOOL:
            yield ("rules", str(number), "tool"), rule["tool"]
    for mode, table in document.data.get("modes", {}).items():
        yield from ((("modes", mode, "withholds"), name) for name in table.get("withholds", ()))
    yield from ((("approval", "tools"), name) for name in document.data.get("approval", {}).get("tools", ()))


def _words(document: TomlDocument, at: tuple[str, ...], entry: str) -> tuple[str, ...]:
    """Split an entry into words. `git status` and `git status *` both match commands that start with these words."""
    try:
        words = tuple(shlex.split(entry))
    except ValueError as error:
        document.fail((*at, "whitelist"), f"{entry!r}: {error}.", "the leading words of a command")
    words = words[:-1] if words[-1:] == ("*",) else words
    if not 0 < len(words) <= MAX_RULE_WORDS or any("*" in word for word in words):
        document.fail(
            (*at, "whitelist"), f"{entry!r} isn't the beginning of a command.", "its first words, without '*'"
        )
    return words


def _file(document: TomlDocument, entry: str) -> Path:
    """Resolve a path; a relative one starts at the folder of tools.toml."""
    path = Path(os.path.expanduser(entry))
    return path if path.is_absolute() else document.path.parent / path


def with_tools(policy: WorkspacePolicy, settings: ToolSettings) -> WorkspacePolicy:
    """Add the restrictions of tools.toml to a policy."""
    changed: WorkspacePolicy = msgspec.structs.replace(
        policy,
        disabled=policy.disabled | settings.disabled,
        always_ask=policy.always_ask | settings.always_ask,
        command_lists=(*policy.command_lists, *settings.command_allowlists),
    )
    return changed
