"""The web client: its files as they were built."""

import asyncio
import gzip
import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from starlette.responses import Response

from pilothouse.domain.codes import Code, say
from pilothouse.domain.codes import Reason as Said
from pilothouse.server.plain_page import plain_page
from pilothouse.server.problems import Refused
from pilothouse.server.serving import Call

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


class _File(NamedTuple):
    data: bytes
    packed: bytes


async def index(call: Call) -> Response:
    """Where the page was not built, that is said, and what to do."""
    found = await asyncio.to_thread(_found, call.serving.page / "index.html")
    if found is None:
        return plain_page(call.language, say(Said(Code.PAGE_NOT_BUILT), call.language), status=503)
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
