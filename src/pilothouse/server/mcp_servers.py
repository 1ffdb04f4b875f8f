"""The MCP server routes: status, reconnect, resources and prompts. Servers are added only in the configuration file."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from pilothouse.api.views import Page
from pilothouse.domain.mcp_servers import ResourceView, ServerView
from pilothouse.domain.value import MessageId, Value
from pilothouse.server.state import RequestContext

NonEmptyText = Annotated[str, Meta(min_length=1, max_length=2000)]


class NewResource(Value):
    """A resource to read and to add to the conversation."""

    server: NonEmptyText
    uri: NonEmptyText


class Added(Value, omit_defaults=False):
    message_id: MessageId


class PromptArguments(Value):
    arguments: Mapping[NonEmptyText, Annotated[str, Meta(max_length=100_000)]] = {}


class PromptText(Value, omit_defaults=False):
    text: str
    """The prompt's text, for the person to read and to send as a message."""


async def read(request: RequestContext) -> Page[ServerView]:
    return Page(tuple(await request.runtime.mcp_servers.read(user=request.user)))


async def reconnect(request: RequestContext, name: str) -> Page[ServerView]:
    request.check_is_local()
    await request.runtime.mcp_servers.reconnect(name, user=request.user)
    return await read(request)


async def resources(request: RequestContext, name: str) -> Page[ResourceView]:
    return Page(tuple(await request.runtime.mcp_servers.resources(name, user=request.user)))


async def prompt(request: RequestContext, name: str, prompt_name: str, body: PromptArguments) -> PromptText:
    return PromptText(await request.runtime.mcp_servers.prompt(name, prompt_name, body.arguments, user=request.user))


async def add_resource(request: RequestContext, context_id: str, body: NewResource) -> Added:
    await request.own(context_id)
    return Added(await request.runtime.mcp_servers.add_resource(context_id, body.server, body.uri, by=request.user))
