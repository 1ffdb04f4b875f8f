"""The conversation in the terminal, line by line. The full terminal comes later; this one is plain and complete."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from pilothouse.domain.codes import Language, say
from pilothouse.domain.errors import PilothouseError
from pilothouse.domain.messages import ErrorMessage, Text, ToolRequest, ToolResult
from pilothouse.domain.state_words import say_state
from pilothouse.domain.states import (
    AwaitingToolApproval,
    AwaitingUserAnswer,
    Failed,
    Idle,
    TransientError,
    WaitingForRecovery,
)
from pilothouse.runtime.runtime import Runtime
from pilothouse.terminal.approval import answer_questions, decide_pending
from pilothouse.terminal.clean import visible
from pilothouse.terminal.commands import run_command
from pilothouse.terminal.follow import At, Event, Piece, Seen, follow
from pilothouse.terminal.lines import Lines
from pilothouse.terminal.words import tell

_PATIENCE = 1.0


class Conversation:
    def __init__(self, runtime: Runtime, context_id: str, language: Language) -> None:
        self.runtime = runtime
        self.context_id = context_id
        self.language: Language = language
        self.lines = Lines()
        self._quiet_since = 0.0

    async def run(self, *, is_demo: bool) -> None:
        """Until the person leaves."""
        await self.lines.start()
        live = await self.runtime.context(self.context_id)
        print(visible(tell("welcome", self.language, workspace=live.core.workspace)))
        if is_demo:
            print(tell("demo", self.language))
        for reason in live.damage:
            print(visible(say(reason, self.language)))
        await self._guarded(self._settle(position=live.branches[live.core.active_branch].length))
        while (line := await self.lines.ask(await self._prompt())) is not None:
            if line.strip() in ("/quit", "/exit"):
                break
            if line.strip():
                await self._handle(line)
        print(tell("bye", self.language, context_id=self.context_id))

    async def _prompt(self) -> str:
        live = await self.runtime.context(self.context_id)
        mode = self.runtime.parts.modes.named(live.core.mode)
        return f"\n{mode.icon} {mode.name} › "

    async def _handle(self, line: str) -> None:
        live = await self.runtime.context(self.context_id)
        position = live.branches[live.core.active_branch].length
        if line.startswith("/"):
            command: Coroutine[Any, Any, Any] = run_command(self.runtime, self.context_id, line, self.language)
        else:
            command = self.runtime.send(self.context_id, line)
        if await self._guarded(command):
            await self._guarded(self._settle(position=position))

    async def _guarded(self, work: Coroutine[Any, Any, Any]) -> bool:
        """Do something that may be refused; what is refused is told."""
        try:
            await work
        except PilothouseError as error:
            print(visible(say(error.reason, self.language)))
            return False
        return True

    async def _settle(self, *, position: int) -> None:
        """Show what happens until the context is Idle, or the person leaves something for later."""
        while True:
            await self._show(position)
            live = await self.runtime.context(self.context_id)
            position = live.branches[live.core.active_branch].length
            match live.state:
                case AwaitingToolApproval():
                    if not await decide_pending(self.runtime, self.context_id, self.lines, self.language):
                        return
                case AwaitingUserAnswer():
                    if not await answer_questions(self.runtime, self.context_id, self.lines):
                        return
                case WaitingForRecovery(reason=reason):
                    print(visible(tell("recovery", self.language, reason=say(reason, self.language))))
                    return
                case Failed(error_message=reason):
                    print(visible(tell("failed", self.language, reason=say(reason, self.language))))
                    return
                case _:
                    if isinstance(live.state, Idle):
                        return

    async def _show(self, position: int) -> None:
        self.lines.interrupt = self._cancel
        waiting = asyncio.create_task(self._tell_what_takes_long())
        try:
            async for event in follow(self.runtime, self.context_id, position=position):
                self._quiet_since = asyncio.get_running_loop().time()
                self._print(event)
        finally:
            waiting.cancel()
            self.lines.interrupt = None

    async def _tell_what_takes_long(self) -> None:
        """After a second in which nothing was to be seen: what is going on. Once for each thing."""
        told = ""
        while True:
            await asyncio.sleep(_PATIENCE / 4)
            words = say_state((await self.runtime.context(self.context_id)).state, self.language)
            quiet = asyncio.get_running_loop().time() - self._quiet_since
            if words and words != told and quiet >= _PATIENCE:
                print(visible(f"… {words}"), flush=True)
                told = words

    def _cancel(self) -> None:
        self._cancelling = asyncio.ensure_future(self._cancel_turn())

    async def _cancel_turn(self) -> None:
        if await self._guarded(self.runtime.cancel(self.context_id)):
            print("\n" + tell("cancelled", self.language))

    def _print(self, event: Event) -> None:
        match event:
            case Piece(text=text):
                print(visible(text), end="", flush=True)
            case Seen(message=Text(role="assistant") as message, streamed=streamed):
                print("" if streamed else visible(message.content))
            case Seen(message=ToolRequest() as message):
                print(end="\n" if message.content else "")
                for call in message.calls:
                    print(visible(f"· {call.tool} {_short(call.arguments)}"))
            case Seen(message=ToolResult() as message):
                mark = "✓" if message.status == "executed" else "✗"
                told = message.content if message.error is None else say(message.error, self.language)
                print(visible(f"  {mark} {_short(told)}"))
            case Seen(message=ErrorMessage() as message):
                print(visible(f"! {say(message.reason, self.language)}"))
            case At(state=TransientError() as state):
                print(visible(f"… {say(state.error_type, self.language)} ({state.retry_count}/{state.max_retries})"))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 160 else line[:157] + "…"
