"""The MCP client against real servers, and against one that misbehaves."""
