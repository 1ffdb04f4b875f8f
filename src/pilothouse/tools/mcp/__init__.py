"""The client's side of MCP: servers that lend their tools. Nothing here imports the SDK before it is needed."""
