"""Recovery of a context's folder: reading torn or damaged files, and putting damaged bytes aside."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import msgspec

from pilothouse.domain.audit import AuditHead
from pilothouse.domain.branches import MAIN
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import FORMAT, ContextCore
from pilothouse.domain.errors import StoreDamaged
from pilothouse.domain.messages import Metadata as MessageMetadata
from pilothouse.domain.modes import DEFAULT_MODE
from pilothouse.domain.rules import MAX_RULES_PER_CONTEXT
from pilothouse.domain.states import Failed
from pilothouse.domain.users import LOCAL
from pilothouse.domain.value import ContextId, MessageId
from pilothouse.storage.files.audit_chain import entry_or_none, iterate_lines, whole_lines_size
from pilothouse.storage.files.disk import Disk
from pilothouse.storage.files.journal import first_version, read_lines, segments
from pilothouse.storage.files.layout import (
    ID_LINE_BYTES,
    ContextMetadata,
    Folder,
    FormerContextMetadata,
    JournalEntry,
    StoredBranch,
    Stub,
    is_safe,
)
from pilothouse.storage.files.regular_files import read_regular_file
from pilothouse.system.regular_file import open_regular_file

_METADATA = msgspec.json.Decoder(ContextMetadata)
_FORMER_METADATA = msgspec.json.Decoder(FormerContextMetadata)
_ENTRY = msgspec.json.Decoder(JournalEntry)
_STUB = msgspec.json.Decoder(Stub)
_UNFINISHED = re.compile(rb"[0-9a-f]{0,8}( (\{[^\0\n]*)?)?")


MAX_METADATA_BYTES = 64 * 1024 * 1024
MAX_SEGMENT_BYTES = 512 * 1024 * 1024
MAX_RULES = 10 * MAX_RULES_PER_CONTEXT
MAX_STORED_NUMBER = 10**11
"""The largest count or size in a checkpoint: names of journal segments have twelve digits."""
MAX_MISSING_IDS = 100_000
"""How many ids of a branch may be missing in its file. Each is reported separately."""
_MAX_COPIES = 1000
_MAX_MODE_MESSAGES = 20


class UnreadableBytes(msgspec.Struct):
    """Consecutive lines of a journal segment that cannot be read."""

    path: Path
    start: int
    data: bytes
    is_tail: bool
    """Whether the lines are a torn tail of the segment; otherwise they are a gap."""


class ScanResult(msgspec.Struct):
    """The content of a folder."""

    metadata: ContextMetadata | None
    """The checkpoint."""
    entries: list[JournalEntry]
    """The commits since the checkpoint."""
    unreadable: list[UnreadableBytes]
    metadata_error: str | None = None

    @property
    def is_empty(self) -> bool:
        return self.metadata is None and not self.entries and self.metadata_error is None


class _FormatOnly(msgspec.Struct):
    format: int = 1
    current_state: Any = None
    """None in format 4 and earlier."""


def scan(folder: Folder) -> ScanResult:
    """Read the checkpoint and the journal.

    Raises: StoreDamaged for a newer format; such a folder is not changed.
    """
    scan_result = ScanResult(metadata=None, entries=[], unreadable=[])
    _read_metadata(folder, scan_result)
    by_version: dict[int, JournalEntry] = {}
    for path in segments(folder.journal):
        entries = _read_segment(path, scan_result.unreadable)
        if first_version(path) in by_version or entries:
            # A later segment begins where the earlier one was abandoned: lines beyond were never acknowledged.
            first = first_version(path)
            by_version = {version: entry for version, entry in by_version.items() if version < first}
        by_version.update((entry.version, entry) for entry in entries)
    base = scan_result.metadata.version if scan_result.metadata else 0
    scan_result.entries = [by_version[version] for version in sorted(by_version) if version > base]
    if (
        scan_result.metadata is None
        and scan_result.metadata_error is None
        and _beginning_is_missing(folder, scan_result)
    ):
        scan_result.metadata_error = "the file is missing"
    return scan_result


def _beginning_is_missing(folder: Folder, scan_result: ScanResult) -> bool:
    """Whether the folder's first commits are lost. An unfinished first line was never acknowledged."""
    if scan_result.entries:
        return scan_result.entries[0].version > 1
    unfinished = len(scan_result.unreadable) == 1 and _UNFINISHED.fullmatch(scan_result.unreadable[0].data) is not None
    return (bool(scan_result.unreadable) and not unfinished) or (folder.pool.is_dir() and any(folder.pool.iterdir()))


def _read_metadata(folder: Folder, scan_result: ScanResult) -> None:
    try:
        data = read_regular_file(folder.metadata, MAX_METADATA_BYTES)
    except FileNotFoundError:
        return
    except OSError as error:
        scan_result.metadata_error = str(error)
        return
    try:
        stored = msgspec.json.decode(data, type=_FormatOnly)
        if stored.format > FORMAT:
            raise StoreDamaged(Code.FORMAT_TOO_NEW, context_id=folder.path.name, format=stored.format, known=FORMAT)
        scan_result.metadata = (_METADATA if stored.current_state is not None else _FORMER_METADATA).decode(data)
        scan_result.metadata_error = _implausible_number(folder, scan_result.metadata)
        if scan_result.metadata_error is not None:
            scan_result.metadata = None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        scan_result.metadata_error = str(error)


def _implausible_number(folder: Folder, metadata: ContextMetadata) -> str | None:
    """An error for numbers that no valid checkpoint contains. The numbers decide how much is read, and how long files
    become: a forged checkpoint must not cost more than its own size."""
    sizes = (metadata.version, metadata.audit_bytes, metadata.keys_bytes)
    lengths = {branch.key: branch.length for branch in metadata.branches.values()}
    if not all(0 <= size <= MAX_STORED_NUMBER for size in (*sizes, *lengths.values())):
        return "it contains an impossible number"
    if len(metadata.rules) > MAX_RULES:
        return f"it contains {len(metadata.rules)} rules, and at most {MAX_RULES} are allowed"
    for branch in metadata.branches.values():
        ids = _size_of(folder.ids(branch)) // ID_LINE_BYTES if is_safe(branch.key) else 0
        if branch.length > len(branch.message_ids) + ids + MAX_MISSING_IDS:
            return f"it counts {branch.length} messages, but there are {len(branch.message_ids) + ids}"
    return None


def _size_of(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _read_segment(path: Path, unreadable: list[UnreadableBytes]) -> list[JournalEntry]:
    try:
        data = read_regular_file(path, MAX_SEGMENT_BYTES)
    except OSError as error:
        context_id = path.parent.parent.name
        raise StoreDamaged(Code.CONTEXT_DAMAGED, context_id=context_id, detail=str(error)) from error
    entries: list[JournalEntry] = []
    gap: tuple[int, int] | None = None
    for start, end, payload in read_lines(data):
        entry = None if payload is None else _decode_entry(path, payload)
        if entry is None:
            gap = (gap[0] if gap else start, end)
            continue
        if gap:
            unreadable.append(UnreadableBytes(path, gap[0], data[slice(*gap)], is_tail=False))
            gap = None
        entries.append(entry)
    if gap:
        unreadable.append(UnreadableBytes(path, gap[0], data[slice(*gap)], is_tail=True))
    return entries


def _decode_entry(path: Path, payload: bytes) -> JournalEntry:
    """Raises: StoreDamaged. An undecodable line with a valid checksum was written by a newer version."""
    context_id = path.parent.parent.name
    try:
        entry = _ENTRY.decode(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoreDamaged(Code.FORMAT_TOO_NEW, context_id=context_id, format=str(error), known=FORMAT) from error
    if len(entry.core.rules) > MAX_RULES or not 0 < entry.version <= MAX_STORED_NUMBER:
        detail = f"its journal contains {len(entry.core.rules)} rules, and at most {MAX_RULES} are allowed"
        raise StoreDamaged(Code.CONTEXT_DAMAGED, context_id=context_id, detail=detail)
    return entry


def describe_damage(folder: Folder, scan_result: ScanResult) -> list[Reason]:
    """The damage to report, with the places where `put_damage_aside` will put the bytes. Raises: OSError."""
    damage = []
    for part in scan_result.unreadable:
        code = Code.TAIL_CUT if part.is_tail else Code.JOURNAL_GAP
        place = _place_aside(folder, _name_aside(part), part.data)
        damage.append(Reason(code, {"size": len(part.data), "kept": f"aside/{place.name}"}))
    if scan_result.metadata_error is not None:
        has_metadata = os.path.lexists(folder.metadata)
        copy = f"aside/{_metadata_aside(folder)[0].name}" if has_metadata else "-"
        damage.append(Reason(Code.METADATA_REBUILT, {"detail": scan_result.metadata_error, "kept": copy}))
    return damage


def put_damage_aside(folder: Folder, scan_result: ScanResult, disk: Disk) -> None:
    """Copy all unreadable bytes aside, then cut torn tails off. Raises: OSError; then nothing was cut."""
    for part in scan_result.unreadable:
        write_aside(folder, disk, _name_aside(part), part.data)
        if part.is_tail:
            disk.cut_file(part.path, part.start)
    if scan_result.metadata_error is not None and os.path.lexists(folder.metadata):
        place, data = _metadata_aside(folder)
        disk.make_dir(folder.aside)
        if data is None:
            disk.rename(folder.metadata, place)
        else:
            _write_once(place, data, disk)


def _name_aside(part: UnreadableBytes) -> str:
    return f"{part.path.name}-{part.start}"


def _metadata_aside(folder: Folder) -> tuple[Path, bytes | None]:
    """The place for unreadable metadata, and its bytes. A link, a pipe or a file that is too long is moved there
    without being read."""
    try:
        data = read_regular_file(folder.metadata, MAX_METADATA_BYTES)
    except OSError:
        return folder.aside / f"metadata.json.inode-{folder.metadata.lstat().st_ino}", None
    return _place_aside(folder, "metadata.json", data), data


def write_aside(folder: Folder, disk: Disk, name: str, data: bytes) -> str:
    """Write a copy of damaged bytes into the folder `aside`; returns the copy's path there. Raises: OSError."""
    disk.make_dir(folder.aside)
    place = _place_aside(folder, name, data)
    _write_once(place, data, disk)
    return f"aside/{place.name}"


def _write_once(path: Path, data: bytes, disk: Disk) -> None:
    if not path.exists():
        disk.write_file(path, data)
        disk.sync_dir(path.parent)


def _place_aside(folder: Folder, name: str, data: bytes) -> Path:
    """The place of a copy in the folder `aside`: that of an equal copy, or a free one. Raises: OSError."""
    for attempt in range(_MAX_COPIES):
        path = folder.aside / f"{name}.{attempt}"
        if not path.exists() or read_regular_file(path, len(data)) == data:
            return path
    raise OSError(f"there are too many damaged copies of {name}")


def rebuild(folder: Folder, scan_result: ScanResult, at: str) -> ContextMetadata:
    """A checkpoint rebuilt from the messages alone, for an unreadable one."""
    in_journal = {_STUB.decode(raw).message_id for entry in scan_result.entries for raw in entry.messages}
    in_pool = (
        {path.stem for path in folder.pool.glob("*.json") if is_safe(path.stem)} if folder.pool.is_dir() else set()
    )
    ids = sorted(in_pool - in_journal)
    audit_bytes, audit_end = _audit_before(folder, scan_result)
    reason = Reason(Code.CONTEXT_DAMAGED, {"context_id": folder.path.name, "detail": scan_result.metadata_error})
    core = ContextCore(
        context_id=ContextId(folder.path.name),
        format=FORMAT,
        owner=folder.path.name.partition("~")[2] or LOCAL,
        created_at=at,
        updated_at=at,
        state=Failed(error_message=reason, failed_at=at),
        mode=_last_mode(folder, ids),
        audit=audit_end,
    )
    branch = StoredBranch(name=MAIN, key=MAIN, created_at=at, length=len(ids), message_ids=tuple(map(MessageId, ids)))
    return ContextMetadata(
        **{name: getattr(core, name) for name in core.__struct_fields__},
        version=scan_result.entries[0].version - 1 if scan_result.entries else len(ids) + 1,
        branches={MAIN: branch},
        audit_bytes=audit_bytes,
        keys_bytes=whole_lines_size(folder.keys, sys.maxsize),
    )


def _audit_before(folder: Folder, scan_result: ScanResult) -> tuple[int, AuditHead]:
    """The size of the audit's file before the entries in the journal, and the head that the journal continues."""
    in_journal = [_SEQUENCE.decode(raw).sequence for entry in scan_result.entries for raw in entry.audit]
    size, last = 0, b""
    try:
        file = open_regular_file(folder.audit)
    except FileNotFoundError:
        return 0, AuditHead()
    with file:
        for line in iterate_lines(file, sys.maxsize):
            try:
                if in_journal and _SEQUENCE.decode(line).sequence >= in_journal[0]:
                    break
            except msgspec.MsgspecError:
                pass
            size += len(line)
            last = line
    entry = entry_or_none(last)
    return size, AuditHead(count=entry.sequence, hash=entry.hash) if entry is not None else AuditHead()


class _SequenceOnly(msgspec.Struct):
    sequence: int = 0


_SEQUENCE = msgspec.json.Decoder(_SequenceOnly)


class _ModeOnly(msgspec.Struct):
    metadata: MessageMetadata = MessageMetadata()


_MODE = msgspec.json.Decoder(_ModeOnly)


def _last_mode(folder: Folder, ids: list[str]) -> str:
    for message_id in reversed(ids[-_MAX_MODE_MESSAGES:]):
        try:
            mode = _MODE.decode(read_regular_file(folder.message(message_id), MAX_METADATA_BYTES)).metadata.mode
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            continue
        if mode is not None:
            return mode
    return DEFAULT_MODE
