r"""File names as text: bytes that are not UTF-8 are written `\xNN`, and paths in that notation are decoded again."""

# The notation covers control characters, the backslash and bytes over 127, never a printable ASCII character: a path
# cannot spell `/` or `.` with it. A name that contains such a sequence literally is written with `\x5c` for its
# backslash, so that each file has a unique notation.

import os
import re

_ESCAPE = re.compile(r"\\x(0[0-9a-f]|1[0-9a-f]|5c|7f|[89a-f][0-9a-f])", re.IGNORECASE)
_LONE_BYTES = re.compile("[\udc80-\udcff]")


def escape(path: str) -> str:
    """A path of the file system as valid Unicode that `unescape` decodes."""
    if "\\" in path:
        path = _ESCAPE.sub(lambda match: rf"\x5c{match[0][1:]}", path)
    return path if path.isascii() else with_bytes_escaped(path)


def printable(path: str) -> str:
    """A path as one line of text, with control and formatting characters escaped, too."""
    text = escape(path)
    return text if text.isprintable() else "".join(c if c.isprintable() else _as_bytes(c) for c in text)


def unescape(path: str) -> str:
    """The path of the file system for a path that a person or a model wrote."""
    if "\\" not in path:
        return path
    encoded = path.encode("utf-8", "surrogatepass")
    return os.fsdecode(re.sub(_ESCAPE.pattern.encode(), lambda match: bytes([int(match[1], 16)]), encoded, flags=re.I))


def with_bytes_escaped(text: str) -> str:
    r"""Any text as valid Unicode: a byte of a file name as `\xNN`, another lone surrogate as `\udNNN`."""
    text = _LONE_BYTES.sub(lambda match: rf"\x{ord(match[0]) - 0xDC00:02x}", text)
    return text.encode("utf-8", "backslashreplace").decode()


def _as_bytes(character: str) -> str:
    return "".join(rf"\x{byte:02x}" for byte in character.encode())
