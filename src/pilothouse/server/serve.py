"""Serving: a socket, the application on it, a link, and a clean end."""

import asyncio
import contextlib
import errno
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import uvicorn

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import InvalidInput
from pilothouse.fair_threads import FairThreads
from pilothouse.runtime.runtime import Runtime
from pilothouse.server.access import Access, is_loopback
from pilothouse.server.app import App
from pilothouse.server.connections import ConnectionPool, Listener
from pilothouse.server.file_watch import FileWatch
from pilothouse.server.protocol import BoundedProtocol
from pilothouse.server.routes import ROUTES
from pilothouse.server.serving import PAGE, Serving
from pilothouse.server.tokens import MIN_TOKEN_LENGTH, Tokens
from pilothouse.session.manager import Sessions

HOST = "127.0.0.1"
PORT = 8484
_PORTS_TRIED = 50
_PORT_AT_MOST = 65535
_SECONDS_TO_END = 5


def listen(host: str, port: int | None, tokens: Tokens) -> socket.socket:
    """A listening socket. Without a port, the usual one or the next free one; a port that was named, or none.

    Raises: InvalidInput where it would be reachable from other machines without a token of the person's own, or where
    the address cannot be had.
    """
    if not is_loopback(host) and not tokens.is_given:
        raise InvalidInput(Code.OPEN_ACCESS, host=host, limit=MIN_TOKEN_LENGTH)
    if port is not None and port > _PORT_AT_MOST:
        raise InvalidInput(Code.CANNOT_LISTEN, host=host, port=port, detail=os.strerror(errno.EADDRNOTAVAIL))
    candidates = range(PORT, PORT + _PORTS_TRIED) if port is None else (port,)
    for candidate in candidates:
        try:
            return _bound(host, candidate)
        except (OSError, UnicodeError, OverflowError) as error:
            if not isinstance(error, OSError) or error.errno != errno.EADDRINUSE:
                detail = getattr(error, "strerror", None) or str(error)
                raise InvalidInput(Code.CANNOT_LISTEN, host=host, port=candidate, detail=detail) from error
    if port is None:
        raise InvalidInput(Code.CANNOT_LISTEN, host=host, port=PORT, detail=os.strerror(errno.EADDRINUSE))
    raise InvalidInput(Code.PORT_TAKEN, host=host, port=port)


def _bound(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    found = socket.socket(family, kind, protocol)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(socket.SOMAXCONN)
    except OSError:
        found.close()
        raise
    return found


def make_serving(
    runtime: Runtime,
    tokens: Tokens,
    *,
    host: str,
    port: int,
    names: Sequence[str] = (),
    mode: str | None = None,
    completions_mode: str = "review",
    page: Path = PAGE,
    workspace: Path | None = None,
    warnings: Sequence[Reason] = (),
) -> Serving:
    return Serving(
        runtime=runtime,
        sessions=Sessions(runtime),
        access=Access(tokens, runtime.parts.ambient, host=host, port=port, names=names),
        mode=mode,
        completions_mode=completions_mode,
        page=page,
        usual_workspace=workspace,
        warnings=warnings,
    )


class _Server(uvicorn.Server):
    def __init__(
        self, config: uvicorn.Config, serving: Serving, pool: ConnectionPool, ready: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._serving = serving
        self._token_watch: FileWatch | None = None
        self._pool = pool
        self._ready = ready
        self._listeners: list[Listener] = []

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are ours: clients are told first."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup([])
        asyncio.get_running_loop().set_default_executor(FairThreads())
        self._listeners = [Listener(each, self._make_protocol, self._pool) for each in sockets or ()]
        self._token_watch = FileWatch(self._serving.access.tokens.path, self._serving.counts.check_users)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for listener in self._listeners:
            listener.close()
        await super().shutdown(sockets)
        if self._token_watch is not None:
            self._token_watch.close()

    def _make_protocol(self) -> BoundedProtocol:
        state = self.lifespan.state
        return BoundedProtocol(self._pool, config=self.config, server_state=self.server_state, app_state=state)


def start(serving: Serving, ready: Callable[[], None]) -> uvicorn.Server:
    """The application on uvicorn, to be run."""
    config = uvicorn.Config(
        App(serving, ROUTES),
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # else whoever asks may say that they are somebody else
        server_header=False,
        timeout_keep_alive=60,
        timeout_graceful_shutdown=_SECONDS_TO_END,
    )
    return _Server(config, serving, ConnectionPool(), ready)


async def serve(serving: Serving, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Until SIGTERM or SIGINT: then streams are told and ended, requests finish, and nothing new is taken."""
    server = start(serving, ready)
    loop = asyncio.get_running_loop()

    def stop() -> None:
        if serving.stopping.is_set():
            server.force_exit = True  # a second one: whoever asked does not want to wait
        serving.stopping.set()
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    try:
        await server.serve(sockets=[listening])
    finally:  # what is being written is written out: nothing cuts that
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, lambda: None)


def open_in_browser(link: str) -> None:
    """Where there is a screen, and a person at it. A browser in the terminal would take the terminal away."""
    has_screen = sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    if has_screen and sys.stdout.isatty():
        import webbrowser  # rarely needed

        webbrowser.open(link)
