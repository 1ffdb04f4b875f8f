"""The state that all requests share, and the context of one request, which every handler receives."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pilothouse.domain.codes import LANGUAGES, Code, Language, Reason
from pilothouse.domain.errors import InvalidInput, StoreDamaged
from pilothouse.domain.users import LOCAL
from pilothouse.runtime.context.snapshot import ContextSnapshot
from pilothouse.runtime.runtime import Runtime
from pilothouse.server.access import Access
from pilothouse.server.connections import RequestShares
from pilothouse.server.metrics import Metrics, StreamKind, StreamSlot
from pilothouse.server.problems import HTTPProblem
from pilothouse.server.readiness import Readiness
from pilothouse.session.manager import SessionManager

MAX_STREAMS = 1000
MAX_STREAMS_PER_USER = MAX_STREAMS // 2
WEB_FOLDER = Path(__file__).parent / "web"
"""The folder of the built web client."""


@dataclass(frozen=True)
class ServerState:
    """The runtime, the sessions, the settings and the counters of a running server."""

    runtime: Runtime
    sessions: SessionManager
    access: Access
    default_workspace: Path | None = None
    """The workspace of contexts that are created without one; without a default, the user's first root."""
    warnings: Sequence[Reason] = ()
    """Configuration that has no effect, for the local user."""
    mode: str | None = None
    """The mode of new contexts, unless the user's preferences are stricter."""
    completions_mode: str = "review"
    """The mode of chat completions, whose clients cannot answer approval requests."""
    web_folder: Path = WEB_FOLDER
    """The folder of the built web client."""
    heartbeat: float = 15.0
    """Seconds between the heartbeats of a stream."""
    max_streams: int = MAX_STREAMS
    max_streams_per_user: int = MAX_STREAMS_PER_USER
    metrics: Metrics = field(default_factory=Metrics)
    shares: RequestShares = field(default_factory=RequestShares)
    readiness: Readiness = field(default_factory=Readiness)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server starts to shut down."""

    def workspace(self, path: str | None, user: str) -> Path:
        """Resolve a workspace path. A relative path starts at the user's first root; the runtime decides whether the
        workspace may be opened.

        Raises: InvalidInput.
        """
        if "\0" in (path or ""):
            raise InvalidInput(Code.INVALID_WORKSPACE, path=path)
        workspaces, default = self.runtime.workspaces, self.default_workspace
        if not path and default is not None and workspaces.is_beneath_a_root(str(default), user):
            return default
        return workspaces.roots_of(user)[0] / (path or "")


@dataclass(frozen=True)
class RequestContext:
    """An authenticated request: its user, language and headers."""

    server: ServerState
    user: str
    """The name of the user; empty on a public route, so that it names nobody."""
    language: Language
    headers: Mapping[str, str]
    credential: str | None = None
    """The digest of the user's token when the request arrived."""

    @property
    def runtime(self) -> Runtime:
        return self.server.runtime

    async def own(self, context_id: str) -> ContextSnapshot:
        """Return the user's context with this id or name. Raises: NotFound, also for another user's context."""
        return await self.runtime.contexts.own(context_id, self.user)

    def check_is_local(self) -> None:
        """Restrict an operation to the local user. Raises: HTTPProblem."""
        if self.user != LOCAL:
            raise HTTPProblem(403, Code.ONLY_LOCAL_USER)

    def has_valid_token(self) -> bool:
        """Whether the user's token is still the token of this request: a stream can outlive its token. A token file
        that cannot be read revokes no token."""
        try:
            return self.server.access.tokens.credential(self.user) == self.credential is not None
        except StoreDamaged:
            return True

    @contextmanager
    def stream_slot(self, kind: StreamKind) -> Iterator[StreamSlot]:
        """Count a stream before anything is awaited, so that simultaneous requests cannot pass the limit together. A
        slot that no response has taken over is released at the end of the block.

        Raises: HTTPProblem when too many streams are open, or the server is stopping.
        """
        state = self.server
        if state.stopping.is_set():
            raise HTTPProblem(503, Code.SERVER_STOPPING)
        if state.metrics.streams_open + state.metrics.chats_open >= state.max_streams:
            raise HTTPProblem(503, Code.TOO_MANY_STREAMS, {"retry-after": "10"}, limit=state.max_streams)
        if state.metrics.streams_of(self.user) >= state.max_streams_per_user:
            limit = state.max_streams_per_user
            raise HTTPProblem(429, Code.TOO_MANY_STREAMS_OF_USER, {"retry-after": "10"}, limit=limit)
        slot = state.metrics.open_stream(kind, self.user)
        try:
            yield slot
        finally:
            if not slot.is_handed_over:
                slot.release()


def language_of(header: str) -> Language:
    """Return the supported language with the highest weight in an Accept-Language header; English without one."""
    if not header:
        return "en"
    best: tuple[float, Language] = (0.0, "en")
    for part in header[:200].split(","):
        name, _, weight = part.strip().partition(";q=")
        language = next((each for each in LANGUAGES if name.lower().startswith(each)), None)
        try:
            quality = float(weight) if weight else 1.0
        except ValueError:
            continue
        if language is not None and quality > best[0]:
            best = (quality, language)
    return best[1]
