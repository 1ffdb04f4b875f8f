"""The slash commands of the terminal."""

from collections.abc import Awaitable, Callable

from pilothouse.domain.codes import Code, Language, Reason, say
from pilothouse.runtime.runtime import Runtime
from pilothouse.terminal.clean import visible
from pilothouse.terminal.words import tell

Command = Callable[[Runtime, str, str, Language], Awaitable[None]]


async def run_command(runtime: Runtime, context_id: str, line: str, language: Language) -> None:
    """Raises: PilothouseError."""
    name, _, rest = line.strip().partition(" ")
    if name[1:] in runtime.parts.modes.all:
        name, rest = "/mode", name[1:]
    command = _COMMANDS.get(name)
    if command is None:
        print(visible(tell("unknown", language, command=name)))
        return
    await command(runtime, context_id, rest.strip(), language)


async def _mode(runtime: Runtime, context_id: str, name: str, language: Language) -> None:
    if name:
        switch = await runtime.switch_mode(context_id, name)
        if switch.started:
            print(tell("started", language, count=len(switch.started)))
        if switch.rejected:
            print(tell("rejected", language, count=len(switch.rejected)))
    live = await runtime.context(context_id)
    mode = runtime.parts.modes.named(live.core.mode)
    chinese = language == "zh"
    title, meaning = (mode.title_zh, mode.meaning_zh) if chinese else (mode.title, mode.meaning)
    print(tell("switched", language, icon=mode.icon, title=title, meaning=meaning))
    if not name:
        for other in runtime.parts.modes.all.values():
            print(f"  {other.icon} {other.name:<11} {other.meaning_zh if chinese else other.meaning}")


async def _continue(runtime: Runtime, context_id: str, _: str, __: Language) -> None:
    await runtime.continue_turn(context_id)


async def _cancel(runtime: Runtime, context_id: str, _: str, language: Language) -> None:
    await runtime.cancel(context_id)
    print(tell("cancelled", language))


async def _branch(runtime: Runtime, context_id: str, name: str, language: Language) -> None:
    if name:
        await runtime.switch_branch(context_id, name)
    live = await runtime.context(context_id)
    print(visible(tell("branches", language, names=", ".join(live.branches))))
    print(visible(tell("active", language, name=live.core.active_branch)))


async def _fork(runtime: Runtime, context_id: str, name: str, language: Language) -> None:
    await runtime.create_branch(context_id, name)
    await _branch(runtime, context_id, name, language)


async def _audit(runtime: Runtime, context_id: str, _: str, language: Language) -> None:
    for entry in await runtime.audit(context_id):
        detail = entry.detail
        why = ""
        if isinstance(detail.get("reason"), dict):
            why = say(Reason(**detail["reason"]), language)
        switch = f"{detail['source']} → {detail['target']}" if entry.kind == "mode_switched" else ""
        outcome = str(detail.get("verdict") or detail.get("status") or switch)
        words = [entry.at, entry.kind, str(detail.get("tool", "")), outcome, f"({entry.by})", why]
        print(visible("  ".join(word for word in words if word)))
    broken = await runtime.audit_break(context_id)
    if broken is not None:
        print(say(Reason(Code.AUDIT_BROKEN, {"sequence": broken}), language))


async def _help(_: Runtime, __: str, ___: str, language: Language) -> None:
    print(tell("help", language))


_COMMANDS: dict[str, Command] = {
    "/mode": _mode,
    "/m": _mode,
    "/continue": _continue,
    "/cancel": _cancel,
    "/branch": _branch,
    "/fork": _fork,
    "/audit": _audit,
    "/help": _help,
}
