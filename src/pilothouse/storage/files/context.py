"""One context on disk: opened, read, committed to, checkpointed. Synchronous; the store gives it a thread."""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from pilothouse.domain.audit import AuditEntry
from pilothouse.domain.branches import Branch
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import Change, ContextCore, StoredContext
from pilothouse.domain.errors import NotFound, StaleWrite, StoreReadOnly, StoreRefused
from pilothouse.domain.messages import Message
from pilothouse.domain.values import CallId, MessageId
from pilothouse.storage.base import FENCE, gap
from pilothouse.storage.files import recovery
from pilothouse.storage.files.checkpoint import Tail, write_checkpoint
from pilothouse.storage.files.disk import Disk
from pilothouse.storage.files.journal import JournalWriter, segments
from pilothouse.storage.files.layout import (
    BLOB_FROM,
    ID_LINE,
    Entry,
    Folder,
    Metadata,
    Stub,
    decode_ids,
    digest_of,
)
from pilothouse.storage.files.stream import StreamFile

_MESSAGE: msgspec.json.Decoder[Message] = msgspec.json.Decoder(Message)
_CALL = msgspec.json.Decoder(CallRecord)
_AUDIT = msgspec.json.Decoder(AuditEntry)
_STUB = msgspec.json.Decoder(Stub)


class ContextOnDisk:
    """Holds what is not checkpointed yet in `tail`; everything else is read from its file when asked for."""

    def __init__(
        self, folder: Folder, disk: Disk, core: ContextCore, base: Metadata | None = None, damage: Sequence[Reason] = ()
    ) -> None:
        self.folder = folder
        self.core = core
        self.version = base.version if base else 0
        self.tail = Tail.on(base)
        self.damage = tuple(damage)
        self.stream = StreamFile(folder, disk, known=self._has_message)
        self._disk = disk
        self._journal = JournalWriter(folder.journal, disk)
        self._cannot_write: str | None = None

    @classmethod
    def load(cls, folder: Folder, disk: Disk, *, at: str, acknowledged: int | None = None) -> "ContextOnDisk":
        """What the folder holds; up to the version `acknowledged`, where a failed sync left more in doubt.

        Raises: NotFound, StoreDamaged.
        """
        found = recovery.scan(folder)
        if found.is_empty:
            raise NotFound(Code.UNKNOWN_CONTEXT, context_id=folder.path.name)
        base = found.metadata
        if base is None and found.metadata_error is not None:
            base = recovery.rebuild(folder, found, at)
        loaded = cls(folder, disk, base or found.entries[0].core, base)
        loaded._put_aside(found)
        for entry in found.entries:
            if acknowledged is None or entry.version <= acknowledged:
                loaded._apply(entry)
        loaded.tail.require_branch(loaded.core.active_branch)
        if loaded.core.turn is not None:
            loaded.tail.require_branch(loaded.core.turn.branch)
        return loaded

    @classmethod
    def create(cls, folder: Folder, disk: Disk, change: Change) -> "ContextOnDisk":
        """Raises: StoreRefused, StoreReadOnly."""
        try:
            disk.make_dir(folder.path)
            disk.sync_dir(folder.path.parent)
        except OSError as error:
            raise StoreRefused(Code.STORE_REFUSED, detail=error.strerror) from error
        made = cls(folder, disk, change.core)
        try:
            made.commit(change, expected=0, fence=FENCE)
        except BaseException:
            made.close()
            raise
        return made

    def _put_aside(self, found: recovery.Found) -> None:
        try:
            self.damage = tuple(recovery.put_aside(self.folder, found, self._disk))
        except OSError as error:
            # Without a copy of what cannot be read, nothing may be written over it.
            self._cannot_write = error.strerror or str(error)
            self.damage = (Reason(Code.STORE_READ_ONLY, {"detail": self._cannot_write}),)

    # writing

    @property
    def needs_reopening(self) -> bool:
        return self._cannot_write is not None or self._journal.broken

    @property
    def journal_size(self) -> int:
        return self._journal.size

    def commit(self, change: Change, *, expected: int, fence: int) -> int:
        """Raises: StaleWrite, StoreRefused, StoreReadOnly."""
        if fence != FENCE:
            raise StaleWrite(Code.STALE_FENCE)
        if expected != self.version:
            raise StaleWrite(Code.STALE_VERSION, expected=expected, found=self.version)
        if self._cannot_write is not None:
            raise StoreReadOnly(Code.STORE_READ_ONLY, detail=self._cannot_write)
        try:
            entry = self._encode(change)
        except OSError as error:
            raise StoreRefused(Code.STORE_REFUSED, detail=error.strerror) from error
        self._journal.append(entry.version, msgspec.json.encode(entry))
        self._apply(entry)
        for message in change.messages:
            self.stream.forget(message.id)
        return self.version

    def _encode(self, change: Change) -> Entry:
        return Entry(
            version=self.version + 1,
            core=change.core,
            messages=tuple(self._slim(msgspec.json.encode(message), "message_id") for message in change.messages),
            branches=change.branches,
            appended=change.appended,
            calls=tuple(self._slim(msgspec.json.encode(call), "id") for call in change.calls),
            audit=tuple(msgspec.Raw(msgspec.json.encode(entry)) for entry in change.audit),
        )

    def _slim(self, data: bytes, id_field: str) -> msgspec.Raw:
        """The value itself, or a pointer to where its bytes lie when it is large."""
        if len(data) < BLOB_FROM:
            return msgspec.Raw(data)
        digest = digest_of(data)
        self._write_blob(self.folder.blob(digest), data)
        stub = _STUB.decode(data)
        return msgspec.Raw(msgspec.json.encode({id_field: getattr(stub, id_field), "blob": digest}))

    def _write_blob(self, path: Path, data: bytes) -> None:
        """Never over one that is there: something acknowledged may point to it."""
        if path.exists() and path.stat().st_size == len(data):
            self._disk.sync_dir(self.folder.blobs)
            return
        if not self.folder.blobs.exists():
            self._disk.make_dir(self.folder.blobs)
            self._disk.sync_dir(self.folder.path)
        self._disk.replace_file(path, data)

    def _apply(self, entry: Entry) -> None:
        self.core = entry.core
        self.version = entry.version
        for raw in entry.messages:
            self.tail.messages[MessageId(_STUB.decode(raw).message_id)] = bytes(raw)
        for raw in entry.calls:
            self.tail.calls[CallId(_STUB.decode(raw).id)] = bytes(raw)
        for name, branch in entry.branches.items():
            self.tail.put_branch(name, branch)
        for name, ids in entry.appended.items():
            self.tail.append_ids(name, ids)
        self.tail.audit.extend(bytes(raw) for raw in entry.audit)
        self.tail.note_turn(entry.core, [CallId(_STUB.decode(raw).id) for raw in entry.calls])

    def checkpoint(self) -> None:
        """Write the tail into the layout and forget the journal. Raises: StoreRefused; then all is as before."""
        if self.needs_reopening or self.version == self.tail.checkpointed:
            return
        try:
            old = segments(self.folder.journal)
            self._journal.rotate()
            write_checkpoint(self.folder, self._disk, self.core, self.version, self.tail)
            for path in old:
                self._disk.unlink(path)
        except OSError as error:
            raise StoreRefused(Code.STORE_REFUSED, detail=error.strerror) from error

    def close(self) -> None:
        self._journal.rotate()
        self.stream.close()

    # reading

    def stored(self) -> StoredContext:
        calls = (self._call_or_none(call_id) for call_id in self.tail.turn_calls)
        return StoredContext(
            core=plain_core(self.core),
            version=self.version,
            branches=dict(self.tail.branches),
            calls={call.id: call for call in calls if call is not None},
            partials=self.stream.unfinished(),
            damage=self.damage,
        )

    def messages(self, ids: Sequence[MessageId]) -> list[Message]:
        return [self._message(message_id) for message_id in ids]

    def _message(self, message_id: MessageId) -> Message:
        try:
            return _MESSAGE.decode(self._bytes(self.tail.messages.get(message_id), self.folder.message(message_id)))
        except (OSError, ValueError, msgspec.MsgspecError) as error:
            return gap(message_id, str(error))

    def _has_message(self, message_id: MessageId) -> bool:
        try:
            return message_id in self.tail.messages or self.folder.message(message_id).exists()
        except (OSError, ValueError):
            return False

    def call(self, call_id: CallId) -> CallRecord:
        """Raises: NotFound."""
        found = self._call_or_none(call_id)
        if found is None:
            raise NotFound(Code.UNKNOWN_CALL, call_id=call_id)
        return found

    def _call_or_none(self, call_id: CallId) -> CallRecord | None:
        try:
            return _CALL.decode(self._bytes(self.tail.calls.get(call_id), self.folder.call(call_id)))
        except (OSError, ValueError, msgspec.MsgspecError):
            return None

    def _bytes(self, in_tail: bytes | None, path: "os.PathLike[str]") -> bytes:
        data = in_tail
        if data is None:
            with open(path, "rb") as file:
                data = file.read()
        if len(data) > 512:
            return data
        digest = _STUB.decode(data).blob
        return data if digest is None else self.folder.blob(digest).read_bytes()

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
            with open(self.folder.ids(branch), "rb") as file:
                file.seek(start * ID_LINE)
                found = decode_ids(file.read(wanted * ID_LINE))
        except (OSError, ValueError):
            found = []
        return found + [MessageId("damaged")] * (wanted - len(found))

    def audit(self, after: int, limit: int | None) -> list[AuditEntry]:
        """Entries that cannot be read are left out: the chain then shows the break."""
        try:
            with open(self.folder.audit, "rb") as file:
                lines = file.read(self.tail.audit_bytes).splitlines()
        except OSError:
            lines = []
        wanted = (lines + self.tail.audit)[after : None if limit is None else after + limit]
        return [entry for entry in map(_audit_or_none, wanted) if entry is not None]


def _audit_or_none(line: bytes) -> AuditEntry | None:
    try:
        return _AUDIT.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def plain_core(core: ContextCore) -> ContextCore:
    """The core without what a checkpoint keeps beside it."""
    if not isinstance(core, Metadata):
        return core
    return ContextCore(**{name: getattr(core, name) for name in ContextCore.__struct_fields__})
