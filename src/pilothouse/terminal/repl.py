"""The conversation in the terminal, line by line."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Language
from pilothouse.domain.deception.hidden_characters import visible
from pilothouse.domain.errors import PilothouseError, RequestError
from pilothouse.domain.messages import ToolRequest, ToolResult
from pilothouse.domain.states import (
    AwaitingToolApproval,
    AwaitingUserAnswer,
    Failed,
    Idle,
    Paused,
    WaitingForRecovery,
)
from pilothouse.domain.value import CallId, MessageId
from pilothouse.i18n import translate, translate_broken_promises, translate_state, ui_text
from pilothouse.runtime.context.snapshot import ContextSnapshot
from pilothouse.runtime.events.attend import Attendant, Decisions
from pilothouse.runtime.events.turn_events import (
    BranchPosition,
    MessageAdded,
    QuestionAsked,
    SubagentWaiting,
    ToolOutputAdded,
    TurnEvent,
    branch_end,
)
from pilothouse.runtime.runtime import Runtime
from pilothouse.terminal.approval import ApprovalCards, ask_questions
from pilothouse.terminal.call_card import call_card
from pilothouse.terminal.commands import mode_of, run_command
from pilothouse.terminal.event_lines import call_name, read_call_name, show_event
from pilothouse.terminal.foreign_text import QuotedStream, quoted
from pilothouse.terminal.line_reader import LEAVING, LineReader
from pilothouse.terminal.own_command import run_own_command
from pilothouse.terminal.pager import Pager
from pilothouse.terminal.tool_commands import offer_trust, review_trust
from pilothouse.terminal.tour import Tour
from pilothouse.terminal.window_commands import suggest_compression

_QUIET_SECONDS = 1.0
"""The time without output after which the terminal prints the current activity."""
_MAX_NAMED_CALLS = 10
_COMMANDS_WITH_OWN_OUTPUT = ("/merge", "/compress", "/compact", "/overview", "/undo")
"""Commands that add messages to the branch and print their own result."""


class Conversation(Attendant):
    def __init__(self, runtime: Runtime, context_id: str, language: Language, *, program: str = "pilothouse") -> None:
        """`program` is the command line that starts this program on the same data directory."""
        self._program = program
        self.runtime = runtime
        self.context_id = context_id
        self.language: Language = language
        self.lines = LineReader()
        self._quiet_since = 0.0
        self._typed: set[MessageId] = set()
        self._stream = QuotedStream()
        self._last_named_call: CallId | None = None
        """The call that was named last on the screen: its output appears below its name."""
        self._left_cards: ApprovalCards | None = None
        """The cards that the person left for later. The conversation asks nothing more until its next line."""
        self._background_tasks: list[asyncio.Task[None]] = []
        self._tour: Tour | None = None
        self._typed_line_handled: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._typed_line_handled.set_result(True)

    async def run(self, *, is_demo: bool, mode: str | None = None) -> None:
        """Run the conversation until the person leaves. `mode` is the mode to switch to first."""
        await self.lines.start()
        live = await self._live()
        self._greet(live, is_demo)
        if mode is not None and mode != live.core.mode:
            await self._handle(f"/mode {mode}")
        await self._run_reporting_errors(offer_trust(self.runtime, self.context_id, self.lines, self.language))
        await self._run_reporting_errors(self._show_until_idle(branch_end(await self._live())))
        while (line := await self._next_line()) is not None:
            if line.strip() in LEAVING:
                break
            if line.strip() == "/tour":
                self._tour = Tour(self.language)
            elif _is_own_command(line):
                command = line.strip()[1:]
                work = run_own_command(self.runtime, self.context_id, command, self.lines, self.language)
                await self._run_reporting_errors(work)
            elif line.strip():
                await self._handle(line.strip() if _is_command(line) else line)
            elif (await self._live()).is_waiting:
                await self._run_reporting_errors(self._show_until_idle(await self._position_of_new_messages()))
        self._print_set_aside("typed_unsent")
        await self._say_goodbye()

    async def _say_goodbye(self) -> None:
        """Print the command that resumes the conversation. If its files are gone, print that instead."""
        folder = self.runtime.contexts.folder(self.context_id)
        if folder is not None and not folder.is_dir():
            print(visible(ui_text("terminal", "bye_gone", self.language, folder=folder)))
            return
        is_refused = isinstance((await self._live()).state, WaitingForRecovery)
        command = f"{self._program} --context {self.context_id}"
        print(ui_text("terminal", "bye_refused" if is_refused else "bye", self.language, command=command))

    def _greet(self, live: ContextSnapshot, is_demo: bool) -> None:
        print(visible(ui_text("terminal", "welcome", self.language, workspace=live.core.workspace)))
        if is_demo:
            print(ui_text("terminal", "demo", self.language))
        if not self.runtime.kernel.is_complete:
            broken = translate_broken_promises(self.runtime.kernel, self.language)
            print(ui_text("terminal", "no_sandbox", self.language, broken=broken))
        for reason in (*live.damage, *self.runtime.rules.damage(live.core.owner)):
            print(visible(translate(reason, self.language)))

    async def _live(self) -> ContextSnapshot:
        return await self.runtime.contexts.get(self.context_id)

    async def _next_line(self) -> str | None:
        """Read the next line. On a tour, an empty line accepts the line that the tour proposes."""
        if not self.lines.can_edit:
            self._print_set_aside()
        if self._tour is None:
            return await self._ask_line(await self._prompt())
        proposed = self._tour.propose()
        if proposed is None:
            self._tour = None
            print("\n" + ui_text("terminal", "tour_end", self.language))
            return ""
        hint = ui_text("terminal", "tour_line", self.language, line=proposed)
        line = await self._ask_line(await self._prompt() + hint)
        if line is not None and line.strip() == "/quit":
            self._tour = None
            return ""
        if line in ("", proposed):
            self._tour.take()
            return proposed
        return line

    async def _ask_line(self, prompt: str) -> str | None:
        """Read a line of UTF-8 text. An invalid line is offered again behind the prompt, to be corrected."""
        line = await self.lines.ask_edited(prompt)
        while self.lines.was_undecodable:
            print(ui_text("terminal", "not_utf8", self.language))
            line = await self.lines.ask_edited(prompt)
        return line

    def _print_set_aside(self, key: str = "typed_before") -> None:
        """Print text that was typed before a question, or not sent at the end, when no prompt can offer it again."""
        typed = self.lines.take_set_aside()
        if typed:
            print(ui_text("terminal", key, self.language))
            print(quoted("\n".join(typed)))

    async def _prompt(self) -> str:
        live = await self._live()
        mode = self.runtime.modes.table.stored(live.core.mode)
        branch = "" if live.core.active_branch == "main" else f" [{live.core.active_branch}]"
        return visible(f"\n{mode.icon} {mode.name}{branch} › ")

    async def _handle(self, line: str) -> None:
        live = await self._live()
        branch = live.core.active_branch
        place = BranchPosition(live.branches[branch].key, live.branches[branch].length)
        shown_digests = await self._confirm_started_calls(line)
        if shown_digests is None:
            return
        state_before = live.state
        command: Coroutine[Any, Any, Any]
        if line == "/trust":
            command = review_trust(self.runtime, self.context_id, self.lines, self.language)
        elif _is_command(line):
            command = run_command(self.runtime, self.context_id, line, self.language, shown_digests)
        else:
            command = self._send(line)
        if await self._run_reporting_errors(command):
            live = await self._live()
            if live.state is state_before and live.is_waiting and not live.is_driven:  # the input changed nothing
                if not _is_command(line):
                    is_call = isinstance(live.state, AwaitingToolApproval)
                    print(ui_text("terminal", "later" if is_call else "question_waits", self.language))
                return
            if live.core.active_branch != branch or line.startswith(_COMMANDS_WITH_OWN_OUTPUT):
                place = await self._position_of_new_messages()
            await self._run_reporting_errors(self._show_until_idle(place))

    async def _confirm_started_calls(self, line: str) -> list[str] | None:
        """Show in full each pending call that a command would start, and ask for confirmation. Return the digests of
        the calls that were shown, or None if the person does not confirm."""
        try:
            calls_to_start = await self._would_start(line)
        except PilothouseError:
            return []  # the command itself reports the error
        if not calls_to_start:
            return []
        print(ui_text("terminal", "unread_start", self.language, count=len(calls_to_start)))
        pager = Pager(self.lines, self.language)
        for call in calls_to_start:
            if await pager.show(call_card(call, self.language)) != "seen":
                return None
        answer = await pager.ask(ui_text("terminal", "sure", self.language)) or ""
        return [call.digest for call in calls_to_start] if answer.strip().lower() in ("y", "yes") else None

    async def _would_start(self, line: str) -> list[CallRecord]:
        if _is_command(line) and line.startswith("/elevate") and line.split()[1:] != ["end"]:
            return await self.runtime.calls.pending(self.context_id)
        mode = mode_of(self.runtime, line) if _is_command(line) else None
        calls = await self.runtime.modes.would_start(self.context_id, mode) if mode is not None else []
        return [call for call in calls if call.status == "pending"]  # calls with another status were approved before

    async def _position_of_new_messages(self) -> BranchPosition:
        """Return the position from which to show another branch: after the message just sent there, or at its end."""
        live = await self._live()
        length = live.branches[live.core.active_branch].length
        turn = live.core.turn
        recent = await self.runtime.messages.read(self.context_id, before=length)
        live = await self._live()
        new_messages = [message for message in recent if turn is not None and message.metadata.turn == turn.id]
        return branch_end(live, back=max(0, len(new_messages) - 1))

    async def _send(self, line: str) -> None:
        """Send a message. While a turn is open, even a waiting one, the message is queued."""
        sent = await self.runtime.messages.send(self.context_id, line, queue=True)
        if sent.queued:
            print(ui_text("terminal", "queued", self.language, count=len((await self._live()).core.queue)))
        else:
            self._typed.add(sent.message_id)

    async def _run_reporting_errors(self, work: Coroutine[Any, Any, Any]) -> bool:
        """Await work that may be refused, and print the reason of a refusal."""
        try:
            await work
        except PilothouseError as error:
            print(quoted(translate(error.reason, self.language)))
            return False
        return True

    async def _show_until_idle(self, place: BranchPosition) -> None:
        """Show events until the context is Idle, or the person leaves a question or a call for later."""
        self._left_cards = None
        while True:
            await self._show(place)
            live = await self._live()
            place = branch_end(live)
            match live.state:
                case AwaitingToolApproval() | AwaitingUserAnswer():
                    return await self._leave_for_later()
                case Paused():
                    print(ui_text("terminal", "paused", self.language))
                    return None
                case WaitingForRecovery(reason=reason):
                    text = translate(reason, self.language)
                    print(quoted(ui_text("terminal", "recovery", self.language, reason=text)))
                    return None
                case Failed(error_message=reason):
                    text = translate(reason, self.language)
                    print(quoted(ui_text("terminal", "failed", self.language, reason=text)))
                    return None
                case Idle() if not live.is_driven:
                    return await suggest_compression(self.runtime, self.context_id, self.language)
                case _:  # the next queued message is about to start
                    await asyncio.sleep(0)

    async def decide(
        self,
        context: ContextSnapshot,
        calls: Sequence[CallRecord],  # noqa: ARG002
    ) -> Decisions | Literal["later"] | None:
        """Ask about pending calls at cards. A person who leaves the cards of a sub-agent cancels the turn."""
        is_own = context.id == self.context_id
        if is_own and self._left_cards is not None:
            return "later"
        cards = ApprovalCards(self.runtime, context.id, self.lines, self.language)
        async with self._prompt_about(context.id, "child"):
            is_complete = await cards.ask()
        if is_complete:
            return cards.decisions()
        if is_own and not self.lines.was_interrupted:  # calls that were decided start, and the others wait
            self._left_cards = cards
            return cards.decisions() or "later"
        cards.print_dropped()
        if is_own:
            return "later"
        await self._cancel_turn()
        return None

    async def answer(
        self, context: ContextSnapshot, question: CallRecord
    ) -> list[str] | Literal["decline", "later"] | None:
        """Ask a question. A person who leaves the question of a sub-agent cancels the turn."""
        is_own = context.id == self.context_id
        if is_own and question.asked_by is not None:
            return await self._ask_questions(question, "question_declined") or "decline"
        if is_own and self._left_cards is not None:
            return "later"
        async with self._prompt_about(context.id, "child_asks"):
            answers = await self._ask_questions(question, "question_later" if is_own else "question_of_child")
        if is_own:
            return answers or "later"
        if answers is None:
            await self._cancel_turn()
        return answers

    async def note_outcome(self, decided: Sequence[CallRecord], refusals: Sequence[PilothouseError]) -> bool:  # noqa: ARG002
        for refusal in refusals:
            if not isinstance(refusal, RequestError):
                raise refusal
            print(quoted(translate(refusal.reason, self.language)))
        if self._left_cards is not None:
            await self._left_cards.print_applied()
        return True

    @asynccontextmanager
    async def _prompt_about(self, context_id: str, key: str) -> AsyncIterator[None]:
        """Stop the background tasks for a prompt about what waits in the conversation or in a sub-agent. `key` is the
        text that announces a sub-agent."""
        await self._stop_background_tasks()
        if context_id != self.context_id:
            self._stream.end()
            print(quoted(ui_text("terminal", key, self.language, context_id=context_id)))
        yield
        self._start_background_tasks()

    async def _ask_questions(self, question: CallRecord, hint: str) -> list[str] | None:
        return await ask_questions(question, self.lines, self.language, hint=ui_text("terminal", hint, self.language))

    async def _leave_for_later(self) -> None:
        """Leave a prompt: Ctrl-C cancels the turn; any other way of leaving keeps the turn waiting."""
        if self.lines.was_interrupted:
            self.lines.was_interrupted = False
            await self._cancel_turn()
            return
        waiting = await self.runtime.calls.pending(self.context_id)
        if not waiting:
            print(ui_text("terminal", "question_waits", self.language))
            return
        print(ui_text("terminal", "still_waiting", self.language, count=len(waiting)))
        names = [f"· {call_name(call)}" for call in waiting[:_MAX_NAMED_CALLS]]
        print(quoted("\n".join([*names, *(["…"] if len(waiting) > _MAX_NAMED_CALLS else [])])))
        print(ui_text("terminal", "later", self.language))

    async def _show(self, place: BranchPosition) -> None:
        self._start_background_tasks()
        try:
            async for event in self.runtime.events.attend(self.context_id, self, start=place):
                self._quiet_since = asyncio.get_running_loop().time()
                if not isinstance(event, SubagentWaiting | QuestionAsked):
                    show_event(event, self.language, self._stream, self._typed, await self._name_of_call(event))
        finally:
            await self._stop_background_tasks()

    def _start_background_tasks(self) -> None:
        self.lines.interrupt = self._cancel
        self._background_tasks = [
            asyncio.create_task(self._print_activity_when_quiet()),
            asyncio.create_task(self._handle_typed_lines()),
        ]

    async def _stop_background_tasks(self) -> None:
        for task in self._background_tasks:
            task.cancel()
        self.lines.interrupt = None  # Ctrl-C now ends the prompt of a typed command
        await self._typed_line_handled  # finish handling a typed line

    async def _name_of_call(self, event: TurnEvent) -> str | None:
        """Return the name of the call to which a result or an output belongs; None for an output whose call was named
        last."""
        if isinstance(event, MessageAdded) and isinstance(event.message, ToolRequest):
            calls = event.message.calls
            self._last_named_call = calls[0].id if len(calls) == 1 else None
        if isinstance(event, MessageAdded) and isinstance(event.message, ToolResult):
            call_id = event.message.call_id
        elif isinstance(event, ToolOutputAdded) and event.call_id != self._last_named_call:
            call_id = event.call_id
        else:
            return None
        self._last_named_call = call_id
        return await read_call_name(self.runtime, self.context_id, call_id)

    async def _handle_typed_lines(self) -> None:
        """Handle input typed during a turn: commands run at once, other text is queued as a message."""
        while True:
            line = await self.lines.next_unprompted_line()
            if line.strip() in (*LEAVING, "/tour") or _is_own_command(line):  # handled at the end of the turn
                self.lines.put_back(line)
                return
            self._typed_line_handled = asyncio.ensure_future(self._run_reporting_errors(self._handle_typed(line)))
            await asyncio.shield(self._typed_line_handled)

    async def _handle_typed(self, line: str) -> None:
        """Handle a line that was typed during a turn."""
        if _is_command(line):
            shown_digests = await self._confirm_started_calls(line.strip())
            if shown_digests is not None:
                await run_command(self.runtime, self.context_id, line.strip(), self.language, shown_digests)
        elif line.strip():
            await self._send(line)

    async def _print_activity_when_quiet(self) -> None:
        """Print the current activity, once for each activity, after a second without output."""
        printed_activity = ""
        while True:
            await asyncio.sleep(_QUIET_SECONDS / 4)
            activity = translate_state((await self._live()).state, self.language)
            quiet_seconds = asyncio.get_running_loop().time() - self._quiet_since
            if (
                activity
                and activity != printed_activity
                and quiet_seconds >= _QUIET_SECONDS
                and not self.lines.is_asking
            ):
                self._stream.end()
                print(visible(activity), flush=True)
                printed_activity = activity

    def _cancel(self) -> None:
        self._cancelling = asyncio.ensure_future(self._cancel_turn())

    async def _cancel_turn(self) -> None:
        if await self._run_reporting_errors(self.runtime.turns.cancel(self.context_id)):
            print("\n" + ui_text("terminal", "cancelled", self.language))


def _is_command(line: str) -> bool:
    """Whether a line is a slash command. A pasted text of several lines is always a message."""
    return line.strip().startswith("/") and "\n" not in line.strip()


def _is_own_command(line: str) -> bool:
    return line.strip().startswith("!") and line.strip() != "!" and "\n" not in line.strip()
