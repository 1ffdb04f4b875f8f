"""The folders that the user trusts, with copies of their files. Only the trusted copies apply, never later changes."""

import contextlib
import hashlib
import itertools
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from pilothouse.config.personas import PERSONAS_FOLDER, persona_names
from pilothouse.config.toml_document import file_error, read_text
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, StoreRefused
from pilothouse.domain.jsonc import plain_json
from pilothouse.domain.runner_files import first_files, package_words
from pilothouse.domain.trust import FolderTrust, TrustStatus
from pilothouse.domain.value import Timestamp, Value
from pilothouse.system.file_inspection import MAX_FOLDERS, MAX_LOOKUPS, FileInspection
from pilothouse.system.file_lock import locked_folder
from pilothouse.system.private_file import make_private_folders, replace_private_file

CONFIG_FOLDER = ".pilothouse"
CONFIG_FILE = "config.toml"
TOOLS_FILE = "tools.toml"
MCP_SERVERS_FILE = "mcp_servers.json"
_FILE_NAMES = (CONFIG_FILE, TOOLS_FILE, MCP_SERVERS_FILE)
_MAX_FILES_PER_FOLDER = 500


class _TrustedFolder(Value, kw_only=True):
    digest: str
    at: Timestamp
    files: Mapping[str, str] = {}
    """The texts of the trusted files."""
    programs: Mapping[str, str] = {}
    """The states of the files that decide what the folder's MCP servers run."""


class _TrustFile(Value):
    """The content of the trust file."""

    folders: Mapping[str, _TrustedFolder] = {}


class Trust:
    """The trusted folders, stored in one private file under their real paths."""

    def __init__(self, file: Path, now: Callable[[], Timestamp]) -> None:
        """Raises: InvalidInput for a file that cannot be read: without it, restrictions could be missing."""
        self._file = file
        self._now = now
        self._lock = threading.Lock()
        self._cache: tuple[tuple[int, int] | None, _TrustFile] = (None, _TrustFile())
        """Inode and modification time of the file at the last read, and its content then."""
        self._folders()

    def _folders(self) -> Mapping[str, _TrustedFolder]:
        """Return the trusted folders. The file is read again after other processes change it. Raises: InvalidInput."""
        try:
            status = self._file.stat()
            file_state = (status.st_ino, status.st_mtime_ns)
            if self._cache[0] != file_state:
                self._cache = (file_state, msgspec.json.decode(self._file.read_bytes(), type=_TrustFile))
        except FileNotFoundError:
            self._cache = (None, _TrustFile())
        except (OSError, msgspec.MsgspecError) as error:
            raise file_error(self._file, f"{error}.", "repair or remove it") from error
        return self._cache[1].folders

    def status(self, folder: str) -> FolderTrust:
        """Return a folder's files and whether they are trusted.

        Raises: InvalidInput for files that cannot be read, or that name more files than can be checked.
        """
        real = os.path.realpath(folder)
        files = _read_files(real)
        programs = _programs(real, files.get(MCP_SERVERS_FILE))
        if programs is None:
            allowed = f"up to {MAX_FOLDERS} folders, and up to {MAX_LOOKUPS} files in and below them"
            raise file_error(
                Path(real) / CONFIG_FOLDER / MCP_SERVERS_FILE, "The file names more files than can be checked.", allowed
            )
        digest = _digest({**files, **{f"/{name}": state for name, state in programs.items()}})
        record = self._folders().get(real)
        status: TrustStatus
        if record is not None:
            status = "trusted" if record.digest == digest else "changed"
        else:
            status = "new" if files else "none"
        return FolderTrust(
            folder=real,
            status=status,
            digest=digest,
            files=files,
            programs=programs,
            trusted_at=record.at if record is not None else None,
        )

    def texts(self, folder: str) -> Mapping[str, str]:
        """Return the trusted texts of a folder's files; empty for a folder that is not trusted."""
        record = self._folders().get(os.path.realpath(folder))
        return record.files if record is not None else {}

    def has_unchanged_programs(self, folder: str) -> bool:
        """Whether the folder's files that its MCP servers run are unchanged since the folder was trusted."""
        record = self._folders().get(os.path.realpath(folder))
        return (
            record is not None
            and _programs(os.path.realpath(folder), record.files.get(MCP_SERVERS_FILE)) == record.programs
        )

    def trust(self, folder: str, digest: str) -> None:
        """Trust a folder. Raises: Conflict if its files do not have the digest that the person saw, InvalidInput."""
        status = self.status(folder)
        if status.digest != digest:
            raise Conflict(Code.TRUST_CHANGED, folder=status.folder)
        record = _TrustedFolder(digest=digest, at=self._now(), files=status.files, programs=status.programs)
        with self._locked():
            self._write({**self._folders(), status.folder: record})

    def distrust(self, folder: str) -> None:
        """Raises: StoreRefused."""
        real = os.path.realpath(folder)
        with self._locked():
            self._write({name: each for name, each in self._folders().items() if name != real})

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Serialize changes across threads and processes. Raises: StoreRefused."""
        with self._lock, contextlib.ExitStack() as stack:
            try:
                make_private_folders(self._file.parent)
                stack.enter_context(locked_folder(self._file.parent))
            except OSError as error:
                raise StoreRefused.because_of(error) from error
            yield

    def _write(self, folders: Mapping[str, _TrustedFolder]) -> None:
        """Replace the file. Raises: StoreRefused; the previous file then remains."""
        replace_private_file(self._file, msgspec.json.encode(_TrustFile(folders)))


def _read_files(folder: str) -> dict[str, str]:
    """Read a folder's own files. Raises: InvalidInput, also for a link, which could reveal files elsewhere."""
    config_folder = Path(folder) / CONFIG_FOLDER
    _check_no_links(config_folder, config_folder / PERSONAS_FOLDER)
    paths = {name: config_folder / name for name in (*_FILE_NAMES, *persona_names(config_folder))}
    _check_no_links(*paths.values())
    texts = {name: read_text(path) for name, path in paths.items()}
    return {name: text for name, text in texts.items() if text is not None}


def _check_no_links(*paths: Path) -> None:
    for path in paths:
        if path.is_symlink():
            raise file_error(path, "The file is a link.", "a regular file in the folder")


def _programs(folder: str, mcp_servers_text: str | None) -> dict[str, str] | None:
    """Return the folder's files that decide what its MCP servers run, with their states: files that the server file
    names, the first files of the runners that start them, and files that a package names. A change of such a file
    changes the program that is started. None if the server file names more files than can be checked."""
    try:
        data = json.loads(plain_json(mcp_servers_text or "null"))
        words, commands = list(_words(data)), list(_commands(data))
    except ValueError:  # an invalid file defines no servers
        return {}
    except RecursionError:
        return None
    words += [word.partition("=")[2] for word in words if "=" in word]
    files = FileInspection(folder)
    # Names are relative to the folder, or to a folder that the file names as the working directory of a server.
    files.find_folders(words)
    runner_files = (name for command in commands for name in first_files(command))
    _add_files(files, itertools.chain(words, runner_files))
    _add_files(files, (word for text in files.packages() for word in package_words(text)))
    return {_relative_name(folder, path): state for path, state in files.states.items()} if files.is_complete else None


def _relative_name(folder: str, path: str) -> str:
    """Return a file's path relative to the folder. A path that is not UTF-8 is escaped after a leading slash, with
    which no other relative path starts."""
    name = os.path.relpath(path, folder)
    if name.isascii() or name == os.fsencode(name).decode(errors="replace"):
        return name
    return "/" + os.fsencode(name.replace("\\", r"\\")).decode(errors="backslashreplace")


def _add_files(files: FileInspection, names: Iterable[str]) -> None:
    """Add the files in the folder that the names refer to; for a subfolder, the files in it."""
    folder_prefix = files.folders[0].rstrip("/") + "/"
    listed_folders: set[str] = set()
    for path in files.paths(names):
        if not path.startswith(folder_prefix) or path in listed_folders:
            continue
        if os.path.isdir(path):
            listed_folders.add(path)
            for file in _files_in(path, files):
                files.add(file)
        else:
            files.add(path)


def _files_in(folder: str, files: FileInspection) -> list[str]:
    """Return the first files of a folder. Every entry counts as a lookup."""
    try:
        with os.scandir(folder) as entries:
            counted = itertools.takewhile(lambda _: files.count_lookups(), entries)
            return sorted(entry.path for entry in counted if entry.is_file())[:_MAX_FILES_PER_FOLDER]
    except OSError:
        return []


def _commands(data: Any) -> Iterator[list[str]]:
    """Yield the commands of servers with their arguments."""
    if isinstance(data, dict):
        command, arguments = data.get("command"), data.get("args")
        if isinstance(command, str | list):
            yield [*_texts(command), *_texts(arguments)]
    if isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _commands(value)


def _texts(data: Any) -> list[str]:
    """Return a text as a list, or the texts of a list; deeper values are not part of a command."""
    return [each for each in (data if isinstance(data, list) else [data]) if isinstance(each, str)]


def _words(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _words(value)


def _digest(files: Mapping[str, str]) -> str:
    return hashlib.sha256(msgspec.json.encode(files, order="sorted")).hexdigest()
