"""Approvals and questions in the terminal: each call is shown in full before the person decides."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Language
from pilothouse.domain.rules import Rule, RuleOption, RuleOptionOffer
from pilothouse.domain.value import CallId
from pilothouse.i18n import translate_rule, ui_text
from pilothouse.runtime.commands.calls import PersonsDecision
from pilothouse.runtime.events.attend import Decisions
from pilothouse.runtime.runtime import Runtime
from pilothouse.terminal.arguments import number_in
from pilothouse.terminal.call_card import call_card, quoted_line
from pilothouse.terminal.call_editor import CallEditor, rejection
from pilothouse.terminal.foreign_text import quoted
from pilothouse.terminal.line_reader import LEAVING, LineReader
from pilothouse.terminal.pager import Pager

LATER = "/later"
"""The input that leaves a question for later. Any other text answers the question."""


class ApprovalCards:
    """Cards that show a context's pending calls to the person, one after the other. All decisions are applied together
    at the end, so that no call starts while the person reads."""

    def __init__(self, runtime: Runtime, context_id: str, lines: LineReader, language: Language) -> None:
        self._runtime = runtime
        self._context_id = context_id
        self._lines = lines
        self._language: Language = language
        self._pager = Pager(lines, language)
        self._editor = CallEditor(runtime, context_id, self._pager, lines, language)
        self._decisions: list[PersonsDecision] = []
        self._takes_all = False
        self._covered_by_all: list[CallRecord] = []
        """Calls shown after the person answered "all". They are approved when the person confirms once more."""
        self._allowed_by_rule: list[CallRecord] = []
        """Calls shown because a rule that the person added allows them: they start together with the rule."""
        self._answered: set[CallId] = set()

    async def ask(self) -> bool:
        """Ask about each pending call. Return False if the person leaves calls for later; earlier decisions are
        kept."""
        for call in await self._runtime.calls.pending(self._context_id):
            if call.id not in self._answered and not await self._ask_about(call):
                return False
        return not self._covered_by_all or await self._confirm_all()

    async def _ask_about(self, call: CallRecord, rule: Rule | None = None) -> bool:
        """Ask about one call. `rule` was added at an earlier card and allows the call."""
        answer = await self._pager.show(call_card(call, self._language, rule))
        if answer == "later":
            return False
        self._answered.add(call.id)
        if answer == "no":
            self._decisions.append(rejection(call, self._pager.reason))
        elif rule is not None:
            self._allowed_by_rule.append(call)
        elif self._takes_all and not call.dangerous:
            self._covered_by_all.append(call)
        else:
            return await self._decide(call)
        return True

    async def _decide(self, call: CallRecord) -> bool:
        offers = await self._runtime.rules.offers(self._context_id, call.id)
        decision = await _ask_for_decision(call, offers, self._editor, self._pager, self._lines, self._language)
        if decision is None:
            return False
        if isinstance(decision, str):
            # "all": the next calls are still shown, and dangerous ones are decided one by one.
            self._takes_all, decision = True, _approval(call)
        self._decisions.append(decision)
        rules = [offer.rule for offer in offers if offer.scope == decision.always]
        return all([await self._show_allowed(rule) for rule in rules])

    async def _show_allowed(self, rule: Rule) -> bool:
        """Show the other calls that a rule allows. Dangerous calls are decided one by one."""
        for call in await self._runtime.rules.would_allow(self._context_id, rule):
            is_open = call.id not in self._answered and not call.dangerous
            if is_open and not await self._ask_about(call, rule):
                return False
        return True

    async def _confirm_all(self) -> bool:
        """Ask for confirmation of "all": at that card, the person had not seen the later calls yet."""
        line = await self._pager.ask(
            ui_text("terminal", "confirm_all", self._language, count=len(self._covered_by_all))
        )
        if line is None or self._lines.is_leaving(line) or line.strip().lower() not in ("y", "yes", "a", "all"):
            return False
        self._decisions += [_approval(call) for call in self._covered_by_all]
        return True

    def decisions(self) -> Decisions | None:
        """The decisions so far, to be applied together; None if there are none."""
        shown = [call.digest for call in self._allowed_by_rule]
        return Decisions(self._decisions, shown, self._editor.previewed) if self._decisions else None

    async def print_applied(self) -> None:
        """Print, once, how many calls were approved and rejected before the person left."""
        waiting = {call.id for call in await self._runtime.calls.pending(self._context_id)}
        verdicts = [decision.verdict for decision in self._decisions if decision.id not in waiting]
        counts = {
            "applied_approved": verdicts.count("approve"),
            "applied_rejected": verdicts.count("reject"),
            "applied_by_rule": sum(call.id not in waiting for call in self._allowed_by_rule),
        }
        summaries = [ui_text("terminal", key, self._language, count=count) for key, count in counts.items() if count]
        if summaries:
            summary = ui_text("terminal", "comma", self._language).join(summaries)
            print(ui_text("terminal", "applied", self._language, what=summary))
        self._decisions, self._allowed_by_rule = [], []

    def print_dropped(self) -> None:
        """Print that no decision was applied."""
        if self._decisions:
            print(ui_text("terminal", "dropped", self._language, count=len(self._decisions)))


def _approval(call: CallRecord) -> PersonsDecision:
    return PersonsDecision(id=call.id, verdict="approve", digest=call.digest)


async def _ask_for_decision(
    call: CallRecord,
    offers: Sequence[RuleOptionOffer],
    editor: CallEditor,
    pager: Pager,
    lines: LineReader,
    language: Language,
) -> PersonsDecision | Literal["all"] | None:
    while True:
        line = await pager.ask(ui_text("terminal", "approve" if offers else "approve_without_rule", language))
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
                rule_option = await _ask_for_rule_option(call, offers, rest, pager, language)
                if rule_option is not None:
                    return PersonsDecision(id=call.id, verdict="approve", digest=call.digest, always=rule_option)
            case "e" | "edit":
                edited = await editor.edit(call)
                if edited != "back":
                    return edited
            case _:
                pager.print_not_understood(line)


async def _ask_for_rule_option(
    call: CallRecord, offers: Sequence[RuleOptionOffer], choice: str, pager: Pager, language: Language
) -> RuleOption | None:
    """Show the offered rules in full, page by page, then ask for a number, unless `choice` already holds the number."""
    if not offers:
        print(ui_text("terminal", "no_rule_options", language))
        return None
    arguments = msgspec.json.encode(call.arguments).decode()
    rules = [translate_rule(offer.rule, language, origin=False, arguments=arguments) for offer in offers]
    text = "\n".join(quoted_line(f"{number}. {rule}", call, language) for number, rule in enumerate(rules, start=1))
    if await pager.show(text) != "seen":
        return None
    number = number_in(
        choice or await pager.ask(ui_text("terminal", "rule_options", language) + " > ") or "", len(offers)
    )
    return offers[number - 1].scope if number is not None else None


async def ask_questions(call: CallRecord, lines: LineReader, language: Language, *, hint: str) -> list[str] | None:
    """Ask the questions of a call. Return None if the person leaves one for later; `hint` tells the person the effect
    of leaving."""
    answers = []
    for question in call.arguments["questions"]:
        options = question.get("options") or []
        numbered = [f"{position}. {option}" for position, option in enumerate(options, start=1)]
        text = "\n".join([question["question"], *numbered])
        pager = Pager(lines, language, is_question=True)
        if await pager.show(f"\n? {ui_text('terminal', 'question', language)}\n{quoted(text)}\n{hint}") != "seen":
            return None
        answer = await _answer(pager, lines, language)
        if answer is None:
            return None
        answers.append(_option_or_text(answer, options))
    return answers


async def _answer(pager: Pager, lines: LineReader, language: Language) -> str | None:
    """Read the person's answer, which may be any text; None if the person leaves the question for later."""
    line = await pager.ask("> ")
    while True:
        if line is None or line.strip() == LATER:
            return None
        if line.strip() in (*LEAVING, "/cancel"):
            lines.put_back(line)
            return None
        if line.strip():
            return line.strip()
        line = await lines.ask(f"{ui_text('terminal', 'empty_answer', language)} > ")


def _option_or_text(line: str, options: list[str]) -> str:
    """Return the option with the typed number; any other text is an answer of the person's own."""
    number = number_in(line, len(options))
    return options[number - 1] if number is not None else line
