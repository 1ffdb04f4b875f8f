"""The encodings in which grep searches files: the same ones in which read_file shows them."""

import os
from collections.abc import Iterable, Mapping

from pilothouse.domain.errors import ToolError
from pilothouse.sandbox import walk
from pilothouse.sandbox.file_names import escape
from pilothouse.tools.builtin.grep.scanner import MAX_SEARCHED_BYTES
from pilothouse.tools.builtin.list_directory import SearchRoot
from pilothouse.tools.builtin.read_file import encoding_of_open
from pilothouse.tools.text_encoding import Encoding


def encodings_of(root: SearchRoot, paths: Iterable[str], stopped: walk.Stopped) -> dict[str, str]:
    """The files that the search engines cannot read by themselves, each with its codec. Binary files are left out."""
    codecs: dict[str, str] = {}
    for path in paths:
        if stopped():
            break
        try:
            encoding, size = _inspect(root, path)
        except (ToolError, OSError):  # gone, protected, or no regular file
            continue
        if encoding is not None and size <= MAX_SEARCHED_BYTES and not _is_plain(encoding):
            codecs[path] = _codec(encoding)
    return codecs


def file_note(root: SearchRoot) -> str | None:
    """Why a file that was named by its path is not searched; None where it is. Raises: ToolError."""
    encoding, size = _inspect(root, root.name or "")
    if size > MAX_SEARCHED_BYTES:
        limit = MAX_SEARCHED_BYTES >> 20
        return f"[the file is over {limit} MB: skipped; a command (grep -n) searches it, read_file shows its beginning]"
    return "[the file is binary: skipped]" if encoding is None else None


def scan_names(paths: Mapping[str, str]) -> bytes:
    """Paths and their codecs in the format that `scanner` reads."""
    return b"".join(os.fsencode(path) + b"\0" + codec.encode() + b"\0" for path, codec in paths.items())


def _inspect(root: SearchRoot, path: str) -> tuple[Encoding | None, int]:
    full_path = escape(os.path.join(root.real, path))
    with root.workspace.open_file(full_path) as file:
        return encoding_of_open(root.workspace, full_path, file), os.fstat(file.fileno()).st_size


def _is_plain(encoding: Encoding) -> bool:
    marked = encoding.name.startswith("utf-16") and encoding.bom
    return encoding.is_certain and (encoding.name == "utf-8" or bool(marked))


def _codec(encoding: Encoding) -> str:
    """A codec that skips the byte order mark."""
    if not encoding.bom:
        return encoding.name
    return "utf-8-sig" if encoding.name == "utf-8" else encoding.name.removesuffix("-le").removesuffix("-be")
