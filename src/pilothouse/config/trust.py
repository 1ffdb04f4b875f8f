"""Which folders the person trusts, and what was in them then. What holds is that copy, never what lies there now."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from pilothouse.config.reading import read_text
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, InvalidInput
from pilothouse.domain.trust import FolderTrust
from pilothouse.domain.values import Timestamp, Value

FOLDER = ".pilothouse"
CONFIG, TOOLS, SERVERS = "config.toml", "tools.toml", "mcp_servers.json"
_NAMES = (CONFIG, TOOLS, SERVERS)


class _Trusted(Value, kw_only=True):
    digest: str
    at: Timestamp
    files: Mapping[str, str] = {}


class _Book(Value):
    folders: Mapping[str, _Trusted] = {}


class Trust:
    """Kept in one file of the runtime's own. Folders are named by where they really lie."""

    def __init__(self, file: Path, now: Callable[[], Timestamp]) -> None:
        """Raises: InvalidInput for a file that cannot be read: what it said may have been stricter."""
        self._file = file
        self._now = now
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
            about = {"line": 1, "key": "-", "detail": f"{error}.", "allowed": "repair or remove it"}
            raise InvalidInput(Code.INVALID_CONFIG, file=str(self._file), **about) from error
        return self._read[1].folders

    def look(self, folder: str) -> FolderTrust:
        """Raises: InvalidInput for files that are there and cannot be read."""
        real = os.path.realpath(folder)
        files = _present(real)
        digest = _digest(files)
        known = self._folders().get(real)
        if known is not None:
            status = "trusted" if known.digest == digest else "changed"
        else:
            status = "new" if files else "none"
        return FolderTrust(
            folder=real,
            status=status,  # type: ignore[arg-type]
            digest=digest,
            files=files,
            trusted_at=known.at if known is not None else None,
        )

    def texts(self, folder: str) -> Mapping[str, str]:
        """What holds: the files as they were trusted."""
        known = self._folders().get(os.path.realpath(folder))
        return known.files if known is not None else {}

    def trust(self, folder: str, digest: str) -> None:
        """Raises: Conflict where the files are not those that were shown, InvalidInput."""
        found = self.look(folder)
        if found.digest != digest:
            raise Conflict(Code.TRUST_CHANGED, folder=found.folder)
        trusted = _Trusted(digest=digest, at=self._now(), files=found.files)
        self._write({**self._folders(), found.folder: trusted})

    def distrust(self, folder: str) -> None:
        real = os.path.realpath(folder)
        self._write({name: each for name, each in self._folders().items() if name != real})

    def _write(self, folders: Mapping[str, _Trusted]) -> None:
        book = _Book(folders)
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd, draft = tempfile.mkstemp(dir=self._file.parent, prefix=".trust-")
        with open(fd, "wb") as file:
            file.write(msgspec.json.encode(book))
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, self._file)


def _present(folder: str) -> dict[str, str]:
    texts = {name: read_text(Path(folder) / FOLDER / name) for name in _NAMES}
    return {name: text for name, text in texts.items() if text is not None}


def _digest(files: Mapping[str, str]) -> str:
    return hashlib.sha256(msgspec.json.encode(files, order="sorted")).hexdigest()
