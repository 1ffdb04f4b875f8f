"""Approvals and questions in the terminal: what would run is shown whole, then the person decides."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from pilothouse.domain.appearances import say_dangers
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Language, say
from pilothouse.domain.deceptive_text import LOOKALIKE_LETTERS, lookalike_characters
from pilothouse.domain.errors import RequestError
from pilothouse.domain.hidden_characters import visible_line, with_codes
from pilothouse.domain.padding import without_padding
from pilothouse.domain.rule_words import say_rule
from pilothouse.domain.rules import Rule, RuleOffer, Rung
from pilothouse.domain.values import CallId
from pilothouse.runtime.calls import PersonsDecision
from pilothouse.runtime.runtime import Runtime
from pilothouse.terminal.foreign_text import quoted
from pilothouse.terminal.lines import Lines
from pilothouse.terminal.pager import Pager
from pilothouse.terminal.reading import number_in
from pilothouse.terminal.words import tell


class Cards:
    """The waiting calls of a context, put before the person one after the other. What they decided is applied at the
    end, together: nothing starts while they read."""

    def __init__(self, runtime: Runtime, context_id: str, lines: Lines, language: Language) -> None:
        self._runtime = runtime
        self._context_id = context_id
        self._lines = lines
        self._language: Language = language
        self._pager = Pager(lines, language)
        self._decisions: list[PersonsDecision] = []
        self._takes_all = False
        self._unasked: list[CallRecord] = []
        """Calls shown after the person has said "all": approved when they say so once more."""
        self._allowed: list[CallRecord] = []
        """Calls shown after the person has given a rule that lets them run: they start with the rule."""
        self._answered: set[CallId] = set()

    async def ask(self) -> bool:
        """False when the person leaves calls for later; what they decided before that is kept."""
        for call in await self._runtime.pending_calls(self._context_id):
            if call.id not in self._answered and not await self._ask_about(call):
                return False
        return not self._unasked or await self._confirms_all()

    async def _ask_about(self, call: CallRecord, rule: Rule | None = None) -> bool:
        """`rule` is one given at an earlier card that lets the call run."""
        answer = await self._pager.show(shown(call, self._language, rule))
        if answer == "later":
            return False
        self._answered.add(call.id)
        if answer == "no":
            self._decisions.append(_rejection(call, self._pager.reason))
        elif rule is not None:
            self._allowed.append(call)
        elif self._takes_all and not call.dangerous:
            self._unasked.append(call)
        else:
            return await self._decide(call)
        return True

    async def _decide(self, call: CallRecord) -> bool:
        offers = await self._runtime.rule_offers(self._context_id, call.id)
        decision = await _one(call, offers, self._pager, self._lines, self._language)
        if decision is None:
            return False
        if isinstance(decision, str):  # all of them: each is shown, and what is dangerous has an answer of its own
            self._takes_all, decision = True, _approval(call)
        self._decisions.append(decision)
        rules = [offer.rule for offer in offers if offer.scope == decision.always]
        return all([await self._show_allowed(rule) for rule in rules])

    async def _show_allowed(self, rule: Rule) -> bool:
        """Show the other calls that a rule lets run. What is dangerous has an answer of its own."""
        for call in await self._runtime.would_allow(self._context_id, rule):
            is_open = call.id not in self._answered and not call.dangerous
            if is_open and not await self._ask_about(call, rule):
                return False
        return True

    async def _confirms_all(self) -> bool:
        """Who said "all" at the first card had not seen the others yet."""
        line = await self._pager.ask(tell("confirm_all", self._language, count=len(self._unasked)))
        if line is None or self._lines.is_leaving(line) or line.strip().lower() not in ("y", "yes", "a", "all"):
            return False
        self._decisions += [_approval(call) for call in self._unasked]
        return True

    async def apply(self) -> None:
        """Apply what was decided, together. Where that is refused because of one decision, the others count."""
        batches = [self._decisions] if self._decisions else []
        while batches:
            batch = batches.pop(0)
            try:
                await self._runtime.decide(self._context_id, batch, shown=[call.digest for call in self._allowed])
            except RequestError as error:
                waiting = await self._waiting()
                left = [[decision] for decision in batch if decision.id in waiting]
                if len(batch) == 1 or len(left) < len(batch):
                    print(quoted(say(error.reason, self._language)))
                if len(batch) > 1:
                    batches += left

    async def tell_applied(self) -> None:
        """Say what became of the cards before the person left."""
        waiting = await self._waiting()
        verdicts = [decision.verdict for decision in self._decisions if decision.id not in waiting]
        counts = {
            "applied_approved": verdicts.count("approve"),
            "applied_rejected": verdicts.count("reject"),
            "applied_by_rule": sum(call.id not in waiting for call in self._allowed),
        }
        words = [tell(key, self._language, count=count) for key, count in counts.items() if count]
        if words:
            print(tell("applied", self._language, what=tell("comma", self._language).join(words)))

    def tell_dropped(self) -> None:
        """Say that nothing was applied."""
        if self._decisions:
            print(tell("dropped", self._language, count=len(self._decisions)))

    async def _waiting(self) -> set[str]:
        return {call.id for call in await self._runtime.pending_calls(self._context_id)}


def _approval(call: CallRecord) -> PersonsDecision:
    return PersonsDecision(id=call.id, verdict="approve", digest=call.digest)


def _rejection(call: CallRecord, reason: str | None) -> PersonsDecision:
    return PersonsDecision(id=call.id, verdict="reject", digest=call.digest, reason=reason)


def shown(call: CallRecord, language: Language, rule: Rule | None = None) -> str:
    """Everything that would happen, with nothing left out or hidden; all that is not ours behind the mark. Beside it
    stands why the call waits, or the rule that lets it run."""
    parts = []
    if call.preview and call.tool != "execute":
        parts.append(call.preview)
    elif call.tool == "execute":
        parts.append(f"$ {without_padding(call.arguments['command'], language)}")
        parts += [f"{name}: {call.arguments[name]}" for name in ("cwd", "timeout") if name in call.arguments]
    else:
        parts.append(msgspec.json.encode(call.arguments).decode())
    if call.touches is not None and len(call.touches) > 1:  # as it is written, and where links lead
        parts.append("→ " + ", ".join(call.touches[1:]))
    if call.reason is not None and rule is None:
        parts.append(say(call.reason, language))
    body = _quoted_exactly("\n".join(parts), call)
    card = f"\n▸ {visible_line(call.display_name)}\n{body}"
    if call.dangerous:
        what = visible_line(say_dangers(call.dangerous, language))
        card += "\n" + tell("dangerous", language, what=what)
    if call.may_change:
        card += "\n" + tell("may_change", language)
    if rule is not None:
        card += (
            f"\n{tell('allowed_by_rule', language)}\n{_quoted_exactly(say_rule(rule, language, origin=False), call)}"
        )
    return card


def _quoted_exactly(text: str, call: CallRecord) -> str:
    """With the code behind each letter for which the call is marked."""
    characters = lookalike_characters(call.arguments) if LOOKALIKE_LETTERS in call.dangerous else ""
    return quoted(with_codes(text, characters), is_exact=True)


async def _one(
    call: CallRecord, offers: Sequence[RuleOffer], pager: Pager, lines: Lines, language: Language
) -> PersonsDecision | Literal["all"] | None:
    while True:
        line = await pager.ask(tell("approve", language))
        if line is None or lines.is_leaving(line):
            return None
        word, _, rest = line.strip().partition(" ")
        match word.lower():
            case "y" | "yes":
                return _approval(call)
            case "n" | "no":
                return _rejection(call, rest or None)
            case "a" | "all":
                return "all"
            case "!" | "always":
                rung = await _rung(call, offers, rest, lines, language)
                if rung is not None:
                    return PersonsDecision(id=call.id, verdict="approve", digest=call.digest, always=rung)
            case "e" | "edit":
                arguments = await _edited(call, lines, language)
                if arguments is not None:
                    return PersonsDecision(id=call.id, verdict="approve", digest=call.digest, arguments=arguments)
            case _:
                print(tell("not_understood", language))


async def _rung(
    call: CallRecord, offers: Sequence[RuleOffer], given: str, lines: Lines, language: Language
) -> Rung | None:
    """The exact rules are shown before one is given; who knows the number may say it at once."""
    if not offers:
        print(tell("no_ladder", language))
        return None
    for number, offer in enumerate(offers, start=1):
        print(_quoted_exactly(f"{number}. {say_rule(offer.rule, language, origin=False)}", call))
    chosen = number_in(given or await lines.ask_now(tell("ladder", language) + " > ") or "", len(offers))
    return offers[chosen - 1].scope if chosen is not None else None


async def _edited(call: CallRecord, lines: Lines, language: Language) -> dict[str, Any] | None:
    print(_quoted_exactly(msgspec.json.encode(call.arguments).decode(), call))
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
            if await Pager(lines, language).show(f"\n? {tell('question', language)}\n{quoted(text)}") != "seen":
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
