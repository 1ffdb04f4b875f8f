"""Editing a call at its card: in the user's editor, or as typed JSON. The edited call is shown before it runs."""

import asyncio
import os
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any, Literal

import msgspec

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Language
from pilothouse.domain.deception.hidden_characters import visible, visible_line
from pilothouse.domain.errors import RequestError
from pilothouse.i18n import translate, translate_exit_status, ui_text
from pilothouse.runtime.commands.calls import PersonsDecision
from pilothouse.runtime.runtime import Runtime
from pilothouse.system.private_file import replace_private_file
from pilothouse.terminal.call_card import call_card, quoted_exactly
from pilothouse.terminal.foreign_text import quoted
from pilothouse.terminal.line_reader import LineReader
from pilothouse.terminal.pager import Pager

_MAIN_ARGUMENT = "command"
"""The argument that is edited as plain text, whatever other arguments a call has."""
_SUFFIXES = {None: ".json", _MAIN_ARGUMENT: ".sh"}


class CallEditor:
    def __init__(self, runtime: Runtime, context_id: str, pager: Pager, lines: LineReader, language: Language) -> None:
        self._runtime = runtime
        self._context_id = context_id
        self._pager = pager
        self._lines = lines
        self._language: Language = language
        self.previewed: dict[str, CallRecord] = {}
        """Edited calls as they were shown, by call id."""

    async def edit(self, call: CallRecord) -> PersonsDecision | Literal["back"] | None:
        """Let the user edit the call and decide about it. Return "back" to ask about the original call, None to leave
        the call for later."""
        arguments = await self._new_arguments(call, call.arguments)
        while True:
            if arguments is None or arguments == call.arguments:
                print(ui_text("terminal", "not_edited", self._language))
                return await self._show_original(call)
            try:
                edited = await self._runtime.calls.preview_edit(self._context_id, call.id, arguments)
            except RequestError as error:
                print(quoted(translate(error.reason, self._language)))
                return await self._show_original(call)
            decision = await self._ask_about(call, edited)
            if decision == "back":
                return await self._show_original(call)
            if decision != "edit":
                return decision
            arguments = await self._new_arguments(call, arguments)

    async def _show_original(self, call: CallRecord) -> PersonsDecision | Literal["back"] | None:
        """Show the original call again, because the next question is about the original call."""
        answer = await self._pager.show(call_card(call, self._language))
        if answer == "seen":
            return "back"
        return rejection(call, self._pager.reason) if answer == "no" else None

    async def _ask_about(
        self, call: CallRecord, edited: CallRecord
    ) -> PersonsDecision | Literal["back", "edit"] | None:
        card = f"\n{ui_text('terminal', 'edited_call', self._language)}{call_card(edited, self._language)}"
        if edited.violation is not None:
            card += "\n" + quoted(translate(edited.violation, self._language))
        answer = await self._pager.show(card)
        if answer != "seen":
            return rejection(call, self._pager.reason) if answer == "no" else None
        return await self._decide(call, edited)

    async def _decide(self, call: CallRecord, edited: CallRecord) -> PersonsDecision | Literal["back", "edit"] | None:
        while True:
            line = await self._pager.ask(ui_text("terminal", "approve_edited", self._language))
            if line is None or self._lines.is_leaving(line):
                return None
            word, _, rest = line.strip().partition(" ")
            match word.lower():
                case "y" | "yes" if edited.violation is not None:
                    print(quoted(translate(edited.violation, self._language)))
                case "y" | "yes":
                    self.previewed[call.id] = edited
                    return PersonsDecision(
                        id=call.id, verdict="approve", digest=call.digest, arguments=edited.arguments
                    )
                case "n" | "no":
                    return rejection(call, rest or None)
                case "e" | "edit":
                    return "edit"
                case "o" | "original":
                    return "back"
                case _:
                    self._pager.print_not_understood(line)

    async def _new_arguments(self, call: CallRecord, arguments: Any) -> dict[str, Any] | None:
        """Return the arguments as edited by the user; None if the user leaves them unchanged."""
        name = _main_argument(arguments)
        text = arguments[name] if name is not None else msgspec.json.format(msgspec.json.encode(arguments)).decode()
        editor = _editor()
        while editor:
            try:
                changed = await self._edit_in(editor, text, _SUFFIXES.get(name, ".txt"))
            except (OSError, ValueError) as error:
                print(visible(ui_text("terminal", "editor_failed", self._language, detail=visible_line(str(error)))))
                break
            if changed is None:
                return None
            new_arguments = {**arguments, name: changed} if name is not None else self._decode(changed)
            if new_arguments is not None or not await self._wants_to_edit_again():
                return new_arguments
            text = changed
        print(quoted_exactly(msgspec.json.encode(arguments).decode(), call))
        line = await self._lines.ask(ui_text("terminal", "edit", self._language))
        return self._decode(line) if line and line.strip() else None

    async def _wants_to_edit_again(self) -> bool:
        line = await self._lines.ask_now(ui_text("terminal", "edit_again", self._language))
        return line is not None and not line.strip()

    def _decode(self, text: str) -> dict[str, Any] | None:
        try:
            return msgspec.json.decode(text, type=dict[str, Any])
        except msgspec.MsgspecError as error:
            print(visible(ui_text("terminal", "not_json", self._language, detail=error)))
            return None

    async def _edit_in(self, editor: list[str], text: str, suffix: str) -> str | None:
        """Return the text as saved in the editor; None if the editor fails. Raises: OSError, ValueError."""
        with tempfile.TemporaryDirectory(prefix="pilothouse-edit-") as folder:  # for the editor's own files, too
            path = Path(folder, f"call{suffix}")
            replace_private_file(path, text.encode())
            with self._lines.lend_terminal(lambda: None):  # the editor handles Ctrl-C
                process = await asyncio.create_subprocess_exec(*editor, str(path))
                try:
                    status = await process.wait()
                except asyncio.CancelledError:
                    process.terminate()
                    await process.wait()
                    raise
            if status:
                status_text = translate_exit_status(status, self._language)
                print(ui_text("terminal", "editor_status", self._language, status=status_text))
                return None
            changed = path.read_bytes().decode(errors="replace")
        is_end_added = changed.endswith("\n") and not text.endswith("\n")
        return changed.removesuffix("\n") if is_end_added else changed


def _main_argument(arguments: Any) -> str | None:
    """Return the argument to edit as plain text: the command, or the only argument if its value is a text."""
    if not isinstance(arguments, dict):
        return None
    if isinstance(arguments.get(_MAIN_ARGUMENT), str):
        return _MAIN_ARGUMENT
    names = list(arguments)
    return names[0] if len(names) == 1 and isinstance(arguments[names[0]], str) else None


def _editor() -> list[str]:
    """Return the words of the user's editor command; none unless input and output are a terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return []
    try:
        return shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")
    except ValueError:
        return []


def rejection(call: CallRecord, reason: str | None) -> PersonsDecision:
    return PersonsDecision(id=call.id, verdict="reject", digest=call.digest, reason=reason)
