"""One context on disk: opened, read, committed to, checkpointed. Synchronous; the store gives it a thread."""

from pathlib import Path

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import FORMAT, Change, ContextCore, StoredContext
from pilothouse.domain.errors import NotFound, StaleWrite, StoreReadOnly, StoreRefused
from pilothouse.domain.values import CallId, MessageId
from pilothouse.storage.base import FENCE
from pilothouse.storage.files import recovery
from pilothouse.storage.files.audit_chain import AuditRead, AuditSnapshot, AuditState, whole_lines
from pilothouse.storage.files.checkpoint import Tail, write_checkpoint
from pilothouse.storage.files.contents import Contents
from pilothouse.storage.files.disk import Disk, words_of
from pilothouse.storage.files.heads import Heads
from pilothouse.storage.files.journal import JournalWriter, segments
from pilothouse.storage.files.layout import (
    BLOB_FROM,
    Entry,
    Folder,
    Metadata,
    Stub,
    digest_of,
)
from pilothouse.storage.files.regular_files import read_regular_file
from pilothouse.storage.files.stream import StreamFile

_STUB = msgspec.json.Decoder(Stub)


class ContextOnDisk:
    """Holds what is not checkpointed yet in `tail`; everything else is read from its file when asked for."""

    def __init__(
        self, folder: Folder, disk: Disk, heads: Heads, core: ContextCore, base: Metadata | None = None
    ) -> None:
        self.folder = folder
        self.core = core
        self.version = base.version if base else 0
        self.tail = Tail.on(base)
        self.damage: tuple[Reason, ...] = ()
        self.audit_state = AuditState(heads, folder.path.name)
        self.contents = Contents(folder, self.tail)
        self.stream = StreamFile(folder, disk, known=self.contents.has_message)
        self._disk = disk
        self._journal = JournalWriter(folder.journal, disk)
        self._cannot_write: str | None = None
        self._blobs_are_there = False

    @classmethod
    def load(
        cls, folder: Folder, disk: Disk, heads: Heads, *, at: str, acknowledged: int | None = None
    ) -> "ContextOnDisk":
        """What the folder holds; up to the version `acknowledged`, where a failed sync left more in doubt.

        Raises: NotFound, StoreDamaged.
        """
        found = recovery.scan(folder)
        if found.is_empty:
            raise NotFound(Code.UNKNOWN_CONTEXT, context_id=folder.path.name)
        base = found.metadata
        if base is None and found.metadata_error is not None:
            base = recovery.rebuild(folder, found, at)
        loaded = cls(folder, disk, heads, base or found.entries[0].core, base)
        loaded._back_up(base)
        loaded._put_aside(found)
        loaded.tail.audit_bytes = whole_lines(folder.audit, loaded.tail.audit_bytes)
        loaded.tail.keys_bytes = whole_lines(folder.keys, loaded.tail.keys_bytes)
        for entry in found.entries:
            if acknowledged is None or entry.version <= acknowledged:
                loaded._apply(entry)
        loaded.tail.require_branch(loaded.core.active_branch)
        if loaded.core.turn is not None:
            loaded.tail.require_branch(loaded.core.turn.branch)
        loaded.audit_state.compare(loaded.audit_snapshot())
        return loaded

    @classmethod
    def create(cls, folder: Folder, disk: Disk, heads: Heads, change: Change) -> "ContextOnDisk":
        """Raises: StoreRefused, StoreReadOnly."""
        try:
            disk.make_dir(folder.path)
            disk.sync_dir(folder.path.parent)
        except OSError as error:
            raise StoreRefused(Code.STORE_REFUSED, detail=words_of(error)) from error
        made = cls(folder, disk, heads, change.core)
        made.audit_state.is_new = change.core.audit.count <= 1  # an imported one brings more from elsewhere
        try:
            made.commit(change, expected=0, fence=FENCE)
        except BaseException:
            made.close()
            raise
        made.audit_state.compare(made.audit_snapshot())  # a head may tell of one that was removed outside of Pilothouse
        return made

    def _back_up(self, base: Metadata | None) -> None:
        """What an older version wrote is kept as it was before anything is written over it."""
        if base is None or base.format >= FORMAT:
            return
        try:
            recovery.keep(
                self.folder,
                self._disk,
                f"metadata.json.format-{base.format}",
                read_regular_file(self.folder.metadata, recovery.MAX_METADATA_BYTES),
            )
        except OSError as error:
            self._cannot_write = words_of(error)

    def _put_aside(self, found: recovery.Found) -> None:
        try:
            self.damage = tuple(recovery.put_aside(self.folder, found, self._disk))
        except OSError as error:
            # Without a copy of what cannot be read, nothing may be written over it.
            self._cannot_write = words_of(error)
            self.damage = (Reason(Code.STORE_READ_ONLY, {"detail": self._cannot_write}),)

    # writing

    @property
    def needs_reopening(self) -> bool:
        return self._cannot_write is not None or self._journal.broken

    @property
    def journal_size(self) -> int:
        return self._journal.size

    def commit(self, change: Change, *, expected: int, fence: int) -> int:
        """Raises: StaleWrite, StoreRefused, StoreReadOnly, Conflict where an accepted audit was changed since it was
        read."""
        if fence != FENCE:
            raise StaleWrite(Code.STALE_FENCE)
        if expected != self.version:
            raise StaleWrite(Code.STALE_VERSION, expected=expected, found=self.version)
        if self._cannot_write is not None:
            raise StoreReadOnly(Code.STORE_READ_ONLY, detail=self._cannot_write)
        try:
            entry = self._encode(change)
        except OSError as error:
            raise StoreRefused(Code.STORE_REFUSED, detail=words_of(error)) from error
        if change.accepts_audit:
            self.audit_state.accept(self.audit_snapshot(), change.audit[0].hash)
        self._journal.append(entry.version, msgspec.json.encode(entry))
        if change.accepts_audit:
            self.audit_state.was_recorded()
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
            dropped=change.dropped,
            renamed=change.renamed,
            keys=change.keys,
        )

    def _slim(self, data: bytes, id_field: str) -> msgspec.Raw:
        """The value itself, or a pointer to where its bytes lie when it is large."""
        if len(data) < BLOB_FROM:
            return msgspec.Raw(data)
        digest = digest_of(data)
        self._write_blob(self.folder.blob(digest), data)
        stub = _STUB.decode(data)
        return msgspec.Raw(msgspec.json.encode({id_field: getattr(stub, id_field), "turn": stub.turn, "blob": digest}))

    def _write_blob(self, path: Path, data: bytes) -> None:
        """Never over one that is there: something acknowledged may point to it."""
        if path.exists() and path.stat().st_size == len(data):
            self._disk.sync_dir(self.folder.blobs)
            return
        if not self._blobs_are_there:
            self._disk.make_dir(self.folder.blobs)
            self._disk.sync_dir(self.folder.path)
            self._blobs_are_there = True
        self._disk.replace_file(path, data)

    def _apply(self, entry: Entry) -> None:
        self.core = entry.core
        self.version = entry.version
        # What an unreadable line should have renamed still has its own name, and all that would be put back.
        missed = {new for old, new in entry.renamed.items() if old not in self.tail.branches}
        for name in entry.dropped:
            if name not in missed:
                self.tail.drop_branch(name)
        for old, new in entry.renamed.items():
            self.tail.rename_branch(old, new)
        self.tail.keys.update((sent.key, sent) for sent in entry.keys)
        self.contents.note_keys(entry.keys)
        for raw in entry.messages:
            self.tail.messages[MessageId(_STUB.decode(raw).message_id)] = bytes(raw)
        calls = [_STUB.decode(raw) for raw in entry.calls]
        for stub, raw in zip(calls, entry.calls, strict=True):
            self.tail.calls[CallId(stub.id)] = bytes(raw)
        for name, branch in entry.branches.items():
            self.tail.put_branch(name, branch)
        for name, ids in entry.appended.items():
            if name not in missed:
                self.tail.append_ids(name, ids)
        self.tail.audit.extend(bytes(raw) for raw in entry.audit)
        turn = entry.core.turn.id if entry.core.turn is not None else None
        self.tail.note_turn(entry.core, [CallId(stub.id) for stub in calls if stub.turn in (None, turn)])

    def checkpoint(self) -> None:
        """Write the tail into the layout and forget the journal. Raises: StoreRefused; then all is as before."""
        if self.needs_reopening or self.version == self.tail.checkpointed:
            return
        try:
            old = segments(self.folder.journal)
            self._journal.rotate()
            in_file, written = self.tail.audit_bytes, tuple(self.tail.audit)
            write_checkpoint(self.folder, self._disk, self.core, self.version, self.tail)
            self.audit_state.append(in_file, written)
            self.audit_state.note(self.core.audit)
            for path in old:
                self._disk.unlink(path)
        except OSError as error:
            raise StoreRefused(Code.STORE_REFUSED, detail=words_of(error)) from error

    def close(self) -> None:
        self._journal.rotate()
        self.stream.close()

    # reading

    def audit_snapshot(self) -> AuditSnapshot:
        return AuditSnapshot(
            path=self.folder.audit,
            size=self.tail.audit_bytes,
            tail=tuple(self.tail.audit),
            end=self.core.audit,
            noted=self.audit_state.noted(),
            is_new=self.audit_state.is_new,
        )

    def remember_audit(self, read: AuditRead) -> None:
        """Keep what a read without the context's lock found out; where it found the chain broken, look again."""
        self.audit_state.remember(read, self.tail.audit_bytes)
        if not read.page.chain.whole and self.audit_state.is_trusted:
            self.audit_state.compare(self.audit_snapshot())

    def accept_audit(self) -> None:
        self.audit_state.accept(self.audit_snapshot())

    def stored(self) -> StoredContext:
        calls = (self.contents.call_or_none(call_id) for call_id in self.tail.turn_calls)
        return StoredContext(
            core=msgspec.structs.replace(plain_core(self.core), format=FORMAT),
            version=self.version,
            branches=dict(self.tail.branches),
            calls={call.id: call for call in calls if call is not None},
            partials=self.stream.unfinished(),
            damage=(*self.damage, *self.audit_state.damage()),
        )


def plain_core(core: ContextCore) -> ContextCore:
    """The core without what a checkpoint keeps beside it."""
    if not isinstance(core, Metadata):
        return core
    return ContextCore(**{name: getattr(core, name) for name in ContextCore.__struct_fields__})
