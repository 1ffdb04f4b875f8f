"""Commands about tools: undo, switching tools on and off, MCP servers, and trust in the folder."""

import sys

from pilothouse.domain.codes import Code, Language
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.modes import is_looser
from pilothouse.domain.trust import FolderTrust
from pilothouse.i18n import translate_all, ui_text
from pilothouse.runtime.runtime import Runtime
from pilothouse.terminal.foreign_text import quoted
from pilothouse.terminal.line_reader import LineReader
from pilothouse.terminal.pager import Pager
from pilothouse.terminal.trust_text import trust_text

MAX_PATHS_PRINTED = 20
_NOT_IN_EFFECT = ("new", "changed")


async def undo(runtime: Runtime, context_id: str, _: str, language: Language) -> None:
    """/undo"""
    undone = await runtime.workspaces.undo(context_id)
    paths = ", ".join(undone.paths[:MAX_PATHS_PRINTED])
    hidden_count = len(undone.paths) - MAX_PATHS_PRINTED
    if hidden_count > 0:
        paths = ui_text("terminal", "and_more", language, names=paths, count=hidden_count)
    print(quoted(ui_text("terminal", "undone", language, paths=paths)))
    if undone.left:
        print(quoted(ui_text("terminal", "undo_left", language, left=translate_all(undone.left, language))))


async def tools(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/tools, /tools on NAME, /tools off NAME"""
    match rest.split():
        case ["on" | "off" as switch, name]:
            await runtime.tools.switch(name, switch == "on")
        case []:
            pass
        case _:
            raise InvalidInput(Code.COMMAND_USAGE, usage="/tools, /tools on NAME, /tools off NAME")
    disabled_tools = await runtime.tools.disabled()
    live = await runtime.contexts.get(context_id)
    for name, tool in runtime.tools.in_workspace(live.core.workspace).items():
        first_sentence = tool.description.partition(".")[0]
        print(quoted(f"  {'○' if name in disabled_tools else '●'} {name}  {first_sentence}"))
    print(ui_text("terminal", "tools_legend", language))


async def mcp_servers(runtime: Runtime, _: str, rest: str, language: Language) -> None:
    """/servers, /servers reconnect NAME"""
    match rest.split():
        case ["reconnect", name]:
            await runtime.mcp_servers.reconnect(name)
        case []:
            pass
        case _:
            raise InvalidInput(Code.COMMAND_USAGE, usage="/servers, /servers reconnect NAME")
    mcp_servers = await runtime.mcp_servers.read()
    for mcp_server in mcp_servers:
        detail = f" ({mcp_server.detail})" if mcp_server.detail else ""
        counts = {"tools": len(mcp_server.tools), "changed": len(mcp_server.changed)}
        tool_counts = ui_text("terminal", "mcp_server_tools", language, **counts)
        print(quoted(f"  {mcp_server.name}: {mcp_server.status}, {tool_counts}{detail}"))
        for prompt in mcp_server.prompts:
            arguments = " ".join(f"{name}=…" for name in prompt.arguments)
            print(quoted(f"    /use {mcp_server.name} {prompt.name} {arguments}"))
    if not mcp_servers:
        print(ui_text("terminal", "no_mcp_servers", language))


async def resource(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/resource SERVER [URI]"""
    match rest.split():
        case [mcp_server]:
            for each in await runtime.mcp_servers.resources(mcp_server):
                print(quoted(f"  {each.uri}  {each.name}"))
        case [mcp_server, uri]:
            await runtime.mcp_servers.add_resource(context_id, mcp_server, uri)
            print(quoted(ui_text("terminal", "resource_added", language, uri=uri)))
        case _:
            raise InvalidInput(Code.COMMAND_USAGE, usage="/resource SERVER, /resource SERVER URI")


async def use(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:  # noqa: ARG001
    """/use SERVER PROMPT [NAME=VALUE…]: send the text of an MCP server's prompt as a message"""
    mcp_server, *words = rest.split() or [""]
    pairs = [word.partition("=") for word in words[1:]]
    if not words or any(not equals for _, equals, _ in pairs):
        raise InvalidInput(Code.COMMAND_USAGE, usage="/use SERVER PROMPT [NAME=VALUE…]")
    text = await runtime.mcp_servers.prompt(mcp_server, words[0], {name: value for name, _, value in pairs})
    print(quoted(f"» {text}"))
    await runtime.messages.send(context_id, text)


async def trust(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/trust while a turn runs, /trust revoke. Between turns, `review_trust` handles /trust, because it can ask."""
    if rest == "revoke":
        folder_trust = await runtime.workspaces.distrust(context_id)
    elif rest:
        raise InvalidInput(Code.COMMAND_USAGE, usage="/trust, /trust revoke")
    else:
        folder_trust = await runtime.workspaces.trust_status(context_id)
    print(_trust_text(folder_trust, language))


async def review_trust(runtime: Runtime, context_id: str, lines: LineReader, language: Language) -> None:
    """/trust: show the folder's settings, and ask whether to trust them if they are not in effect yet."""
    folder_trust = await runtime.workspaces.trust_status(context_id)
    if folder_trust.status in _NOT_IN_EFFECT:
        await _ask_for_trust(runtime, context_id, folder_trust, lines, language)
    else:
        print(_trust_text(folder_trust, language))


async def offer_trust(runtime: Runtime, context_id: str, lines: LineReader, language: Language) -> None:
    """Show a folder's settings that are not in effect yet, and ask whether to trust them."""
    folder_trust = await runtime.workspaces.trust_status(context_id)
    if folder_trust.status in _NOT_IN_EFFECT:
        await _ask_for_trust(runtime, context_id, folder_trust, lines, language)


async def _ask_for_trust(
    runtime: Runtime, context_id: str, folder_trust: FolderTrust, lines: LineReader, language: Language
) -> None:
    """Trust exactly the files that were on the screen: the runtime refuses a digest if files have changed."""
    is_seen = await Pager(lines, language).show(_trust_text(folder_trust, language)) == "seen"
    if not is_seen or not sys.stdin.isatty():  # piped input is not an answer to this question
        print(ui_text("terminal", "trust_left", language))
        return
    answer = await lines.ask_now(ui_text("terminal", "trust_ask", language))
    if (answer or "").strip().lower() in ("y", "yes", "是"):
        await runtime.workspaces.trust(context_id, folder_trust.digest)
        print(ui_text("terminal", "trust_trusted", language))
        await _switch_to_folder_mode(runtime, context_id)
    else:
        print(ui_text("terminal", "trust_left", language))
        if answer is not None and answer.strip().lower() not in ("", "n", "no"):
            lines.put_back(answer)  # the line was meant for the conversation


async def _switch_to_folder_mode(runtime: Runtime, context_id: str) -> None:
    """Switch a conversation without messages to the mode that the folder now sets for new conversations."""
    live = await runtime.contexts.get(context_id)
    modes = runtime.modes.table
    folder_mode = runtime.workspaces.policy(live.core.workspace).mode
    is_new = not live.branches[live.core.active_branch].length
    if folder_mode is not None and is_new and not is_looser(modes.named(folder_mode), modes.stored(live.core.mode)):
        await runtime.modes.switch(context_id, folder_mode)


def _trust_text(folder_trust: FolderTrust, language: Language) -> str:
    status = ui_text("terminal", f"trust_{folder_trust.status}", language)
    return f"{status}\n{trust_text(folder_trust, language)}" if folder_trust.files else status
