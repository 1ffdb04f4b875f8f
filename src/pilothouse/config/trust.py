"""Which folders the person trusts, and what was in them then. What holds is that copy, never what lies there now."""

import contextlib
import fcntl
import hashlib
import itertools
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from pilothouse.config.personas import PERSONAS, persona_names
from pilothouse.config.reading import read_text, refused
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, StoreRefused
from pilothouse.domain.jsonc import plain_json
from pilothouse.domain.runner_files import first_files, package_words
from pilothouse.domain.trust import FolderTrust, TrustStatus
from pilothouse.domain.values import Timestamp, Value
from pilothouse.file_inspection import MAX_FOLDERS, MAX_LOOKUPS, FileInspection
from pilothouse.private_file import make_private_folders, replace_private_file

FOLDER = ".pilothouse"
CONFIG, TOOLS, SERVERS = "config.toml", "tools.toml", "mcp_servers.json"
_NAMES = (CONFIG, TOOLS, SERVERS)
_MAX_FILES_OF_FOLDER = 500


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
        """Raises: InvalidInput for files that are there and cannot be read, or that name more than can be checked."""
        real = os.path.realpath(folder)
        files = _present(real)
        programs = _programs(real, files.get(SERVERS))
        if programs is None:
            allowed = f"up to {MAX_FOLDERS} folders, and up to {MAX_LOOKUPS} files in and below them"
            raise refused(Path(real) / FOLDER / SERVERS, "It names more files than can be checked.", allowed)
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
                make_private_folders(self._file.parent)
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


def _programs(folder: str, servers: str | None) -> dict[str, str] | None:
    """The files of the folder that decide what its servers run, with their states: files that the servers' file names,
    the first files of the runners that start them, and files that a package names. To change one is to change what is
    started. None where the servers' file names more than can be checked."""
    try:
        data = json.loads(plain_json(servers or "null"))
        words, commands = list(_words(data)), list(_commands(data))
    except ValueError:  # then there are no servers
        return {}
    except RecursionError:
        return None
    words += [word.partition("=")[2] for word in words if "=" in word]
    files = FileInspection(folder)
    # A name is meant as seen from the folder, or from one that the file names: where a server is started.
    files.find_folders(words)
    first = (name for command in commands for name in first_files(command))
    _add_files(files, itertools.chain(words, first))
    _add_files(files, (word for text in files.packages() for word in package_words(text)))
    return {_name_in(folder, path): state for path, state in files.states.items()} if files.is_complete else None


def _name_in(folder: str, path: str) -> str:
    """The name of a file in the folder. One that is not UTF-8 is escaped, behind a slash: no other begins with it."""
    name = os.path.relpath(path, folder)
    if name.isascii() or name == os.fsencode(name).decode(errors="replace"):
        return name
    return "/" + os.fsencode(name.replace("\\", r"\\")).decode(errors="backslashreplace")


def _add_files(files: FileInspection, names: Iterable[str]) -> None:
    """Note the files of the folder that names lead to; of a folder, the files in it."""
    inside = files.folders[0].rstrip("/") + "/"
    listed: set[str] = set()
    for path in files.paths(names):
        if not path.startswith(inside) or path in listed:
            continue
        if os.path.isdir(path):
            listed.add(path)
            for each in _files_in(path, files):
                files.add(each)
        else:
            files.add(path)


def _files_in(folder: str, files: FileInspection) -> list[str]:
    """The first files of a folder. Each of its entries counts as a path that was looked at."""
    try:
        with os.scandir(folder) as entries:
            counted = itertools.takewhile(lambda _: files.may_look(), entries)
            return sorted(entry.path for entry in counted if entry.is_file())[:_MAX_FILES_OF_FOLDER]
    except OSError:
        return []


def _commands(data: Any) -> Iterator[list[str]]:
    """The commands of servers, with their arguments."""
    if isinstance(data, dict):
        command, arguments = data.get("command"), data.get("args")
        if isinstance(command, str | list):
            yield [*_texts(command), *_texts(arguments)]
    if isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _commands(value)


def _texts(data: Any) -> list[str]:
    """A text, or the texts of a list; what lies deeper is no part of a command."""
    return [each for each in (data if isinstance(data, list) else [data]) if isinstance(each, str)]


def _words(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _words(value)


def _digest(files: Mapping[str, str]) -> str:
    return hashlib.sha256(msgspec.json.encode(files, order="sorted")).hexdigest()
