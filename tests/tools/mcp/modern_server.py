"""A server of the current revision, by the SDK itself: over standard input, or at a port of this machine."""

import sys
from typing import Annotated

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel

server = MCPServer("modern")


class Colour(BaseModel):
    colour: str


async def asked(thing: str) -> Elicit[Colour]:
    return Elicit(f"Which colour for {thing}?", Colour)


@server.tool()
async def paint(thing: str, colour: Annotated[Colour, Resolve(asked)]) -> str:
    return f"{thing} is {colour.colour}"


@server.tool()
async def change(context: Context) -> str:
    server.add_tool(lambda: "new", name="added", description="It was added.")
    await context.notify_tools_changed()
    return "changed"


if len(sys.argv) > 1:
    server.run("streamable-http", port=int(sys.argv[1]))
else:
    server.run("stdio")
