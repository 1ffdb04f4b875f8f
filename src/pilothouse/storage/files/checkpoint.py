"""The part of a context that is not in its files yet, and the writing of it into them.

Every file here can be written again from the journal, so none but metadata.json needs to be put in place
atomically: it is the last to be written, and says how much of the others counts.
"""

from collections.abc import Iterable, Sequence

import msgspec

from pilothouse.domain.branches import Branch, next_name
from pilothouse.domain.contexts import ContextCore, SentKey
from pilothouse.domain.values import CallId, MessageId
from pilothouse.storage.files.disk import Disk
from pilothouse.storage.files.layout import (
    ID_LINE,
    SHORT_BRANCH,
    Folder,
    Metadata,
    StoredBranch,
    digest_of,
    encode_ids,
)


class Tail:
    """`in_file` counts the ids of a long branch that lie in its file; `recent_ids` are those behind them."""

    def __init__(self) -> None:
        self.checkpointed = 0
        self.messages: dict[MessageId, bytes] = {}
        self.calls: dict[CallId, bytes] = {}
        self.audit: list[bytes] = []
        self.audit_bytes = 0
        self.keys: dict[str, SentKey] = {}
        self.keys_bytes = 0
        self.unused: list[Branch] = []
        self.branches: dict[str, Branch] = {}
        self.in_file: dict[str, int] = {}
        self.recent_ids: dict[str, list[MessageId]] = {}
        self.turn_calls: dict[CallId, None] = {}

    @classmethod
    def on(cls, metadata: Metadata | None) -> "Tail":
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
        """One that is there under another key, but is as old, got it in a line that is damaged: it keeps its list."""
        known = self.branches.get(name)
        if known is not None and known.created_at in ("", branch.created_at):
            branch = msgspec.structs.replace(branch, key=known.key)
        else:
            self.in_file[name], self.recent_ids[name] = 0, []
        length = self.in_file[name] + len(self.recent_ids[name])
        self.branches[name] = msgspec.structs.replace(branch, length=length)

    def drop_branch(self, name: str) -> None:
        if name in self.branches:
            self.unused.append(self.branches.pop(name))
            del self.in_file[name], self.recent_ids[name]

    def rename_branch(self, old: str, new: str) -> None:
        """Its list goes with it: the key is the same. One whose making cannot be read any more has none."""
        if old not in self.branches:
            return
        if new in self.branches:  # it should have gone in a line that is damaged
            self.rename_branch(new, next_name(new, self.branches))
        self.in_file[new], self.recent_ids[new] = self.in_file.pop(old), self.recent_ids.pop(old)
        self.branches[new] = msgspec.structs.replace(self.branches.pop(old), name=new)

    def append_ids(self, name: str, ids: Sequence[MessageId]) -> None:
        self.require_branch(name)
        self.recent_ids[name].extend(ids)
        branch = self.branches[name]
        self.branches[name] = msgspec.structs.replace(branch, length=branch.length + len(ids))

    def require_branch(self, name: str) -> None:
        """A branch whose making cannot be read any more is still a branch, with what is known of it."""
        if name not in self.branches:
            key = f"rebuilt-{digest_of(name.encode())[:24]}"
            self.put_branch(name, Branch(name=name, key=key, created_at=""))

    def note_turn(self, core: ContextCore, calls: Iterable[CallId]) -> None:
        """Remember which calls belong to the open turn: they are loaded with the context."""
        if core.turn is None:
            self.turn_calls.clear()
        else:
            self.turn_calls.update(dict.fromkeys(calls))


def write_checkpoint(folder: Folder, disk: Disk, core: ContextCore, version: int, tail: Tail) -> None:
    """Raises: OSError; the tail is then as before, and the journal still has everything."""
    disk.write_files({folder.message(message_id): data for message_id, data in tail.messages.items()})
    disk.write_files({folder.call(call_id): data for call_id, data in tail.calls.items()})
    audit = b"".join(line + b"\n" for line in tail.audit)
    if audit:
        disk.append_file(folder.audit, tail.audit_bytes, audit)
    keys = b"".join(msgspec.json.encode(sent) + b"\n" for sent in tail.keys.values())
    if keys:
        disk.append_file(folder.keys, tail.keys_bytes, keys)
    in_file = {name: _write_ids(folder, disk, name, tail) for name in tail.branches}
    disk.sync_dir(folder.path)  # the names of what was just made, before anything counts on them
    metadata = Metadata(
        **{name: getattr(core, name) for name in ContextCore.__struct_fields__},
        version=version,
        branches={name: _stored(tail, name, in_file[name]) for name in tail.branches},
        turn_calls=tuple(tail.turn_calls),
        audit_bytes=tail.audit_bytes + len(audit),
        keys_bytes=tail.keys_bytes + len(keys),
    )
    disk.replace_file(folder.metadata, msgspec.json.format(msgspec.json.encode(metadata), indent=1))
    _settle(tail, version, in_file, len(audit), len(keys))
    _remove_unused(folder, disk, tail)


def _remove_unused(folder: Folder, disk: Disk, tail: Tail) -> None:
    """The lists of deleted branches, now that nothing counts on them. One that stays does no harm."""
    while tail.unused:
        path = folder.ids(tail.unused.pop())
        if path.exists():
            disk.unlink(path)


def _write_ids(folder: Folder, disk: Disk, name: str, tail: Tail) -> int:
    """Move the ids of a branch that has become long into its file; gives how many lie there."""
    branch, before, recent = tail.branches[name], tail.in_file[name], tail.recent_ids[name]
    if branch.length <= SHORT_BRANCH or not recent:
        return before
    disk.make_dir(folder.branches)
    disk.append_file(folder.ids(branch), before * ID_LINE, encode_ids(recent))
    if before == 0:
        disk.sync_dir(folder.branches)
    return branch.length


def _stored(tail: Tail, name: str, in_file: int) -> StoredBranch:
    branch = tail.branches[name]
    listed = tail.recent_ids[name] if in_file < branch.length else []
    return StoredBranch(
        **{field: getattr(branch, field) for field in Branch.__struct_fields__}, message_ids=tuple(listed)
    )


def _settle(tail: Tail, version: int, in_file: dict[str, int], audit_bytes: int, keys_bytes: int) -> None:
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
