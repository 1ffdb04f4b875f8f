"""One life of a server: reached, agreed with, listed, listened to until it ends. All in the task that runs it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from pilothouse.domain.codes import Code, Reason, say
from pilothouse.domain.values import Value
from pilothouse.tools.mcp import asking, listing
from pilothouse.tools.mcp.definitions import ServerDefinition
from pilothouse.tools.mcp.flights import Flights
from pilothouse.tools.mcp.http import http_link
from pilothouse.tools.mcp.link import Link
from pilothouse.tools.mcp.sdk import SdkMissing, load_sdk
from pilothouse.tools.mcp.stdio import CannotStart, stdio_link
from pilothouse.tools.mcp.values import Clock, End, PromptDefinition, ToolDefinition

if TYPE_CHECKING:
    from mcp.client.session import ClientRequestContext, ClientSession, IncomingMessage
    from mcp_types import ElicitRequestParams, ElicitResult, ServerCapabilities

START_SECONDS = 20.0
CALM_SECONDS = 0.2
BETWEEN_LISTS = 1.0
_LISTEN_AGAIN = 5.0
_REASON_SECONDS = 0.5
_WORDS_AT_MOST = 2000


class Offer(Value):
    """What a server lends now."""

    protocol: str | None = None
    tools: tuple[ToolDefinition, ...] = ()
    prompts: tuple[PromptDefinition, ...] = ()
    has_resources: bool = False
    dropped: int = 0


class Session:
    def __init__(
        self,
        definition: ServerDefinition,
        environment: Mapping[str, str],
        clock: Clock,
        flights: Flights,
        on_offer: Callable[[ClientSession, Offer], None],
        on_end: Callable[[End], None],
    ) -> None:
        self._definition = definition
        self._environment = environment
        self._clock = clock
        self._flights = flights
        self._on_offer = on_offer
        self._on_end = on_end
        self._news: set[str] = set()
        self._has_news = asyncio.Event()

    async def run(self, *, elicit: bool) -> End:
        """Until the server ends, and why. Only cancellation passes through."""
        link: Link | None = None
        try:
            await load_sdk()
            async with self._link() as link:
                return await self._over(link, elicit=elicit)
        except SdkMissing as error:
            return End(detail=str(error), is_final=True)
        except CannotStart as error:
            reason = self._about(error.reason)
            return End(detail=say(reason), reason=reason)
        except Exception as error:  # the SDK, the network and the system can raise anything
            return self._failure(words_for(error), link)

    def _link(self) -> contextlib.AbstractAsyncContextManager[Link]:
        link = http_link if self._definition.transport == "http" else stdio_link
        return link(self._definition, self._environment, self._clock)

    async def _over(self, link: Link, *, elicit: bool) -> End:
        from mcp.client.session import ClientSession
        from mcp_types import Implementation

        session = ClientSession(
            link.read,
            link.write,
            elicitation_callback=self._elicited if elicit else None,
            message_handler=self._hear,
            client_info=Implementation(name="pilothouse", version="1"),
        )
        async with session:
            # Nothing may be raised in here: it would come out of the SDK's task group as another error.
            offer = await self._first_offer(session, link)
            if isinstance(offer, End):
                return offer
            self._on_offer(session, offer)
            async with _beside(self._follow(session, offer), self._listen(session)):
                end = await link.wait()
                self._on_end(end)  # at once: clearing up takes a while
                return end

    async def _first_offer(self, session: ClientSession, link: Link) -> Offer | End:
        try:
            async with asyncio.timeout(START_SECONDS):
                await asking.agree(session)
                return await self._list(session, Offer(protocol=session.protocol_version), {"tools", "prompts"})
        except asking.Unsupported as error:
            return End(detail=str(error), is_final=True)
        except TimeoutError:
            return self._failure(f"it did not answer within {START_SECONDS:g} seconds", link, Reason(Code.MCP_SILENT))
        except Exception as error:  # whatever the server has sent
            if asking.may_be_closed(error):  # why, is known a moment later
                await asyncio.wait({link.ended}, timeout=_REASON_SECONDS)
            if not link.ended.done():
                kind = "JSON" if self._definition.transport == "http" else None
                wrong = Reason(Code.MCP_NOT_MCP, {"kind": kind}) if kind and is_invalid(error) else None
                return self._failure(words_for(error), link, wrong)
            end = link.ended.result()
            return msgspec.structs.replace(end, reason=self._failure(end.detail, link).reason)

    def _failure(self, words: str, link: Link | None, reason: Reason | None = None) -> End:
        """An end before the server ever was ready: what was seen of it explains more than the error."""
        seen = link.evidence() if link is not None else None
        plain = Reason(Code.MCP_FAILED, {"detail": words})
        return End(detail=_with_hint(words, link), reason=self._about(seen or reason or plain))

    def _about(self, reason: Reason) -> Reason:
        definition = self._definition
        about = {
            "name": definition.name,
            "address": plain_address(definition.url or ""),
            "seconds": f"{START_SECONDS:g}",
        }
        return Reason(reason.code, {**about, **reason.params})

    async def _list(self, session: ClientSession, offer: Offer, what: set[str]) -> Offer:
        capabilities = session.server_capabilities
        changes: dict[str, Any] = {"has_resources": bool(capabilities and capabilities.resources)}
        if "tools" in what:
            changes["tools"], changes["dropped"] = await listing.list_tools(session)
        if "prompts" in what and capabilities and capabilities.prompts:
            changes["prompts"] = await listing.list_prompts(session)
        return msgspec.structs.replace(offer, **changes)

    # what it tells by itself

    async def _hear(self, message: IncomingMessage) -> None:
        from mcp_types import PromptListChangedNotification, ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification):
            self._news.add("tools")
        elif isinstance(message, PromptListChangedNotification):
            self._news.add("prompts")
        else:
            return
        self._has_news.set()

    async def _follow(self, session: ClientSession, offer: Offer) -> None:
        """Lists that have changed are read again: when it is calm, and at most once a second."""
        while True:
            await self._has_news.wait()
            await self._clock.sleep(CALM_SECONDS)
            self._has_news.clear()
            news, self._news = self._news, set()
            with contextlib.suppress(Exception):  # what was known before holds; an end is told by the link
                async with asyncio.timeout(START_SECONDS):
                    known, offer = offer, await self._list(session, offer, news)
                if offer != known:
                    self._on_offer(session, offer)
            await self._clock.sleep(BETWEEN_LISTS - CALM_SECONDS)

    async def _listen(self, session: ClientSession) -> None:
        """In the current revision a server tells of changes only to those who listen."""
        from mcp.client.subscriptions import SubscriptionLost, listen

        tools, prompts = _changing(session.server_capabilities)
        while tools or prompts:
            try:
                async with listen(session, tools_list_changed=tools, prompts_list_changed=prompts) as subscription:
                    async for _ in subscription:
                        pass  # told to `_hear` as well
            except SubscriptionLost:
                pass
            except Exception:  # it does not know how, or the session is over
                return
            await self._clock.sleep(_LISTEN_AGAIN)
            self._news |= {"tools", "prompts"}  # nothing is repeated that was missed
            self._has_news.set()

    async def _elicited(
        self,
        context: ClientRequestContext,  # noqa: ARG002 (the SDK passes it by this name)
        params: ElicitRequestParams,
    ) -> ElicitResult:
        """A question to the person whose call it belongs to. An address that they should visit is never passed on."""
        from mcp_types import ElicitRequestFormParams, ElicitResult

        flight = self._flights.related()
        if flight is None or not isinstance(params, ElicitRequestFormParams):
            return ElicitResult(action="decline")
        if len(msgspec.json.encode(params.requested_schema)) > listing.SCHEMA_AT_MOST:
            return ElicitResult(action="decline")
        answer = await flight.ask(params.message, params.requested_schema)
        try:
            return ElicitResult(action="decline") if answer is None else ElicitResult(action="accept", content=answer)
        except ValueError:  # not what a form can hold
            return ElicitResult(action="decline")


def _changing(capabilities: ServerCapabilities | None) -> tuple[bool, bool]:
    tools = capabilities.tools if capabilities else None
    prompts = capabilities.prompts if capabilities else None
    return bool(tools and tools.list_changed), bool(prompts and prompts.list_changed)


@contextlib.asynccontextmanager
async def _beside(*work: Any) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(one) for one in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=0.2)


def words_for(error: BaseException) -> str:
    """What went wrong, in the words of the innermost error."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if is_invalid(error):
        return "it gave an answer that is not valid MCP"
    return str(error)[:_WORDS_AT_MOST] or type(error).__name__


def is_invalid(error: BaseException) -> bool:
    """Whether a server has sent what is not MCP. The SDK's words for it fill pages."""
    return type(error).__name__ == "ValidationError" or "validation error" in str(error)


def plain_address(url: str) -> str:
    """An address without what may be secret in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}" if url else ""


def _with_hint(words: str, link: Link | None) -> str:
    hint = link.hint() if link is not None else ""
    return f"{words} ({hint})" if hint else words
