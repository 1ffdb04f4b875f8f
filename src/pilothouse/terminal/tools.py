"""Commands about tools: undo, switching, servers of tools, and trust in the folder."""

import sys

from pilothouse.domain.codes import Code, Language, say_all
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.modes import is_looser
from pilothouse.domain.trust import FolderTrust
from pilothouse.runtime.runtime import Runtime
from pilothouse.terminal.foreign_text import quoted
from pilothouse.terminal.lines import Lines
from pilothouse.terminal.pager import Pager
from pilothouse.terminal.words import tell

MAX_PATHS_PRINTED = 20
_UNDECIDED = ("new", "changed")


async def undo(runtime: Runtime, context_id: str, _: str, language: Language) -> None:
    """/undo"""
    undone = await runtime.undo(context_id)
    paths = ", ".join(undone.paths[:MAX_PATHS_PRINTED])
    more = len(undone.paths) - MAX_PATHS_PRINTED
    if more > 0:
        paths = tell("and_more", language, names=paths, count=more)
    print(quoted(tell("undone", language, paths=paths)))
    if undone.left:
        print(quoted(tell("undo_left", language, left=say_all(undone.left, language))))


async def tools(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/tools, /tools on NAME, /tools off NAME"""
    match rest.split():
        case ["on" | "off" as way, name]:
            await runtime.switch_tool(name, way == "on")
        case []:
            pass
        case _:
            raise InvalidInput(Code.COMMAND_USAGE, usage="/tools, /tools on NAME, /tools off NAME")
    off = await runtime.tools_off()
    live = await runtime.context(context_id)
    for name, tool in runtime.parts.registry.within(live.core.workspace).items():
        first = tool.description.partition(".")[0]
        print(quoted(f"  {'○' if name in off else '●'} {name}  {first}"))
    print(tell("tools_told", language))


async def servers(runtime: Runtime, _: str, rest: str, language: Language) -> None:
    """/servers, /servers reconnect NAME"""
    match rest.split():
        case ["reconnect", name]:
            await runtime.reconnect_server(name)
        case []:
            pass
        case _:
            raise InvalidInput(Code.COMMAND_USAGE, usage="/servers, /servers reconnect NAME")
    found = await runtime.tool_servers()
    for server in found:
        detail = f" ({server.detail})" if server.detail else ""
        counts = {"tools": len(server.tools), "changed": len(server.changed)}
        print(quoted(f"  {server.name}: {server.status}, {tell('server_tools', language, **counts)}{detail}"))
        for prompt in server.prompts:
            given = " ".join(f"{name}=…" for name in prompt.arguments)
            print(quoted(f"    /use {server.name} {prompt.name} {given}"))
    if not found:
        print(tell("no_servers", language))


async def resource(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/resource SERVER [URI]"""
    match rest.split():
        case [server]:
            for each in await runtime.server_resources(server):
                print(quoted(f"  {each.uri}  {each.name}"))
        case [server, uri]:
            await runtime.add_resource(context_id, server, uri)
            print(quoted(tell("resource_added", language, uri=uri)))
        case _:
            raise InvalidInput(Code.COMMAND_USAGE, usage="/resource SERVER, /resource SERVER URI")


async def use(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:  # noqa: ARG001
    """/use SERVER PROMPT [NAME=VALUE…]: what a server's prompt says becomes the message"""
    server, *words = rest.split() or [""]
    pairs = [word.partition("=") for word in words[1:]]
    if not words or any(not equals for _, equals, _ in pairs):
        raise InvalidInput(Code.COMMAND_USAGE, usage="/use SERVER PROMPT [NAME=VALUE…]")
    text = await runtime.server_prompt(server, words[0], {name: value for name, _, value in pairs})
    print(quoted(f"» {text}"))
    await runtime.send(context_id, text)


async def trust(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/trust while a turn runs, /trust revoke. Between turns `review_trust` handles /trust: it can ask."""
    if rest == "revoke":
        found = await runtime.distrust_folder(context_id)
    elif rest:
        raise InvalidInput(Code.COMMAND_USAGE, usage="/trust, /trust revoke")
    else:
        found = await runtime.folder_trust(context_id)
    print(_shown(found, language))


async def review_trust(runtime: Runtime, context_id: str, lines: Lines, language: Language) -> None:
    """/trust: show what the folder brings, and ask where it does not count yet."""
    found = await runtime.folder_trust(context_id)
    if found.status in _UNDECIDED:
        await _ask_for_trust(runtime, context_id, found, lines, language)
    else:
        print(_shown(found, language))


async def offer_trust(runtime: Runtime, context_id: str, lines: Lines, language: Language) -> None:
    """Where a folder brings something that does not count yet: show it, and ask."""
    found = await runtime.folder_trust(context_id)
    if found.status in _UNDECIDED:
        await _ask_for_trust(runtime, context_id, found, lines, language)


async def _ask_for_trust(
    runtime: Runtime, context_id: str, found: FolderTrust, lines: Lines, language: Language
) -> None:
    """Trust exactly what was on the screen: the runtime refuses the digest of files that have changed since."""
    is_seen = await Pager(lines, language).show(_shown(found, language)) == "seen"
    if not is_seen or not sys.stdin.isatty():  # what is piped in was not said about this
        print(tell("trust_left", language))
        return
    answer = await lines.ask_now(tell("trust_ask", language))
    if (answer or "").strip().lower() in ("y", "yes", "是"):
        await runtime.trust_folder(context_id, found.digest)
        print(tell("trust_trusted", language))
        await _begin_as_it_says(runtime, context_id)
    else:
        print(tell("trust_left", language))
        if answer is not None and answer.strip().lower() not in ("", "n", "no"):
            lines.put_back(answer)  # it was meant for the conversation


async def _begin_as_it_says(runtime: Runtime, context_id: str) -> None:
    """A conversation in which nothing was said yet begins in the mode that now holds for new ones here."""
    live = await runtime.context(context_id)
    modes = runtime.parts.modes
    usual = runtime.parts.steering(live.core.workspace).mode
    is_new = not live.branches[live.core.active_branch].length
    if usual is not None and is_new and not is_looser(modes.named(usual), modes.stored(live.core.mode)):
        await runtime.switch_mode(context_id, usual)


def _shown(found: FolderTrust, language: Language) -> str:
    parts = [tell(f"trust_{found.status}", language)]
    parts += [quoted(f"--- .pilothouse/{name}\n{text.rstrip()}", is_exact=True) for name, text in found.files.items()]
    return "\n".join(parts)
