"""The page: its files as they were built, the link that opens it, and what somebody sees who has no token."""

import asyncio
import base64
import gzip
import hashlib
import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from pilothouse.domain.codes import Code, Language, say
from pilothouse.domain.codes import Reason as Said
from pilothouse.server.access import Access
from pilothouse.server.problems import POLICY, Refused
from pilothouse.server.routing import HTML
from pilothouse.server.serving import Call

COOKIE_SECONDS = 30 * 24 * 3600
_OWN = Path(__file__).parent / "files"
_TYPES = {
    "html": "text/html",
    "js": "text/javascript",
    "css": "text/css",
    "svg": "image/svg+xml",
    "json": "application/json",
    "woff2": "font/woff2",
}
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*\.(?:js|css|svg|json|woff2)")
# The build puts a hash of what a file holds into its name: under that name it never holds anything else.
_HASHED = re.compile(r"-[A-Za-z0-9_-]{8}\.\w+$")
_FOR_EVER = "private, max-age=31536000, immutable"
_FILES_KEPT = 500
_STYLE = (
    "body{font:16px/1.6 system-ui,sans-serif;max-width:32rem;margin:18vh auto;padding:0 1.5rem;color:#1d2733;"
    "background:#f6f7f9}h1{font-size:1.2rem}@media(prefers-color-scheme:dark){body{color:#dbe2ea;background:#14181d}}"
)
_PLAIN = (
    '<!doctype html><html lang="{lang}"><meta charset="utf-8"><link rel="icon" href="data:,">{more}'
    "<title>Pilothouse</title><style>{style}</style>"
)


class _File(NamedTuple):
    data: bytes
    packed: bytes


async def index(call: Call) -> Response:
    """Where the page was not built, that is said, and what to do."""
    found = await asyncio.to_thread(_found, call.serving.page / "index.html")
    if found is None:
        response = _plain(call.language, say(Said(Code.PAGE_NOT_BUILT), call.language))
        response.status_code = 503
        return response
    return _answer(call, "index.html", found)


async def file(call: Call, name: str) -> Response:
    if _NAME.fullmatch(name):
        for folder in (call.serving.page / "assets", _OWN):
            found = await asyncio.to_thread(_found, folder / name)
            if found is not None:
                return _answer(call, name, found)
    raise Refused(404, Code.NO_SUCH_PATH, path=f"/assets/{name}"[:200])


def _found(path: Path) -> _File | None:
    try:
        return _read(path, path.stat().st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=_FILES_KEPT)
def _read(path: Path, changed: int) -> _File:  # noqa: ARG001  a page that was built anew is read anew
    data = path.read_bytes()
    return _File(data, gzip.compress(data, mtime=0))


def _answer(call: Call, name: str, found: _File) -> Response:
    is_packed = _takes_gzip(call.headers.get("accept-encoding", "")) and len(found.packed) < len(found.data)
    headers = {"cache-control": _FOR_EVER if _HASHED.search(name) else "no-cache", "vary": "accept-encoding"}
    if is_packed:
        headers["content-encoding"] = "gzip"
    kind = _TYPES[name.rpartition(".")[2]]
    return Response(found.packed if is_packed else found.data, media_type=kind, headers=headers)


def _takes_gzip(header: str) -> bool:
    """Whether a client says so, and does not say that it would rather not."""
    for part in header[:200].lower().split(","):
        name, _, weight = part.replace(" ", "").partition(";q=")
        if name == "gzip":
            return not re.fullmatch(r"0(\.0*)?", weight)
    return False


async def opened(access: Access, request: Request) -> Response | None:
    """The answer to the printed link: a cookie, and on to the page. Raises: Refused for a wrong token."""
    token = request.query_params.get("token")
    if token is None:
        return None
    user = access.tokens.user_of(token)
    if user is None:
        await access.slow_down(request)
        raise Refused(401, Code.UNAUTHORIZED)
    present = access.tokens.user_of_cookie(request.cookies.get(access.cookie_name, ""))
    if present not in (None, user) and request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        raise Refused(403, Code.FOREIGN_ORIGIN, origin="-")  # another page would make somebody else of them
    # No redirect: a browser that was led here from elsewhere would not send the cookie along with it.
    response = _plain("en", "Opening…", '<meta http-equiv="refresh" content="0;url=/">')
    response.set_cookie(
        access.cookie_name, access.tokens.cookie(user), max_age=COOKIE_SECONDS, httponly=True, samesite="strict"
    )
    return response


def closed_door(language: Language) -> Response:
    """What a browser without a token is shown."""
    response = _plain(language, say(Said(Code.UNAUTHORIZED), language))
    response.status_code = 401
    return response


def _plain(language: Language, text: str, more: str = "") -> Response:
    start = _PLAIN.format(lang=language, style=_STYLE, more=more)
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = POLICY.format(styles=f"'sha256-{digest}'")
    headers = {"content-security-policy": policy, "cache-control": "no-store"}
    return Response(f"{start}<h1>Pilothouse</h1><p>{text}</p></html>", media_type=HTML, headers=headers)
