"""The MCP client: servers that offer tools. Nothing here imports the SDK before its first use."""
