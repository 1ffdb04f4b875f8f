"""The routes that serve the files of the built web client."""

import asyncio
import gzip
import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from starlette.responses import Response

from pilothouse.domain.codes import Code, Reason
from pilothouse.i18n import translate
from pilothouse.server.fallback_page import plain_page
from pilothouse.server.problems import HTTPProblem
from pilothouse.server.state import RequestContext

_STATIC_FOLDER = Path(__file__).parent / "files"
_TYPES = {
    "html": "text/html",
    "js": "text/javascript",
    "css": "text/css",
    "svg": "image/svg+xml",
    "json": "application/json",
    "woff2": "font/woff2",
}
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*\.(?:js|css|svg|json|woff2)")
# The build adds a hash of the content to the file name, so that a file of that name never changes.
_HASHED = re.compile(r"-[A-Za-z0-9_-]{8}\.\w+$")
_CACHE_FOREVER = "private, max-age=31536000, immutable"
_MAX_CACHED_FILES = 500


class _File(NamedTuple):
    data: bytes
    gzipped: bytes


async def index(request: RequestContext) -> Response:
    """Serve the web client; if it is not built, a page that explains how to build it."""
    index_file = await asyncio.to_thread(_load, request.server.web_folder / "index.html")
    if index_file is None:
        return plain_page(request.language, translate(Reason(Code.PAGE_NOT_BUILT), request.language), status=503)
    return _respond(request, "index.html", index_file)


async def file(request: RequestContext, name: str) -> Response:
    if _NAME.fullmatch(name):
        for folder in (request.server.web_folder / "assets", _STATIC_FOLDER):
            asset = await asyncio.to_thread(_load, folder / name)
            if asset is not None:
                return _respond(request, name, asset)
    raise HTTPProblem(404, Code.NO_SUCH_PATH, path=f"/assets/{name}"[:200])


def _load(path: Path) -> _File | None:
    try:
        return _read(path, path.stat().st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=_MAX_CACHED_FILES)
def _read(path: Path, changed: int) -> _File:  # noqa: ARG001  part of the cache key: a rebuilt file is read again
    data = path.read_bytes()
    return _File(data, gzip.compress(data, mtime=0))


def _respond(request: RequestContext, name: str, content: _File) -> Response:
    accepts_gzip = _accepts_gzip(request.headers.get("accept-encoding", ""))
    use_gzip = accepts_gzip and len(content.gzipped) < len(content.data)
    headers = {"cache-control": _CACHE_FOREVER if _HASHED.search(name) else "no-cache", "vary": "accept-encoding"}
    if use_gzip:
        headers["content-encoding"] = "gzip"
    content_type = _TYPES[name.rpartition(".")[2]]
    return Response(content.gzipped if use_gzip else content.data, media_type=content_type, headers=headers)


def _accepts_gzip(header: str) -> bool:
    """Whether Accept-Encoding lists gzip with a weight other than 0."""
    for part in header[:200].lower().split(","):
        name, _, weight = part.replace(" ", "").partition(";q=")
        if name == "gzip":
            return not re.fullmatch(r"0(\.0*)?", weight)
    return False
