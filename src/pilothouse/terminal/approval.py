"""Approvals and questions in the terminal: what would run is shown whole, then the person decides."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Language, say
from pilothouse.domain.errors import RequestError
from pilothouse.domain.rule_words import say_rule
from pilothouse.domain.rules import Rule, RuleOffer, Rung
from pilothouse.domain.values import CallId
from pilothouse.runtime.calls import PersonsDecision
from pilothouse.runtime.runtime import Runtime
from pilothouse.terminal.call_card import quoted_exactly, shown
from pilothouse.terminal.call_editor import CallEditor, rejection
from pilothouse.terminal.foreign_text import quoted
from pilothouse.terminal.lines import LEAVING, Lines
from pilothouse.terminal.pager import Pager
from pilothouse.terminal.reading import number_in
from pilothouse.terminal.words import tell

LATER = "/later"
"""Leaves a question for later. Any other text answers it."""


class Cards:
    """The waiting calls of a context, put before the person one after the other. What they decided is applied at the
    end, together: nothing starts while they read."""

    def __init__(self, runtime: Runtime, context_id: str, lines: Lines, language: Language) -> None:
        self._runtime = runtime
        self._context_id = context_id
        self._lines = lines
        self._language: Language = language
        self._pager = Pager(lines, language)
        self._editor = CallEditor(runtime, context_id, self._pager, lines, language)
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
            self._decisions.append(rejection(call, self._pager.reason))
        elif rule is not None:
            self._allowed.append(call)
        elif self._takes_all and not call.dangerous:
            self._unasked.append(call)
        else:
            return await self._decide(call)
        return True

    async def _decide(self, call: CallRecord) -> bool:
        offers = await self._runtime.rule_offers(self._context_id, call.id)
        decision = await _one(call, offers, self._editor, self._pager, self._lines, self._language)
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
                await self._runtime.decide(
                    self._context_id,
                    batch,
                    shown=[call.digest for call in self._allowed],
                    previewed=self._editor.previewed,
                )
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


async def _one(
    call: CallRecord, offers: Sequence[RuleOffer], editor: CallEditor, pager: Pager, lines: Lines, language: Language
) -> PersonsDecision | Literal["all"] | None:
    while True:
        line = await pager.ask(tell("approve" if offers else "approve_without_rule", language))
        if line is None or lines.is_leaving(line):
            return None
        word, _, rest = line.strip().partition(" ")
        match word.lower():
            case "y" | "yes":
                return _approval(call)
            case "n" | "no":
                return rejection(call, rest or None)
            case "a" | "all":
                return "all"
            case "!" | "always":
                rung = await _rung(call, offers, rest, pager, language)
                if rung is not None:
                    return PersonsDecision(id=call.id, verdict="approve", digest=call.digest, always=rung)
            case "e" | "edit":
                edited = await editor.edit(call)
                if edited != "back":
                    return edited
            case _:
                pager.print_not_understood(line)


async def _rung(
    call: CallRecord, offers: Sequence[RuleOffer], given: str, pager: Pager, language: Language
) -> Rung | None:
    """The rules are shown whole, page by page, before one is given; who knows the number may say it at once."""
    if not offers:
        print(tell("no_ladder", language))
        return None
    arguments = msgspec.json.encode(call.arguments).decode()
    rules = [say_rule(offer.rule, language, origin=False, arguments=arguments) for offer in offers]
    text = "\n".join(quoted_exactly(f"{number}. {rule}", call) for number, rule in enumerate(rules, start=1))
    if await pager.show(text) != "seen":
        return None
    chosen = number_in(given or await pager.ask(tell("ladder", language) + " > ") or "", len(offers))
    return offers[chosen - 1].scope if chosen is not None else None


async def answer_in_a_call(runtime: Runtime, context_id: str, call_id: str, lines: Lines, language: Language) -> None:
    """A question that a running call asks; who does not answer it declines."""
    hint = tell("question_declined", language)
    if not await answer_questions(runtime, context_id, lines, language, only=call_id, hint=hint):
        await runtime.decline(context_id, call_id=call_id)


async def answer_questions(
    runtime: Runtime,
    context_id: str,
    lines: Lines,
    language: Language,
    *,
    only: str | None = None,
    hint: str | None = None,
) -> bool:
    """All that is asked, or one call's. False when the person leaves it for later; `hint` says what that means."""
    hint = hint or tell("question_later", language)
    for call in [each for each in await runtime.open_questions(context_id) if only in (None, each.id)]:
        answers = []
        for question in call.arguments["questions"]:
            options = question.get("options") or []
            numbered = [f"{number}. {option}" for number, option in enumerate(options, start=1)]
            text = "\n".join([question["question"], *numbered])
            pager = Pager(lines, language, is_question=True)
            if await pager.show(f"\n? {tell('question', language)}\n{quoted(text)}\n{hint}") != "seen":
                return False
            answer = await _answer(pager, lines, language)
            if answer is None:
                return False
            answers.append(_chosen(answer, options))
        await runtime.answer(context_id, answers, call_id=call.id)
    return True


async def _answer(pager: Pager, lines: Lines, language: Language) -> str | None:
    """What the person types, whatever it is; None when they leave the question for later."""
    line = await pager.ask("> ")
    while True:
        if line is None or line.strip() == LATER:
            return None
        if line.strip() in (*LEAVING, "/cancel"):
            lines.put_back(line)
            return None
        if line.strip():
            return line.strip()
        line = await lines.ask(f"{tell('empty_answer', language)} > ")


def _chosen(line: str, options: list[str]) -> str:
    """A number stands for its option; anything else is the person's own answer."""
    chosen = number_in(line, len(options))
    return options[chosen - 1] if chosen is not None else line
