"""Images that a person sends: their sources, their base64 form and their media types."""

import binascii
import re
from base64 import b64decode
from typing import Literal

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput

MediaType = Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
Recognition = Literal["vision", "ocr", "auto"]

MAX_IMAGE_BYTES = 5 * 1024 * 1024
_SUPPORTED_FORMATS = "PNG, JPEG, GIF, WebP"
_ADDRESS = re.compile(r"https?://(?![/?#])[!-~]{1,4000}")
_MAGIC_BYTES: tuple[tuple[bytes, MediaType], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def check_source(url: str | None, base64: str | None, path: str | None) -> None:
    """Check that there is exactly one source, and that an inline one holds an image. A file is checked when it is read.

    Raises: InvalidInput.
    """
    sources = [name for name, value in (("url", url), ("base64", base64), ("path", path)) if value is not None]
    if len(sources) != 1:
        raise InvalidInput(Code.IMAGE_SOURCE, given=", ".join(sources) or "-", allowed="url, base64, path")
    text = inline_base64(url, base64)
    if text is not None:
        detect_media_type(decode_image(text))
    elif url is not None and not is_address(url):
        raise InvalidInput(Code.IMAGE_ADDRESS, allowed="http://…, https://…, data:image/…;base64,…")


def is_address(url: str) -> bool:
    return _ADDRESS.fullmatch(url) is not None


def inline_base64(url: str | None, base64: str | None) -> str | None:
    """The plain base64 of an inline image; None for an image at an address or in a file. Raises: InvalidInput."""
    text = base64 if base64 is not None else url
    if text is None or (base64 is None and not _is_data(text)):
        return None
    if _is_data(text):
        head, _, text = text.partition(",")
        if not head.lower().endswith(";base64"):
            raise InvalidInput(Code.IMAGE_BASE64, detail="a data: URL must contain ';base64'")
    return "".join(text.split())


def _is_data(text: str) -> bool:
    return text[:5].lower() == "data:"


def decode_image(text: str) -> bytes:
    """The bytes of an inline image. Raises: InvalidInput for text that is no base64 or too long."""
    size = len(text) // 4 * 3 - text[-2:].count("=")
    if size > MAX_IMAGE_BYTES:
        raise InvalidInput(Code.IMAGE_TOO_LARGE, size=size, limit=MAX_IMAGE_BYTES)
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInput(Code.IMAGE_BASE64, detail=str(error)) from error


def detect_media_type(data: bytes) -> MediaType:
    """Detect the media type from the first bytes: names and declared types prove nothing. Raises: InvalidInput."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    for magic, kind in _MAGIC_BYTES:
        if data.startswith(magic):
            return kind
    raise InvalidInput(Code.IMAGE_KIND, size=len(data), allowed=_SUPPORTED_FORMATS)
