"""The route class, the signature of a handler, and the router that matches a request to a route."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, get_type_hints
from urllib.parse import unquote_to_bytes

from pilothouse.domain.codes import Code
from pilothouse.server.problems import HTTPProblem

JSON = "application/json"
EVENTS = "text/event-stream"
BYTES = "application/octet-stream"
LINES = "application/x-ndjson"
MARKDOWN = "text/markdown"
TEXT = "text/plain"
HTML = "text/html"
_MAX_SEGMENT_CHARACTERS = 1000


class Signature(NamedTuple):
    """The parameters and the result of a handler, read from its annotations."""

    path: tuple[str, ...]
    """The names of the path parameters: every parameter but `request`, `query` and `body`."""
    query: Any
    """The type of the query parameters, or None."""
    body: Any
    """The type of the JSON body, `bytes` for a raw body, or None."""
    answer: Any
    """The type of the result."""


class Route:
    """A row of the route table: method, path, handler, and their part of the API documentation."""

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
        gives: str | None = JSON,
        or_gives: str | None = None,
        limit: int | None = None,
        is_import: bool = False,
        public: bool = False,
    ) -> None:
        self.method = method
        self.path = path
        self.handler = handler
        self.summary = summary
        self.status = status
        """The status of a success."""
        self.errors = tuple(errors)
        """The error statuses beside those that every route can return."""
        self.example = example
        """An example of the response."""
        self.body_example = body_example
        """An example of the request body."""
        self.takes = takes
        """The content type of the request body."""
        self.gives = gives
        """The content type of the response; None for responses without a body."""
        self.or_gives = or_gives
        """Another content type that the client can ask for."""
        self.limit = limit
        """The largest request body in bytes; None for MAX_BODY_BYTES."""
        self.is_import = is_import
        """Whether requests count against MAX_IMPORTS_PER_USER."""
        self.public = public
        """Whether the route needs no token. Public routes have no parameters, and also exist outside the base path."""
        self.segments = tuple(path.split("/")[1:])

    @cached_property
    def signature(self) -> Signature:
        hints = get_type_hints(self.handler, include_extras=True)
        answer = hints.pop("return")
        hints.pop("request")
        query, body = hints.pop("query", None), hints.pop("body", None)
        return Signature(tuple(hints), query, body, answer)

    def match(self, segments: Sequence[str]) -> dict[str, str] | None:
        """Return the path parameters, or None where a fixed segment differs."""
        params = {}
        for template, segment in zip(self.segments, segments, strict=True):
            if template.startswith("{"):
                params[template[1:-1]] = segment
            elif template != segment:
                return None
        return params


class Router:
    def __init__(self, routes: Sequence[Route]) -> None:
        self._routes: dict[int, list[Route]] = {}
        self._public = {(route.method, route.path.encode()) for route in routes if route.public}
        for route in sorted(routes, key=lambda route: route.path.count("{")):  # fixed segments match before parameters
            self._routes.setdefault(len(route.segments), []).append(route)

    def is_public(self, method: str, raw_path: bytes) -> bool:
        """Whether a request needs no token."""
        return (method, raw_path) in self._public

    def find(self, method: str, raw_path: bytes) -> tuple[Route, Mapping[str, str]]:
        """Return the route and its path parameters. Raises: HTTPProblem for an unknown path or method."""
        segments = _segments(raw_path)
        allowed = []
        for route in self._routes.get(len(segments), ()):
            params = route.match(segments)
            if params is not None:
                if route.method == method:
                    return route, params
                allowed.append(route.method)
        if allowed:
            names = ", ".join(sorted(set(allowed)))
            raise HTTPProblem(405, Code.METHOD_NOT_ALLOWED, {"allow": names}, method=method[:20], allowed=names)
        raise HTTPProblem(404, Code.NO_SUCH_PATH, path=raw_path[:200].decode("ascii", "replace"))


def _segments(raw_path: bytes) -> list[str]:
    """Split a path, then decode each segment: the name of a branch may contain an encoded slash."""
    try:
        parts = raw_path.split(b"/")[1:]
        segments = [(unquote_to_bytes(part) if b"%" in part else part).decode() for part in parts]
    except UnicodeDecodeError:
        return []
    return segments if all(len(segment) <= _MAX_SEGMENT_CHARACTERS for segment in segments) else []
