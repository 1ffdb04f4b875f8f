"""Servers of tools: how they are, what they have. New ones are not added from here: only in the person's own file."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from pilothouse.domain.servers import ResourceShape, ServerShape
from pilothouse.domain.shapes import Page
from pilothouse.domain.values import MessageId, Value
from pilothouse.server.serving import Call

Text = Annotated[str, Meta(min_length=1, max_length=2000)]


class NewResource(Value):
    """A resource to be read now and put into the conversation."""

    server: Text
    uri: Text


class Added(Value, omit_defaults=False):
    message_id: MessageId


class PromptArguments(Value):
    arguments: Mapping[Text, Annotated[str, Meta(max_length=100_000)]] = {}


class PromptText(Value, omit_defaults=False):
    """What the prompt says: to be looked at, and sent as a message."""

    text: str


async def read(call: Call) -> Page[ServerShape]:
    return Page(tuple(await call.runtime.tool_servers(user=call.user)))


async def reconnect(call: Call, name: str) -> Page[ServerShape]:
    call.check_is_local()
    await call.runtime.reconnect_server(name, user=call.user)
    return await read(call)


async def resources(call: Call, name: str) -> Page[ResourceShape]:
    return Page(tuple(await call.runtime.server_resources(name, user=call.user)))


async def prompt(call: Call, name: str, prompt_name: str, body: PromptArguments) -> PromptText:
    return PromptText(await call.runtime.server_prompt(name, prompt_name, body.arguments, user=call.user))


async def add_resource(call: Call, context_id: str, body: NewResource) -> Added:
    await call.own(context_id)
    return Added(await call.runtime.add_resource(context_id, body.server, body.uri, by=call.user))
