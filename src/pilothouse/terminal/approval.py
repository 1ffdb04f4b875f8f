"""Approvals and questions in the terminal: what would run is shown whole, then the person decides."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from pilothouse.domain.appearances import say_dangers, without_padding
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Language, say
from pilothouse.domain.errors import RequestError
from pilothouse.domain.hidden_characters import visible, visible_line
from pilothouse.domain.rule_words import say_rule
from pilothouse.domain.rules import RuleOffer, Rung
from pilothouse.runtime.calls import PersonsDecision
from pilothouse.runtime.runtime import Runtime
from pilothouse.terminal.foreign_text import pages, quoted
from pilothouse.terminal.lines import LEAVING, Lines
from pilothouse.terminal.reading import number_in
from pilothouse.terminal.words import tell


async def decide_pending(runtime: Runtime, context_id: str, lines: Lines, language: Language) -> bool:
    """Put the pending calls before the person. False when they leave it for later."""
    pending = await runtime.pending_calls(context_id)
    decisions: list[PersonsDecision] = []
    takes_all = False
    unasked = 0
    for call in pending:
        answer = await show_whole(shown(call, language), lines, language)
        if answer == "later":
            return False
        if answer == "no":
            decisions.append(PersonsDecision(id=call.id, verdict="reject", digest=call.digest))
            continue
        if takes_all and not call.dangerous:
            unasked += 1
            decisions.append(PersonsDecision(id=call.id, verdict="approve", digest=call.digest))
            continue
        offers = await runtime.rule_offers(context_id, call.id)
        decision = await _one(call, offers, lines, language)
        if decision is None:
            return False
        if isinstance(decision, str):  # all of them: each is shown, and what is dangerous has an answer of its own
            takes_all, decision = True, PersonsDecision(id=call.id, verdict="approve", digest=call.digest)
        decisions.append(decision)
    if unasked and not await _confirms_all(unasked, lines, language):
        return False
    try:
        await runtime.decide(context_id, decisions)
    except RequestError as error:
        print(visible(say(error.reason, language)))
    return True


async def _confirms_all(count: int, lines: Lines, language: Language) -> bool:
    """Who said "all" at the first card had not seen the others yet."""
    line = await lines.ask_now(tell("confirm_all", language, count=count))
    if line is None or _leaves(line, lines):
        return False
    return line.strip().lower() in ("y", "yes", "a", "all")


def shown(call: CallRecord, language: Language) -> str:
    """Everything that would happen, with nothing left out or hidden; all that is not ours behind the mark."""
    parts = []
    if call.preview and call.tool != "execute":
        parts.append(call.preview)
    elif call.tool == "execute":
        parts.append(f"$ {without_padding(call.arguments['command'])}")
        parts += [f"{name}: {call.arguments[name]}" for name in ("cwd", "timeout") if name in call.arguments]
    else:
        parts.append(msgspec.json.encode(call.arguments).decode())
    if call.touches is not None and len(call.touches) > 1:  # as it is written, and where links lead
        parts.append("→ " + ", ".join(call.touches[1:]))
    if call.reason is not None:
        parts.append(say(call.reason, language))
    body = quoted("\n".join(parts), is_exact=True)
    card = f"\n▸ {visible_line(call.display_name)}\n{body}"
    if call.dangerous:
        what = visible_line(say_dangers(call.dangerous, language))
        card += "\n" + tell("dangerous", language, what=what)
    if call.may_change:
        card += "\n" + tell("may_change", language)
    return card


async def show_whole(text: str, lines: Lines, language: Language) -> Literal["seen", "no", "later"]:
    """Print a text page by page. Only who has had all of it on the screen is asked about it."""
    first, *rest = pages(text)
    print(first)
    for number, page in enumerate(rest, start=2):
        line = await lines.ask_now(tell("more", language, number=number, count=len(rest) + 1))
        if line is None or _leaves(line, lines):
            return "later"
        if line.strip().lower() in ("n", "no"):
            return "no"
        print(page)
    return "seen"


async def _one(
    call: CallRecord, offers: Sequence[RuleOffer], lines: Lines, language: Language
) -> PersonsDecision | Literal["all"] | None:
    while True:
        line = await lines.ask_now(tell("approve", language))
        if line is None or _leaves(line, lines):
            return None
        word, _, rest = line.strip().partition(" ")
        match word.lower():
            case "y" | "yes":
                return PersonsDecision(id=call.id, verdict="approve", digest=call.digest)
            case "n" | "no":
                return PersonsDecision(id=call.id, verdict="reject", digest=call.digest, reason=rest or None)
            case "a" | "all":
                return "all"
            case "!" | "always":
                rung = await _rung(offers, rest, lines, language)
                if rung is not None:
                    return PersonsDecision(id=call.id, verdict="approve", digest=call.digest, always=rung)
            case "e" | "edit":
                arguments = await _edited(call, lines, language)
                if arguments is not None:
                    return PersonsDecision(id=call.id, verdict="approve", digest=call.digest, arguments=arguments)
            case _:
                print(tell("not_understood", language))


def _leaves(line: str, lines: Lines) -> bool:
    """Whether the person leaves it for later; who leaves the conversation does that, too."""
    if line.strip() in LEAVING:
        lines.put_back(line)
        return True
    return line.strip() == "q"


async def _rung(offers: Sequence[RuleOffer], given: str, lines: Lines, language: Language) -> Rung | None:
    """The exact rules are shown before one is given; who knows the number may say it at once."""
    if not offers:
        print(tell("no_ladder", language))
        return None
    for number, offer in enumerate(offers, start=1):
        print(quoted(f"{number}. {say_rule(offer.rule, language, origin=False)}", is_exact=True))
    chosen = number_in(given or await lines.ask_now(tell("ladder", language) + " > ") or "", len(offers))
    return offers[chosen - 1].scope if chosen is not None else None


async def _edited(call: CallRecord, lines: Lines, language: Language) -> dict[str, Any] | None:
    print(quoted(msgspec.json.encode(call.arguments).decode(), is_exact=True))
    line = await lines.ask(tell("edit", language))
    try:
        arguments: dict[str, Any] = msgspec.json.decode(line or "", type=dict[str, Any])
    except msgspec.MsgspecError as error:
        print(tell("not_json", language, detail=error))
        return None
    return arguments


async def answer_in_a_call(runtime: Runtime, context_id: str, call_id: str, lines: Lines, language: Language) -> None:
    """A question that a running call asks; who does not answer it declines."""
    if not await answer_questions(runtime, context_id, lines, language, only=call_id):
        await runtime.decline(context_id, call_id=call_id)


async def answer_questions(
    runtime: Runtime, context_id: str, lines: Lines, language: Language, only: str | None = None
) -> bool:
    """All that is asked, or one call's. False when the person leaves it for later."""
    for call in [each for each in await runtime.open_questions(context_id) if only in (None, each.id)]:
        answers = []
        for question in call.arguments["questions"]:
            options = question.get("options") or []
            numbered = [f"{number}. {option}" for number, option in enumerate(options, start=1)]
            text = "\n".join([question["question"], *numbered])
            if await show_whole(f"\n? {tell('question', language)}\n{quoted(text)}", lines, language) != "seen":
                return False
            line = await lines.ask_now("> ")
            if line is None:
                return False
            answers.append(_chosen(line.strip(), options))
        await runtime.answer(context_id, answers, call_id=call.id)
    return True


def _chosen(line: str, options: list[str]) -> str:
    """A number stands for its option; anything else is the person's own answer."""
    chosen = number_in(line, len(options))
    return options[chosen - 1] if chosen is not None else line
