"""Slash commands that steer: mode, policy, rules, elevation, why, audit, and the turn itself."""

from pilothouse.domain.codes import Code, Language, Reason, say
from pilothouse.domain.errors import InvalidInput, NotFound
from pilothouse.domain.policies import Policy
from pilothouse.domain.rule_words import say_rule
from pilothouse.domain.rules import RuleEffect, Scope
from pilothouse.runtime.modes import ModeSwitch
from pilothouse.runtime.runtime import Runtime
from pilothouse.terminal.clean import visible
from pilothouse.terminal.showing import short
from pilothouse.terminal.words import tell

_POLICIES = ("auto_approve", "manual", "white_list", "limited_auto")


async def mode(runtime: Runtime, context_id: str, name: str, language: Language) -> None:
    """/mode [NAME]"""
    if name:
        _told(await runtime.switch_mode(context_id, name), language)
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
    if name == "default":
        _told(await runtime.set_policy(context_id, None), language)
    elif name in _POLICIES:
        depth = int(words[0]) if name == "limited_auto" and words and words[0].isdecimal() else 5
        tools = frozenset(words if name == "white_list" else ())
        _told(await runtime.set_policy(context_id, Policy(kind=name, tools=tools, depth=depth)), language)  # type: ignore[arg-type]
    elif name:
        raise InvalidInput(Code.INVALID_POLICY, detail=f"allowed: {', '.join(_POLICIES)}, default")
    live = await runtime.context(context_id)
    chosen = live.core.policy or runtime.parts.steering(live.core.workspace).preference
    detail = {"white_list": ", ".join(sorted(chosen.tools)), "limited_auto": str(chosen.depth)}.get(chosen.kind, "")
    print(visible(tell("policy", language, policy=f"{chosen.kind} {detail}".strip())))


async def persona(runtime: Runtime, context_id: str, name: str, language: Language) -> None:
    """/persona [NAME | none]"""
    if name:
        _told(await runtime.set_persona(context_id, None if name == "none" else name), language)
    live = await runtime.context(context_id)
    allowed = ", ".join(runtime.parts.personas) or "-"
    print(visible(tell("persona", language, name=live.core.persona or "-", allowed=allowed)))


async def rules(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/rules [revoke NUMBER]"""
    known = await runtime.rules(context_id)
    word, _, number = rest.partition(" ")
    if word == "revoke":
        if not number.strip().isdecimal() or not 1 <= int(number) <= len(known):
            raise InvalidInput(Code.INVALID_RULE, detail=f"give its number, 1 to {len(known)}")
        gone = known[int(number) - 1]
        await runtime.revoke_rule(gone.id, context_id=context_id)
        print(visible(tell("revoked", language, rule=say_rule(gone, language))))
        return
    for count, rule in enumerate(known, start=1):
        print(visible(f"  {count}. {say_rule(rule, language)}"))
    if not known:
        print(tell("no_rules", language))


async def allow(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/allow TOOL [FOLDER]"""
    await _give(runtime, context_id, "allow", rest, language)


async def ask_first(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/ask-first TOOL [FOLDER]"""
    await _give(runtime, context_id, "ask", rest, language)


async def deny(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/deny TOOL [FOLDER]"""
    await _give(runtime, context_id, "deny", rest, language)


async def _give(runtime: Runtime, context_id: str, effect: RuleEffect, rest: str, language: Language) -> None:
    tool, _, folder = rest.partition(" ")
    rule = await runtime.give_rule(effect, Scope(tool=tool, folder=folder.strip() or None), context_id=context_id)
    print(visible(say_rule(rule, language)))


async def elevate(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/elevate N | turn | M minutes | end"""
    words = rest.split()
    if words == ["end"]:
        _told(await runtime.end_elevation(context_id), language)
    elif words == ["turn"]:
        _told(await runtime.elevate(context_id, turn=True), language)
    elif words and words[0].isdecimal():
        in_minutes = len(words) > 1 and words[1].startswith(("min", "分"))
        end: dict[str, int] = {"minutes" if in_minutes else "calls": int(words[0])}
        _told(await runtime.elevate(context_id, **end), language)  # type: ignore[arg-type]
    else:
        raise InvalidInput(
            Code.INVALID_ELEVATION, detail="/elevate 3, /elevate turn, /elevate 10 minutes, /elevate end"
        )
    left = await runtime.elevation(context_id)
    if left is None:
        print(tell("not_elevated", language))
    else:
        print(visible(tell("elevated", language, left=_left(left.calls_left, left.until, language))))


async def why(runtime: Runtime, context_id: str, _: str, language: Language) -> None:
    """/why: about the last call that was decided"""
    decided = [entry for entry in await runtime.audit(context_id) if "call" in entry.detail]
    if not decided:
        print(tell("no_calls", language))
        return
    call = await runtime.call(context_id, decided[-1].detail["call"])
    print(visible(f"▸ {call.display_name} {short(str(call.arguments))}"))
    for step in await runtime.explain_call(context_id, call.id):
        words = [say(reason, language) for reason in (step.what, step.why) if reason is not None]
        print(visible(f"  {step.at}  {' '.join(words)}"))


async def audit(runtime: Runtime, context_id: str, _: str, language: Language) -> None:
    """/audit"""
    for entry in await runtime.audit(context_id):
        detail = entry.detail
        told = ""
        if isinstance(detail.get("reason"), dict):
            told = say(Reason(**detail["reason"]), language)
        switch = f"{detail['source']} → {detail['target']}" if entry.kind == "mode_switched" else ""
        outcome = str(detail.get("verdict") or detail.get("status") or detail.get("how") or switch)
        words = [entry.at, entry.kind, str(detail.get("tool", "")), outcome, f"({entry.by})", told]
        print(visible("  ".join(word for word in words if word)))
    broken = await runtime.audit_break(context_id)
    if broken is not None:
        print(say(Reason(Code.AUDIT_BROKEN, {"sequence": broken}), language))


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
    if word in ("delete", "edit"):
        number, _, text = more.strip().partition(" ")
        if not number.isdecimal() or not 1 <= int(number) <= len(waiting):
            raise NotFound(Code.UNKNOWN_QUEUED, message_id=number or "-")
        chosen = waiting[int(number) - 1].item.id
        if word == "delete":
            await runtime.delete_queued(context_id, chosen)
        else:
            await runtime.edit_queued(context_id, chosen, text)
        waiting = await runtime.queued(context_id)
    for count, each in enumerate(waiting, start=1):
        shown = getattr(each.messages[0], "content", None) or getattr(each.messages[0], "path", "")
        print(visible(f"  {count}. {short(str(shown))}"))
    if not waiting:
        print(tell("no_queue", language))
