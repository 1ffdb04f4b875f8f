"""The page: its files, the link that opens it, and what somebody sees who has no token."""

import base64
import hashlib
from functools import cache
from importlib import resources

from starlette.requests import Request
from starlette.responses import Response

from pilothouse.domain.codes import Code, Language, say
from pilothouse.domain.codes import Reason as Said
from pilothouse.server.access import Access
from pilothouse.server.problems import POLICY, Refused
from pilothouse.server.routing import HTML
from pilothouse.server.serving import Call

COOKIE_SECONDS = 30 * 24 * 3600
_TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
_STYLE = (
    "body{font:16px/1.6 system-ui,sans-serif;max-width:32rem;margin:18vh auto;padding:0 1.5rem;color:#1d2733;"
    "background:#f6f7f9}h1{font-size:1.2rem}@media(prefers-color-scheme:dark){body{color:#dbe2ea;background:#14181d}}"
)
_PLAIN = (
    '<!doctype html><html lang="{lang}"><meta charset="utf-8"><link rel="icon" href="data:,">{more}'
    "<title>Pilothouse</title><style>{style}</style>"
)


async def index(call: Call) -> Response:
    return await file(call, "index.html")


async def file(call: Call, name: str) -> Response:  # noqa: ARG001
    data = _files().get(name)
    if data is None:
        raise Refused(404, Code.NO_SUCH_PATH, path=f"/assets/{name}"[:200])
    kind = _TYPES[name.rpartition(".")[2]]
    return Response(data, media_type=kind, headers={"cache-control": "no-cache"})


@cache
def _files() -> dict[str, bytes]:
    folder = resources.files("pilothouse.server") / "files"
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.name.rpartition(".")[2] in _TYPES}


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
