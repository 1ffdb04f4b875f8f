"""`pilothouse mcp` and `pilothouse trust`: the user's file of MCP servers, and trust in folders."""

import argparse
import asyncio
import contextlib
import json
import os
import sys
import termios
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pilothouse.config.toml_document import read_text
from pilothouse.domain.codes import Code, Language
from pilothouse.domain.deception.hidden_characters import exact_line, visible, visible_line
from pilothouse.domain.errors import InvalidInput, NotFound
from pilothouse.domain.jsonc import has_comments, plain_json
from pilothouse.domain.trust import FolderTrust
from pilothouse.i18n import translate, ui_text
from pilothouse.settings import Settings
from pilothouse.system.ambient import SystemAmbient
from pilothouse.system.private_file import replace_private_file
from pilothouse.terminal.foreign_text import PagedText
from pilothouse.terminal.trust_text import trust_text
from pilothouse.tools.mcp.config_formats import CONTAINERS
from pilothouse.tools.mcp.definitions import MCPServerDefinition, read_definitions
from pilothouse.tools.mcp.servers import AcceptedTools, MCPServers
from pilothouse.tools.registry import Registry

_TEST_TIMEOUT_SECONDS = 30


async def mcp_command(options: argparse.Namespace, settings: Settings) -> int:
    """Run an action on the MCP servers. Raises: InvalidInput, NotFound."""
    language = settings.language
    file = settings.configuration.mcp_servers_file
    if options.action == "add":
        _add(file, options)
        print(visible(ui_text("mcp", "added", language, name=options.name, file=file)))
    elif options.action == "remove":
        _remove(file, options.name)
        print(visible(ui_text("mcp", "removed", language, name=options.name, file=file)))
    elif options.action == "test":
        return await _test(settings, options.name)
    else:
        _list(options, settings)
    return 0


def _user_mcp_servers(settings: Settings) -> list[MCPServerDefinition]:
    file = settings.configuration.mcp_servers_file
    text = read_text(file)
    return read_definitions(text, str(file)).servers if text is not None else []


def _list(options: argparse.Namespace, settings: Settings) -> None:
    language = settings.language
    folder_trust = settings.configuration.status(str(options.workspace or Path.cwd()))
    text = folder_trust.files.get("mcp_servers.json")
    folder_servers = (
        read_definitions(text, f"{folder_trust.folder}/.pilothouse/mcp_servers.json").servers if text else []
    )
    origin = ui_text("mcp", "folder" if folder_trust.status == "trusted" else "untrusted", language)
    lines = [_server_line(server) for server in _user_mcp_servers(settings)] + [
        f"{_server_line(server)}  ({origin})" for server in folder_servers
    ]
    print(visible("\n".join(lines)) if lines else ui_text("mcp", "none", language))


def _server_line(server: MCPServerDefinition) -> str:
    target = exact_line(server.url or " ".join((server.command or "", *server.args)))
    disabled_mark = "" if server.enabled else "  ○"
    return f"{exact_line(server.name):20} {server.transport:6} {target}{disabled_mark}"


def _parse_pairs(entries: Sequence[str], key: str) -> dict[str, str]:
    pairs = [entry.partition("=") for entry in entries]
    invalid = [name for name, equals, _ in pairs if not equals or not name]
    if invalid:
        raise InvalidInput(Code.COMMAND_USAGE, usage=f"--{key} NAME=VALUE")
    return {name: value for name, _, value in pairs}


def _add(file: Path, options: argparse.Namespace) -> None:
    target: list[str] = options.target
    server: dict[str, Any] = {}
    is_url = len(target) == 1 and "://" in target[0]
    if (is_url and options.env) or (not is_url and options.header):
        raise InvalidInput(
            Code.COMMAND_USAGE,
            usage="pilothouse mcp add NAME URL [--header …], pilothouse mcp add NAME [--env …] -- COMMAND",
        )
    if is_url:
        server["url"] = target[0]
        if options.header:
            server["headers"] = _parse_pairs(options.header, "header")
    else:
        server["command"], server["args"] = target[0], target[1:]
        if options.env:
            server["env"] = _parse_pairs(options.env, "env")
    if options.trusted:
        server["trusted"] = True
    data, servers_by_name = _read_servers_by_name(file)
    if options.name in servers_by_name:
        raise InvalidInput(
            Code.COMMAND_USAGE,
            usage=f"pilothouse mcp remove {options.name} first, because {options.name} already exists",
        )
    servers_by_name[options.name] = server
    _write(file, data)


def _remove(file: Path, name: str) -> None:
    data, servers_by_name = _read_servers_by_name(file)
    if name not in servers_by_name:
        raise NotFound(Code.UNKNOWN_SERVER, server=name, allowed=", ".join(servers_by_name) or "-")
    del servers_by_name[name]
    _write(file, data)


def _read_servers_by_name(file: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The contents of the file, and the table in it that maps names to servers. A list of servers becomes such a table.

    Raises: InvalidInput, also for a file with comments: rewriting the file would lose them.
    """
    text = read_text(file) or "{}"
    read_definitions(text, str(file))
    if has_comments(text):
        raise InvalidInput(Code.FILE_HAS_COMMENTS, file=str(file))
    data = json.loads(plain_json(text))
    if isinstance(data, list):
        data = {"servers": data}
    if isinstance(data.get("servers"), list):
        entries = data.pop("servers")
        data["mcpServers"] = {entry["name"]: {k: v for k, v in entry.items() if k != "name"} for entry in entries}
    inner = data["mcp"] if "servers" in data.get("mcp", {}) else data
    key = next((key for key in CONTAINERS if key in inner), "mcpServers")
    return data, inner.setdefault(key, {})


def _write(file: Path, data: dict[str, Any]) -> None:
    text = json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    read_definitions(text, str(file))  # refuse to write a file that cannot be read back
    replace_private_file(file, text.encode())  # readable by its owner only: the file may hold keys


async def _test(settings: Settings, name: str) -> int:
    print(visible(ui_text("mcp", "connecting", settings.language, name=name)), file=sys.stderr, flush=True)
    registry = Registry([])
    user_servers = _user_mcp_servers(settings)
    definitions = [server for server in user_servers if server.name == name]
    if not definitions:
        raise NotFound(Code.UNKNOWN_SERVER, server=name, allowed=", ".join(each.name for each in user_servers) or "-")
    servers = MCPServers(
        registry, definitions, environment=os.environ, ambient=SystemAmbient(), accepted=AcceptedTools(None)
    )
    connection = servers.find(name, set())
    has_answered = asyncio.Event()  # set at the first success or failure: this command does not wait for retries
    servers.on_change = lambda: has_answered.set() if connection.status != "starting" else None
    try:
        await connection.start()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_TEST_TIMEOUT_SECONDS):
                await has_answered.wait()
        is_ready = connection.status == "ready"
        view = servers.all(set())[0]
        if connection.error is not None:
            lines = [translate(connection.error, settings.language)]
        else:
            lines = [f"{view.name}: {view.status}" + (f", MCP {view.protocol}" if view.protocol else "")]
        lines += [f"  {tool.name}: {tool.description.partition(chr(10))[0]}" for tool in registry.tools.values()]
        lines += ["  " + exact_line(f"prompt {prompt.name}: {prompt.description}") for prompt in view.prompts]
        if is_ready and view.has_resources:
            lines += ["  " + exact_line(f"resource {resource.uri}") for resource in (await connection.resources())[:20]]
    finally:
        await servers.stop()
    print(visible("\n".join(lines)))
    return 0 if is_ready else 1


async def trust_command(options: argparse.Namespace, settings: Settings) -> int:
    """Show a folder's settings and trust or distrust them. Raises: InvalidInput, Conflict."""
    language = settings.language
    configuration = settings.configuration
    folder = options.folder or options.workspace or Path.cwd()
    if not folder.is_dir():
        raise InvalidInput(Code.INVALID_WORKSPACE, path=str(folder))
    folder_trust = configuration.status(str(folder))
    if options.revoke:
        configuration.distrust(folder_trust.folder)
        print(visible_line(ui_text("trust", "revoked", language, folder=folder_trust.folder)))
        return 0
    if folder_trust.status in ("none", "trusted"):
        key = "nothing" if folder_trust.status == "none" else "trusted"
        print(visible_line(ui_text("trust", key, language, folder=folder_trust.folder)))
        return 0
    if not _show_whole(_trust_text(folder_trust, language), language, is_asked=not options.yes) or (
        not options.yes and not _confirms(ui_text("trust", "ask", language))
    ):
        print(ui_text("trust", "left" if folder_trust.status == "new" else "kept", language))
        return 1
    configuration.trust(folder_trust.folder, folder_trust.digest)
    print(visible_line(ui_text("trust", "trusted", language, folder=folder_trust.folder)))
    return 0


def _trust_text(folder_trust: FolderTrust, language: Language) -> str:
    rows = [ui_text("trust", "shown", language, folder=exact_line(folder_trust.folder))]
    rows.append(trust_text(folder_trust, language))
    if folder_trust.status == "changed":
        rows.append(ui_text("trust", "changed", language))
    return "\n".join(rows)


def _show_whole(text: str, language: Language, *, is_asked: bool) -> bool:
    """Print a text, page by page if a question about it follows. Return False if the person stops reading."""
    if not is_asked or not sys.stdin.isatty():
        print(text)
        return True
    pages = PagedText(text)
    print(pages.next())
    while pages.has_more:
        if _ask_now(ui_text("trust", "more", language, number=pages.next_number, count=pages.count)):
            return False
        print(pages.next())
    return True


def _confirms(question: str) -> bool:
    return sys.stdin.isatty() and _ask_now(question).casefold() in ("y", "yes", "是")


def _ask_now(question: str) -> str:
    """Ask a question and return the answer. Input typed before the question is discarded."""
    with contextlib.suppress(termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    return input(question).strip()
