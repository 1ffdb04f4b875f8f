"""The deltas of the answer that is being streamed, until the message is committed.

A context has one file, since one answer is streamed at a time: a first line with the message and its turn, then for
each write an object with the reasoning, a list of the text's deltas, or both lines. The file is truncated and reused:
creating and removing files would cost more than the writes.
"""

import os
from collections.abc import Callable, Sequence

import msgspec

from pilothouse.domain.contexts import PartialAnswer
from pilothouse.domain.errors import StoreRefused
from pilothouse.domain.messages import Reasoning, join_reasoning
from pilothouse.domain.value import MessageId, TurnId
from pilothouse.storage.files.disk import Disk
from pilothouse.storage.files.layout import Folder
from pilothouse.storage.files.regular_files import read_regular_file

MAX_STREAM_BYTES = 512 * 1024 * 1024
Line = list[str] | Reasoning


class PartialAnswerFile:
    def __init__(self, folder: Folder, disk: Disk, *, is_committed: Callable[[MessageId], bool]) -> None:
        self._path = folder.streaming
        self._disk = disk
        self._is_committed = is_committed
        self._fd: int | None = None
        self._message: MessageId | None = None

    def append(
        self, message_id: MessageId, turn: TurnId, deltas: Sequence[str], reasoning: Reasoning | None = None
    ) -> None:
        """Raises: StoreRefused."""
        lines = [line for line in (reasoning, deltas) if line]
        data = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
        try:
            if message_id != self._message:
                self._empty()
                data = msgspec.json.encode([message_id, turn]) + b"\n" + data
            self._disk.write_all(self._open(), data)
        except OSError as error:
            raise StoreRefused.because_of(error) from error
        self._message = message_id

    def forget(self, message_id: MessageId) -> None:
        """Drop the deltas of a message that is committed, or that another attempt replaces."""
        if message_id == self._message:
            try:
                self._empty()
            except OSError:
                pass  # the next reader of the deltas finds the message committed

    def unfinished(self) -> tuple[PartialAnswer, ...]:
        """The answer whose message was never committed, if any."""
        try:
            lines = _read(read_regular_file(self._path, MAX_STREAM_BYTES))
        except OSError:
            return ()
        if not lines or isinstance(lines[0], Reasoning) or len(lines[0]) != 2:
            return ()
        message_id, turn = MessageId(lines[0][0]), TurnId(lines[0][1])
        if self._is_committed(message_id):
            return ()
        self._message = message_id  # as if this process had written the file
        deltas = tuple(delta for line in lines[1:] if not isinstance(line, Reasoning) for delta in line)
        reasoning = join_reasoning([line for line in lines[1:] if isinstance(line, Reasoning)])
        return (PartialAnswer(message_id=message_id, turn=turn, deltas=deltas, reasoning=reasoning),)

    def close_if_idle(self) -> None:
        """Close the file of a resting context."""
        if self._message is None:
            self.close()

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _open(self) -> int:
        if self._fd is None:
            self._fd = self._disk.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        return self._fd

    def _empty(self) -> None:
        self._message = None
        self._disk.truncate(self._open(), 0)


def _read(data: bytes) -> list[Line]:
    """The lines before the first torn line."""
    lines: list[Line] = []
    for line in data.split(b"\n")[:-1]:
        try:
            lines.append(msgspec.json.decode(line, type=Line))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            break
    return lines
