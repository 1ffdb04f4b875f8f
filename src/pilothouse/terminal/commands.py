"""The slash commands of the terminal: their names, and how a line becomes one of them."""

from collections.abc import Awaitable, Callable, Collection

from pilothouse.domain.codes import Language
from pilothouse.domain.hidden_characters import visible
from pilothouse.runtime.runtime import Runtime
from pilothouse.terminal import branching, keeping, steering, tools, window
from pilothouse.terminal.words import tell

Command = Callable[[Runtime, str, str, Language], Awaitable[None]]
ReleasingCommand = Callable[[Runtime, str, str, Language, Collection[str]], Awaitable[None]]
"""A command that can start calls that wait: only those whose digests it is given."""


def mode_of(runtime: Runtime, line: str) -> str | None:
    """The mode that a line would switch to, if any."""
    name, _, rest = line.strip().partition(" ")
    if name[1:] in runtime.parts.modes.all and name not in _COMMANDS and name not in _RELEASING:
        return name[1:]
    return rest.strip() or None if name in ("/mode", "/m") else None


async def run_command(
    runtime: Runtime, context_id: str, line: str, language: Language, shown: Collection[str] = ()
) -> None:
    """`shown` are the digests of the waiting calls that the person has read. Raises: PilothouseError."""
    name, _, rest = line.strip().partition(" ")
    mode = mode_of(runtime, line)
    if mode is not None:
        name, rest = "/mode", mode
    if name in _RELEASING:
        await _RELEASING[name](runtime, context_id, rest.strip(), language, shown)
        return
    command = _COMMANDS.get(name)
    if command is None:
        print(visible(tell("unknown", language, command=name)))
        return
    await command(runtime, context_id, rest.strip(), language)


async def _help(_: Runtime, __: str, ___: str, language: Language) -> None:
    print(tell("help", language))


_RELEASING: dict[str, ReleasingCommand] = {
    "/mode": steering.mode,
    "/m": steering.mode,
    "/elevate": steering.elevate,
}
_COMMANDS: dict[str, Command] = {
    "/policy": steering.policy,
    "/persona": steering.persona,
    "/rules": steering.rules,
    "/allow": steering.allow,
    "/ask-first": steering.ask_first,
    "/deny": steering.deny,
    "/why": steering.why,
    "/audit": steering.audit,
    "/continue": steering.continue_turn,
    "/cancel": steering.cancel,
    "/pause": steering.pause,
    "/resume": steering.resume,
    "/queue": steering.queue,
    "/branch": branching.branch,
    "/fork": branching.fork,
    "/merge": branching.merge,
    "/edit": branching.edit,
    "/prompt": branching.prompt,
    "/undo": tools.undo,
    "/tools": tools.tools,
    "/servers": tools.servers,
    "/resource": tools.resource,
    "/use": tools.use,
    "/trust": tools.trust,
    "/compress": window.compress,
    "/compact": window.compress,
    "/tokens": window.tokens,
    "/pin": window.pin,
    "/model": window.model,
    "/overview": window.overview,
    "/title": keeping.title,
    "/usage": keeping.usage,
    "/export": keeping.export,
    "/archive": keeping.archive,
    "/help": _help,
}
