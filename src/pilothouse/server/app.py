"""The ASGI application: authenticates each request, finds its route, decodes the arguments, encodes the response."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from pilothouse.domain.codes import Code, Language
from pilothouse.domain.errors import PilothouseError, StoreDamaged
from pilothouse.domain.json_size import has_more_values
from pilothouse.server.problems import HEADERS, HTTPProblem, internal_response, problem_response, status_of
from pilothouse.server.routing import JSON, Route, Router
from pilothouse.server.sign_in import sign_in, sign_in_page
from pilothouse.server.sse import EventStream
from pilothouse.server.state import RequestContext, ServerState, language_of
from pilothouse.system.fair_threads import acting_user

MAX_BODY_BYTES = 1024 * 1024
MAX_BODY_SECONDS = 120
MAX_BODY_IDLE_SECONDS = 20
MAX_JSON_VALUES = 100_000
_MAX_INLINE_BYTES = 256 * 1024
"""Larger bodies are counted in a thread, and larger results are encoded with pauses."""
MAX_URL_BYTES = 16 * 1024

# The content types that a form on any site can send without a CORS preflight.
_FORM_TYPES = frozenset({"text/plain", "multipart/form-data", "application/x-www-form-urlencoded"})
_RAW_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
_LOG = logging.getLogger("pilothouse.server")


class App:
    def __init__(self, state: ServerState, routes: Sequence[Route]) -> None:
        self._state = state
        self._router = Router(routes)
        self._decoders: dict[Any, msgspec.json.Decoder[Any]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http", "lifespan and WebSocket are switched off"
        request = Request(scope, receive)
        clock = self._state.runtime.ambient.monotonic
        start_time = clock()
        try:
            response = await self._respond(request)
        except ClientDisconnect:
            return
        header_names = {name for name, _ in response.raw_headers}
        response.raw_headers += [header for header in _RAW_HEADERS if header[0] not in header_names]
        if self._state.stopping.is_set():
            response.headers["connection"] = "close"  # the stopping server reads no further request from it
        path = scope.get("route", "-")
        seconds = clock() - start_time
        method = request.method if path != "-" else "-"
        self._state.metrics.record_response(method, path, response.status_code, seconds)
        # Successful GETs are logged at DEBUG only; metrics count them.
        level = logging.DEBUG if request.method == "GET" and response.status_code < 400 else logging.INFO
        if _LOG.isEnabledFor(level):
            fields = {
                "method": request.method[:20],
                "path": path,  # the route's template: the requested path may contain anything, secrets too
                "status": response.status_code,
                "user": scope.get("user"),
                "context": scope.get("context"),
                "ms": round(seconds * 1000, 2),
            }
            _LOG.log(level, "request", extra={"fields": fields})
        await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        language = language_of(request.headers.get("accept-language", ""))
        try:
            return await self._handle(request, language)
        except StoreDamaged as error:
            if error.reason.code is not Code.TOKENS_DAMAGED:
                return problem_response(error, language)
            # The client is not authenticated: path and cause go to the log only.
            _LOG.exception("the tokens cannot be read", exc_info=error)
            redacted = HTTPProblem(503, Code.TOKENS_DAMAGED, path="", detail="see the server's log")
            return problem_response(redacted, language)
        except PilothouseError as error:
            if isinstance(error, HTTPProblem):
                self._state.metrics.refused[error.reason.code] += 1
            status = status_of(error)
            if request.scope["path"] == "/" and (status in (401, 429) or request.method == "POST"):
                page = sign_in_page(self._state.access, language, error.reason, status)
                page.headers.update(error.headers if isinstance(error, HTTPProblem) else {})
                return page
            return problem_response(error, language)
        except ClientDisconnect:
            raise
        except Exception as error:
            _LOG.exception("a request failed", exc_info=error)
            return internal_response(language)

    async def _handle(self, request: Request, language: Language) -> Response:
        scope, access = request.scope, self._state.access
        if len(scope["raw_path"]) + len(scope["query_string"]) > MAX_URL_BYTES:
            raise HTTPProblem(414, Code.QUERY_TOO_LARGE, limit=MAX_URL_BYTES)
        requested_path = scope["raw_path"]
        self._enter_base_path(scope)
        access.check_host_and_origin(request)
        if not scope["raw_path"]:
            return self._respond_outside(request, requested_path)
        if self._router.is_public(request.method, scope["raw_path"]):
            return await self._respond_to_anybody(request, language)
        sign_in_response = await sign_in(access, request, language)
        if sign_in_response is not None:
            return sign_in_response
        user = scope["user"] = await self._authenticate(request)
        route, params = self._router.find(request.method, scope["raw_path"])
        scope["route"], scope["context"] = route.path, params.get("context_id")
        context = RequestContext(self._state, user, language, request.headers, access.tokens.credential(user))
        shares = self._state.shares
        with shares.receiving(user) as count, shares.importing(user) if route.is_import else nullcontext():
            arguments = await self._read_arguments(route, params, request, count)
            if "body" in arguments and not context.has_valid_token():  # revoked while the body arrived
                raise HTTPProblem(401, Code.UNAUTHORIZED)
            # Ownership is checked here, so that no handler can forget it, and after the body has arrived.
            if "context_id" in params:
                arguments["context_id"] = (await context.own(params["context_id"])).id
            return await _make_response(route, await route.handler(context, **arguments))

    def _enter_base_path(self, scope: Scope) -> None:
        """Make the path relative to the base path, as the paths of the routes are; outside of it, make it empty."""
        base_path, raw_path = self._state.access.base_path, scope["raw_path"]
        if not base_path or self._router.is_public(scope["method"], raw_path):
            return
        is_inside = raw_path.startswith(f"{base_path}/".encode())
        scope["raw_path"] = raw_path[len(base_path) :] if is_inside else b""
        scope["path"] = scope["path"][len(base_path) :] if is_inside else ""

    def _respond_outside(self, request: Request, raw_path: bytes) -> Response:
        """Respond to a request outside the base path. Raises: HTTPProblem."""
        request.scope["state"]["set_user"](None)
        base_path = self._state.access.base_path
        if request.method == "GET" and raw_path == base_path.encode():
            return Response(status_code=307, headers={"location": f"{base_path}/"})
        path = raw_path[:200].decode("ascii", "replace")
        raise HTTPProblem(404, Code.OUTSIDE_BASE_PATH, path=path, base_path=base_path)

    async def _respond_to_anybody(self, request: Request, language: Language) -> Response:
        """Respond on a public route. The connection counts as unauthenticated, whatever token the request has."""
        request.scope["state"]["set_user"](None)
        route, _ = self._router.find(request.method, request.scope["raw_path"])
        request.scope["route"] = route.path
        context = RequestContext(self._state, "", language, request.headers)
        return await _make_response(route, await route.handler(context))

    async def _authenticate(self, request: Request) -> str:
        """Return the request's user and assign its connection to them. Raises: HTTPProblem."""
        set_user = request.scope["state"]["set_user"]
        try:
            user = await self._state.access.user(request)
        except PilothouseError:
            set_user(None)
            raise
        set_user(user)
        acting_user.set(user)
        return user

    async def _read_arguments(
        self, route: Route, params: Mapping[str, str], request: Request, count: Callable[[int], None]
    ) -> dict[str, Any]:
        """Decode path parameters, query and body for the handler. Raises: HTTPProblem for invalid input."""
        signature = route.signature
        arguments: dict[str, Any] = dict(params)
        if signature.query is not None:
            arguments["query"] = _parse_query(request.scope["query_string"], signature.query)
        if request.method not in ("GET", "HEAD"):
            _check_content_type(route, request)
        if signature.body is bytes:
            arguments["body"] = await _read_body(request, route.limit or MAX_BODY_BYTES, count)
        elif signature.body is not None:
            data = await _read_body(request, route.limit or MAX_BODY_BYTES, count)
            if len(data) > _MAX_INLINE_BYTES:
                has_too_many = await asyncio.to_thread(has_more_values, data, MAX_JSON_VALUES)
                if has_too_many:
                    raise HTTPProblem(413, Code.TOO_MANY_VALUES, limit=MAX_JSON_VALUES)
            arguments["body"] = self._decode(data or b"{}", signature.body)
        return arguments

    def _decode(self, data: bytes, kind: Any) -> Any:
        decoder = self._decoders.get(kind)
        if decoder is None:
            decoder = self._decoders[kind] = msgspec.json.Decoder(kind)
        try:
            return decoder.decode(data)
        except msgspec.ValidationError as error:
            raise HTTPProblem(422, Code.INVALID_REQUEST, detail=str(error)[:500]) from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise HTTPProblem(400, Code.NOT_JSON, detail=str(error)[:500]) from error


def _parse_query(query: bytes, kind: Any) -> Any:
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=50)
        parameters = dict(pairs)
        if len(parameters) != len(pairs):
            raise HTTPProblem(422, Code.INVALID_REQUEST, detail="a parameter is given twice")
        return msgspec.convert(parameters, kind, strict=False)
    except msgspec.ValidationError as error:
        raise HTTPProblem(422, Code.INVALID_REQUEST, detail=str(error)[:500]) from error
    except (UnicodeDecodeError, ValueError) as error:
        raise HTTPProblem(422, Code.INVALID_REQUEST, detail="the query isn't valid text") from error


def _check_content_type(route: Route, request: Request) -> None:
    """Reject the content types of HTML forms, which other sites can send with the user's cookie (CSRF).

    Raises: HTTPProblem.
    """
    content_types = request.headers.getlist("content-type")
    content_type = ", ".join(content_types).partition(";")[0].strip().lower()
    has_body = request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers
    if len(content_types) > 1 or content_type in _FORM_TYPES or (has_body and content_type != route.takes):
        raise HTTPProblem(415, Code.UNSUPPORTED_TYPE, type=content_type[:100], allowed=route.takes)


async def _read_body(request: Request, limit: int, count: Callable[[int], None]) -> bytes:
    length = request.headers.get("content-length", "")
    if length.isascii() and length.isdigit() and int(length) > limit:
        raise HTTPProblem(413, Code.BODY_TOO_LARGE, {"connection": "close"}, limit=limit)
    chunks, size = [], 0
    try:
        async with asyncio.timeout(MAX_BODY_SECONDS), asyncio.timeout(MAX_BODY_IDLE_SECONDS) as idle:
            async for chunk in request.stream():
                idle.reschedule(asyncio.get_running_loop().time() + MAX_BODY_IDLE_SECONDS)
                count(len(chunk))
                size += len(chunk)
                if size > limit:
                    raise HTTPProblem(413, Code.BODY_TOO_LARGE, {"connection": "close"}, limit=limit)
                chunks.append(chunk)
    except TimeoutError as error:
        seconds = MAX_BODY_IDLE_SECONDS if idle.expired() else MAX_BODY_SECONDS
        raise HTTPProblem(408, Code.BODY_TOO_SLOW, {"connection": "close"}, seconds=seconds) from error
    return b"".join(chunks)


async def encode_result(result: Any) -> bytes:
    """Encode a handler's result as JSON. The items of a list or a page are encoded one by one, and the event loop gets
    control in between: a page of long messages can take hundreds of megabytes."""
    items = result if isinstance(result, list) else getattr(result, "items", None)
    if not isinstance(items, list | tuple):
        return msgspec.json.encode(result)
    chunks, size = [], 0
    for item in items:
        chunks.append(msgspec.json.encode(item))
        size += len(chunks[-1])
        if size > _MAX_INLINE_BYTES:
            size = 0
            await asyncio.sleep(0)
    if isinstance(result, list):
        return b"[%b]" % b",".join(chunks)
    frame = msgspec.json.encode(msgspec.structs.replace(result, items=()))
    before, key, after = frame.partition(b'"items":[')  # the first match is the field: quotes in texts are escaped
    return b"%b%b%b%b" % (before, key, b",".join(chunks), after)


async def _make_response(route: Route, result: Any) -> Response:
    if isinstance(result, Response):
        if route.status != 200 and not isinstance(result, EventStream):
            result.status_code = route.status
        return result
    if isinstance(result, AsyncIterator):
        return StreamingResponse(result, route.status, media_type=route.gives)
    if result is None and route.status == 204:
        return Response(status_code=204)
    return Response(await encode_result(result), route.status, media_type=JSON)
