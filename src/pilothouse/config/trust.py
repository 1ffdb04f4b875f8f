"""Which folders the person trusts, and what was in them then. What holds is that copy, never what lies there now."""

import contextlib
import fcntl
import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from pilothouse.config.personas import PERSONAS, persona_names
from pilothouse.config.reading import read_text, refused
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, StoreRefused
from pilothouse.domain.jsonc import plain_json
from pilothouse.domain.runner_files import PACKAGE, first_files, package_words
from pilothouse.domain.trust import FolderTrust, TrustStatus
from pilothouse.domain.values import Timestamp, Value
from pilothouse.private_file import replace_private_file

FOLDER = ".pilothouse"
CONFIG, TOOLS, SERVERS = "config.toml", "tools.toml", "mcp_servers.json"
_NAMES = (CONFIG, TOOLS, SERVERS)
_FILES_AT_MOST = 500
_MAX_PACKAGE_BYTES = 1024 * 1024


class _Trusted(Value, kw_only=True):
    digest: str
    at: Timestamp
    files: Mapping[str, str] = {}
    programs: Mapping[str, str] = {}


class _Book(Value):
    folders: Mapping[str, _Trusted] = {}


class Trust:
    """Kept in one file of the runtime's own. Folders are named by where they really lie."""

    def __init__(self, file: Path, now: Callable[[], Timestamp]) -> None:
        """Raises: InvalidInput for a file that cannot be read: what it said may have been stricter."""
        self._file = file
        self._now = now
        self._lock = threading.Lock()
        self._read: tuple[tuple[int, int] | None, _Book] = (None, _Book())
        self._folders()

    def _folders(self) -> Mapping[str, _Trusted]:
        """Read anew when another process has changed it. Raises: InvalidInput."""
        try:
            status = self._file.stat()
            present = (status.st_ino, status.st_mtime_ns)
            if self._read[0] != present:
                self._read = (present, msgspec.json.decode(self._file.read_bytes(), type=_Book))
        except FileNotFoundError:
            self._read = (None, _Book())
        except (OSError, msgspec.MsgspecError) as error:
            raise refused(self._file, f"{error}.", "repair or remove it") from error
        return self._read[1].folders

    def look(self, folder: str) -> FolderTrust:
        """Raises: InvalidInput for files that are there and cannot be read."""
        real = os.path.realpath(folder)
        files = _present(real)
        programs = _programs(real, files.get(SERVERS))
        digest = _digest({**files, **{f"/{name}": held for name, held in programs.items()}})
        known = self._folders().get(real)
        status: TrustStatus
        if known is not None:
            status = "trusted" if known.digest == digest else "changed"
        else:
            status = "new" if files else "none"
        return FolderTrust(
            folder=real,
            status=status,
            digest=digest,
            files=files,
            programs=programs,
            trusted_at=known.at if known is not None else None,
        )

    def texts(self, folder: str) -> Mapping[str, str]:
        """What holds: the files as they were trusted."""
        known = self._folders().get(os.path.realpath(folder))
        return known.files if known is not None else {}

    def are_programs_as_trusted(self, folder: str) -> bool:
        """Whether the files of the folder that its servers are started with are still those that were trusted."""
        known = self._folders().get(os.path.realpath(folder))
        return known is not None and _programs(os.path.realpath(folder), known.files.get(SERVERS)) == known.programs

    def trust(self, folder: str, digest: str) -> None:
        """Raises: Conflict where the files are not those that were shown, InvalidInput."""
        found = self.look(folder)
        if found.digest != digest:
            raise Conflict(Code.TRUST_CHANGED, folder=found.folder)
        trusted = _Trusted(digest=digest, at=self._now(), files=found.files, programs=found.programs)
        with self._held():
            self._write({**self._folders(), found.folder: trusted})

    def distrust(self, folder: str) -> None:
        real = os.path.realpath(folder)
        with self._held():
            self._write({name: each for name, each in self._folders().items() if name != real})

    @contextlib.contextmanager
    def _held(self) -> Iterator[None]:
        """One change at a time, of this process and of others."""
        with self._lock:
            try:
                self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                fd = os.open(self._file.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            except OSError as error:
                raise StoreRefused(Code.STORE_REFUSED, detail=error.strerror or str(error)) from error
            try:
                fcntl.flock(fd, fcntl.LOCK_EX)
                yield
            finally:
                os.close(fd)

    def _write(self, folders: Mapping[str, _Trusted]) -> None:
        """Raises: StoreRefused; then what was trusted before still is."""
        replace_private_file(self._file, msgspec.json.encode(_Book(folders)))


def _present(folder: str) -> dict[str, str]:
    """Raises: InvalidInput, also for a link: it could show what lies elsewhere."""
    where = Path(folder) / FOLDER
    _check_no_links(where, where / PERSONAS)
    paths = {name: where / name for name in (*_NAMES, *persona_names(where))}
    _check_no_links(*paths.values())
    texts = {name: read_text(path) for name, path in paths.items()}
    return {name: text for name, text in texts.items() if text is not None}


def _check_no_links(*paths: Path) -> None:
    for path in paths:
        if path.is_symlink():
            raise refused(path, "It is a link.", "a file of the folder itself")


def _programs(folder: str, servers: str | None) -> dict[str, str]:
    """What lies in the folder and decides what its servers run: files that their file names, the first files of the
    runners that start them, and files that a package names. To change one is to change what is started."""
    try:
        data = json.loads(plain_json(servers or "null"))
    except (ValueError, RecursionError):
        return {}
    words = set(_words(data))
    words |= {word.partition("=")[2] for word in words if "=" in word}
    # A name is meant as seen from the folder, or from one that the file names: where a server is started.
    starts = [folder, *sorted(path for word in words if os.path.isdir(path := _joined(folder, word)))]
    first = {name for command in _commands(data) for name in first_files(command)}
    found = _held_in(folder, starts, words | first)
    packages = [_package_text(os.path.join(folder, name)) for name in found if os.path.basename(name) == PACKAGE]
    return found | _held_in(folder, starts, {word for text in packages for word in package_words(text)})


def _held_in(folder: str, starts: Sequence[str], names: Iterable[str]) -> dict[str, str]:
    """The files of the folder that these names lead to, with their digests."""
    paths = {_joined(start, name) for name in sorted(names) for start in starts}
    inside = sorted(path for path in paths if path.startswith(folder.rstrip("/") + "/"))
    return {os.path.relpath(each, folder): _digest_of(each) for path in inside for each in _files(path)}


def _joined(start: str, word: str) -> str:
    return os.path.normpath(os.path.join(start, word)) if "\0" not in word else ""


def _package_text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(_MAX_PACKAGE_BYTES).decode(errors="replace")
    except OSError:
        return ""


def _commands(data: Any) -> Iterator[list[str]]:
    """The commands of servers, with their arguments."""
    if isinstance(data, dict):
        command, arguments = data.get("command"), data.get("args")
        if isinstance(command, str | list):
            yield [*_words(command), *_words(arguments)]
    if isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _commands(value)


def _files(path: str) -> list[str]:
    """A file; of a folder, the files in it."""
    if not os.path.isdir(path):
        return [path] if os.path.isfile(path) else []
    with contextlib.suppress(OSError):
        return sorted(entry.path for entry in os.scandir(path) if entry.is_file())[:_FILES_AT_MOST]
    return []


def _digest_of(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return str(error)


def _words(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _words(value)


def _digest(files: Mapping[str, str]) -> str:
    return hashlib.sha256(msgspec.json.encode(files, order="sorted")).hexdigest()
