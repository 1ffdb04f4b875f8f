"""The table of the terminal's slash commands, and the dispatch of a line to its command."""

from collections.abc import Awaitable, Callable, Collection

from pilothouse.domain.codes import Language
from pilothouse.domain.deception.hidden_characters import visible
from pilothouse.i18n import ui_text
from pilothouse.runtime.runtime import Runtime
from pilothouse.terminal import branch_commands, conversation_commands, tool_commands, turn_commands, window_commands

Command = Callable[[Runtime, str, str, Language], Awaitable[None]]
ReleasingCommand = Callable[[Runtime, str, str, Language, Collection[str]], Awaitable[None]]
"""A command that can start pending calls. The last argument holds the digests of the calls that it may start."""


def mode_of(runtime: Runtime, line: str) -> str | None:
    """Return the mode that a line would switch to, if any."""
    name, _, rest = line.strip().partition(" ")
    if name[1:] in runtime.modes.table.all and name not in _COMMANDS and name not in _RELEASING:
        return name[1:]
    return rest.strip() or None if name in ("/mode", "/m") else None


async def run_command(
    runtime: Runtime, context_id: str, line: str, language: Language, shown: Collection[str] = ()
) -> None:
    """Run a slash command. `shown` holds the digests of the pending calls that the person has read.

    Raises: PilothouseError.
    """
    name, _, rest = line.strip().partition(" ")
    mode = mode_of(runtime, line)
    if mode is not None:
        name, rest = "/mode", mode
    if name in _RELEASING:
        await _RELEASING[name](runtime, context_id, rest.strip(), language, shown)
        return
    command = _COMMANDS.get(name)
    if command is None:
        print(visible(ui_text("terminal", "unknown", language, command=name)))
        return
    await command(runtime, context_id, rest.strip(), language)


async def _help(_: Runtime, __: str, ___: str, language: Language) -> None:
    print(ui_text("terminal", "help", language))


_RELEASING: dict[str, ReleasingCommand] = {
    "/mode": turn_commands.mode,
    "/m": turn_commands.mode,
    "/elevate": turn_commands.elevate,
}
_COMMANDS: dict[str, Command] = {
    "/policy": turn_commands.policy,
    "/persona": turn_commands.persona,
    "/rules": turn_commands.rules,
    "/allow": turn_commands.allow,
    "/ask-first": turn_commands.ask_first,
    "/deny": turn_commands.deny,
    "/why": turn_commands.why,
    "/audit": turn_commands.audit,
    "/continue": turn_commands.continue_turn,
    "/cancel": turn_commands.cancel,
    "/pause": turn_commands.pause,
    "/resume": turn_commands.resume,
    "/queue": turn_commands.queue,
    "/branch": branch_commands.branch,
    "/fork": branch_commands.fork,
    "/merge": branch_commands.merge,
    "/edit": branch_commands.edit,
    "/prompt": branch_commands.prompt,
    "/undo": tool_commands.undo,
    "/tools": tool_commands.tools,
    "/servers": tool_commands.mcp_servers,
    "/resource": tool_commands.resource,
    "/use": tool_commands.use,
    "/trust": tool_commands.trust,
    "/compress": window_commands.compress,
    "/compact": window_commands.compress,
    "/tokens": window_commands.tokens,
    "/pin": window_commands.pin,
    "/model": window_commands.model,
    "/overview": window_commands.overview,
    "/title": conversation_commands.title,
    "/usage": conversation_commands.usage,
    "/export": conversation_commands.export,
    "/archive": conversation_commands.archive,
    "/help": _help,
}
