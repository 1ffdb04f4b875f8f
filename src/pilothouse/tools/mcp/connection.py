"""The connection to an MCP server. One task owns the SDK session for its whole life; other tasks request through it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import ConnectionLost, ToolError, tool_failure
from pilothouse.i18n import translate
from pilothouse.tools.mcp import content, discovery, requests
from pilothouse.tools.mcp.definitions import MCPServerDefinition
from pilothouse.tools.mcp.pending_requests import PendingRequests
from pilothouse.tools.mcp.session import MCPSession, Offer, error_text
from pilothouse.tools.mcp.types import (
    Asker,
    Clock,
    MCPCallResult,
    PromptDefinition,
    ResourceContent,
    ResourceDefinition,
    Status,
    ToolDefinition,
    TransportEnd,
)

if TYPE_CHECKING:
    from mcp.client.session import ClientSession

T = TypeVar("T")
_LOG = logging.getLogger("pilothouse.mcp")

MIN_RESTART_DELAY_SECONDS = 0.5
MAX_RESTART_DELAY_SECONDS = 60.0
MAX_RESTARTS = 6
STABLE_SECONDS = 60.0
STOP_TIMEOUT_SECONDS = 1.9
_REASON_TIMEOUT_SECONDS = 0.5


class Connection:
    """The connection to one MCP server, restarted with growing delays when the server ends."""

    def __init__(
        self,
        definition: MCPServerDefinition,
        *,
        environment: Mapping[str, str],
        ambient: Clock,
        on_change: Callable[[Connection], None],
        elicit: bool = True,
        may_start: Callable[[], bool] = lambda: True,
    ) -> None:
        """`on_change` is called on the event loop after every change of a public attribute. `elicit` announces to the
        server that people can be asked, which holds during calls with an asker. `may_start` is called before every
        start, in a thread, because it reads files."""
        self.definition = definition
        self.status: Status = "stopped"
        self.error: Reason | None = None
        self.restarts = 0
        self._environment = environment
        self._clock = ambient
        self._notify = on_change
        self._elicit = elicit
        self._may_start = may_start
        self._offer = Offer()
        self._session: ClientSession | None = None
        self._pending = PendingRequests()
        self._owner: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._commands = asyncio.Lock()
        self._failures = 0
        self._ready_since: float | None = None
        self._has_ended = False

    @property
    def protocol(self) -> str | None:
        """The negotiated revision of MCP."""
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
        """The number of tools that cannot be used because of their names, their schemas or their number."""
        return self._offer.dropped

    # lifecycle

    async def start(self) -> None:
        """Connect in the background; `ready` waits."""
        async with self._commands:
            self._connect()

    async def stop(self) -> None:
        """Disconnect. No process of the server is left afterwards; takes two seconds at most."""
        async with self._commands:
            await self._disconnect()

    async def reconnect(self) -> None:
        """Start again, also after a final failure. Returns as soon as the old connection has ended."""
        async with self._commands:
            await self._disconnect()
            self._connect()

    async def ready(self, seconds: float) -> bool:
        """Wait until the server is ready, has failed or was stopped, or the time is over. Returns whether it is
        ready."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.status in ("starting", "waiting"):
                    self._changed.clear()
                    await self._changed.wait()
        return self.status == "ready"

    def _connect(self) -> None:
        if self._owner is None or self._owner.done():
            self._failures = 0
            self._set("starting", None)
            self._owner = asyncio.create_task(self._run(), name=f"mcp {self.definition.name}")

    async def _disconnect(self) -> None:
        owner, self._owner = self._owner, None
        self._session, self._offer = None, Offer()
        self._set("stopped", None)
        if owner is not None:
            owner.cancel()
            await asyncio.wait({owner}, timeout=STOP_TIMEOUT_SECONDS)

    async def _run(self) -> None:
        """Own the session: everything that enters or leaves the SDK's contexts happens in this task."""
        while True:
            self._ready_since = None
            self._has_ended = False
            if not await asyncio.to_thread(self._may_start):
                self._on_end(
                    TransportEnd(
                        "the files that it is started with have changed since they were trusted", is_final=True
                    )
                )
                return
            session = MCPSession(
                self.definition, self._environment, self._clock, self._pending, self._on_offer, self._on_end
            )
            try:
                self._on_end(await session.run(elicit=self._elicit))
            finally:
                self._pending.abandon()
            if self.status == "failed":
                return
            await self._clock.sleep(min(MIN_RESTART_DELAY_SECONDS * 2**self._failures, MAX_RESTART_DELAY_SECONDS))
            self._failures += 1
            self.restarts += 1
            self._set("starting", self.error)

    def _on_offer(self, session: ClientSession, offer: Offer) -> None:
        if self._ready_since is None:
            self._ready_since = self._clock.monotonic()
        self._session, self._offer = session, offer
        self._set("ready", None)

    def _on_end(self, end: TransportEnd) -> None:
        if self._has_ended:
            return
        self._has_ended = True
        self._session, self._offer = None, Offer()
        if self._ready_since is not None and self._clock.monotonic() - self._ready_since >= STABLE_SECONDS:
            self._failures = 0
        is_over = end.is_final or self._failures >= MAX_RESTARTS
        self._set("failed" if is_over else "waiting", end.reason or self._reason(self.definition.name, end.detail))

    def _set(self, status: Status, error: Reason | None) -> None:
        self.status = status
        self.error = error
        self._changed.set()
        try:
            self._notify(self)
        except Exception:  # a failing listener must not end the connection
            _LOG.exception("told of a change of the server %s", self.definition.name)

    # requests

    async def call(
        self, tool: str, arguments: dict[str, Any], *, seconds: float | None = None, asker: Asker | None = None
    ) -> MCPCallResult:
        """Call a tool once. `seconds` defaults to the definition's limit, which is suspended while a person is asked.

        Raises: ToolError; ConnectionLost where the server has ended during the call, which may have run.
        """
        request = requests.call_tool(self._require_session(tool), tool, arguments, self._clock)
        return content.result_of(await self._request(tool, request, seconds, asker))

    async def resources(self) -> list[ResourceDefinition]:
        """Raises: ToolError."""
        return await self._request("resources/list", discovery.list_resources(self._require_session("resources/list")))

    async def read_resource(self, uri: str) -> list[ResourceContent]:
        """The contents of a resource; empty where the server has no resources. Raises: ToolError."""
        request = self._require_session("resources/read").read_resource(uri)
        result = await self._request("resources/read", requests.or_none(request))
        return [] if result is None else content.resource_of(result)

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> str:
        """A prompt as one text; empty where the server has no prompts. Raises: ToolError."""
        request = self._require_session("prompts/get").get_prompt(name, dict(arguments))
        result = await self._request("prompts/get", requests.or_none(request))
        return "" if result is None else content.prompt_of(result)

    def _require_session(self, subject: str) -> ClientSession:
        if self._session is None:
            cause = f": {self._detail()}" if self.error is not None else ""
            raise self._failure(subject, f"the server {self.definition.name} is not ready ({self.status}){cause}")
        return self._session

    async def _request(
        self, subject: str, request: Coroutine[Any, Any, T], seconds: float | None = None, asker: Asker | None = None
    ) -> T:
        limit = self.definition.seconds if seconds is None else seconds
        session = self._session
        try:
            return await self._pending.run(request, limit, asker)
        except TimeoutError:
            raise ToolError(Code.TOOL_TIMED_OUT, tool=subject, seconds=limit) from None
        except Exception as error:
            is_lost = session is not self._session or isinstance(error, ConnectionAbortedError)
            if is_lost or (requests.may_be_closed(error) and await self._has_disconnected()):
                cause = f": {self._detail()}" if self.error is not None else ""
                detail = f"the server {self.definition.name} ended during the call, which may have run{cause}"
                reason = self._reason(subject, detail)
                raise ConnectionLost(reason.code, **reason.params) from error
            raise self._failure(subject, error_text(error)) from error

    async def _has_disconnected(self) -> bool:
        """Whether the connection has ended. Waits briefly for the owning task, which sees the end after the
        requests."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_REASON_TIMEOUT_SECONDS):
                while self.status == "ready":
                    self._changed.clear()
                    await self._changed.wait()
        return self.status != "ready"

    def _detail(self) -> str | None:
        if self.error is None:
            return None
        return str(self.error.params["detail"]) if self.error.code is Code.TOOL_FAILED else translate(self.error)

    def _failure(self, subject: str, detail: str) -> ToolError:
        reason = self._reason(subject, detail)
        return ToolError(reason.code, **reason.params)

    def _reason(self, subject: str, detail: str) -> Reason:
        return tool_failure(subject, detail)
