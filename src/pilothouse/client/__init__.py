"""A Python client of the server: `Client` sends requests, `ContextReplica` keeps a local copy of a context current."""

from pilothouse.client.http_client import CallDecided, Client, ServerError
from pilothouse.client.replica import ContextReplica

__all__ = ["CallDecided", "Client", "ContextReplica", "ServerError"]
