"""The connection to one server: one task owns its session from the first word to the last, others ask through it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from pilothouse.domain.codes import Code, Reason, say
from pilothouse.domain.errors import ToolError
from pilothouse.tools.mcp import asking, contents, listing
from pilothouse.tools.mcp.definitions import ServerDefinition
from pilothouse.tools.mcp.flights import Flights
from pilothouse.tools.mcp.session import Offer, Session, words_for
from pilothouse.tools.mcp.values import (
    Asker,
    CallResult,
    Clock,
    End,
    PromptDefinition,
    ResourceContent,
    ResourceDefinition,
    Status,
    ToolDefinition,
)

if TYPE_CHECKING:
    from mcp.client.session import ClientSession

T = TypeVar("T")
_LOG = logging.getLogger("pilothouse.mcp")

FIRST_WAIT = 0.5
WAIT_AT_MOST = 60.0
RESTARTS_AT_MOST = 6
STEADY_SECONDS = 60.0
STOP_SECONDS = 1.9
_REASON_SECONDS = 0.5


class Connection:
    """`on_change` is told of every change of what can be read here, on the event loop. `elicit` says whether the
    server may be told that people can be asked: they are, during a call that brings an asker. `may_start` is asked
    before every start, in a thread: it reads files."""

    def __init__(
        self,
        definition: ServerDefinition,
        *,
        environment: Mapping[str, str],
        ambient: Clock,
        on_change: Callable[[Connection], None],
        elicit: bool = True,
        may_start: Callable[[], bool] = lambda: True,
    ) -> None:
        self.definition = definition
        self.status: Status = "stopped"
        self.error: Reason | None = None
        self.restarts = 0
        self._environment = environment
        self._clock = ambient
        self._tell = on_change
        self._elicit = elicit
        self._may_start = may_start
        self._offer = Offer()
        self._session: ClientSession | None = None
        self._flights = Flights()
        self._owner: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._commands = asyncio.Lock()
        self._in_a_row = 0
        self._since: float | None = None
        self._has_ended = False

    @property
    def protocol(self) -> str | None:
        """The revision of MCP that was agreed on."""
        return self._offer.protocol

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        return self._offer.tools

    @property
    def prompts(self) -> tuple[PromptDefinition, ...]:
        return self._offer.prompts

    @property
    def has_resources(self) -> bool:
        return self._offer.has_resources

    @property
    def dropped(self) -> int:
        """How many of its tools cannot be used: their names, their schemas, their number."""
        return self._offer.dropped

    # its life

    async def start(self) -> None:
        """Returns at once; `ready` waits."""
        async with self._commands:
            self._begin()

    async def stop(self) -> None:
        """Nothing of the server is left when this returns, within two seconds."""
        async with self._commands:
            await self._leave()

    async def reconnect(self) -> None:
        """From anew, also after it has failed for good. Returns at once, when what was there has ended."""
        async with self._commands:
            await self._leave()
            self._begin()

    async def ready(self, seconds: float) -> bool:
        """Whether it is ready, once it is, or has failed or was stopped, or the time is over."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.status in ("starting", "waiting"):
                    self._changed.clear()
                    await self._changed.wait()
        return self.status == "ready"

    def _begin(self) -> None:
        if self._owner is None or self._owner.done():
            self._in_a_row = 0
            self._set("starting", None)
            self._owner = asyncio.create_task(self._own(), name=f"mcp {self.definition.name}")

    async def _leave(self) -> None:
        owner, self._owner = self._owner, None
        self._session, self._offer = None, Offer()
        self._set("stopped", None)
        if owner is not None:
            owner.cancel()
            await asyncio.wait({owner}, timeout=STOP_SECONDS)

    async def _own(self) -> None:
        """Everything that enters or leaves the SDK's contexts happens in this task."""
        while True:
            self._since = None
            self._has_ended = False
            if not await asyncio.to_thread(self._may_start):
                self._on_end(End("what it is started with is not what was trusted", is_final=True))
                return
            session = Session(
                self.definition, self._environment, self._clock, self._flights, self._on_offer, self._on_end
            )
            try:
                self._on_end(await session.run(elicit=self._elicit))
            finally:
                self._flights.abandon()
            if self.status == "failed":
                return
            await self._clock.sleep(min(FIRST_WAIT * 2**self._in_a_row, WAIT_AT_MOST))
            self._in_a_row += 1
            self.restarts += 1
            self._set("starting", self.error)

    def _on_offer(self, session: ClientSession, offer: Offer) -> None:
        if self._since is None:
            self._since = self._clock.monotonic()
        self._session, self._offer = session, offer
        self._set("ready", None)

    def _on_end(self, end: End) -> None:
        if self._has_ended:
            return
        self._has_ended = True
        self._session, self._offer = None, Offer()
        if self._since is not None and self._clock.monotonic() - self._since >= STEADY_SECONDS:
            self._in_a_row = 0
        is_over = end.is_final or self._in_a_row >= RESTARTS_AT_MOST
        self._set("failed" if is_over else "waiting", end.reason or self._reason(self.definition.name, end.detail))

    def _set(self, status: Status, error: Reason | None) -> None:
        self.status = status
        self.error = error
        self._changed.set()
        try:
            self._tell(self)
        except Exception:  # a listener that breaks must not take the server with it
            _LOG.exception("told of a change of the server %s", self.definition.name)

    # what is asked of it

    async def call(
        self, tool: str, arguments: dict[str, Any], *, seconds: float | None = None, asker: Asker | None = None
    ) -> CallResult:
        """Call a tool once. `seconds` is the definition's where it is None; it does not run while a person is asked.

        Raises: ToolError. When it says that the server has ended, the tool may have run.
        """
        request = asking.call_tool(self._live_session(tool), tool, arguments, self._clock)
        return contents.result_of(await self._asked(tool, request, seconds, asker))

    async def resources(self) -> list[ResourceDefinition]:
        """Raises: ToolError."""
        return await self._asked("resources/list", listing.list_resources(self._live_session("resources/list")))

    async def read_resource(self, uri: str) -> list[ResourceContent]:
        """Raises: ToolError. Nothing where the server has no resources."""
        request = self._live_session("resources/read").read_resource(uri)
        result = await self._asked("resources/read", asking.known(request))
        return [] if result is None else contents.resource_of(result)

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> str:
        """The prompt as one text. Raises: ToolError. Empty where the server has no prompts."""
        request = self._live_session("prompts/get").get_prompt(name, dict(arguments))
        result = await self._asked("prompts/get", asking.known(request))
        return "" if result is None else contents.prompt_of(result)

    def _live_session(self, what: str) -> ClientSession:
        if self._session is None:
            why = f": {self._detail()}" if self.error is not None else ""
            raise self._failure(what, f"the server {self.definition.name} is not ready ({self.status}){why}")
        return self._session

    async def _asked(
        self, what: str, request: Coroutine[Any, Any, T], seconds: float | None = None, asker: Asker | None = None
    ) -> T:
        limit = self.definition.seconds if seconds is None else seconds
        session = self._session
        try:
            return await self._flights.run(request, limit, asker)
        except TimeoutError:
            raise ToolError(Code.TOOL_TIMED_OUT, tool=what, seconds=limit) from None
        except Exception as error:
            is_lost = session is not self._session or isinstance(error, ConnectionAbortedError)
            if is_lost or (asking.may_be_closed(error) and await self._has_left()):
                why = f": {self._detail()}" if self.error is not None else ""
                detail = f"the server {self.definition.name} ended during the call, which may have run{why}"
                raise self._failure(what, detail) from error
            raise self._failure(what, words_for(error)) from error

    async def _has_left(self) -> bool:
        """Its owner sees the end a moment after those who wait for an answer."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_REASON_SECONDS):
                while self.status == "ready":
                    self._changed.clear()
                    await self._changed.wait()
        return self.status != "ready"

    def _detail(self) -> str | None:
        if self.error is None:
            return None
        return str(self.error.params["detail"]) if self.error.code is Code.TOOL_FAILED else say(self.error)

    def _failure(self, what: str, detail: str) -> ToolError:
        reason = self._reason(what, detail)
        return ToolError(reason.code, **reason.params)

    def _reason(self, what: str, detail: str) -> Reason:
        return Reason(Code.TOOL_FAILED, {"tool": what, "detail": detail})
