"""tools.toml: which tools are on, which wait for leave, which commands need none, where one's own lie."""

import os
import shlex
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Literal, NoReturn

import msgspec

from pilothouse.config.reading import Document, KeyPath
from pilothouse.config.schema import ToolsFile, ToolTable
from pilothouse.domain.rules import ANY, WORDS_AT_MOST
from pilothouse.domain.spelling import misspelt, nearest_first
from pilothouse.domain.steering import Steering
from pilothouse.domain.values import Value

_ALIASES = {"codebase": "code_analysis", "system": "system_control"}
_COMMANDS = frozenset({"execute", "system_control"})


class ToolSettings(Value, kw_only=True):
    """`disabled` and `waiting` name tools or categories. `lists` are white lists of commands: each must hold one."""

    disabled: frozenset[str] = frozenset()
    waiting: frozenset[str] = frozenset()
    lists: tuple[tuple[tuple[str, ...], ...], ...] = ()
    sandbox: Literal["off", "workspace"] = "off"
    files: tuple[Path, ...] = ()


def tool_settings(document: Document, *, is_project: bool = False) -> ToolSettings:
    """Raises: InvalidInput, also for what a project may not set."""
    file = document.checked(document.data, ToolsFile)
    if is_project and file.files:
        document.fail(("files",), "A project may not bring code that runs in here.", "leave it out")
    disabled, waiting, lists, sandbox = set(), set(), [], None
    for name, data in file.tools.items():
        at = ("tools", name)
        plain = _ALIASES.get(name, name)
        table = document.checked(data, ToolTable, at, closed=plain in _COMMANDS)
        if table.enabled is False:
            disabled.add(plain)
        if table.require_approval:
            waiting.add(plain)
        for field in ("whitelist", "sandbox"):
            if getattr(table, field) is not None and plain not in _COMMANDS:
                document.fail((*at, field), "It is for commands only.", "under [tools.execute]")
        if is_project and table.sandbox is not None:
            document.fail((*at, "sandbox"), "A project may not set it.", "leave it out")
        if table.whitelist is not None:
            lists.append(tuple(_words(document, at, entry) for entry in table.whitelist))
        sandbox = "workspace" if "workspace" in (table.sandbox, sandbox) else table.sandbox or sandbox
    return ToolSettings(
        disabled=frozenset(disabled),
        waiting=frozenset(waiting),
        lists=tuple(lists),
        sandbox=sandbox or "off",
        files=tuple(_file(document, entry) for entry in file.files),
    )


def check_tool_names(document: Document, known: Collection[str]) -> None:
    """Warn of tables about tools and categories that do not exist. Raises: InvalidInput for a misspelt one."""
    for name in document.data.get("tools", {}):
        if name in known or name in _ALIASES or "__" in name:  # tools of MCP servers come and go
            continue
        meant = misspelt(name, (*known, *_ALIASES))
        if meant is not None:
            document.fail(("tools", name), f"There is no such tool. Did you mean {meant!r}?", ", ".join(sorted(known)))
        document.ignore(("tools", name))


def check_named_tools(document: Document, known: Collection[str], *, is_project: bool = False) -> None:
    """Check the tools that rules, modes and the approval policy of a configuration name. One that is misspelt would
    restrict nothing. A project may name tools that only others have: there, a name like no known one is a warning.

    Raises: InvalidInput.
    """
    for at, name in _named_tools(document):
        if name in known or "__" in name:  # tools of MCP servers come and go
            continue
        if is_project and misspelt(name, known) is None:
            document.ignore(at)
        else:
            refuse_tool(document, at, name, known)


def refuse_tool(document: Document, at: KeyPath, name: str, known: Collection[str]) -> NoReturn:
    """Raises: InvalidInput about a tool that does not exist."""
    document.fail(at, f"There is no tool {name!r}.", ", ".join(nearest_first(name, known)))


def _named_tools(document: Document) -> Iterator[tuple[KeyPath, str]]:
    """Every tool that a checked configuration names, and where."""
    for number, rule in enumerate(document.data.get("rules", ())):
        if rule.get("tool", ANY) != ANY:
            yield ("rules", str(number), "tool"), rule["tool"]
    for mode, table in document.data.get("modes", {}).items():
        yield from ((("modes", mode, "withholds"), name) for name in table.get("withholds", ()))
    yield from ((("approval", "tools"), name) for name in document.data.get("approval", {}).get("tools", ()))


def _words(document: Document, at: tuple[str, ...], entry: str) -> tuple[str, ...]:
    """`git status` and `git status *` are the same: a command that begins with these words."""
    try:
        words = tuple(shlex.split(entry))
    except ValueError as error:
        document.fail((*at, "whitelist"), f"{entry!r}: {error}.", "the leading words of a command")
    words = words[:-1] if words[-1:] == ("*",) else words
    if not 0 < len(words) <= WORDS_AT_MOST or any("*" in word for word in words):
        document.fail((*at, "whitelist"), f"{entry!r} is no beginning of a command.", "its first words, without '*'")
    return words


def _file(document: Document, entry: str) -> Path:
    path = Path(os.path.expanduser(entry))
    return path if path.is_absolute() else document.path.parent / path


def with_tools(steering: Steering, settings: ToolSettings) -> Steering:
    changed: Steering = msgspec.structs.replace(
        steering,
        disabled=steering.disabled | settings.disabled,
        waiting=steering.waiting | settings.waiting,
        command_lists=(*steering.command_lists, *settings.lists),
    )
    return changed
