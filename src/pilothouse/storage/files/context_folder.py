"""A context on disk: loading, commits and checkpoints. Synchronous; the store calls it in a thread."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import FORMAT, Change, ContextCore, StoredContext
from pilothouse.domain.errors import NotFound, StaleWrite, StoreReadOnly, StoreRefused, os_error_text
from pilothouse.domain.value import CallId, MessageId
from pilothouse.storage.base import FENCE
from pilothouse.storage.files import recovery
from pilothouse.storage.files.audit_chain import AuditRead, AuditSnapshot, AuditState, whole_lines_size
from pilothouse.storage.files.checkpoint import Tail, write_checkpoint
from pilothouse.storage.files.context_reader import ContextReader
from pilothouse.storage.files.disk import Disk
from pilothouse.storage.files.heads import AuditHeads
from pilothouse.storage.files.journal import JournalWriter, segments
from pilothouse.storage.files.layout import (
    MIN_BLOB_BYTES,
    ContextMetadata,
    Folder,
    JournalEntry,
    Stub,
    sha256_hex,
)
from pilothouse.storage.files.partial_answer import PartialAnswerFile
from pilothouse.storage.files.regular_files import read_regular_file

_STUB = msgspec.json.Decoder(Stub)


class ContextOnDisk:
    """Keeps the part since the last checkpoint in `tail`; everything else is read from its file on demand."""

    def __init__(
        self, folder: Folder, disk: Disk, heads: AuditHeads, core: ContextCore, base: ContextMetadata | None = None
    ) -> None:
        self.folder = folder
        self.core = core
        self.version = base.version if base else 0
        self.tail = Tail.on(base)
        self.damage: tuple[Reason, ...] = ()
        self.audit_state = AuditState(heads, folder.path.name)
        self.reader = ContextReader(folder, self.tail)
        self.partial_answer = PartialAnswerFile(folder, disk, is_committed=self.reader.has_message)
        self._disk = disk
        self._journal = JournalWriter(folder.journal, disk)
        self._unrepaired: Callable[[], None] | None = None
        """Preserves and repairs what was damaged or of an older format, before the first write: readers change
        nothing."""
        self._is_written = False
        """Whether a commit was made since the context was loaded."""
        self._write_error: str | None = None
        """Why nothing may be written until the context is opened again."""
        self._has_blobs_folder = False

    @classmethod
    def load(
        cls, folder: Folder, disk: Disk, heads: AuditHeads, *, at: str, acknowledged: int | None = None
    ) -> "ContextOnDisk":
        """Load a context; only up to the version `acknowledged`, where a failed sync leaves later versions in doubt.

        Raises: NotFound, StoreDamaged.
        """
        scan = recovery.scan(folder)
        if scan.is_empty:
            raise NotFound(Code.UNKNOWN_CONTEXT, context_id=folder.path.name)
        base = scan.metadata
        if base is None and scan.metadata_error is not None:
            base = recovery.rebuild(folder, scan, at)
        loaded = cls(folder, disk, heads, base or scan.entries[0].core, base)
        loaded._note_damage(scan, base)
        loaded.tail.audit_bytes = whole_lines_size(folder.audit, loaded.tail.audit_bytes)
        loaded.tail.keys_bytes = whole_lines_size(folder.keys, loaded.tail.keys_bytes)
        for entry in scan.entries:
            if acknowledged is None or entry.version <= acknowledged:
                loaded._apply(entry)
        loaded.tail.require_branch(loaded.core.active_branch)
        if loaded.core.turn is not None:
            loaded.tail.require_branch(loaded.core.turn.branch)
        loaded.audit_state.compare(loaded.audit_snapshot())
        return loaded

    @classmethod
    def create(cls, folder: Folder, disk: Disk, heads: AuditHeads, change: Change) -> "ContextOnDisk":
        """Raises: StoreRefused, StoreReadOnly."""
        try:
            disk.make_dir(folder.path)
            disk.sync_dir(folder.path.parent)
        except OSError as error:
            raise StoreRefused.because_of(error) from error
        context = cls(folder, disk, heads, change.core)
        context.audit_state.is_new = change.core.audit.count <= 1  # an imported context comes with a longer chain
        try:
            context.commit(change, expected=0, fence=FENCE)
        except BaseException:
            context.close()
            raise
        # A noted head may reveal that a context of this id was removed outside of Pilothouse.
        context.audit_state.compare(context.audit_snapshot())
        return context

    def _note_damage(self, scan: recovery.ScanResult, base: ContextMetadata | None) -> None:
        old_format = base.format if base is not None and base.format < FORMAT else None
        if old_format is not None or scan.unreadable or scan.metadata_error is not None:
            self._unrepaired = lambda: self._repair(scan, old_format)
        try:
            self.damage = tuple(recovery.describe_damage(self.folder, scan))
        except OSError as error:
            self._write_error = os_error_text(error)
            self.damage = (Reason(Code.STORE_READ_ONLY, {"detail": self._write_error}),)

    def _repair(self, scan: recovery.ScanResult, old_format: int | None) -> None:
        """Preserve the metadata of an older format and all unreadable bytes: they may be overwritten only after they
        were copied. Raises: OSError."""
        if old_format is not None:
            data = read_regular_file(self.folder.metadata, recovery.MAX_METADATA_BYTES)
            recovery.write_aside(self.folder, self._disk, f"metadata.json.format-{old_format}", data)
        recovery.put_damage_aside(self.folder, scan, self._disk)

    def _repair_once(self) -> None:
        """Raises: StoreReadOnly; then the context must be opened again."""
        if self._unrepaired is None:
            return
        try:
            self._unrepaired()
        except OSError as error:
            self._write_error = os_error_text(error)
            raise StoreReadOnly(Code.STORE_READ_ONLY, detail=self._write_error) from error
        self._unrepaired = None

    # writing

    @property
    def needs_reopening(self) -> bool:
        return self._write_error is not None or self._journal.is_broken

    @property
    def journal_size(self) -> int:
        return self._journal.size

    def commit(self, change: Change, *, expected: int, fence: int) -> int:
        """Raises: StaleWrite, StoreRefused, StoreReadOnly, Conflict where the change accepts an audit that was modified
        since it was read."""
        if fence != FENCE:
            raise StaleWrite(Code.STALE_FENCE)
        if expected != self.version:
            raise StaleWrite(Code.STALE_VERSION, expected=expected, found=self.version)
        if self._write_error is not None:
            raise StoreReadOnly(Code.STORE_READ_ONLY, detail=self._write_error)
        self._repair_once()
        try:
            entry = self._encode(change)
        except OSError as error:
            raise StoreRefused.because_of(error) from error
        if change.accepts_audit:
            self.audit_state.accept(self.audit_snapshot(), change.audit[0].hash)
        self._journal.append(entry.version, msgspec.json.encode(entry))
        if change.accepts_audit:
            self.audit_state.confirm_acceptance()
        self._is_written = True
        self._apply(entry)
        for message in change.messages:
            self.partial_answer.forget(message.id)
        return self.version

    def _encode(self, change: Change) -> JournalEntry:
        return JournalEntry(
            version=self.version + 1,
            core=change.core,
            messages=tuple(
                self._inline_or_blob(msgspec.json.encode(message), "message_id") for message in change.messages
            ),
            branches=change.branches,
            appended=change.appended,
            calls=tuple(self._inline_or_blob(msgspec.json.encode(call), "id") for call in change.calls),
            audit=tuple(msgspec.Raw(msgspec.json.encode(entry)) for entry in change.audit),
            dropped=change.dropped,
            renamed=change.renamed,
            keys=change.keys,
        )

    def _inline_or_blob(self, data: bytes, id_field: str) -> msgspec.Raw:
        """The encoded value itself, or a stub that points to a new blob for a large value."""
        if len(data) < MIN_BLOB_BYTES:
            return msgspec.Raw(data)
        digest = sha256_hex(data)
        self._write_blob(self.folder.blob(digest), data)
        stub = _STUB.decode(data)
        return msgspec.Raw(msgspec.json.encode({id_field: getattr(stub, id_field), "turn": stub.turn, "blob": digest}))

    def _write_blob(self, path: Path, data: bytes) -> None:
        """Write a blob that does not exist yet. Acknowledged entries may point to an existing one."""
        if path.exists() and path.stat().st_size == len(data):
            self._disk.sync_dir(self.folder.blobs)
            return
        if not self._has_blobs_folder:
            self._disk.make_dir(self.folder.blobs)
            self._disk.sync_dir(self.folder.path)
            self._has_blobs_folder = True
        self._disk.replace_file(path, data)

    def _apply(self, entry: JournalEntry) -> None:
        self.core = entry.core
        self.version = entry.version
        # A branch that an unreadable line renamed still has its former name and its ids.
        missing = {new for old, new in entry.renamed.items() if old not in self.tail.branches}
        for name in entry.dropped:
            if name not in missing:
                self.tail.drop_branch(name)
        for old, new in entry.renamed.items():
            self.tail.rename_branch(old, new)
        self.tail.keys.update((sent_key.key, sent_key) for sent_key in entry.keys)
        self.reader.note_keys(entry.keys)
        for raw in entry.messages:
            self.tail.messages[MessageId(_STUB.decode(raw).message_id)] = bytes(raw)
        calls = [_STUB.decode(raw) for raw in entry.calls]
        for stub, raw in zip(calls, entry.calls, strict=True):
            self.tail.calls[CallId(stub.id)] = bytes(raw)
        for name, branch in entry.branches.items():
            self.tail.put_branch(name, branch)
        for name, ids in entry.appended.items():
            if name not in missing:
                self.tail.append_ids(name, ids)
        self.tail.audit.extend(bytes(raw) for raw in entry.audit)
        turn = entry.core.turn.id if entry.core.turn is not None else None
        self.tail.note_turn(entry.core, [CallId(stub.id) for stub in calls if stub.turn in (None, turn)])

    def checkpoint(self) -> None:
        """Write the tail into the layout and remove the journal. Raises: StoreRefused; then nothing has changed."""
        if self.needs_reopening or not self._is_written or self.version == self.tail.checkpointed:
            return
        try:
            old_segments = segments(self.folder.journal)
            self._journal.rotate()
            audit_bytes, audit_lines = self.tail.audit_bytes, tuple(self.tail.audit)
            write_checkpoint(self.folder, self._disk, self.core, self.version, self.tail)
            self.audit_state.append(audit_bytes, audit_lines)
            self.audit_state.note(self.core.audit)
            for path in old_segments:
                self._disk.unlink(path)
        except OSError as error:
            raise StoreRefused.because_of(error) from error

    def close(self) -> None:
        self._journal.rotate()
        self.partial_answer.close()

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
        """Take over the result of a read without the context's lock; check a chain again that the read found broken."""
        self.audit_state.remember(read, self.tail.audit_bytes)
        if not read.page.chain.whole and self.audit_state.is_trusted:
            self.audit_state.compare(self.audit_snapshot())

    def accept_audit(self) -> None:
        self.audit_state.accept(self.audit_snapshot())

    def stored(self) -> StoredContext:
        calls = (self.reader.call_or_none(call_id) for call_id in self.tail.turn_calls)
        return StoredContext(
            core=msgspec.structs.replace(plain_core(self.core), format=FORMAT),
            version=self.version,
            branches=dict(self.tail.branches),
            calls={call.id: call for call in calls if call is not None},
            partials=self.partial_answer.unfinished(),
            damage=(*self.damage, *self.audit_state.damage()),
        )


def plain_core(core: ContextCore) -> ContextCore:
    """The core without the other fields of a checkpoint."""
    if not isinstance(core, ContextMetadata):
        return core
    return ContextCore(**{name: getattr(core, name) for name in ContextCore.__struct_fields__})
