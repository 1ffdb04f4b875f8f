"""Reading one context's files: what lies in the tail, else in its file. Nothing here writes."""

import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from pilothouse.domain.branches import Branch
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import SentKey
from pilothouse.domain.errors import NotFound
from pilothouse.domain.messages import Message
from pilothouse.domain.values import CallId, MessageId
from pilothouse.regular_file import open_regular_file
from pilothouse.storage.base import gap
from pilothouse.storage.files.checkpoint import Tail
from pilothouse.storage.files.layout import DAMAGED, ID_LINE, Folder, Stub, decode_ids, is_safe
from pilothouse.storage.files.regular_files import read_part, read_regular_file

# At some 200 bytes each, these are more than the thousand keys that are promised.
KEYS_LOOKED_AT = 1024 * 1024
MAX_CONTENT_BYTES = 2 * 1024 * 1024 * 1024

_MESSAGE: msgspec.json.Decoder[Message] = msgspec.json.Decoder(Message)
_CALL = msgspec.json.Decoder(CallRecord)
_KEY = msgspec.json.Decoder(SentKey)
_STUB = msgspec.json.Decoder(Stub)


class Contents:
    def __init__(self, folder: Folder, tail: Tail) -> None:
        self.folder = folder
        self.tail = tail
        self._keys: dict[str, SentKey] | None = None

    def messages(self, ids: Sequence[MessageId]) -> list[Message]:
        return [self._message(message_id) for message_id in ids]

    def _message(self, message_id: MessageId) -> Message:
        try:
            return _MESSAGE.decode(self._bytes(self.tail.messages.get(message_id), self.folder.message(message_id)))
        except (OSError, ValueError, msgspec.MsgspecError) as error:
            return gap(message_id, str(error))

    def has_message(self, message_id: MessageId) -> bool:
        try:
            return message_id in self.tail.messages or self.folder.message(message_id).exists()
        except (OSError, ValueError):
            return False

    def call(self, call_id: CallId) -> CallRecord:
        """Raises: NotFound."""
        found = self.call_or_none(call_id)
        if found is None:
            raise NotFound(Code.UNKNOWN_CALL, call_id=call_id)
        return found

    def call_or_none(self, call_id: CallId) -> CallRecord | None:
        try:
            return _CALL.decode(self._bytes(self.tail.calls.get(call_id), self.folder.call(call_id)))
        except (OSError, ValueError, msgspec.MsgspecError):
            return None

    def _bytes(self, in_tail: bytes | None, path: Path) -> bytes:
        data = in_tail
        if data is None:
            data = read_regular_file(path, MAX_CONTENT_BYTES)
        if len(data) > 512:
            return data
        digest = _STUB.decode(data).blob
        return data if digest is None else read_regular_file(self.folder.blob(digest), MAX_CONTENT_BYTES)

    def branch_ids(self, name: str, start: int, stop: int | None) -> list[MessageId]:
        """Raises: NotFound."""
        branch = self.tail.branches.get(name)
        if branch is None:
            raise NotFound(Code.UNKNOWN_BRANCH, branch=name, allowed=", ".join(self.tail.branches))
        start, stop, _ = slice(start, stop).indices(branch.length)
        in_file = self.tail.in_file[name]
        found: list[MessageId] = []
        if start < min(stop, in_file):
            found = self._ids_in_file(branch, start, min(stop, in_file))
        return found + self.tail.recent_ids[name][max(0, start - in_file) : max(0, stop - in_file)]

    def _ids_in_file(self, branch: Branch, start: int, stop: int) -> list[MessageId]:
        wanted = stop - start
        try:
            with open_regular_file(self.folder.ids(branch)) as file:
                found = decode_ids(read_part(file, start * ID_LINE, wanted * ID_LINE))
        except (OSError, ValueError):
            found = []
        return found + [DAMAGED] * (wanted - len(found))

    def message_ids(self) -> list[MessageId]:
        return [MessageId(name) for name in _names(self.folder.pool, self.tail.messages)]

    def call_ids(self) -> list[CallId]:
        return [CallId(name) for name in _names(self.folder.calls, self.tail.calls)]

    def calls(self, ids: Sequence[CallId] | None = None) -> list[CallRecord]:
        """Those named, or every one there ever was; one that cannot be read is left out."""
        found = (self.call_or_none(call_id) for call_id in (self.call_ids() if ids is None else ids))
        return [call for call in found if call is not None]

    def sent_key(self, key: str) -> SentKey | None:
        if self._keys is None:
            self._keys = {sent.key: sent for sent in (*self._stored_keys(KEYS_LOOKED_AT), *self.tail.keys.values())}
        return self._keys.get(key)

    def note_keys(self, keys: Iterable[SentKey]) -> None:
        """New ones, which the tail will hand over to the file."""
        if self._keys is not None:
            self._keys.update((sent.key, sent) for sent in keys)

    def sent_keys(self) -> list[SentKey]:
        return [*self._stored_keys(self.tail.keys_bytes), *self.tail.keys.values()]

    def _stored_keys(self, size: int) -> list[SentKey]:
        """Those in the last `size` bytes of their file. What cannot be read is left out."""
        start = max(0, self.tail.keys_bytes - size)
        try:
            with open_regular_file(self.folder.keys) as file:
                lines = read_part(file, start, self.tail.keys_bytes - start).splitlines()
        except OSError:
            return []
        found = []
        for line in lines:
            with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
                found.append(_KEY.decode(line))
        return found


def _names(folder: Path, in_tail: Iterable[str]) -> list[str]:
    stored = {path.stem for path in folder.glob("*.json") if is_safe(path.stem)} if folder.is_dir() else set()
    return sorted(stored | set(in_tail))
