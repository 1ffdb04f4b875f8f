"""Reading one context: from its tail, otherwise from its files. Nothing here writes."""

import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from pilothouse.domain.branches import Branch
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import SentKey
from pilothouse.domain.errors import NotFound, os_error_text
from pilothouse.domain.messages import Message
from pilothouse.domain.value import CallId, MessageId
from pilothouse.storage.base import damaged_message
from pilothouse.storage.files.checkpoint import Tail
from pilothouse.storage.files.layout import DAMAGED_ID, ID_LINE_BYTES, Folder, Stub, decode_ids, is_safe
from pilothouse.storage.files.regular_files import read_part, read_regular_file
from pilothouse.system.regular_file import open_regular_file

MAX_SEARCHED_KEYS_BYTES = 1024 * 1024
"""At some 200 bytes each, more than the thousand keys that the contract promises."""
MAX_CONTENT_BYTES = 2 * 1024 * 1024 * 1024
_MAX_STUB_BYTES = 512

_MESSAGE: msgspec.json.Decoder[Message] = msgspec.json.Decoder(Message)
_CALL = msgspec.json.Decoder(CallRecord)
_KEY = msgspec.json.Decoder(SentKey)
_STUB = msgspec.json.Decoder(Stub)


class ContextReader:
    def __init__(self, folder: Folder, tail: Tail) -> None:
        self.folder = folder
        self.tail = tail
        self._keys: dict[str, SentKey] | None = None

    def messages(self, ids: Sequence[MessageId]) -> list[Message]:
        return [self._message(message_id) for message_id in ids]

    def _message(self, message_id: MessageId) -> Message:
        try:
            return _MESSAGE.decode(self._bytes(self.tail.messages.get(message_id), self.folder.message(message_id)))
        except OSError as error:
            return damaged_message(message_id, os_error_text(error))
        except (ValueError, msgspec.MsgspecError) as error:
            return damaged_message(message_id, str(error))

    def has_message(self, message_id: MessageId) -> bool:
        try:
            return message_id in self.tail.messages or self.folder.message(message_id).exists()
        except (OSError, ValueError):
            return False

    def call(self, call_id: CallId) -> CallRecord:
        """Raises: NotFound."""
        record = self.call_or_none(call_id)
        if record is None:
            raise NotFound(Code.UNKNOWN_CALL, call_id=call_id)
        return record

    def call_or_none(self, call_id: CallId) -> CallRecord | None:
        try:
            return _CALL.decode(self._bytes(self.tail.calls.get(call_id), self.folder.call(call_id)))
        except (OSError, ValueError, msgspec.MsgspecError):
            return None

    def _bytes(self, in_tail: bytes | None, path: Path) -> bytes:
        data = in_tail
        if data is None:
            data = read_regular_file(path, MAX_CONTENT_BYTES)
        if len(data) > _MAX_STUB_BYTES:
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
        stored: list[MessageId] = []
        if start < min(stop, in_file):
            stored = self._ids_in_file(branch, start, min(stop, in_file))
        return stored + self.tail.recent_ids[name][max(0, start - in_file) : max(0, stop - in_file)]

    def _ids_in_file(self, branch: Branch, start: int, stop: int) -> list[MessageId]:
        count = stop - start
        try:
            with open_regular_file(self.folder.ids(branch)) as file:
                ids = decode_ids(read_part(file, start * ID_LINE_BYTES, count * ID_LINE_BYTES))
        except (OSError, ValueError):
            ids = []
        return ids + [DAMAGED_ID] * (count - len(ids))

    def message_ids(self) -> list[MessageId]:
        return [MessageId(name) for name in _names(self.folder.pool, self.tail.messages)]

    def call_ids(self) -> list[CallId]:
        return [CallId(name) for name in _names(self.folder.calls, self.tail.calls)]

    def calls(self, ids: Sequence[CallId] | None = None) -> list[CallRecord]:
        """The named calls, or all calls of the context. Unreadable calls are left out."""
        records = (self.call_or_none(call_id) for call_id in (self.call_ids() if ids is None else ids))
        return [record for record in records if record is not None]

    def sent_key(self, key: str) -> SentKey | None:
        if self._keys is None:
            self._keys = {
                sent_key.key: sent_key
                for sent_key in (*self._stored_keys(MAX_SEARCHED_KEYS_BYTES), *self.tail.keys.values())
            }
        return self._keys.get(key)

    def note_keys(self, keys: Iterable[SentKey]) -> None:
        """Record new keys, which the next checkpoint writes to the file."""
        if self._keys is not None:
            self._keys.update((sent_key.key, sent_key) for sent_key in keys)

    def sent_keys(self) -> list[SentKey]:
        return [*self._stored_keys(self.tail.keys_bytes), *self.tail.keys.values()]

    def _stored_keys(self, size: int) -> list[SentKey]:
        """The keys in the last `size` bytes of their file. Unreadable lines are left out."""
        start = max(0, self.tail.keys_bytes - size)
        try:
            with open_regular_file(self.folder.keys) as file:
                lines = read_part(file, start, self.tail.keys_bytes - start).splitlines()
        except OSError:
            return []
        keys = []
        for line in lines:
            with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
                keys.append(_KEY.decode(line))
        return keys


def _names(folder: Path, in_tail: Iterable[str]) -> list[str]:
    stored = {path.stem for path in folder.glob("*.json") if is_safe(path.stem)} if folder.is_dir() else set()
    return sorted(stored | set(in_tail))
