"""Connections of clients: how many there may be, which one is dropped first, and the socket that accepts them."""

import asyncio
import errno
import logging
import resource
import socket
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

from pilothouse.domain.codes import Code
from pilothouse.server.problems import Refused

MAX_CONNECTIONS = 4000
MAX_UNAUTHENTICATED = 128
# A connection that sends its request at once is authenticated a few passes of the event loop after it was accepted:
# fewer than MAX_UNAUTHENTICATED younger ones may arrive in that time.
_MAX_ACCEPTED_AT_ONCE = 16
_ACCEPT_PAUSE_SECONDS = 1.0
_OUT_OF_RESOURCES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_LOG = logging.getLogger("pilothouse.server")


def raise_descriptor_limit() -> None:
    """Let this process open as many files as the system allows it. Processes that it starts keep the lower limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError) as error:  # a system may have a lower limit of its own
        _LOG.warning("the limit on open files stays as it is: %s", error)


class Connection(Protocol):
    """A client's connection, as the pool sees it."""

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""

    def drop(self) -> None:
        """End it now, whatever it does."""


class ConnectionPool:
    """All open connections. A connection is unauthenticated until a request on it has shown a valid token, and again
    after one that has not.

    Clients get half of the process's descriptors at most: the store, tools and providers always find one.
    """

    def __init__(self, max_descriptors: int | None = None) -> None:
        descriptors = max_descriptors or resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self.max_connections = min(MAX_CONNECTIONS, descriptors // 2)
        self.max_unauthenticated = min(MAX_UNAUTHENTICATED, max(1, self.max_connections // 2))
        self._unauthenticated: OrderedDict[Connection, None] = OrderedDict()
        self._authenticated: OrderedDict[Connection, None] = OrderedDict()

    @property
    def unauthenticated(self) -> int:
        return len(self._unauthenticated)

    @property
    def authenticated(self) -> int:
        return len(self._authenticated)

    def add(self, connection: Connection) -> None:
        """Take in a connection as an unauthenticated one; the oldest of them makes room."""
        self._authenticated.pop(connection, None)
        self._unauthenticated[connection] = None
        while len(self._unauthenticated) > self.max_unauthenticated:
            self._unauthenticated.popitem(last=False)[0].drop()

    def authenticate(self, connection: Connection) -> None:
        """A valid token came on this connection. Raises: Refused where there is no room and none is idle."""
        if connection in self._authenticated:
            self._authenticated.move_to_end(connection)
            return
        limit = self.max_connections - self.max_unauthenticated
        if len(self._authenticated) >= limit:
            idle = next((each for each in self._authenticated if each.is_idle), None)
            if idle is None:
                headers = {"connection": "close", "retry-after": "10"}
                raise Refused(503, Code.TOO_MANY_CONNECTIONS, headers, limit=limit)
            del self._authenticated[idle]
            idle.drop()
        self._unauthenticated.pop(connection, None)
        self._authenticated[connection] = None

    def discard(self, connection: Connection) -> None:
        self._unauthenticated.pop(connection, None)
        self._authenticated.pop(connection, None)

    def drop_unauthenticated(self) -> int:
        """Give back the descriptors of all unauthenticated connections. Returns their number."""
        dropped = list(self._unauthenticated)
        self._unauthenticated.clear()
        for connection in dropped:
            connection.drop()
        return len(dropped)


class Listener:
    """Accepts connections on a listening socket, a few at a time, so that a flood of them stops nothing else.

    asyncio's own server logs a traceback for each connection that it cannot accept, thousands a second.
    """

    def __init__(
        self, sock: socket.socket, make_protocol: Callable[[], asyncio.Protocol], pool: ConnectionPool
    ) -> None:
        self._sock, self._make_protocol, self._pool = sock, make_protocol, pool
        self._loop = asyncio.get_running_loop()
        self._pause: asyncio.TimerHandle | None = None
        self._starting: set[asyncio.Task[None]] = set()
        sock.setblocking(False)
        self._listen()

    def close(self) -> None:
        if self._pause is not None:
            self._pause.cancel()
        self._loop.remove_reader(self._sock)
        self._sock.close()

    def _listen(self) -> None:
        self._pause = None
        self._loop.add_reader(self._sock, self._accept)

    def _accept(self) -> None:
        for _ in range(_MAX_ACCEPTED_AT_ONCE):
            try:
                accepted, _ = self._sock.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                self._pause_accepting(error)
                return
            accepted.setblocking(False)
            task = self._loop.create_task(self._connect(accepted))
            self._starting.add(task)
            task.add_done_callback(self._starting.discard)

    async def _connect(self, accepted: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(self._make_protocol, accepted)
        except OSError:  # the peer left at once
            accepted.close()

    def _pause_accepting(self, error: OSError) -> None:
        """Clients wait in the kernel's queue until descriptors are free again."""
        self._loop.remove_reader(self._sock)
        self._pause = self._loop.call_later(_ACCEPT_PAUSE_SECONDS, self._listen)
        dropped = self._pool.drop_unauthenticated() if error.errno in _OUT_OF_RESOURCES else 0
        fields = {"error": error.strerror, "dropped": dropped}
        _LOG.warning("no connection can be accepted for a moment", extra={"fields": fields})
