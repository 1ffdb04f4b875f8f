"""Running the server: the listening socket, uvicorn, and the graceful shutdown."""

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
from pilothouse.runtime.runtime import Runtime
from pilothouse.server.access import MAX_PORT, Access, is_loopback_address
from pilothouse.server.app import App
from pilothouse.server.connections import ConnectionPool, Listener
from pilothouse.server.file_watch import FileWatch
from pilothouse.server.protocol import BoundedProtocol
from pilothouse.server.routes import ROUTES
from pilothouse.server.rules_damage import log_rules_damage
from pilothouse.server.state import WEB_FOLDER, ServerState
from pilothouse.server.tokens import MIN_TOKEN_LENGTH, Tokens
from pilothouse.session.manager import SessionManager
from pilothouse.system.fair_threads import FairThreads

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8484
_MAX_PORTS_TRIED = 50
_SHUTDOWN_TIMEOUT_SECONDS = 5


def listen(host: str, port: int | None, tokens: Tokens) -> socket.socket:
    """Open the listening socket: on the given port, or on the first free one from the default port on.

    Raises: InvalidInput if other machines could reach the server without a token that the user has set, or if the
    address is not available.
    """
    if not is_loopback_address(host) and not tokens.is_from_environment:
        raise InvalidInput(Code.OPEN_ACCESS, host=host, limit=MIN_TOKEN_LENGTH)
    if port is not None and port > MAX_PORT:
        raise InvalidInput(Code.CANNOT_LISTEN, host=host, port=port, detail=os.strerror(errno.EADDRNOTAVAIL))
    candidates = range(DEFAULT_PORT, DEFAULT_PORT + _MAX_PORTS_TRIED) if port is None else (port,)
    for candidate in candidates:
        try:
            return _bind(host, candidate)
        except (OSError, UnicodeError, OverflowError) as error:
            if not isinstance(error, OSError) or error.errno != errno.EADDRINUSE:
                detail = getattr(error, "strerror", None) or str(error)
                raise InvalidInput(Code.CANNOT_LISTEN, host=host, port=candidate, detail=detail) from error
    if port is None:
        raise InvalidInput(Code.CANNOT_LISTEN, host=host, port=DEFAULT_PORT, detail=os.strerror(errno.EADDRINUSE))
    raise InvalidInput(Code.PORT_TAKEN, host=host, port=port)


def _bind(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(socket.SOMAXCONN)
    except OSError:
        sock.close()
        raise
    return sock


def make_server_state(
    runtime: Runtime,
    tokens: Tokens,
    *,
    host: str,
    port: int,
    names: Sequence[str] = (),
    base_path: str = "",
    trusted_proxies: Sequence[str] = (),
    mode: str | None = None,
    completions_mode: str = "review",
    web_folder: Path = WEB_FOLDER,
    workspace: Path | None = None,
    warnings: Sequence[Reason] = (),
) -> ServerState:
    """Assemble the state of a server that listens on `host` and `port`."""
    return ServerState(
        runtime=runtime,
        sessions=SessionManager(runtime),
        access=Access(
            tokens,
            runtime.ambient,
            host=host,
            port=port,
            names=names,
            base_path=base_path,
            trusted_proxies=trusted_proxies,
        ),
        mode=mode,
        completions_mode=completions_mode,
        web_folder=web_folder,
        default_workspace=workspace,
        warnings=warnings,
    )


class _Server(uvicorn.Server):
    def __init__(
        self, config: uvicorn.Config, state: ServerState, pool: ConnectionPool, ready: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._state = state
        self._token_watch: FileWatch | None = None
        self._pool = pool
        self._ready = ready
        self._listeners: list[Listener] = []

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to `serve`, which informs clients before the server stops."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup([])
        asyncio.get_running_loop().set_default_executor(FairThreads())
        self._listeners = [Listener(each, self._make_protocol, self._pool) for each in sockets or ()]
        self._token_watch = FileWatch(self._state.access.tokens.path, self._state.metrics.check_users)
        await log_rules_damage(self._state)
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


def make_server(state: ServerState, ready: Callable[[], None]) -> uvicorn.Server:
    """Make the uvicorn server of the application. `ready` is called when it listens."""
    config = uvicorn.Config(
        App(state, ROUTES),
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # `Access` reads the headers of trusted proxies
        server_header=False,
        timeout_keep_alive=60,
        timeout_graceful_shutdown=_SHUTDOWN_TIMEOUT_SECONDS,
    )
    return _Server(config, state, ConnectionPool(), ready)


async def serve(state: ServerState, sock: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until SIGTERM or SIGINT. Then no request is accepted, running requests finish, and streams end with an
    error event."""
    server = make_server(state, ready)
    loop = asyncio.get_running_loop()

    def stop() -> None:
        if state.stopping.is_set():
            server.force_exit = True  # a second signal: do not wait for requests
        state.stopping.set()
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    try:
        await server.serve(sockets=[sock])
    finally:  # further signals are ignored, so that they do not interrupt the last writes
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, lambda: None)


def open_in_browser(link: str) -> None:
    """Open the link if there is a graphical session and an interactive terminal. A text browser would take over the
    terminal."""
    has_screen = sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    if has_screen and sys.stdout.isatty():
        import webbrowser  # imported late: rarely needed

        webbrowser.open(link)
