"""Images as they come: one source, real base64, known by how they begin, and not too large."""

from base64 import b64encode
from typing import Any

import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.images import MAX_IMAGE_BYTES, detect_media_type, inline_base64, is_address
from pilothouse.domain.payloads import check_payloads, parse_payload
from tests.support.pngs import SIGNATURE, picture

PICTURE = b64encode(picture()).decode()


def refusal_of(**fields: Any) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        check_payloads([parse_payload({"type": "image", **fields})])
    return caught.value


@pytest.mark.parametrize(
    ("beginning", "kind"),
    [
        (SIGNATURE, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
    ],
)
def test_an_image_is_known_by_how_it_begins(beginning: bytes, kind: str) -> None:
    assert detect_media_type(beginning + b"rest") == kind


@pytest.mark.parametrize(
    "data",
    [b"", b"\x89PNG", b"plain text", b"BM6\0", b"<svg/>", b"RIFF\x10\0\0\0WAVEfmt ", b"%PDF-1.7", b" " + SIGNATURE],
)
def test_anything_else_is_none_whatever_it_is_called(data: bytes) -> None:
    assert refusal_of(base64=b64encode(data).decode()).reason.code is Code.IMAGE_KIND
    claimed = refusal_of(url=f"data:image/png;base64,{b64encode(data).decode()}")
    assert claimed.reason.params == {"size": len(data), "allowed": "PNG, JPEG, GIF, WebP"}


@pytest.mark.parametrize(
    "fields",
    [{}, {"url": "https://a/b.png", "path": "b.png"}, {"base64": PICTURE, "path": "b.png"}, {"url": "x", "base64": ""}],
)
def test_an_image_has_exactly_one_source(fields: dict[str, str]) -> None:
    error = refusal_of(**fields)
    assert error.reason.code is Code.IMAGE_SOURCE
    assert "url, base64, path" in str(error)


@pytest.mark.parametrize(
    "url",
    [
        *("", "x", "file:///etc/passwd", "ftp://a/b.png", "https://", "https:///b", "https://a b", "https://a/\n"),
        *("//a/b", "https://a/\ud800", "https://ä/b", "https://a/" + "b" * 4000, "javascript:alert(1)", " https://a/b"),
    ],
)
def test_an_address_is_http_or_nothing(url: str) -> None:
    assert refusal_of(url=url).reason.code is Code.IMAGE_ADDRESS
    assert not is_address(url)


@pytest.mark.parametrize(
    "fields",
    [
        {"base64": "no base64!"},
        {"base64": PICTURE[:-3]},
        {"base64": PICTURE + "=="},
        {"base64": "\ud800"},
        {"base64": PICTURE.replace("A", "-", 1)},
        {"url": "data:image/png," + PICTURE},
        {"url": "data:image/png;base64;x," + PICTURE},
        {"url": "data:"},
    ],
)
def test_base64_that_is_broken_is_refused(fields: dict[str, str]) -> None:
    assert refusal_of(**fields).reason.code is Code.IMAGE_BASE64


def test_an_image_may_have_five_megabytes_and_no_byte_more() -> None:
    largest = SIGNATURE + bytes(MAX_IMAGE_BYTES - len(SIGNATURE))
    check_payloads([parse_payload({"type": "image", "base64": b64encode(largest).decode()})])
    for more in (1, 2, 3):
        error = refusal_of(base64=b64encode(largest + bytes(more)).decode())
        assert error.reason.params == {"size": MAX_IMAGE_BYTES + more, "limit": MAX_IMAGE_BYTES}


@pytest.mark.parametrize(
    ("url", "base64"),
    [
        (None, PICTURE),
        (None, f"data:image/png;base64,{PICTURE}"),
        (f"data:image/png;base64,{PICTURE}", None),
        (f"DATA:text/html;charset=x;BASE64,{PICTURE}", None),
        (None, "\n".join(PICTURE[at : at + 76] for at in range(0, len(PICTURE), 76)) + "\r\n"),
    ],
)
def test_base64_comes_plain_in_lines_or_as_a_data_url(url: str | None, base64: str | None) -> None:
    assert inline_base64(url, base64) == PICTURE


def test_an_image_at_an_address_has_no_inline_bytes() -> None:
    assert inline_base64("https://a/b.png", None) is None
    assert inline_base64(None, None) is None
