"""The ASGI application: every request passes here, once: who asks, which route, what is given, what is answered."""

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
from pilothouse.fair_threads import acting_user
from pilothouse.server.problems import HEADERS, Refused, internal_response, problem_response, status_of
from pilothouse.server.routing import JSON, Route, Router
from pilothouse.server.serving import Call, Serving, language_of
from pilothouse.server.sign_in import sign_in, sign_in_page
from pilothouse.server.sse import EventStream

BODY_AT_MOST = 1024 * 1024
BODY_SECONDS = 120
BODY_IDLE_SECONDS = 20
MAX_JSON_VALUES = 100_000
_MAX_UNCOUNTED_BYTES = 256 * 1024
ADDRESS_AT_MOST = 16 * 1024

# What a form of any page can send without asking first.
_FORMS = frozenset({"text/plain", "multipart/form-data", "application/x-www-form-urlencoded"})
_RAW_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
_LOG = logging.getLogger("pilothouse.server")


class App:
    def __init__(self, serving: Serving, routes: Sequence[Route]) -> None:
        self._serving = serving
        self._router = Router(routes)
        self._decoders: dict[Any, msgspec.json.Decoder[Any]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http", "nothing else is switched on"
        request = Request(scope, receive)
        clock = self._serving.runtime.parts.ambient.monotonic
        began = clock()
        try:
            response = await self._respond(request)
        except ClientDisconnect:
            return
        own = {name for name, _ in response.raw_headers}
        response.raw_headers += [header for header in _RAW_HEADERS if header[0] not in own]
        if self._serving.stopping.is_set():
            response.headers["connection"] = "close"  # nobody waits for another request on it
        path = scope.get("route", "-")
        seconds = clock() - began
        self._serving.counts.answered(request.method if path != "-" else "-", path, response.status_code, seconds)
        # What only reads, and may, is nothing that one looks for later; it is counted.
        level = logging.DEBUG if request.method == "GET" and response.status_code < 400 else logging.INFO
        if _LOG.isEnabledFor(level):  # the route's path: what was asked for may hold anything
            told = {"method": request.method[:20], "path": path, "status": response.status_code}
            about = {"user": scope.get("user"), "context": scope.get("context"), "ms": round(seconds * 1000, 2)}
            _LOG.log(level, "request", extra={"fields": {**told, **about}})
        await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        language = language_of(request.headers.get("accept-language", ""))
        try:
            return await self._answer(request, language)
        except StoreDamaged as error:
            if error.reason.code is not Code.TOKENS_DAMAGED:
                return problem_response(error, language)
            _LOG.exception("the tokens cannot be read", exc_info=error)  # who asks has shown none: they are not told
            hidden = Refused(503, Code.TOKENS_DAMAGED, path="", detail="see the server's log")
            return problem_response(hidden, language)
        except PilothouseError as error:
            if isinstance(error, Refused):
                self._serving.counts.refused[error.reason.code] += 1
            status = status_of(error)
            if request.scope["path"] == "/" and (status in (401, 429) or request.method == "POST"):
                page = sign_in_page(language, error.reason, status)
                page.headers.update(error.headers if isinstance(error, Refused) else {})
                return page
            return problem_response(error, language)
        except ClientDisconnect:
            raise
        except Exception as error:
            _LOG.exception("a request failed", exc_info=error)
            return internal_response(language)

    async def _answer(self, request: Request, language: Language) -> Response:
        scope, access = request.scope, self._serving.access
        if len(scope["raw_path"]) + len(scope["query_string"]) > ADDRESS_AT_MOST:
            raise Refused(414, Code.QUERY_TOO_LARGE, limit=ADDRESS_AT_MOST)
        access.check_sender(request)
        signed_in = await sign_in(access, request, language)
        if signed_in is not None:
            return signed_in
        user = scope["user"] = await self._user(request)
        route, params = self._router.find(request.method, scope["raw_path"])
        scope["route"], scope["context"] = route.path, params.get("context_id")
        call = Call(self._serving, user, language, request.headers, access.tokens.credential(user))
        shares = self._serving.shares
        with shares.receiving(user) as count, shares.importing(user) if route.is_import else nullcontext():
            arguments = await self._arguments(route, params, request, count)
            if "body" in arguments and not call.is_user():  # it may have come slowly: much can change meanwhile
                raise Refused(401, Code.UNAUTHORIZED)
            if "context_id" in params:  # here, and after the body has come: no handler can forget it
                arguments["context_id"] = (await call.own(params["context_id"])).id
            return await _response(route, await route.handler(call, **arguments))

    async def _user(self, request: Request) -> str:
        """Who asks; the connection counts as theirs from now on. Raises: Refused."""
        set_user = request.scope["state"]["set_user"]
        try:
            user = await self._serving.access.user(request)
        except PilothouseError:
            set_user(None)
            raise
        set_user(user)
        acting_user.set(user)
        return user

    async def _arguments(
        self, route: Route, params: Mapping[str, str], request: Request, count: Callable[[int], None]
    ) -> dict[str, Any]:
        """Raises: Refused for anything that does not fit."""
        signature = route.signature
        arguments: dict[str, Any] = dict(params)
        if signature.query is not None:
            arguments["query"] = _query(request.scope["query_string"], signature.query)
        if request.method not in ("GET", "HEAD"):
            _check_type(route, request)
        if signature.body is bytes:
            arguments["body"] = await _body(request, route.limit or BODY_AT_MOST, count)
        elif signature.body is not None:
            data = await _body(request, route.limit or BODY_AT_MOST, count)
            if len(data) > _MAX_UNCOUNTED_BYTES:
                has_too_many = await asyncio.to_thread(has_more_values, data, MAX_JSON_VALUES)
                if has_too_many:
                    raise Refused(413, Code.TOO_MANY_VALUES, limit=MAX_JSON_VALUES)
            arguments["body"] = self._decoded(data or b"{}", signature.body)
        return arguments

    def _decoded(self, data: bytes, kind: Any) -> Any:
        decoder = self._decoders.get(kind)
        if decoder is None:
            decoder = self._decoders[kind] = msgspec.json.Decoder(kind)
        try:
            return decoder.decode(data)
        except msgspec.ValidationError as error:
            raise Refused(422, Code.INVALID_REQUEST, detail=str(error)[:500]) from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Refused(400, Code.NOT_JSON, detail=str(error)[:500]) from error


def _query(query: bytes, kind: Any) -> Any:
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=50)
        given = dict(pairs)
        if len(given) != len(pairs):
            raise Refused(422, Code.INVALID_REQUEST, detail="a parameter is given twice")
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        raise Refused(422, Code.INVALID_REQUEST, detail=str(error)[:500]) from error
    except (UnicodeDecodeError, ValueError) as error:
        raise Refused(422, Code.INVALID_REQUEST, detail="the query is no valid text") from error


def _check_type(route: Route, request: Request) -> None:
    """A form of another page can send only certain types: none of them is taken."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    has_body = request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers
    if given in _FORMS or (has_body and given != route.takes):
        raise Refused(415, Code.UNSUPPORTED_TYPE, type=given[:100], allowed=route.takes)


async def _body(request: Request, limit: int, count: Callable[[int], None]) -> bytes:
    length = request.headers.get("content-length", "")
    if length.isascii() and length.isdigit() and int(length) > limit:
        raise Refused(413, Code.BODY_TOO_LARGE, {"connection": "close"}, limit=limit)
    pieces, size = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS), asyncio.timeout(BODY_IDLE_SECONDS) as idle:
            async for piece in request.stream():
                idle.reschedule(asyncio.get_running_loop().time() + BODY_IDLE_SECONDS)
                count(len(piece))
                size += len(piece)
                if size > limit:
                    raise Refused(413, Code.BODY_TOO_LARGE, {"connection": "close"}, limit=limit)
                pieces.append(piece)
    except TimeoutError as error:
        seconds = BODY_IDLE_SECONDS if idle.expired() else BODY_SECONDS
        raise Refused(408, Code.BODY_TOO_SLOW, {"connection": "close"}, seconds=seconds) from error
    return b"".join(pieces)


async def encoded(result: Any) -> bytes:
    """A result as JSON. The items of a list or a page are encoded one by one, with turns for others: a page of long
    messages is hundreds of megabytes."""
    items = result if isinstance(result, list) else getattr(result, "items", None)
    if not isinstance(items, list | tuple):
        return msgspec.json.encode(result)
    pieces, size = [], 0
    for item in items:
        pieces.append(msgspec.json.encode(item))
        size += len(pieces[-1])
        if size > _MAX_UNCOUNTED_BYTES:
            size = 0
            await asyncio.sleep(0)
    if isinstance(result, list):
        return b"[%b]" % b",".join(pieces)
    frame = msgspec.json.encode(msgspec.structs.replace(result, items=()))
    before, between, after = frame.partition(b'"items":[')  # the first of its kind: what is inside texts is escaped
    return b"%b%b%b%b" % (before, between, b",".join(pieces), after)


async def _response(route: Route, result: Any) -> Response:
    if isinstance(result, Response):
        if route.status != 200 and not isinstance(result, EventStream):
            result.status_code = route.status
        return result
    if isinstance(result, AsyncIterator):
        return StreamingResponse(result, route.status, media_type=route.gives)
    if result is None and route.status == 204:
        return Response(status_code=204)
    return Response(await encoded(result), route.status, media_type=JSON)
