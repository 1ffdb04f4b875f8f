"""`pilothouse mcp` and `pilothouse trust`: the person's own file of servers, and trust in folders."""

import argparse
import asyncio
import contextlib
import json
import os
import sys
import tempfile
import termios
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pilothouse.ambient import SystemAmbient
from pilothouse.config.reading import read_text
from pilothouse.domain.codes import Code, Language, say
from pilothouse.domain.errors import InvalidInput, NotFound
from pilothouse.domain.hidden_characters import visible, visible_line
from pilothouse.domain.jsonc import has_comments, plain_json
from pilothouse.domain.trust import FolderTrust
from pilothouse.private_file import make_private_folders
from pilothouse.settings import Settings
from pilothouse.terminal.foreign_text import Pages, quoted
from pilothouse.tools.mcp.definitions import ServerDefinition, read_definitions
from pilothouse.tools.mcp.file_forms import CONTAINERS
from pilothouse.tools.mcp.servers import AcceptedTools, Servers
from pilothouse.tools.registry import Registry

_SECONDS = 30
_WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "none": "There are no servers of tools. Add one: pilothouse mcp add NAME -- COMMAND, or NAME URL",
        "folder": "of this folder",
        "untrusted": "of this folder, not trusted: pilothouse trust",
        "added": "Added {name} to {file}. Try it: pilothouse mcp test {name}",
        "removed": "Removed {name} from {file}.",
        "connecting": "Connecting to {name} …",
        "nothing": "{folder} brings no configuration of its own.",
        "trusted": "{folder} is trusted with what it holds now.",
        "shown": "{folder} brings:",
        "changed": "It is not what you trusted before. Until you do, that still holds.",
        "ask": "Let this count here? [y/N] ",
        "more": "Read on before you decide: Enter = next page ({number} of {count}), anything else = no > ",
        "left": "Nothing of it counts.",
        "kept": "What you trusted before still holds, nothing of what is new.",
        "revoked": "Nothing that {folder} says counts any longer.",
    },
    "zh": {
        "none": "没有工具服务器。添加：pilothouse mcp add 名称 -- 命令，或 名称 URL",
        "folder": "来自此文件夹",
        "untrusted": "来自此文件夹，尚未信任：pilothouse trust",
        "added": "已将 {name} 添加到 {file}。试一试：pilothouse mcp test {name}",
        "removed": "已从 {file} 删除 {name}。",
        "connecting": "正在连接 {name} …",
        "nothing": "{folder} 没有自己的配置。",
        "trusted": "已信任 {folder} 目前的内容。",
        "shown": "{folder} 带来：",
        "changed": "它与你之前信任的不同。在你信任之前，原来的仍然有效。",
        "ask": "让它在这里生效吗？[y/N] ",
        "more": "请先读完再决定：回车 = 下一页（{number}/{count}），其他 = 否 > ",
        "left": "其中没有任何内容生效。",
        "kept": "之前信任的仍然有效，新的内容不生效。",
        "revoked": "{folder} 中的配置不再生效。",
    },
}


async def mcp_command(options: argparse.Namespace, settings: Settings) -> int:
    """Raises: InvalidInput, NotFound."""
    words = _WORDS[settings.language]
    file = settings.configuration.servers_file
    if options.action == "add":
        _add(file, options)
        print(visible(words["added"].format(name=options.name, file=file)))
    elif options.action == "remove":
        _remove(file, options.name)
        print(visible(words["removed"].format(name=options.name, file=file)))
    elif options.action == "test":
        return await _test(settings, options.name)
    else:
        _list(options, settings)
    return 0


def _own(settings: Settings) -> list[ServerDefinition]:
    file = settings.configuration.servers_file
    text = read_text(file)
    return read_definitions(text, str(file)).servers if text is not None else []


def _list(options: argparse.Namespace, settings: Settings) -> None:
    words = _WORDS[settings.language]
    found = settings.configuration.look(str(options.workspace or Path.cwd()))
    text = found.files.get("mcp_servers.json")
    beside = read_definitions(text, f"{found.folder}/.pilothouse/mcp_servers.json").servers if text else []
    told = words["folder"] if found.status == "trusted" else words["untrusted"]
    lines = [_line(server) for server in _own(settings)] + [f"{_line(server)}  ({told})" for server in beside]
    print(visible("\n".join(lines)) if lines else words["none"])


def _line(server: ServerDefinition) -> str:
    target = server.url or " ".join((server.command or "", *server.args))
    off = "" if server.enabled else "  ○"
    return f"{server.name:20} {server.transport:6} {target}{off}"


def _pairs(given: Sequence[str], key: str) -> dict[str, str]:
    pairs = [entry.partition("=") for entry in given]
    wrong = [name for name, equals, _ in pairs if not equals or not name]
    if wrong:
        raise InvalidInput(Code.COMMAND_USAGE, usage=f"--{key} NAME=VALUE")
    return {name: value for name, _, value in pairs}


def _add(file: Path, options: argparse.Namespace) -> None:
    target: list[str] = options.target
    server: dict[str, Any] = {}
    is_address = len(target) == 1 and "://" in target[0]
    if (is_address and options.env) or (not is_address and options.header):
        raise InvalidInput(Code.COMMAND_USAGE, usage="mcp add NAME URL [--header …], mcp add NAME [--env …] -- COMMAND")
    if is_address:
        server["url"] = target[0]
        if options.header:
            server["headers"] = _pairs(options.header, "header")
    else:
        server["command"], server["args"] = target[0], target[1:]
        if options.env:
            server["env"] = _pairs(options.env, "env")
    if options.trusted:
        server["trusted"] = True
    data, named = _data(file)
    if options.name in named:
        raise InvalidInput(Code.COMMAND_USAGE, usage=f"mcp remove {options.name} first: it is there already")
    named[options.name] = server
    _write(file, data)


def _remove(file: Path, name: str) -> None:
    data, named = _data(file)
    if name not in named:
        raise NotFound(Code.UNKNOWN_SERVER, server=name, allowed=", ".join(named) or "-")
    del named[name]
    _write(file, data)


def _data(file: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the file holds, and the part of it that names servers. A list of servers becomes such a part.

    Raises: InvalidInput, also for a file with comments: writing it anew would lose them.
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
    read_definitions(text, str(file))  # what cannot be read back is not written
    make_private_folders(file.parent)
    fd, draft = tempfile.mkstemp(dir=file.parent, prefix=".servers-")  # for the person alone: it may hold keys
    with open(fd, "w", encoding="utf-8") as written:
        written.write(text)
    os.replace(draft, file)


async def _test(settings: Settings, name: str) -> int:
    print(visible(_WORDS[settings.language]["connecting"].format(name=name)), file=sys.stderr, flush=True)
    registry = Registry([])
    known = _own(settings)
    chosen = [server for server in known if server.name == name]
    if not chosen:
        raise NotFound(Code.UNKNOWN_SERVER, server=name, allowed=", ".join(each.name for each in known) or "-")
    servers = Servers(registry, chosen, environment=os.environ, ambient=SystemAmbient(), accepted=AcceptedTools(None))
    connection = servers.find(name, set())
    said = asyncio.Event()  # its first word, good or bad: here nobody waits for another try
    servers.on_change = lambda: said.set() if connection.status != "starting" else None
    try:
        await connection.start()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SECONDS):
                await said.wait()
        is_ready = connection.status == "ready"
        shape = servers.all(set())[0]
        if connection.error is not None:
            lines = [say(connection.error, settings.language)]
        else:
            lines = [f"{shape.name}: {shape.status}" + (f", MCP {shape.protocol}" if shape.protocol else "")]
        lines += [f"  {tool.name}: {tool.description.partition(chr(10))[0]}" for tool in registry.tools.values()]
        lines += [f"  prompt {prompt.name}: {prompt.description}" for prompt in shape.prompts]
        if is_ready and shape.has_resources:
            lines += [f"  resource {resource.uri}" for resource in (await connection.resources())[:20]]
    finally:
        await servers.stop()
    print(visible("\n".join(lines)))
    return 0 if is_ready else 1


async def trust_command(options: argparse.Namespace, settings: Settings) -> int:
    """Raises: InvalidInput, Conflict."""
    words = _WORDS[settings.language]
    configuration = settings.configuration
    folder = options.folder or options.workspace or Path.cwd()
    if not folder.is_dir():
        raise InvalidInput(Code.INVALID_WORKSPACE, path=str(folder))
    found = configuration.look(str(folder))
    if options.revoke:
        configuration.distrust(found.folder)
        print(visible_line(words["revoked"].format(folder=found.folder)))
        return 0
    if found.status in ("none", "trusted"):
        print(visible_line(words["nothing" if found.status == "none" else "trusted"].format(folder=found.folder)))
        return 0
    if not _show_whole(shown(found, settings.language), settings.language, is_asked=not options.yes) or (
        not options.yes and not _says_yes(words["ask"])
    ):
        print(words["left" if found.status == "new" else "kept"])
        return 1
    configuration.trust(found.folder, found.digest)
    print(visible_line(words["trusted"].format(folder=found.folder)))
    return 0


def shown(found: FolderTrust, language: Language) -> str:
    words = _WORDS[language]
    parts = [visible_line(words["shown"].format(folder=found.folder))]
    parts += [quoted(f"--- .pilothouse/{name}\n{text.rstrip()}", is_exact=True) for name, text in found.files.items()]
    if found.status == "changed":
        parts.append(words["changed"])
    return "\n".join(parts)


def _show_whole(text: str, language: Language, *, is_asked: bool) -> bool:
    """Print a text, page by page where a person is asked about it. False when they stop reading."""
    if not is_asked or not sys.stdin.isatty():
        print(text)
        return True
    pages = Pages(text)
    print(pages.next())
    while pages.has_more:
        if _typed_now(_WORDS[language]["more"].format(number=pages.next_number, count=pages.count)):
            return False
        print(pages.next())
    return True


def _says_yes(question: str) -> bool:
    return sys.stdin.isatty() and _typed_now(question).casefold() in ("y", "yes", "是")


def _typed_now(question: str) -> str:
    """What is typed behind the question; what was typed before is dropped."""
    with contextlib.suppress(termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    return input(question).strip()
