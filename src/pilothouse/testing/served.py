"""A server in this process, on a real loopback socket, around any runtime."""

import asyncio
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pilothouse.client import Client
from pilothouse.runtime.runtime import Runtime
from pilothouse.server.serve import DEFAULT_HOST, listen, make_server, make_server_state
from pilothouse.server.tokens import Tokens

TOKEN = "a-token-for-tests-only"  # noqa: S105


class Served:
    """An async context manager that serves a runtime. Leaving it does not close the runtime."""

    def __init__(
        self, runtime: Runtime, roots: Sequence[Path], *, limits: Mapping[str, Any] | None = None, **options: Any
    ) -> None:
        """`limits` are fields of `ServerState`, such as `heartbeat` and `max_streams`; `options` are arguments of
        `make_server_state`."""
        self._runtime = runtime
        object.__setattr__(runtime._dependencies, "roots", [Path(os.path.realpath(root)) for root in roots])
        self._options = options
        self._limits = limits or {}
        self._folder = tempfile.TemporaryDirectory()
        self.tokens = Tokens(Path(self._folder.name) / "tokens.json", runtime.ambient, TOKEN)
        self.token = TOKEN
        self.url = ""

    async def __aenter__(self) -> "Served":
        sock = listen(DEFAULT_HOST, 0, self.tokens)
        self.port = sock.getsockname()[1]
        self.url = f"http://{DEFAULT_HOST}:{self.port}"
        state = make_server_state(self._runtime, self.tokens, host=DEFAULT_HOST, port=self.port, **self._options)
        self.server_state = replace(state, **self._limits)
        self._server = make_server(self.server_state, lambda: None)
        self._task = asyncio.create_task(self._server.serve(sockets=[sock]))
        return self

    async def __aexit__(self, *_: object) -> None:
        self.server_state.stopping.set()
        self._server.should_exit = True
        await self._task
        self._folder.cleanup()

    def client(self, token: str = TOKEN, **options: Any) -> Client:
        return Client(self.url, token, **options)
