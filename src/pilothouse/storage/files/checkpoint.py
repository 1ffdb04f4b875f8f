"""Checkpoints: the part of a context that is only in the journal, and writing it into the context's files."""

# Every file can be written again from the journal, so only metadata.json is replaced atomically: it is written last,
# and says how much of each other file counts.

from collections.abc import Iterable, Sequence

import msgspec

from pilothouse.domain.branches import Branch, next_name
from pilothouse.domain.contexts import ContextCore, SentKey
from pilothouse.domain.value import CallId, MessageId
from pilothouse.storage.files.disk import Disk
from pilothouse.storage.files.layout import (
    ID_LINE_BYTES,
    MAX_SHORT_BRANCH_IDS,
    ContextMetadata,
    Folder,
    StoredBranch,
    encode_ids,
    encode_metadata,
    sha256_hex,
)


class Tail:
    """The part of a context since its last checkpoint."""

    def __init__(self) -> None:
        self.checkpointed = 0
        """The version of the last checkpoint."""
        self.messages: dict[MessageId, bytes] = {}
        self.calls: dict[CallId, bytes] = {}
        self.audit: list[bytes] = []
        self.audit_bytes = 0
        self.keys: dict[str, SentKey] = {}
        self.keys_bytes = 0
        self.deleted: list[Branch] = []
        """Deleted branches whose files still exist."""
        self.branches: dict[str, Branch] = {}
        self.in_file: dict[str, int] = {}
        """How many ids of a long branch lie in its file."""
        self.recent_ids: dict[str, list[MessageId]] = {}
        """The ids of each branch behind those in its file."""
        self.turn_calls: dict[CallId, None] = {}
        """The calls of the open turn, in order."""

    @classmethod
    def on(cls, metadata: ContextMetadata | None) -> "Tail":
        """An empty tail behind a checkpoint."""
        tail = cls()
        if metadata is None:
            return tail
        tail.checkpointed = metadata.version
        tail.audit_bytes = metadata.audit_bytes
        tail.keys_bytes = metadata.keys_bytes
        tail.turn_calls = dict.fromkeys(metadata.turn_calls)
        for name, stored in metadata.branches.items():
            fields = {field: getattr(stored, field) for field in Branch.__struct_fields__}
            tail.branches[name] = Branch(**fields)
            tail.in_file[name] = stored.length - len(stored.message_ids)
            tail.recent_ids[name] = list(stored.message_ids)
        return tail

    def put_branch(self, name: str, branch: Branch) -> None:
        """Create or replace a branch. An existing branch of the same age under another key was created in a damaged
        line, and keeps its ids."""
        existing = self.branches.get(name)
        if existing is not None and existing.created_at in ("", branch.created_at):
            branch = msgspec.structs.replace(branch, key=existing.key)
        else:
            self.in_file[name], self.recent_ids[name] = 0, []
        length = self.in_file[name] + len(self.recent_ids[name])
        self.branches[name] = msgspec.structs.replace(branch, length=length)

    def drop_branch(self, name: str) -> None:
        if name in self.branches:
            self.deleted.append(self.branches.pop(name))
            del self.in_file[name], self.recent_ids[name]

    def rename_branch(self, old: str, new: str) -> None:
        """Rename a branch, which keeps its key and thereby its file. A branch whose creation is in a damaged line is
        missing."""
        if old not in self.branches:
            return
        if new in self.branches:  # a damaged line should have deleted this branch
            self.rename_branch(new, next_name(new, self.branches))
        self.in_file[new], self.recent_ids[new] = self.in_file.pop(old), self.recent_ids.pop(old)
        self.branches[new] = msgspec.structs.replace(self.branches.pop(old), name=new)

    def append_ids(self, name: str, ids: Sequence[MessageId]) -> None:
        self.require_branch(name)
        self.recent_ids[name].extend(ids)
        branch = self.branches[name]
        self.branches[name] = msgspec.structs.replace(branch, length=branch.length + len(ids))

    def require_branch(self, name: str) -> None:
        """Create a branch that is missing because its creation is in a damaged line."""
        if name not in self.branches:
            key = f"rebuilt-{sha256_hex(name.encode())[:24]}"
            self.put_branch(name, Branch(name=name, key=key, created_at=""))

    def note_turn(self, core: ContextCore, calls: Iterable[CallId]) -> None:
        """Record the calls of the open turn, which are loaded with the context."""
        if core.turn is None:
            self.turn_calls.clear()
        else:
            self.turn_calls.update(dict.fromkeys(calls))


def write_checkpoint(folder: Folder, disk: Disk, core: ContextCore, version: int, tail: Tail) -> None:
    """Raises: OSError; then the tail is unchanged, and the journal is still complete."""
    disk.write_files({folder.message(message_id): data for message_id, data in tail.messages.items()})
    disk.write_files({folder.call(call_id): data for call_id, data in tail.calls.items()})
    audit = b"".join(line + b"\n" for line in tail.audit)
    if audit:
        disk.append_file(folder.audit, tail.audit_bytes, audit)
    keys = b"".join(msgspec.json.encode(sent_key) + b"\n" for sent_key in tail.keys.values())
    if keys:
        disk.append_file(folder.keys, tail.keys_bytes, keys)
    in_file = {name: _write_ids(folder, disk, name, tail) for name in tail.branches}
    disk.sync_dir(folder.path)  # the names of new files must be durable before metadata.json relies on them
    metadata = ContextMetadata(
        **{name: getattr(core, name) for name in ContextCore.__struct_fields__},
        version=version,
        branches={name: _stored(tail, name, in_file[name]) for name in tail.branches},
        turn_calls=tuple(tail.turn_calls),
        audit_bytes=tail.audit_bytes + len(audit),
        keys_bytes=tail.keys_bytes + len(keys),
    )
    disk.replace_file(folder.metadata, encode_metadata(metadata))
    _reset_tail(tail, version, in_file, len(audit), len(keys))
    _remove_deleted(folder, disk, tail)


def _remove_deleted(folder: Folder, disk: Disk, tail: Tail) -> None:
    """Remove the files of deleted branches, to which no metadata refers any more. A remaining file is harmless."""
    while tail.deleted:
        path = folder.ids(tail.deleted.pop())
        if path.exists():
            disk.unlink(path)


def _write_ids(folder: Folder, disk: Disk, name: str, tail: Tail) -> int:
    """Move the recent ids of a long branch into its file; returns how many ids the file then has."""
    branch, before, recent = tail.branches[name], tail.in_file[name], tail.recent_ids[name]
    if branch.length <= MAX_SHORT_BRANCH_IDS or not recent:
        return before
    disk.make_dir(folder.branches)
    disk.append_file(folder.ids(branch), before * ID_LINE_BYTES, encode_ids(recent))
    if before == 0:
        disk.sync_dir(folder.branches)
    return branch.length


def _stored(tail: Tail, name: str, in_file: int) -> StoredBranch:
    branch = tail.branches[name]
    inline_ids = tail.recent_ids[name] if in_file < branch.length else []
    return StoredBranch(
        **{field: getattr(branch, field) for field in Branch.__struct_fields__}, message_ids=tuple(inline_ids)
    )


def _reset_tail(tail: Tail, version: int, in_file: dict[str, int], audit_bytes: int, keys_bytes: int) -> None:
    tail.checkpointed = version
    tail.messages.clear()
    tail.calls.clear()
    tail.audit.clear()
    tail.audit_bytes += audit_bytes
    tail.keys.clear()
    tail.keys_bytes += keys_bytes
    for name, count in in_file.items():
        if count == tail.branches[name].length and count > 0 and count != tail.in_file[name]:
            tail.recent_ids[name] = []
        tail.in_file[name] = count
