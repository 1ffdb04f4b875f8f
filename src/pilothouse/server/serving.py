"""What the handlers are given: the runtime and what the server knows beside it, and one request's own part of it."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pilothouse.domain.codes import Code, Language, Reason
from pilothouse.domain.errors import InvalidInput, StoreDamaged
from pilothouse.domain.users import LOCAL
from pilothouse.runtime.live import Live
from pilothouse.runtime.runtime import Runtime
from pilothouse.server.access import Access
from pilothouse.server.connections import RequestShares
from pilothouse.server.counts import Counts, StreamKind, StreamSlot
from pilothouse.server.problems import Refused
from pilothouse.session.manager import Sessions

STREAMS_AT_MOST = 1000
MAX_STREAMS_PER_USER = STREAMS_AT_MOST // 2
PAGE = Path(__file__).parent / "page"


@dataclass(frozen=True)
class Serving:
    """`mode` is that of new contexts, where nothing stricter is preferred. `completions_mode` is the
    mode of clients that cannot be asked. `page` is the folder of the built page. `stopping` is set when the server
    begins to end."""

    runtime: Runtime
    sessions: Sessions
    access: Access
    usual_workspace: Path | None = None
    """Where a context works for which no workspace is named; without it, in the first root."""
    warnings: Sequence[Reason] = ()
    """What the configuration says without effect, for the user of the machine."""
    mode: str | None = None
    completions_mode: str = "review"
    page: Path = PAGE
    heartbeat: float = 15.0
    streams_at_most: int = STREAMS_AT_MOST
    max_streams_per_user: int = MAX_STREAMS_PER_USER
    counts: Counts = field(default_factory=Counts)
    shares: RequestShares = field(default_factory=RequestShares)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    def workspace(self, given: str | None, user: str) -> Path:
        """A relative one lies beneath the user's first root. Whether it may be opened is the runtime's to say."""
        if "\0" in (given or ""):
            raise InvalidInput(Code.INVALID_WORKSPACE, path=given)
        parts, usual = self.runtime.parts, self.usual_workspace
        if not given and usual is not None and parts.is_beneath_a_root(str(usual), user):
            return usual
        return parts.roots_of(user)[0] / (given or "")


@dataclass(frozen=True)
class Call:
    """One request: who asks, in which language, with which headers."""

    serving: Serving
    user: str
    language: Language
    headers: Mapping[str, str]
    credential: str | None = None
    """Of the user's token as it was when the request came."""

    @property
    def runtime(self) -> Runtime:
        return self.serving.runtime

    async def own(self, context_id: str) -> Live:
        """The user's context of that id or name. Raises: NotFound, also for one that is somebody else's."""
        return await self.runtime.own_context(context_id, self.user)

    def check_is_local(self) -> None:
        """Raises: Refused for what only the user of the machine decides."""
        if self.user != LOCAL:
            raise Refused(403, Code.ONLY_LOCAL_USER)

    def is_user(self) -> bool:
        """Whether the user still has the token of then: tokens can be taken away. Not by a file that cannot be read."""
        try:
            return self.serving.access.tokens.credential(self.user) == self.credential is not None
        except StoreDamaged:
            return True

    @contextmanager
    def stream_slot(self, kind: StreamKind) -> Iterator[StreamSlot]:
        """Count a stream before anything is awaited: requests that come together cannot pass the limit together. A
        slot that no answer has taken over is released at the end.

        Raises: Refused when there are too many, or the server is stopping.
        """
        serving = self.serving
        if serving.stopping.is_set():
            raise Refused(503, Code.SERVER_STOPPING)
        if serving.counts.streams_open + serving.counts.chats_open >= serving.streams_at_most:
            raise Refused(503, Code.TOO_MANY_STREAMS, {"retry-after": "10"}, limit=serving.streams_at_most)
        if serving.counts.streams_of(self.user) >= serving.max_streams_per_user:
            limit = serving.max_streams_per_user
            raise Refused(429, Code.TOO_MANY_STREAMS_OF_USER, {"retry-after": "10"}, limit=limit)
        slot = serving.counts.open_stream(kind, self.user)
        try:
            yield slot
        finally:
            if not slot.is_handed_over:
                slot.release()


def language_of(header: str) -> Language:
    """The first of ours that a reader names in Accept-Language; English where they name none."""
    if not header:
        return "en"
    best: tuple[float, Language] = (0.0, "en")
    for part in header[:200].split(","):
        name, _, weight = part.strip().partition(";q=")
        language: Language | None = (
            "zh" if name.lower().startswith("zh") else "en" if name.lower().startswith("en") else None
        )
        try:
            quality = float(weight) if weight else 1.0
        except ValueError:
            continue
        if language is not None and quality > best[0]:
            best = (quality, language)
    return best[1]
