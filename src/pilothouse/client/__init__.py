"""A client of the server, in Python: `Client` for what one asks, `Copy` for a context that is kept up to date."""

from pilothouse.client.connection import CallDecided, Client, ServerError
from pilothouse.client.copy import Copy

__all__ = ["CallDecided", "Client", "Copy", "ServerError"]
