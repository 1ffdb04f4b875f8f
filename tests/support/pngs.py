"""Pictures for tests: drawn with a small font, written as PNG by hand."""

import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_SCALE, _MARGIN = 8, 4
# Five columns and seven rows each; a row is a number whose bits are dots.
_FONT = {
    "H": (0x11, 0x11, 0x11, 0x1F, 0x11, 0x11, 0x11),
    "E": (0x1F, 0x10, 0x10, 0x1E, 0x10, 0x10, 0x1F),
    "L": (0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x1F),
    "O": (0x0E, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0E),
    "4": (0x02, 0x06, 0x0A, 0x12, 0x1F, 0x02, 0x02),
    "2": (0x0E, 0x11, 0x01, 0x06, 0x08, 0x10, 0x1F),
    " ": (0, 0, 0, 0, 0, 0, 0),
}


def picture(text: str = "HELLO 42") -> bytes:
    """The text, black on white; a white image without a text."""
    rows = [_dots(text, row) for row in range(7)]
    width = max(6 * len(text), 30) + 2 * _MARGIN
    blank = "0" * width
    lines = [blank] * _MARGIN + [("0" * _MARGIN + row).ljust(width, "0") for row in rows] + [blank] * _MARGIN
    scaled = [_scaled(line) for line in lines for _ in range(_SCALE)]
    return png(width * _SCALE, len(scaled), b"".join(b"\0" + line for line in scaled))


def _dots(text: str, row: int) -> str:
    return "".join(f"{_FONT[letter][row]:05b}0" for letter in text)


def _scaled(line: str) -> bytes:
    return b"".join((b"\0" if dot == "1" else b"\xff") * _SCALE for dot in line)


def png(width: int, height: int, rows: bytes) -> bytes:
    """Eight bits of grey for each dot; each row begins with a zero byte."""
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return SIGNATURE + _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(rows)) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
