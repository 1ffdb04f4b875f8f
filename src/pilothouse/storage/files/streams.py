"""Answers that are being streamed: their pieces, written as they come and forgotten when the message is committed."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import PartialAnswer
from pilothouse.domain.errors import StoreRefused
from pilothouse.domain.values import MessageId, TurnId
from pilothouse.storage.files.disk import Disk
from pilothouse.storage.files.layout import Folder


class Streams:
    def __init__(self, folder: Folder, disk: Disk, *, known: Callable[[MessageId], bool]) -> None:
        self._folder = folder
        self._disk = disk
        self._known = known
        self._open: dict[MessageId, int] = {}

    def append(self, message_id: MessageId, turn: TurnId, deltas: Sequence[str]) -> None:
        """Raises: StoreRefused."""
        try:
            fd = self._open.get(message_id)
            if fd is None:
                fd = self._begin(message_id, turn)
            self._disk.write_all(fd, msgspec.json.encode(deltas) + b"\n")
        except OSError as error:
            raise StoreRefused(Code.STORE_REFUSED, detail=error.strerror) from error

    def _begin(self, message_id: MessageId, turn: TurnId) -> int:
        self._disk.make_dir(self._folder.streaming)
        fd = self._disk.open(self._path(message_id), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._open[message_id] = fd
        self._disk.write_all(fd, msgspec.json.encode([turn]) + b"\n")
        return fd

    def forget(self, message_id: MessageId) -> None:
        """The message is committed whole; its pieces are no longer needed. A leftover file does no harm."""
        fd = self._open.pop(message_id, None)
        if fd is None:
            return
        os.close(fd)
        try:
            self._disk.unlink(self._path(message_id))
        except OSError:
            pass

    def unfinished(self) -> tuple[PartialAnswer, ...]:
        """Answers whose message was never committed, oldest first."""
        if not self._folder.streaming.is_dir():
            return ()
        found = []
        for path in sorted(self._folder.streaming.glob("*.log")):
            message_id = MessageId(path.stem)
            if message_id in self._open:
                continue
            if self._known(message_id):
                self._disk.unlink(path)
                continue
            partial = _read(path, message_id)
            if partial is not None:
                # From now on it is as if we had written it: committing the message removes the file.
                self._open[message_id] = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
                found.append(partial)
        return tuple(found)

    def close(self) -> None:
        for fd in self._open.values():
            os.close(fd)
        self._open.clear()

    def _path(self, message_id: MessageId) -> Path:
        return self._folder.streaming / f"{message_id}.log"


def _read(path: Path, message_id: MessageId) -> PartialAnswer | None:
    lines: list[list[str]] = []
    for line in path.read_bytes().split(b"\n")[:-1]:
        try:
            lines.append(msgspec.json.decode(line, type=list[str]))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            break
    if not lines or not lines[0]:
        return None
    deltas = tuple(delta for line in lines[1:] for delta in line)
    return PartialAnswer(message_id=message_id, turn=TurnId(lines[0][0]), deltas=deltas)
