"""The forms in which programs write down MCP servers, read as names with entries of one form.

Claude, Cursor, Cline and Gemini write `mcpServers`, VS Code `servers` (in its settings below `mcp`), opencode `mcp`,
Zed `context_servers`; a list of named servers is read too. Keys that only some programs know get their usual names.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pilothouse.domain.codes import Code
from pilothouse.domain.spelling import misspelt
from pilothouse.tools.mcp.document import Document, KeyPath

Entry = tuple[str, dict[str, Any], KeyPath]

KEYS = (
    *("command", "args", "env", "cwd", "url", "headers", "type", "transport"),
    *("trusted", "disabled", "enabled", "timeout"),
)
CONTAINERS = ("mcpServers", "servers", "mcp", "context_servers", "mcp_servers")
_ALIASES: Mapping[str, str] = {
    "environment": "env",
    "httpUrl": "url",
    "serverUrl": "url",
    "transportType": "transport",
}
_GRANTS = frozenset({"autoApprove", "alwaysAllow", "trust"})
_NEVER_MISSPELT = frozenset({"timeoutMs", "timeout_ms"})


def entries_of(document: Document) -> list[Entry]:
    """Every server of a file: its name, its entry with known keys only, its place. An entry that says one thing twice
    is left out, with a warning. Raises: InvalidInput."""
    return [
        (name, _plain(document, data, at), at)
        for name, data, at in _named(document, document.data, ())
        if not _says_twice(document, name, data, at)
    ]


def _named(document: Document, data: Any, at: KeyPath) -> Iterator[tuple[str, Any, KeyPath]]:
    if isinstance(data, list):
        yield from (_listed(document, entry, at) for entry in data)
        return
    held = document.typed(data, dict, at, 'an object with "mcpServers" or with "servers", or a list of servers')
    containers = [key for key in held if key in CONTAINERS]
    for key in held:
        meant = misspelt(key, CONTAINERS)
        if key in containers or key == "$schema":
            continue
        if meant is not None and not containers:
            document.fail((*at, key), f"There is no such key. Did you mean {meant!r}?", ", ".join(CONTAINERS))
        document.warn(Code.IGNORED_KEY, (*at, key))
    for key in containers:
        yield from _contained(document, held[key], (*at, key))


def _contained(document: Document, data: Any, at: KeyPath) -> Iterator[tuple[str, Any, KeyPath]]:
    is_nested = at[-1] == "mcp" and isinstance(data, dict) and isinstance(data.get("servers"), dict)
    if is_nested or isinstance(data, list):
        yield from _named(document, data, at)
        return
    named = document.typed(data, dict, at, "an object: names, each with its server")
    yield from ((name, server, (*at, name)) for name, server in named.items())


def _listed(document: Document, entry: Any, at: KeyPath) -> tuple[str, Any, KeyPath]:
    data = dict(document.typed(entry, dict, at, "an object for each server"))
    if "name" not in data:
        document.fail((*at, "name"), "It is missing.", ", ".join(("name", *KEYS)))
    name = document.typed(data.pop("name"), str, (*at, "name"), "text")
    return name, data, (*at, name)


def _says_twice(document: Document, name: str, data: Any, at: KeyPath) -> bool:
    """Whether an entry has a key under two names: a person who reads one of them would agree to the other."""
    given = [key for key, value in data.items() if value is not None] if isinstance(data, dict) else []
    command = data.get("command") if "command" in given else None
    places = [(key, _ALIASES.get(key, key)) for key in given]
    if isinstance(command, dict) and "path" in command:
        places += [(f"command.{key}", key) for key in ("args", "env") if command.get(key) is not None]
    first_by_meaning: dict[str, str] = {}
    for key, meaning in places:
        first = first_by_meaning.setdefault(meaning, key)
        if first != key:
            document.warn(Code.SERVER_KEY_TWICE, (*at, *key.split(".")), name=name, first=first, second=key)
            return True
    return False


def _plain(document: Document, data: Any, at: KeyPath) -> dict[str, Any]:
    """An entry under the usual names. Null is as good as absent."""
    given = {key: value for key, value in document.typed(data, dict, at, "an object").items() if value is not None}
    plain = {key: value for key, value in given.items() if key in KEYS}
    for key, value in given.items():
        if key in _ALIASES:
            plain[_ALIASES[key]] = value
        elif key in _GRANTS:
            if value:
                document.warn(Code.IGNORED_GRANT, (*at, key))
        elif key not in KEYS:
            meant = misspelt(key, KEYS) if key not in _NEVER_MISSPELT else None
            if meant is not None:
                document.fail((*at, key), f"There is no such key. Did you mean {meant!r}?", ", ".join(KEYS))
            document.warn(Code.IGNORED_KEY, (*at, key))
    return _with_plain_command(plain)


def _with_plain_command(plain: dict[str, Any]) -> dict[str, Any]:
    """A command as a list holds its arguments; one as an object holds a path with all that belongs to it."""
    command = plain.get("command")
    if isinstance(command, dict) and "path" in command:
        inner = {key: command[key] for key in ("args", "env") if command.get(key) is not None}
        return {**plain, **inner, "command": command["path"]}
    if isinstance(command, list) and command:
        args = plain.get("args", [])
        return {**plain, "command": command[0], "args": [*command[1:], *args] if isinstance(args, list) else args}
    return plain
