"""A session with an MCP server: connect, negotiate, list, and listen until the end, all in the task that runs it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.value import Value
from pilothouse.i18n import translate
from pilothouse.tools.mcp import discovery, requests
from pilothouse.tools.mcp.definitions import MCPServerDefinition
from pilothouse.tools.mcp.http import http_transport
from pilothouse.tools.mcp.pending_requests import PendingRequests
from pilothouse.tools.mcp.sdk import SdkMissing, load_sdk
from pilothouse.tools.mcp.stdio import CannotStart, stdio_transport
from pilothouse.tools.mcp.transport import Transport
from pilothouse.tools.mcp.types import Clock, PromptDefinition, ToolDefinition, TransportEnd

if TYPE_CHECKING:
    from mcp.client.session import ClientRequestContext, ClientSession, IncomingMessage
    from mcp_types import ElicitRequestParams, ElicitResult, ServerCapabilities

START_TIMEOUT_SECONDS = 20.0
QUIET_SECONDS = 0.2
MIN_LIST_INTERVAL_SECONDS = 1.0
_RELISTEN_DELAY_SECONDS = 5.0
_REASON_TIMEOUT_SECONDS = 0.5
_MAX_ERROR_CHARACTERS = 2000


class Offer(Value):
    """The tools, prompts and resources that an MCP server offers now."""

    protocol: str | None = None
    """The negotiated revision of MCP."""
    tools: tuple[ToolDefinition, ...] = ()
    prompts: tuple[PromptDefinition, ...] = ()
    has_resources: bool = False
    dropped: int = 0
    """The number of unusable tools."""


class MCPSession:
    """A session with an MCP server, from its start to its end."""

    def __init__(
        self,
        definition: MCPServerDefinition,
        environment: Mapping[str, str],
        clock: Clock,
        pending: PendingRequests,
        on_offer: Callable[[ClientSession, Offer], None],
        on_end: Callable[[TransportEnd], None],
    ) -> None:
        self._definition = definition
        self._environment = environment
        self._clock = clock
        self._pending = pending
        self._on_offer = on_offer
        self._on_end = on_end
        self._changed_lists: set[str] = set()
        self._lists_changed = asyncio.Event()

    async def run(self, *, elicit: bool) -> TransportEnd:
        """Run until the server ends, and return the reason. Only cancellation propagates."""
        transport: Transport | None = None
        try:
            await load_sdk()
            async with self._open_transport() as transport:
                return await self._run_over(transport, elicit=elicit)
        except SdkMissing as error:
            return TransportEnd(detail=str(error), is_final=True)
        except CannotStart as error:
            reason = self._with_server(error.reason)
            return TransportEnd(detail=translate(reason), reason=reason)
        except Exception as error:  # the SDK, the network and the system can raise anything
            return self._failure(error_text(error), transport)

    def _open_transport(self) -> contextlib.AbstractAsyncContextManager[Transport]:
        open_transport = http_transport if self._definition.transport == "http" else stdio_transport
        return open_transport(self._definition, self._environment, self._clock)

    async def _run_over(self, transport: Transport, *, elicit: bool) -> TransportEnd:
        from mcp.client.session import ClientSession
        from mcp_types import Implementation

        session = ClientSession(
            transport.read,
            transport.write,
            elicitation_callback=self._elicit if elicit else None,
            message_handler=self._on_message,
            client_info=Implementation(name="pilothouse", version="1"),
        )
        async with session:
            # An exception raised in here would leave the SDK's task group as another error.
            offer = await self._first_offer(session, transport)
            if isinstance(offer, TransportEnd):
                return offer
            self._on_offer(session, offer)
            async with _background(self._refresh_lists(session, offer), self._listen(session)):
                end = await transport.wait()
                self._on_end(end)  # before the cleanup, which takes a while
                return end

    async def _first_offer(self, session: ClientSession, transport: Transport) -> Offer | TransportEnd:
        try:
            async with asyncio.timeout(START_TIMEOUT_SECONDS):
                await requests.negotiate(session)
                return await self._list(session, Offer(protocol=session.protocol_version), {"tools", "prompts"})
        except requests.UnsupportedRevision as error:
            return TransportEnd(detail=str(error), is_final=True)
        except TimeoutError:
            return self._failure(
                f"it didn't answer within {START_TIMEOUT_SECONDS:g} seconds", transport, Reason(Code.MCP_SILENT)
            )
        except Exception as error:  # a server can cause any exception
            if requests.may_be_closed(error):  # the reason arrives a moment later
                await asyncio.wait({transport.ended}, timeout=_REASON_TIMEOUT_SECONDS)
            if not transport.ended.done():
                kind = "JSON" if self._definition.transport == "http" else None
                violation = Reason(Code.MCP_NOT_MCP, {"kind": kind}) if kind and is_invalid_message(error) else None
                return self._failure(error_text(error), transport, violation)
            end = transport.ended.result()
            return msgspec.structs.replace(end, reason=self._failure(end.detail, transport).reason)

    def _failure(self, detail: str, transport: Transport | None, reason: Reason | None = None) -> TransportEnd:
        """An end before the server became ready. The transport's evidence explains more than the error."""
        evidence = transport.evidence() if transport is not None else None
        fallback = Reason(Code.MCP_FAILED, {"detail": detail})
        return TransportEnd(
            detail=_with_hint(detail, transport), reason=self._with_server(evidence or reason or fallback)
        )

    def _with_server(self, reason: Reason) -> Reason:
        definition = self._definition
        parameters = {
            "name": definition.name,
            "address": public_address(definition.url or ""),
            "seconds": f"{START_TIMEOUT_SECONDS:g}",
        }
        return Reason(reason.code, {**parameters, **reason.params})

    async def _list(self, session: ClientSession, offer: Offer, lists: set[str]) -> Offer:
        capabilities = session.server_capabilities
        changes: dict[str, Any] = {"has_resources": bool(capabilities and capabilities.resources)}
        if "tools" in lists:
            changes["tools"], changes["dropped"] = await discovery.list_tools(session)
        if "prompts" in lists and capabilities and capabilities.prompts:
            changes["prompts"] = await discovery.list_prompts(session)
        return msgspec.structs.replace(offer, **changes)

    # notifications

    async def _on_message(self, message: IncomingMessage) -> None:
        from mcp_types import PromptListChangedNotification, ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification):
            self._changed_lists.add("tools")
        elif isinstance(message, PromptListChangedNotification):
            self._changed_lists.add("prompts")
        else:
            return
        self._lists_changed.set()

    async def _refresh_lists(self, session: ClientSession, offer: Offer) -> None:
        """Read changed lists again: once no more changes arrive, and at most once a second."""
        while True:
            await self._lists_changed.wait()
            await self._clock.sleep(QUIET_SECONDS)
            self._lists_changed.clear()
            changed_lists, self._changed_lists = self._changed_lists, set()
            with contextlib.suppress(Exception):  # the previous offer stays; the transport reports an end
                async with asyncio.timeout(START_TIMEOUT_SECONDS):
                    previous_offer, offer = offer, await self._list(session, offer, changed_lists)
                if offer != previous_offer:
                    self._on_offer(session, offer)
            await self._clock.sleep(MIN_LIST_INTERVAL_SECONDS - QUIET_SECONDS)

    async def _listen(self, session: ClientSession) -> None:
        """Subscribe to changes, which the current revision requires."""
        from mcp.client.subscriptions import SubscriptionLost, listen

        tools, prompts = _announces_changes(session.server_capabilities)
        while tools or prompts:
            try:
                async with listen(session, tools_list_changed=tools, prompts_list_changed=prompts) as subscription:
                    async for _ in subscription:
                        pass  # `_on_message` gets the same notifications
            except SubscriptionLost:
                pass
            except Exception:  # unsupported by the server, or the session is over
                return
            await self._clock.sleep(_RELISTEN_DELAY_SECONDS)
            self._changed_lists |= {"tools", "prompts"}  # missed notifications are not repeated
            self._lists_changed.set()

    async def _elicit(
        self,
        context: ClientRequestContext,  # noqa: ARG002 (the SDK passes it by this name)
        params: ElicitRequestParams,
    ) -> ElicitResult:
        """Pass a question to the person whose call it belongs to. URLs to visit are never passed on."""
        from mcp_types import ElicitRequestFormParams, ElicitResult

        request = self._pending.request_for_question()
        if request is None or not isinstance(params, ElicitRequestFormParams):
            return ElicitResult(action="decline")
        if len(msgspec.json.encode(params.requested_schema)) > discovery.MAX_SCHEMA_BYTES:
            return ElicitResult(action="decline")
        answer = await request.ask(params.message, params.requested_schema)
        try:
            return ElicitResult(action="decline") if answer is None else ElicitResult(action="accept", content=answer)
        except ValueError:  # a value that a form cannot hold
            return ElicitResult(action="decline")


def _announces_changes(capabilities: ServerCapabilities | None) -> tuple[bool, bool]:
    tools = capabilities.tools if capabilities else None
    prompts = capabilities.prompts if capabilities else None
    return bool(tools and tools.list_changed), bool(prompts and prompts.list_changed)


@contextlib.asynccontextmanager
async def _background(*work: Any) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(coroutine) for coroutine in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=0.2)


def error_text(error: BaseException) -> str:
    """The text of the innermost error."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if is_invalid_message(error):
        return "its answer isn't valid MCP"
    return str(error)[:_MAX_ERROR_CHARACTERS] or type(error).__name__


def is_invalid_message(error: BaseException) -> bool:
    """Whether the error means a message that is not valid MCP. The SDK's own text for it fills pages."""
    return type(error).__name__ == "ValidationError" or "validation error" in str(error)


def public_address(url: str) -> str:
    """An address without the parts that may be secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}" if url else ""


def _with_hint(detail: str, transport: Transport | None) -> str:
    hint = transport.hint() if transport is not None else ""
    return f"{detail} ({hint})" if hint else detail
