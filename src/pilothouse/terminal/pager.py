"""Shows texts page by page, so that a person has seen each in full before a question about it."""

import sys
from typing import Literal

from pilothouse.domain.codes import Language
from pilothouse.i18n import ui_text
from pilothouse.terminal.foreign_text import PagedText
from pilothouse.terminal.line_reader import LineReader


class Pager:
    """Prints texts in full, and waits for a key whenever the screen is full of rows that the person has not read
    yet."""

    def __init__(self, lines: LineReader, language: Language, *, is_question: bool = False) -> None:
        """`is_question` is for questions, which a person answers or leaves for later, but cannot reject."""
        self._page_prompt = "more_texts" if is_question else "more"
        self._lines = lines
        self._language: Language = language
        self._unread_rows = 0
        """Rows printed since the person last answered."""
        self.reason: str | None = None
        """The reason that the person gave with "no" to the last text, if any."""

    async def show(self, text: str) -> Literal["seen", "no", "later"]:
        """Print a text. Return "no" or "later" if the person answers so before the last page."""
        pages = PagedText(text)
        if self._unread_rows and not pages.fit_below(self._unread_rows) and not await self._wants_next_text():
            return "later"
        self._print(pages.next())
        while pages.has_more:
            question = ui_text(
                "terminal", self._page_prompt, self._language, number=pages.next_number, count=pages.count
            )
            line = await self._ask_page(question)
            if line is None or self._lines.is_leaving(line):
                return "later"
            word, _, reason = line.strip().partition(" ")
            if word.lower() in ("n", "no") and self._page_prompt == "more":
                self.reason = reason.strip() or None
                return "no"
            self._print(pages.next())
        return "seen"

    async def ask(self, question: str) -> str | None:
        """Ask about the last text. Callers check the answer with `LineReader.is_leaving`; None is the end of the input,
        or Ctrl-C."""
        self._unread_rows = 0
        return await self._lines.ask_now(question)

    async def _wants_next_text(self) -> bool:
        """Ask whether to show the next text. Only Enter or the space bar means yes; "no" is not understood, since it
        could refer to any of the texts on the screen."""
        while True:
            line = await self._ask_page(ui_text("terminal", "more_texts", self._language))
            if line is None or self._lines.is_leaving(line):
                return False
            if not line.strip():
                return True
            self.print_not_understood(line)

    def print_not_understood(self, line: str) -> None:
        """Print that a line is not a valid answer. A text of several words was meant for the conversation: the next
        prompt offers it again."""
        if len(line.split()) > 1 and sys.stdin.isatty():
            self._lines.set_aside(line)
            print(ui_text("terminal", "not_understood_kept", self._language))
        else:
            print(ui_text("terminal", "not_understood", self._language))

    async def _ask_page(self, question: str) -> str | None:
        self._unread_rows = 0
        return await self._lines.ask_page(question)

    def _print(self, page: str) -> None:
        print(page)
        self._unread_rows += page.count("\n") + 1
