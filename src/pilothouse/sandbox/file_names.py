r"""File names as text: bytes that are not UTF-8 are written `\xNN`, and paths in that notation are read back.

The notation covers control characters, the backslash and bytes over 127, never a printable ASCII character: a path
cannot spell `/` or `.` with it. A name that holds such a sequence literally is written with `\x5c` for its backslash,
so each file has a notation of its own.
"""

import os
import re

_ESCAPE = re.compile(r"\\x(0[0-9a-f]|1[0-9a-f]|5c|7f|[89a-f][0-9a-f])", re.IGNORECASE)
_LONE_BYTES = re.compile("[\udc80-\udcff]")


def escape(path: str) -> str:
    """A path of the file system as valid Unicode that `unescape` reads back."""
    if "\\" in path:
        path = _ESCAPE.sub(lambda found: rf"\x5c{found[0][1:]}", path)
    return path if path.isascii() else with_bytes_escaped(path)


def printable(path: str) -> str:
    """A path as one line of text: control and formatting characters are escaped, too."""
    text = escape(path)
    return text if text.isprintable() else "".join(c if c.isprintable() else _as_bytes(c) for c in text)


def unescape(path: str) -> str:
    """The path that a person or a model means, as the file system knows it."""
    if "\\" not in path:
        return path
    encoded = path.encode("utf-8", "surrogatepass")
    return os.fsdecode(re.sub(_ESCAPE.pattern.encode(), lambda found: bytes([int(found[1], 16)]), encoded, flags=re.I))


def with_bytes_escaped(text: str) -> str:
    r"""Any text as valid Unicode: a byte of a file name as `\xNN`, another lone surrogate as `\udNNN`."""
    text = _LONE_BYTES.sub(lambda found: rf"\x{ord(found[0]) - 0xDC00:02x}", text)
    return text.encode("utf-8", "backslashreplace").decode()


def _as_bytes(character: str) -> str:
    return "".join(rf"\x{byte:02x}" for byte in character.encode())
