"""The import of the SDK at its first use, in a thread, because the import takes more than a second."""

import asyncio
import importlib
import logging

_MODULES = ("mcp.client.session", "mcp.client.subscriptions", "mcp.client.streamable_http", "mcp.shared.exceptions")


class SdkMissing(Exception):
    """The optional package is not installed, or in an incompatible version."""


async def load_sdk() -> None:
    """Raises: SdkMissing."""
    await asyncio.to_thread(_load)


def _load() -> None:
    try:
        for name in _MODULES:
            importlib.import_module(name)
    except ImportError as error:
        raise SdkMissing(f"the MCP SDK is not installed: pip install 'pilothouse[mcp]' ({error})") from error
    # The SDK logs messages of servers with tracebacks, which must not reach a terminal without configured logging.
    for name in ("mcp", "client"):
        logger = logging.getLogger(name)
        if not any(isinstance(handler, logging.NullHandler) for handler in logger.handlers):
            logger.addHandler(logging.NullHandler())
