"""Tools for tests: each records its runs and can be held until the test releases it."""

import asyncio
from collections.abc import Callable

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import Arguments, CallPreview, Category, ToolContext


class NoteArguments(Arguments):
    """The arguments of a `NoteTool`."""

    text: str = ""
    path: str | None = None
    """The path that the call touches; None for unknown paths."""


class NoteTool:
    """Records each run in `ran`. With `hold`, a run waits for `release`; with `fails`, a run fails."""

    category: Category = "external"
    parameters = NoteArguments
    description = "Note a text."

    def __init__(
        self,
        name: str,
        effect: Effect,
        *,
        hold: bool = False,
        fails: bool = False,
        on_run: Callable[[str], None] | None = None,
    ) -> None:
        self.name = name
        self.effect: Effect = effect
        self.ran: list[str] = []
        self.started = asyncio.Event()
        self.release = asyncio.Event()
        self._fails = fails
        self._on_run = on_run
        if not hold:
            self.release.set()

    async def prepare(self, arguments: NoteArguments, workspace: Workspace) -> CallPreview:  # noqa: ARG002
        touches = None if arguments.path is None else (arguments.path,)
        return CallPreview(effect=self.effect, preview=arguments.text, touches=touches)

    async def run(self, arguments: NoteArguments, job: ToolContext) -> str:  # noqa: ARG002
        self.ran.append(arguments.text)
        if self._on_run is not None:
            self._on_run(arguments.text)
        self.started.set()
        await self.release.wait()
        if self._fails:
            raise ToolError(Code.TOOL_FAILED, tool=self.name, detail="as it was told to")
        return f"noted {arguments.text}"
