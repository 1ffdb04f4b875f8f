"""Reading a folder that may be torn or damaged, without changing it; and putting damaged bytes aside."""

import os
import re
import sys
from pathlib import Path

import msgspec

from pilothouse.domain.audit import AuditHead
from pilothouse.domain.branches import MAIN
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import FORMAT, ContextCore
from pilothouse.domain.errors import StoreDamaged
from pilothouse.domain.messages import Metadata as MessageMetadata
from pilothouse.domain.modes import DEFAULT_MODE
from pilothouse.domain.rules import RULES_PER_CONTEXT
from pilothouse.domain.states import Failed
from pilothouse.domain.users import LOCAL
from pilothouse.domain.values import ContextId, MessageId
from pilothouse.regular_file import open_regular_file
from pilothouse.storage.files.audit_chain import entry_or_none, lines_of, whole_lines
from pilothouse.storage.files.disk import Disk
from pilothouse.storage.files.journal import first_version, read_lines, segments
from pilothouse.storage.files.layout import ID_LINE, Entry, Folder, Metadata, StoredBranch, Stub, is_safe
from pilothouse.storage.files.regular_files import read_regular_file

_METADATA = msgspec.json.Decoder(Metadata)
_ENTRY = msgspec.json.Decoder(Entry)
_STUB = msgspec.json.Decoder(Stub)
_UNFINISHED = re.compile(rb"[0-9a-f]{0,8}( (\{[^\0\n]*)?)?")


MAX_METADATA_BYTES = 64 * 1024 * 1024
MAX_SEGMENT_BYTES = 512 * 1024 * 1024
MAX_RULES = 10 * RULES_PER_CONTEXT
MAX_CLAIM = 10**11
"""No count and no size in a checkpoint is larger: names of journal segments have twelve digits."""
MAX_MISSING_IDS = 100_000
"""As many ids of a branch may be missing in its file. They are told one by one."""


class BadStretch(msgspec.Struct):
    """Bytes that cannot be read. At the end of a segment they are a torn tail, else a gap."""

    path: Path
    start: int
    data: bytes
    is_tail: bool


class Found(msgspec.Struct):
    """What a folder holds: the checkpoint, the commits since, and what could not be read."""

    metadata: Metadata | None
    entries: list[Entry]
    bad: list[BadStretch]
    metadata_error: str | None = None

    @property
    def is_empty(self) -> bool:
        return self.metadata is None and not self.entries and self.metadata_error is None


class _FormatOnly(msgspec.Struct):
    format: int = 1


def scan(folder: Folder) -> Found:
    """Read the checkpoint and the journal.

    Raises: StoreDamaged for a format that is newer than ours; such a folder is left alone.
    """
    found = Found(metadata=None, entries=[], bad=[])
    _read_metadata(folder, found)
    by_version: dict[int, Entry] = {}
    for path in segments(folder.journal):
        entries = _read_segment(path, found.bad)
        if first_version(path) in by_version or entries:
            # A later segment begins where the earlier one was given up: what lies beyond was never acknowledged.
            first = first_version(path)
            by_version = {version: entry for version, entry in by_version.items() if version < first}
        by_version.update((entry.version, entry) for entry in entries)
    base = found.metadata.version if found.metadata else 0
    found.entries = [by_version[version] for version in sorted(by_version) if version > base]
    if found.metadata is None and found.metadata_error is None and _beginning_is_missing(folder, found):
        found.metadata_error = "it is missing"
    return found


def _beginning_is_missing(folder: Folder, found: Found) -> bool:
    """Whether there was more than is left. A first line that was never finished was never acknowledged."""
    if found.entries:
        return found.entries[0].version > 1
    unfinished = len(found.bad) == 1 and _UNFINISHED.fullmatch(found.bad[0].data) is not None
    return (bool(found.bad) and not unfinished) or (folder.pool.is_dir() and any(folder.pool.iterdir()))


def _read_metadata(folder: Folder, found: Found) -> None:
    try:
        data = read_regular_file(folder.metadata, MAX_METADATA_BYTES)
    except FileNotFoundError:
        return
    except OSError as error:
        found.metadata_error = str(error)
        return
    try:
        newer = msgspec.json.decode(data, type=_FormatOnly).format
        if newer > FORMAT:
            raise StoreDamaged(Code.FORMAT_TOO_NEW, context_id=folder.path.name, format=newer, known=FORMAT)
        found.metadata = _METADATA.decode(data)
        found.metadata_error = _impossible_claim(folder, found.metadata)
        if found.metadata_error is not None:
            found.metadata = None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        found.metadata_error = str(error)


def _impossible_claim(folder: Folder, metadata: Metadata) -> str | None:
    """What a checkpoint says that no checkpoint of ours can say. Numbers in it decide how much is read, and how long
    files become: a forged one must not cost more than the file that holds it."""
    sizes = (metadata.version, metadata.audit_bytes, metadata.keys_bytes)
    lengths = {branch.key: branch.length for branch in metadata.branches.values()}
    if not all(0 <= size <= MAX_CLAIM for size in (*sizes, *lengths.values())):
        return "it holds a number that cannot be"
    if len(metadata.rules) > MAX_RULES:
        return f"it holds {len(metadata.rules)} rules, of {MAX_RULES} at most"
    for branch in metadata.branches.values():
        ids = _size_of(folder.ids(branch)) // ID_LINE if is_safe(branch.key) else 0
        if branch.length > len(branch.message_ids) + ids + MAX_MISSING_IDS:
            return f"it claims {branch.length} messages, of which there are {len(branch.message_ids) + ids}"
    return None


def _size_of(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _read_segment(path: Path, bad: list[BadStretch]) -> list[Entry]:
    try:
        data = read_regular_file(path, MAX_SEGMENT_BYTES)
    except OSError as error:
        context_id = path.parent.parent.name
        raise StoreDamaged(Code.CONTEXT_DAMAGED, context_id=context_id, detail=str(error)) from error
    entries: list[Entry] = []
    stretch: tuple[int, int] | None = None
    for start, end, payload in read_lines(data):
        entry = None if payload is None else _entry(path, payload)
        if entry is None:
            stretch = (stretch[0] if stretch else start, end)
            continue
        if stretch:
            bad.append(BadStretch(path, stretch[0], data[slice(*stretch)], is_tail=False))
            stretch = None
        entries.append(entry)
    if stretch:
        bad.append(BadStretch(path, stretch[0], data[slice(*stretch)], is_tail=True))
    return entries


def _entry(path: Path, payload: bytes) -> Entry:
    """A line whose checksum is right but that we do not understand was written by someone newer."""
    context_id = path.parent.parent.name
    try:
        entry = _ENTRY.decode(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoreDamaged(Code.FORMAT_TOO_NEW, context_id=context_id, format=str(error), known=FORMAT) from error
    if len(entry.core.rules) > MAX_RULES or not 0 < entry.version <= MAX_CLAIM:
        detail = f"a line of its journal holds {len(entry.core.rules)} rules, of {MAX_RULES} at most"
        raise StoreDamaged(Code.CONTEXT_DAMAGED, context_id=context_id, detail=detail)
    return entry


def put_aside(folder: Folder, found: Found, disk: Disk) -> list[Reason]:
    """Keep every byte that could not be read, then cut torn tails off. Gives what is to be told.

    Raises: OSError; then nothing was cut.
    """
    told = []
    for stretch in found.bad:
        kept = keep(folder, disk, f"{stretch.path.name}-{stretch.start}", stretch.data)
        if stretch.is_tail:
            disk.cut_file(stretch.path, stretch.start)
        code = Code.TAIL_CUT if stretch.is_tail else Code.JOURNAL_GAP
        told.append(Reason(code, {"size": len(stretch.data), "kept": kept}))
    if found.metadata_error is not None:
        kept = "-"
        if os.path.lexists(folder.metadata):
            kept = _keep_metadata(folder, disk)
        told.append(Reason(Code.METADATA_REBUILT, {"detail": found.metadata_error, "kept": kept}))
    return told


def _keep_metadata(folder: Folder, disk: Disk) -> str:
    """Raises: OSError. A link, a pipe or a file that is too long is moved aside as it is: nobody reads it."""
    try:
        return keep(folder, disk, "metadata.json", read_regular_file(folder.metadata, MAX_METADATA_BYTES))
    except OSError:
        disk.make_dir(folder.aside)
        target = folder.aside / f"metadata.json.{os.urandom(4).hex()}"
        disk.rename(folder.metadata, target)
        return f"aside/{target.name}"


def keep(folder: Folder, disk: Disk, name: str, data: bytes) -> str:
    disk.make_dir(folder.aside)
    for attempt in range(1000):
        path = folder.aside / f"{name}.{attempt}"
        if not path.exists():
            disk.write_file(path, data)
            disk.sync_dir(folder.aside)
            break
        if read_regular_file(path, len(data)) == data:
            break
    else:
        raise OSError(f"there are too many damaged copies of {name}")
    return f"aside/{path.name}"


def rebuild(folder: Folder, found: Found, at: str) -> Metadata:
    """A checkpoint made from the messages alone, when its file cannot be read."""
    in_journal = {_STUB.decode(raw).message_id for entry in found.entries for raw in entry.messages}
    in_pool = (
        {path.stem for path in folder.pool.glob("*.json") if is_safe(path.stem)} if folder.pool.is_dir() else set()
    )
    ids = sorted(in_pool - in_journal)
    audit_bytes, audit_end = _audit_before(folder, found)
    reason = Reason(Code.CONTEXT_DAMAGED, {"context_id": folder.path.name, "detail": found.metadata_error})
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
    return Metadata(
        **{name: getattr(core, name) for name in core.__struct_fields__},
        version=found.entries[0].version - 1 if found.entries else len(ids) + 1,
        branches={MAIN: branch},
        audit_bytes=audit_bytes,
        keys_bytes=whole_lines(folder.keys, sys.maxsize),
    )


def _audit_before(folder: Folder, found: Found) -> tuple[int, AuditHead]:
    """How much of the audit's file comes before what the journal holds, and the end that the journal goes on from."""
    in_journal = [_SEQUENCE.decode(raw).sequence for entry in found.entries for raw in entry.audit]
    size, last = 0, b""
    try:
        file = open_regular_file(folder.audit)
    except FileNotFoundError:
        return 0, AuditHead()
    with file:
        for line in lines_of(file, sys.maxsize):
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
    for message_id in reversed(ids[-20:]):
        try:
            mode = _MODE.decode(read_regular_file(folder.message(message_id), MAX_METADATA_BYTES)).metadata.mode
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            continue
        if mode is not None:
            return mode
    return DEFAULT_MODE
