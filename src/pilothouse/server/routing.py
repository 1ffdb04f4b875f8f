"""A row of the route table, what its handler takes and gives, and how a request finds it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, get_type_hints
from urllib.parse import unquote_to_bytes

from pilothouse.domain.codes import Code
from pilothouse.server.problems import Refused

JSON = "application/json"
EVENTS = "text/event-stream"
BYTES = "application/octet-stream"
LINES = "application/x-ndjson"
MARKDOWN = "text/markdown"
TEXT = "text/plain"
HTML = "text/html"
_SEGMENT_AT_MOST = 1000


class Signature(NamedTuple):
    """What a handler's own annotations say. Parameters that are neither `query` nor `body` stand in the path."""

    path: tuple[str, ...]
    query: Any
    body: Any
    answer: Any


class Route:
    """One row. `example` is an answer, `body_example` what is sent; `errors` are the statuses that are its own. `gives`
    is the type of the answer, `or_gives` another one that can be asked for."""

    def __init__(
        self,
        method: str,
        path: str,
        handler: Callable[..., Awaitable[Any]],
        summary: str,
        *,
        status: int = 200,
        errors: Sequence[int] = (),
        example: Any = None,
        body_example: Any = None,
        takes: str = JSON,
        gives: str = JSON,
        or_gives: str | None = None,
        limit: int | None = None,
        is_import: bool = False,
    ) -> None:
        self.method = method
        self.path = path
        self.handler = handler
        self.summary = summary
        self.status = status
        self.errors = tuple(errors)
        self.example = example
        self.body_example = body_example
        self.takes = takes
        self.gives = gives
        self.or_gives = or_gives
        self.limit = limit
        self.is_import = is_import
        """Whether one user may have only a few such requests at once."""
        self.segments = tuple(path.split("/")[1:])

    @cached_property
    def signature(self) -> Signature:
        hints = get_type_hints(self.handler, include_extras=True)
        answer = hints.pop("return")
        hints.pop("call")
        query, body = hints.pop("query", None), hints.pop("body", None)
        return Signature(tuple(hints), query, body, answer)

    def match(self, segments: Sequence[str]) -> dict[str, str] | None:
        found = {}
        for own, given in zip(self.segments, segments, strict=True):
            if own.startswith("{"):
                found[own[1:-1]] = given
            elif own != given:
                return None
        return found


class Router:
    def __init__(self, routes: Sequence[Route]) -> None:
        self._routes: dict[int, list[Route]] = {}
        for route in sorted(routes, key=lambda route: route.path.count("{")):  # what is named goes before what fits all
            self._routes.setdefault(len(route.segments), []).append(route)

    def find(self, method: str, raw_path: bytes) -> tuple[Route, Mapping[str, str]]:
        """Raises: Refused for a path that there is not, or not with this method."""
        segments = _segments(raw_path)
        allowed = []
        for route in self._routes.get(len(segments), ()):
            found = route.match(segments)
            if found is not None:
                if route.method == method:
                    return route, found
                allowed.append(route.method)
        if allowed:
            names = ", ".join(sorted(set(allowed)))
            raise Refused(405, Code.METHOD_NOT_ALLOWED, {"allow": names}, method=method[:20], allowed=names)
        raise Refused(404, Code.NO_SUCH_PATH, path=raw_path[:200].decode("ascii", "replace"))


def _segments(raw_path: bytes) -> list[str]:
    """Parts of a path, decoded one by one: a branch may have a slash in its name."""
    try:
        parts = raw_path.split(b"/")[1:]
        found = [(unquote_to_bytes(part) if b"%" in part else part).decode() for part in parts]
    except UnicodeDecodeError:
        return []
    return found if all(len(part) <= _SEGMENT_AT_MOST for part in found) else []
