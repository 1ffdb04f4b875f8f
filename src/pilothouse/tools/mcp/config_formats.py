"""The formats in which other programs configure MCP servers, normalized to names with uniform entries.

Claude, Cursor, Cline and Gemini write `mcpServers`, VS Code `servers` (in its settings below `mcp`), opencode `mcp`,
Zed `context_servers`; a list of named servers is read too. Keys specific to one program are mapped to the usual names.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pilothouse.domain.codes import Code
from pilothouse.domain.spelling import suggest_key
from pilothouse.tools.mcp.json_document import JsonDocument, KeyPath

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
_GRANT_KEYS = frozenset({"autoApprove", "alwaysAllow", "trust"})
_NEVER_MISSPELT = frozenset({"timeoutMs", "timeout_ms"})


def entries_of(document: JsonDocument) -> list[Entry]:
    """Every server of a file: its name, its entry with known keys only, its key path. An entry with two values for one
    setting is left out, with a warning. Raises: InvalidInput."""
    return [
        (name, _normalize(document, data, key_path), key_path)
        for name, data, key_path in _named_entries(document, document.data, ())
        if not _has_duplicate_setting(document, name, data, key_path)
    ]


def _named_entries(document: JsonDocument, data: Any, key_path: KeyPath) -> Iterator[tuple[str, Any, KeyPath]]:
    if isinstance(data, list):
        yield from (_list_entry(document, entry, key_path) for entry in data)
        return
    keys = document.checked(data, dict, key_path, 'an object with "mcpServers" or with "servers", or a list of servers')
    containers = [key for key in keys if key in CONTAINERS]
    for key in keys:
        suggestion = suggest_key(key, CONTAINERS)
        if key in containers or key == "$schema":
            continue
        if suggestion is not None and not containers:
            document.fail((*key_path, key), f"Unknown key. Did you mean {suggestion!r}?", ", ".join(CONTAINERS))
        document.warn(Code.IGNORED_KEY, (*key_path, key))
    for key in containers:
        yield from _container_entries(document, keys[key], (*key_path, key))


def _container_entries(document: JsonDocument, data: Any, key_path: KeyPath) -> Iterator[tuple[str, Any, KeyPath]]:
    is_nested = key_path[-1] == "mcp" and isinstance(data, dict) and isinstance(data.get("servers"), dict)
    if is_nested or isinstance(data, list):
        yield from _named_entries(document, data, key_path)
        return
    servers = document.checked(data, dict, key_path, "an object that maps names to servers")
    yield from ((name, server, (*key_path, name)) for name, server in servers.items())


def _list_entry(document: JsonDocument, entry: Any, key_path: KeyPath) -> tuple[str, Any, KeyPath]:
    data = dict(document.checked(entry, dict, key_path, "an object for each server"))
    if "name" not in data:
        document.fail((*key_path, "name"), "A required key is missing.", ", ".join(("name", *KEYS)))
    name = document.checked(data.pop("name"), str, (*key_path, "name"), "text")
    return name, data, (*key_path, name)


def _has_duplicate_setting(document: JsonDocument, name: str, data: Any, key_path: KeyPath) -> bool:
    """Whether an entry sets one thing under two names: a person who reads one of them would agree to the other."""
    set_keys = [key for key, value in data.items() if value is not None] if isinstance(data, dict) else []
    command = data.get("command") if "command" in set_keys else None
    key_meanings = [(key, _ALIASES.get(key, key)) for key in set_keys]
    if isinstance(command, dict) and "path" in command:
        key_meanings += [(f"command.{key}", key) for key in ("args", "env") if command.get(key) is not None]
    first_by_meaning: dict[str, str] = {}
    for key, meaning in key_meanings:
        first = first_by_meaning.setdefault(meaning, key)
        if first != key:
            document.warn(Code.SERVER_KEY_TWICE, (*key_path, *key.split(".")), name=name, first=first, second=key)
            return True
    return False


def _normalize(document: JsonDocument, data: Any, key_path: KeyPath) -> dict[str, Any]:
    """An entry under the usual names. A null value counts as absent."""
    settings = {
        key: value for key, value in document.checked(data, dict, key_path, "an object").items() if value is not None
    }
    normalized = {key: value for key, value in settings.items() if key in KEYS}
    for key, value in settings.items():
        if key in _ALIASES:
            normalized[_ALIASES[key]] = value
        elif key in _GRANT_KEYS:
            if value:
                document.warn(Code.IGNORED_GRANT, (*key_path, key))
        elif key not in KEYS:
            suggestion = suggest_key(key, KEYS) if key not in _NEVER_MISSPELT else None
            if suggestion is not None:
                document.fail((*key_path, key), f"Unknown key. Did you mean {suggestion!r}?", ", ".join(KEYS))
            document.warn(Code.IGNORED_KEY, (*key_path, key))
    return _normalize_command(normalized)


def _normalize_command(entry: dict[str, Any]) -> dict[str, Any]:
    """A command given as a list contains its arguments; one given as an object contains the path, arguments and
    environment."""
    command = entry.get("command")
    if isinstance(command, dict) and "path" in command:
        inner = {key: command[key] for key in ("args", "env") if command.get(key) is not None}
        return {**entry, **inner, "command": command["path"]}
    if isinstance(command, list) and command:
        args = entry.get("args", [])
        return {**entry, "command": command[0], "args": [*command[1:], *args] if isinstance(args, list) else args}
    return entry
