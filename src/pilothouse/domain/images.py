"""Images that a person sends: which there are, told by how their bytes begin, and how they come as text."""

import binascii
import re
from base64 import b64decode
from typing import Literal

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput

MediaType = Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
Recognition = Literal["vision", "ocr", "auto"]

IMAGE_LIMIT = 5 * 1024 * 1024
_ALLOWED = "PNG, JPEG, GIF, WebP"
_ADDRESS = re.compile(r"https?://(?![/?#])[!-~]{1,4000}")
_BEGINNINGS: tuple[tuple[bytes, MediaType], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def check_source(url: str | None, base64: str | None, path: str | None) -> None:
    """Raises: InvalidInput for what does not come from one place, or came and is no image. A path is read later."""
    given = [name for name, value in (("url", url), ("base64", base64), ("path", path)) if value is not None]
    if len(given) != 1:
        raise InvalidInput(Code.IMAGE_SOURCE, given=", ".join(given) or "-", allowed="url, base64, path")
    text = text_of(url, base64)
    if text is not None:
        media_type(decoded(text))
    elif url is not None and not is_address(url):
        raise InvalidInput(Code.IMAGE_ADDRESS, allowed="http://…, https://…, data:image/…;base64,…")


def is_address(url: str) -> bool:
    return _ADDRESS.fullmatch(url) is not None


def text_of(url: str | None, base64: str | None) -> str | None:
    """An image that came itself, as plain base64; None for one that lies elsewhere. Raises: InvalidInput."""
    given = base64 if base64 is not None else url
    if given is None or (base64 is None and not _is_data(given)):
        return None
    if _is_data(given):
        head, _, given = given.partition(",")
        if not head.lower().endswith(";base64"):
            raise InvalidInput(Code.IMAGE_BASE64, detail="a data: URL must say ;base64")
    return "".join(given.split())


def _is_data(text: str) -> bool:
    return text[:5].lower() == "data:"


def decoded(text: str) -> bytes:
    """Raises: InvalidInput for what is no base64, or too much of it."""
    size = len(text) // 4 * 3 - text[-2:].count("=")
    if size > IMAGE_LIMIT:
        raise InvalidInput(Code.IMAGE_TOO_LARGE, size=size, limit=IMAGE_LIMIT)
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInput(Code.IMAGE_BASE64, detail=str(error)) from error


def media_type(data: bytes) -> MediaType:
    """By how the bytes begin: a name, or what somebody says of them, proves nothing. Raises: InvalidInput."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    for beginning, kind in _BEGINNINGS:
        if data.startswith(beginning):
            return kind
    raise InvalidInput(Code.IMAGE_KIND, size=len(data), allowed=_ALLOWED)
