"""Slash commands that steer: mode, policy, rules, elevation, why, audit, and the turn itself."""

from collections.abc import Collection, Iterable

import msgspec

from pilothouse.domain.audit import AuditEntry, chain_reason
from pilothouse.domain.codes import Code, Language, Reason, say
from pilothouse.domain.elevations import CALLS_AT_MOST, MINUTES_AT_MOST
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.explaining import explain
from pilothouse.domain.hidden_characters import visible
from pilothouse.domain.personas import NO_PERSONA
from pilothouse.domain.policies import Policy
from pilothouse.domain.rule_words import say_rule
from pilothouse.domain.rules import ANY, Rule, RuleEffect, Scope
from pilothouse.runtime.modes import ModeSwitch
from pilothouse.runtime.runtime import Runtime
from pilothouse.terminal.foreign_text import quoted
from pilothouse.terminal.personas import persona_lines
from pilothouse.terminal.reading import number, words_of
from pilothouse.terminal.showing import short
from pilothouse.terminal.words import tell

_DEPTH_AT_MOST = 1000


async def mode(runtime: Runtime, context_id: str, name: str, language: Language, shown: Collection[str]) -> None:
    """/mode [NAME]"""
    if name:
        _told(await runtime.switch_mode(context_id, name, shown=shown), language)
    live = await runtime.context(context_id)
    modes = runtime.parts.modes
    present = modes.stored(live.core.mode)
    chinese = language == "zh"
    title, meaning = (present.title_zh, present.meaning_zh) if chinese else (present.title, present.meaning)
    print(visible(tell("switched", language, icon=present.icon, title=title, meaning=meaning)))
    left = await runtime.elevation(context_id)
    if left is not None:
        print(visible(tell("elevated", language, left=_left(left.calls_left, left.until, language))))
    if not name:
        for other in modes.all.values():
            print(visible(f"  {other.icon} {other.name:<11} {other.meaning_zh if chinese else other.meaning}"))


def _told(switch: ModeSwitch, language: Language) -> None:
    if switch.started:
        print(tell("started", language, count=len(switch.started)))
    if switch.rejected:
        print(tell("rejected", language, count=len(switch.rejected)))


def _left(calls: int | None, until: str | None, language: Language) -> str:
    if calls is not None:
        return tell("left_calls", language, count=calls)
    return tell("left_until", language, until=until) if until is not None else tell("left_turn", language)


async def policy(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/policy [auto_approve | manual | white_list TOOL… | limited_auto DEPTH | default]"""
    name, *words = rest.split() or [""]
    match name:
        case "":
            pass
        case "default" if not words:
            _told(await runtime.set_policy(context_id, None), language)
        case "auto_approve" | "manual" if not words:
            _told(await runtime.set_policy(context_id, Policy(kind=name)), language)
        case "white_list":
            _told(await runtime.set_policy(context_id, Policy(kind=name, tools=_tools(runtime, words))), language)
        case "limited_auto" if len(words) <= 1:
            depth = number(words[0], _DEPTH_AT_MOST) if words else Policy().depth
            _told(await runtime.set_policy(context_id, Policy(kind=name, depth=depth)), language)
        case _:
            allowed = "auto_approve, manual, white_list TOOL…, limited_auto DEPTH, default"
            raise InvalidInput(Code.COMMAND_USAGE, usage=f"/policy {allowed}")
    live = await runtime.context(context_id)
    chosen = live.core.policy or runtime.parts.steering(live.core.workspace).preference
    detail = {"white_list": ", ".join(sorted(chosen.tools)), "limited_auto": str(chosen.depth)}.get(chosen.kind, "")
    print(visible(tell("policy", language, policy=f"{chosen.kind} {detail}".strip())))


def _tools(runtime: Runtime, names: Iterable[str]) -> frozenset[str]:
    """Raises: InvalidInput for a name that no tool has: a rule that is misspelt would forbid nothing."""
    known = runtime.parts.registry.tools
    for name in names:
        if name not in known and name != ANY:
            raise InvalidInput(Code.UNKNOWN_TOOL, tool=name, allowed=", ".join(known))
    return frozenset(names)


async def persona(runtime: Runtime, context_id: str, name: str, language: Language) -> None:
    """/persona [ID | none]"""
    if name:
        _told(await runtime.set_persona(context_id, None if name == NO_PERSONA else name), language)
    live = await runtime.context(context_id)
    print(visible(tell("persona", language, name=live.core.persona or "-")))
    if not name:
        for line in persona_lines(runtime.parts.personas(live.core.workspace), language):
            print(quoted(f"  {line}"))


async def rules(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/rules [revoke NUMBER]"""
    known = await runtime.rules(context_id)
    word, _, which = rest.partition(" ")
    if word == "revoke":
        gone = known[number(which, len(known)) - 1]
        await runtime.revoke_rule(gone.id, context_id=context_id)
        print(quoted(tell("revoked", language, rule=say_rule(gone, language))))
        return
    if word:
        raise InvalidInput(Code.COMMAND_USAGE, usage="/rules, /rules revoke N")
    for count, rule in enumerate(known, start=1):
        print(quoted(f"  {count}. {say_rule(rule, language)}"))
    if not known:
        print(tell("no_rules", language))


async def allow(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/allow TOOL [FOLDER], /allow $ COMMAND WORDS. What waits goes on waiting: the rule is for calls to come."""
    await _give(runtime, context_id, "allow", rest, language)


async def ask_first(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/ask-first TOOL [FOLDER]"""
    await _give(runtime, context_id, "ask", rest, language)


async def deny(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/deny TOOL [FOLDER]"""
    await _give(runtime, context_id, "deny", rest, language)


async def _give(runtime: Runtime, context_id: str, effect: RuleEffect, rest: str, language: Language) -> None:
    tool, _, folder = rest.partition(" ")
    if tool == "$":  # the leading words of a command
        scope = Scope(tool="execute", words=words_of(folder))
    else:
        _tools(runtime, [tool])
        scope = Scope(tool=tool, folder=folder.strip() or None)
    rule = await runtime.give_rule(effect, scope, context_id=context_id, shown=())
    print(quoted(say_rule(rule, language)))


async def elevate(runtime: Runtime, context_id: str, rest: str, language: Language, shown: Collection[str]) -> None:
    """/elevate N | turn | M minutes | end"""
    match rest.split():
        case ["end"]:
            told = await runtime.end_elevation(context_id)
        case ["turn"]:
            told = await runtime.elevate(context_id, turn=True, shown=shown)
        case [amount]:
            told = await runtime.elevate(context_id, calls=number(amount, CALLS_AT_MOST), shown=shown)
        case [amount, unit] if unit.startswith(("min", "分")):
            told = await runtime.elevate(context_id, minutes=number(amount, MINUTES_AT_MOST), shown=shown)
        case _:
            usage = "/elevate 3, /elevate turn, /elevate 10 minutes, /elevate end"
            raise InvalidInput(Code.COMMAND_USAGE, usage=usage)
    _told(told, language)
    left = await runtime.elevation(context_id)
    if left is not None:
        print(visible(tell("elevated", language, left=_left(left.calls_left, left.until, language))))
    elif not told.started:
        print(tell("not_elevated", language))


async def why(runtime: Runtime, context_id: str, _: str, language: Language) -> None:
    """/why: about the last call that was decided"""
    audited = await runtime.audit(context_id)
    decided = [entry for entry in audited.entries if "call" in entry.detail]
    if not decided:
        print(tell("no_calls", language))
        return
    call = await runtime.call(context_id, decided[-1].detail["call"])
    print(quoted(f"▸ {call.display_name} {short(msgspec.json.encode(call.arguments).decode())}"))
    for step in explain(audited, call.id).steps:
        words = [say(reason, language) for reason in (step.what, step.why) if reason is not None]
        print(quoted(f"  {step.at}  {' '.join(words)}"))
    if not audited.chain.whole:
        print(say(chain_reason(audited.chain), language))


async def audit(runtime: Runtime, context_id: str, _: str, language: Language) -> None:
    """/audit"""
    audited = await runtime.audit(context_id)
    for entry in audited.entries:
        print(quoted("  ".join(word for word in (entry.at, entry.kind, _detail(entry, language)) if word)))
    print(say(chain_reason(audited.chain), language))


def _detail(entry: AuditEntry, language: Language) -> str:
    """What an entry is about, on a line: a rule in words, a reason in words, the rest as it is stored."""
    detail = {name: value for name, value in entry.detail.items() if value is not None}
    rule, reason = detail.pop("rule", None), detail.pop("reason", None)
    for name in ("call", "digest", "edited"):
        detail.pop(name, None)
    words = [" ".join(f"{name}={_plain(value)}" for name, value in detail.items()), f"({entry.by})"]
    for value, kind in ((rule, Rule), (reason, Reason)):
        if value is not None:
            words.append(_in_words(value, kind, language))
    return "  ".join(word for word in words if word)


def _in_words(value: object, kind: type[Rule] | type[Reason], language: Language) -> str:
    """A rule or a reason of an entry. A forged one is shown as it is stored."""
    try:
        converted = msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return _plain(value)
    return say_rule(converted, language) if isinstance(converted, Rule) else say(converted, language)


def _plain(value: object) -> str:
    return value if isinstance(value, str) else short(msgspec.json.encode(value).decode())


async def continue_turn(runtime: Runtime, context_id: str, _: str, __: Language) -> None:
    """/continue"""
    await runtime.continue_turn(context_id)


async def cancel(runtime: Runtime, context_id: str, _: str, language: Language) -> None:
    """/cancel"""
    await runtime.cancel(context_id)
    print(tell("cancelled", language))


async def pause(runtime: Runtime, context_id: str, _: str, language: Language) -> None:
    """/pause"""
    await runtime.pause(context_id)
    print(tell("pausing", language))


async def resume(runtime: Runtime, context_id: str, _: str, __: Language) -> None:
    """/resume"""
    await runtime.resume(context_id)


async def queue(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/queue [delete NUMBER | edit NUMBER TEXT]"""
    waiting = await runtime.queued(context_id)
    word, _, more = rest.partition(" ")
    which, _, text = more.strip().partition(" ")
    match word:
        case "":
            pass
        case "delete":
            await runtime.delete_queued(context_id, waiting[number(which, len(waiting)) - 1].item.id)
        case "edit":
            await runtime.edit_queued(context_id, waiting[number(which, len(waiting)) - 1].item.id, text)
        case _:
            raise InvalidInput(Code.INVALID_NUMBER, limit=len(waiting))
    waiting = await runtime.queued(context_id)
    for count, each in enumerate(waiting, start=1):
        shown = getattr(each.messages[0], "content", None) or getattr(each.messages[0], "path", "")
        print(quoted(f"  {count}. {short(str(shown))}"))
    if not waiting:
        print(tell("no_queue", language))
