"""Client connections: the limits on them, which one is dropped first, and the listener that accepts them."""

import asyncio
import errno
import logging
import resource
import socket
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from pilothouse.domain.codes import Code
from pilothouse.server.problems import HTTPProblem

MAX_CONNECTIONS = 4000
MAX_UNAUTHENTICATED = 128
MAX_IMPORTS_PER_USER = 2
MAX_BODY_BYTES_PER_USER = 160 * 1024 * 1024
_RETRY_AFTER_SECONDS = "10"
# A connection that sends its request at once is authenticated a few passes of the event loop after it was accepted:
# fewer than MAX_UNAUTHENTICATED younger ones may arrive in that time.
_MAX_ACCEPTED_AT_ONCE = 16
_ACCEPT_PAUSE_SECONDS = 1.0
_OUT_OF_RESOURCES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_LOG = logging.getLogger("pilothouse.server")


def raise_descriptor_limit() -> None:
    """Raise the limit on open files to the hard limit. Child processes keep the lower limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError) as error:  # the system may enforce a lower limit than it reports
        _LOG.warning("the limit on open files stays as it is: %s", error)


class PooledConnection(Protocol):
    """A client connection as the pool uses it."""

    @property
    def is_idle(self) -> bool:
        """Whether the connection handles no request."""

    def drop(self) -> None:
        """Close the connection at once, also during a request."""


class ConnectionPool:
    """All open connections. A request with a valid token makes its connection authenticated; one without makes it
    unauthenticated again.

    Clients get at most half of the process's file descriptors, so that the store, tools and providers always get one.
    One user gets at most half of the authenticated connections.
    """

    def __init__(self, max_descriptors: int | None = None) -> None:
        descriptors = max_descriptors or resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self.max_connections = min(MAX_CONNECTIONS, descriptors // 2)
        self.max_unauthenticated = min(MAX_UNAUTHENTICATED, max(1, self.max_connections // 2))
        self.max_authenticated = self.max_connections - self.max_unauthenticated
        self.max_per_user = max(1, self.max_authenticated // 2)
        self._unauthenticated: OrderedDict[PooledConnection, None] = OrderedDict()
        self._authenticated: OrderedDict[PooledConnection, str] = OrderedDict()
        """The user of each connection, least recently used first."""
        self._per_user: Counter[str] = Counter()

    @property
    def unauthenticated(self) -> int:
        return len(self._unauthenticated)

    @property
    def authenticated(self) -> int:
        return len(self._authenticated)

    def add(self, connection: PooledConnection) -> None:
        """Add a connection as unauthenticated, or make it so; the oldest unauthenticated one is dropped for it."""
        self._remove_authenticated(connection)
        self._unauthenticated[connection] = None
        while len(self._unauthenticated) > self.max_unauthenticated:
            self._unauthenticated.popitem(last=False)[0].drop()

    def authenticate(self, connection: PooledConnection, user: str) -> None:
        """Assign a connection to the user whose valid token arrived on it.

        Raises: HTTPProblem if a limit is reached and no connection is idle.
        """
        if self._authenticated.get(connection) == user:
            self._authenticated.move_to_end(connection)
            return
        self._remove_authenticated(connection)
        if self._per_user[user] >= self.max_per_user and not self._drop_idle(user):
            raise _limit_reached(429, Code.TOO_MANY_CONNECTIONS_OF_USER, self.max_per_user)
        if len(self._authenticated) >= self.max_authenticated and not self._drop_idle():
            raise _limit_reached(503, Code.TOO_MANY_CONNECTIONS, self.max_authenticated)
        self._unauthenticated.pop(connection, None)
        self._authenticated[connection] = user
        self._per_user[user] += 1

    def _drop_idle(self, user: str | None = None) -> bool:
        """Drop the longest idle connection, of one user or of all. Return whether there was one."""
        candidates = (each for each, owner in self._authenticated.items() if user in (None, owner) and each.is_idle)
        idle = next(candidates, None)
        if idle is None:
            return False
        self._remove_authenticated(idle)
        idle.drop()
        return True

    def _remove_authenticated(self, connection: PooledConnection) -> None:
        user = self._authenticated.pop(connection, None)
        if user is not None:
            self._per_user[user] -= 1
            if not self._per_user[user]:
                del self._per_user[user]

    def discard(self, connection: PooledConnection) -> None:
        self._unauthenticated.pop(connection, None)
        self._remove_authenticated(connection)

    def drop_unauthenticated(self) -> int:
        """Drop all unauthenticated connections to free their descriptors. Return their number."""
        dropped = list(self._unauthenticated)
        self._unauthenticated.clear()
        for connection in dropped:
            connection.drop()
        return len(dropped)


def _limit_reached(status: int, code: Code, limit: int) -> HTTPProblem:
    """Make a problem whose response closes the connection, so that the rest of a body is not received."""
    return HTTPProblem(status, code, {"connection": "close", "retry-after": _RETRY_AFTER_SECONDS}, limit=limit)


class RequestShares:
    """The imports and the bytes of request bodies that the concurrent requests of each user occupy."""

    def __init__(self) -> None:
        self._imports: Counter[str] = Counter()
        self._body_bytes: Counter[str] = Counter()

    @contextmanager
    def importing(self, user: str) -> Iterator[None]:
        """Count an import for the block. Raises: HTTPProblem if the user has MAX_IMPORTS_PER_USER running already."""
        if self._imports[user] >= MAX_IMPORTS_PER_USER:
            raise _limit_reached(429, Code.TOO_MANY_IMPORTS, MAX_IMPORTS_PER_USER)
        self._imports[user] += 1
        try:
            yield
        finally:
            self._imports[user] -= 1

    @contextmanager
    def receiving(self, user: str) -> Iterator[Callable[[int], None]]:
        """Provide a function that counts received bytes until the end of the block. The function raises HTTPProblem
        when the bodies of the user's requests exceed MAX_BODY_BYTES_PER_USER together."""
        received = 0

        def count(size: int) -> None:
            nonlocal received
            if self._body_bytes[user] + size > MAX_BODY_BYTES_PER_USER:
                raise _limit_reached(429, Code.TOO_MANY_BODIES, MAX_BODY_BYTES_PER_USER >> 20)
            received += size
            self._body_bytes[user] += size

        try:
            yield count
        finally:
            self._body_bytes[user] -= received


class Listener:
    """Accepts connections on a listening socket in small batches, so that a flood of connections blocks nothing else.

    asyncio's own server logs a traceback for each connection that it cannot accept: thousands per second.
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
            except BlockingIOError:  # the queue is empty
                return
            except OSError as error:
                if error.errno in _OUT_OF_RESOURCES:
                    self._pause_accepting(error)
                    return
                # Linux reports the pending network error of one new connection and drops it; see accept(2).
                _LOG.info("a connection ended before it was accepted", extra={"fields": {"error": error.strerror}})
                continue
            accepted.setblocking(False)
            task = self._loop.create_task(self._connect(accepted))
            self._starting.add(task)
            task.add_done_callback(self._starting.discard)

    async def _connect(self, accepted: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(self._make_protocol, accepted)
        except OSError:  # the client disconnected at once
            accepted.close()

    def _pause_accepting(self, error: OSError) -> None:
        """Leave clients in the kernel's queue until descriptors are free again."""
        self._loop.remove_reader(self._sock)
        self._pause = self._loop.call_later(_ACCEPT_PAUSE_SECONDS, self._listen)
        dropped = self._pool.drop_unauthenticated()
        fields = {"error": error.strerror, "dropped": dropped}
        _LOG.warning("no connection can be accepted for a moment", extra={"fields": fields})
