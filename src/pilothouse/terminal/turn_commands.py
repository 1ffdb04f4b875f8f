"""Slash commands that control turns: mode, policy, rules, elevation, why, audit, and the turn itself."""

from collections.abc import Collection, Iterable

import msgspec

from pilothouse.domain.audit import AuditEntry, chain_reason
from pilothouse.domain.codes import Code, Language, Reason
from pilothouse.domain.deception.hidden_characters import visible
from pilothouse.domain.elevations import MAX_ELEVATION_CALLS, MAX_ELEVATION_MINUTES, Elevation
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.explanations import explain
from pilothouse.domain.messages import shown_text
from pilothouse.domain.personas import NO_PERSONA
from pilothouse.domain.policies import Policy
from pilothouse.domain.rules import ANY_TOOL, Rule, RuleEffect, Scope
from pilothouse.i18n import mode_meaning, mode_title, translate, translate_rule, ui_text
from pilothouse.runtime.commands.modes import ModeSwitch
from pilothouse.runtime.runtime import Runtime
from pilothouse.terminal.arguments import number, words_of
from pilothouse.terminal.event_lines import shorten
from pilothouse.terminal.foreign_text import quoted
from pilothouse.terminal.persona_lines import persona_lines

_MAX_POLICY_DEPTH = 1000


async def mode(runtime: Runtime, context_id: str, name: str, language: Language, shown: Collection[str]) -> None:
    """/mode [NAME]"""
    if name:
        _print_switch(await runtime.modes.switch(context_id, name, shown=shown), language)
    live = await runtime.contexts.get(context_id)
    modes = runtime.modes.table
    current_mode = modes.stored(live.core.mode)
    title, meaning = mode_title(current_mode, language), mode_meaning(current_mode, language)
    print(visible(ui_text("terminal", "switched", language, icon=current_mode.icon, title=title, meaning=meaning)))
    elevation = await runtime.modes.elevation(context_id)
    if elevation is not None:
        _print_elevation(elevation, language)
    if not name:
        for other in modes.all.values():
            print(visible(f"  {other.icon} {other.name:<11} {mode_meaning(other, language)}"))


def _print_switch(switch: ModeSwitch, language: Language) -> None:
    if switch.started:
        print(ui_text("terminal", "started", language, count=len(switch.started)))
    if switch.rejected:
        print(ui_text("terminal", "rejected", language, count=len(switch.rejected)))


def _print_elevation(elevation: Elevation, language: Language) -> None:
    if elevation.calls_left is not None:
        limit = ui_text("terminal", "left_calls", language, count=elevation.calls_left)
    else:
        key = "left_until" if elevation.until is not None else "left_turn"
        limit = ui_text("terminal", key, language, until=elevation.until)
    print(visible(ui_text("terminal", "elevated", language, left=limit)))


async def policy(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/policy [auto_approve | manual | white_list TOOL… | limited_auto DEPTH | default]"""
    name, *words = rest.split() or [""]
    match name:
        case "":
            pass
        case "default" if not words:
            _print_switch(await runtime.modes.set_policy(context_id, None), language)
        case "auto_approve" | "manual" if not words:
            _print_switch(await runtime.modes.set_policy(context_id, Policy(kind=name)), language)
        case "white_list":
            _print_switch(
                await runtime.modes.set_policy(context_id, Policy(kind=name, tools=_tools(runtime, words))), language
            )
        case "limited_auto" if len(words) <= 1:
            depth = number(words[0], _MAX_POLICY_DEPTH) if words else Policy().depth
            _print_switch(await runtime.modes.set_policy(context_id, Policy(kind=name, depth=depth)), language)
        case _:
            allowed = "auto_approve, manual, white_list TOOL…, limited_auto DEPTH, default"
            raise InvalidInput(Code.COMMAND_USAGE, usage=f"/policy {allowed}")
    live = await runtime.contexts.get(context_id)
    policy_in_effect = live.core.policy or runtime.workspaces.policy(live.core.workspace).preference
    detail = {"white_list": ", ".join(sorted(policy_in_effect.tools)), "limited_auto": str(policy_in_effect.depth)}.get(
        policy_in_effect.kind, ""
    )
    print(visible(ui_text("terminal", "policy", language, policy=f"{policy_in_effect.kind} {detail}".strip())))


def _tools(runtime: Runtime, names: Iterable[str]) -> frozenset[str]:
    """Check and return the names of tools. Raises: InvalidInput for an unknown tool: a misspelt rule would forbid
    nothing."""
    registered = runtime.tools.in_workspace(None)
    for name in names:
        if name not in registered and name != ANY_TOOL:
            raise InvalidInput(Code.UNKNOWN_TOOL, tool=name, allowed=", ".join(registered))
    return frozenset(names)


async def persona(runtime: Runtime, context_id: str, name: str, language: Language) -> None:
    """/persona [ID | none]"""
    if name:
        _print_switch(await runtime.modes.set_persona(context_id, None if name == NO_PERSONA else name), language)
    live = await runtime.contexts.get(context_id)
    print(visible(ui_text("terminal", "persona", language, name=live.core.persona or "-")))
    if not name:
        for line in persona_lines(runtime.workspaces.personas(live.core.workspace), language):
            print(quoted(f"  {line}"))


async def rules(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/rules [revoke NUMBER]"""
    current = await runtime.rules.read(context_id)
    word, _, number_text = rest.partition(" ")
    if word == "revoke" and current:
        revoked_rule = current[number(number_text, len(current)) - 1]
        await runtime.rules.revoke(revoked_rule.id, context_id=context_id)
        print(quoted(ui_text("terminal", "revoked", language, rule=translate_rule(revoked_rule, language))))
        return
    if word not in ("", "revoke"):
        raise InvalidInput(Code.COMMAND_USAGE, usage="/rules, /rules revoke N")
    for count, rule in enumerate(current, start=1):
        print(quoted(f"  {count}. {translate_rule(rule, language)}"))
    if not current:
        print(ui_text("terminal", "no_rules", language))


async def allow(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/allow TOOL [FOLDER], /allow $ COMMAND WORDS. Pending calls stay pending: the rule applies to later calls."""
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
    rule = await runtime.rules.give(effect, scope, context_id=context_id, shown=())
    print(quoted(translate_rule(rule, language)))


async def elevate(runtime: Runtime, context_id: str, rest: str, language: Language, shown: Collection[str]) -> None:
    """/elevate N | turn | M minutes | end"""
    match rest.split():
        case ["end"]:
            switch = await runtime.modes.end_elevation(context_id)
        case ["turn"]:
            switch = await runtime.modes.elevate(context_id, turn=True, shown=shown)
        case [amount]:
            switch = await runtime.modes.elevate(context_id, calls=number(amount, MAX_ELEVATION_CALLS), shown=shown)
        case [amount, unit] if unit.startswith(("min", "分")):
            switch = await runtime.modes.elevate(context_id, minutes=number(amount, MAX_ELEVATION_MINUTES), shown=shown)
        case _:
            usage = "/elevate 3, /elevate turn, /elevate 10 minutes, /elevate end"
            raise InvalidInput(Code.COMMAND_USAGE, usage=usage)
    _print_switch(switch, language)
    elevation = await runtime.modes.elevation(context_id)
    if elevation is not None:
        _print_elevation(elevation, language)
    elif not switch.started:
        print(ui_text("terminal", "not_elevated", language))


async def why(runtime: Runtime, context_id: str, _: str, language: Language) -> None:
    """/why: explain the decision about the last call"""
    audited = await runtime.contexts.audit(context_id)
    call_entries = [entry for entry in audited.entries if "call" in entry.detail]
    if not call_entries:
        print(ui_text("terminal", "no_calls", language))
        return
    call = await runtime.calls.get(context_id, call_entries[-1].detail["call"])
    print(quoted(f"▸ {call.display_name} {shorten(msgspec.json.encode(call.arguments).decode())}"))
    for step in explain(audited, call.id).steps:
        words = [translate(reason, language) for reason in (step.event, step.why) if reason is not None]
        print(quoted(f"  {step.at}  {' '.join(words)}"))
    if not audited.chain.whole:
        print(translate(chain_reason(audited.chain), language))


async def audit(runtime: Runtime, context_id: str, _: str, language: Language) -> None:
    """/audit"""
    audited = await runtime.contexts.audit(context_id)
    for entry in audited.entries:
        print(quoted("  ".join(word for word in (entry.at, entry.kind, _detail(entry, language)) if word)))
    print(translate(chain_reason(audited.chain), language))


def _detail(entry: AuditEntry, language: Language) -> str:
    """Format the details of an entry on one line: rules and reasons are translated, other values are shown as
    stored."""
    detail = {name: value for name, value in entry.detail.items() if value is not None}
    rule, reason = detail.pop("rule", None), detail.pop("reason", None)
    for name in ("call", "digest", "edited"):
        detail.pop(name, None)
    words = [" ".join(f"{name}={_plain(value)}" for name, value in detail.items()), f"({entry.by})"]
    for value, kind in ((rule, Rule), (reason, Reason)):
        if value is not None:
            words.append(_translate_detail(value, kind, language))
    return "  ".join(word for word in words if word)


def _translate_detail(value: object, kind: type[Rule] | type[Reason], language: Language) -> str:
    """Translate a rule or a reason of an entry. A forged value is shown as it is stored."""
    try:
        converted = msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return _plain(value)
    return translate_rule(converted, language) if isinstance(converted, Rule) else translate(converted, language)


def _plain(value: object) -> str:
    return value if isinstance(value, str) else shorten(msgspec.json.encode(value).decode())


async def continue_turn(runtime: Runtime, context_id: str, _: str, __: Language) -> None:
    """/continue"""
    await runtime.turns.continue_(context_id)


async def cancel(runtime: Runtime, context_id: str, _: str, language: Language) -> None:
    """/cancel"""
    await runtime.turns.cancel(context_id)
    print(ui_text("terminal", "cancelled", language))


async def pause(runtime: Runtime, context_id: str, _: str, language: Language) -> None:
    """/pause"""
    await runtime.turns.pause(context_id)
    print(ui_text("terminal", "pausing", language))


async def resume(runtime: Runtime, context_id: str, _: str, __: Language) -> None:
    """/resume"""
    await runtime.turns.resume(context_id)


async def queue(runtime: Runtime, context_id: str, rest: str, language: Language) -> None:
    """/queue [delete NUMBER | edit NUMBER TEXT]"""
    waiting = await runtime.queue.read(context_id)
    word, _, more = rest.partition(" ")
    number_text, _, text = more.strip().partition(" ")
    match word:
        case "":
            pass
        case "delete" | "edit" if not waiting:
            pass  # the answer is that the queue is empty
        case "delete":
            await runtime.queue.delete(context_id, waiting[number(number_text, len(waiting)) - 1].item.id)
        case "edit":
            await runtime.queue.edit(context_id, waiting[number(number_text, len(waiting)) - 1].item.id, text)
        case _:
            raise InvalidInput(Code.COMMAND_USAGE, usage="/queue, /queue delete N, /queue edit N TEXT")
    waiting = await runtime.queue.read(context_id)
    for count, each in enumerate(waiting, start=1):
        print(quoted(f"  {count}. {shorten(shown_text(each.messages[0]))}"))
    if not waiting:
        print(ui_text("terminal", "no_queue", language))
