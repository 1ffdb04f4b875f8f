"""The encodings of files that grep searches: those in which read_file shows them."""

import os
from collections.abc import Iterable, Mapping

from pilothouse.domain.errors import ToolError
from pilothouse.sandbox import walking
from pilothouse.sandbox.file_names import escape
from pilothouse.tools.builtin.files import encoding_of_open
from pilothouse.tools.builtin.listing import Place
from pilothouse.tools.builtin.scan import MAX_SEARCHED_BYTES
from pilothouse.tools.text_encoding import Encoding


def encodings_of(place: Place, paths: Iterable[str], stopped: walking.Stopped) -> dict[str, str]:
    """The files that no engine reads by itself, each with the codec to read it with. Binary files are left out."""
    found: dict[str, str] = {}
    for path in paths:
        if stopped():
            break
        try:
            encoding, size = _look(place, path)
        except (ToolError, OSError):  # gone, protected, or no regular file
            continue
        if encoding is not None and size <= MAX_SEARCHED_BYTES and not _is_plain(encoding):
            found[path] = _codec(encoding)
    return found


def file_note(place: Place) -> str | None:
    """Why the one file that was named is not searched. Raises: ToolError."""
    encoding, size = _look(place, place.name or "")
    if size > MAX_SEARCHED_BYTES:
        most = MAX_SEARCHED_BYTES >> 20
        return f"[the file is over {most} MB: skipped; a command (grep -n) searches it, read_file shows its beginning]"
    return "[the file is binary: skipped]" if encoding is None else None


def scan_names(paths: Mapping[str, str]) -> bytes:
    """Paths and their codecs, as `scan` reads them."""
    return b"".join(os.fsencode(path) + b"\0" + codec.encode() + b"\0" for path, codec in paths.items())


def _look(place: Place, path: str) -> tuple[Encoding | None, int]:
    whole = escape(os.path.join(place.real, path))
    with place.workspace.opened(whole) as file:
        return encoding_of_open(place.workspace, whole, file), os.fstat(file.fileno()).st_size


def _is_plain(encoding: Encoding) -> bool:
    marked = encoding.name.startswith("utf-16") and encoding.bom
    return encoding.is_certain and (encoding.name == "utf-8" or bool(marked))


def _codec(encoding: Encoding) -> str:
    """One that passes over the byte order mark by itself."""
    if not encoding.bom:
        return encoding.name
    return "utf-8-sig" if encoding.name == "utf-8" else encoding.name.removesuffix("-le").removesuffix("-be")
