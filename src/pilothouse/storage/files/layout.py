"""The layout of a context's folder: the names of its files, and the types of their content.

metadata.json            core, branches (short ones with their ids), as of `version`; every default is written out
messages_pool/<id>.json  one message each, or a pointer to a blob
calls/<id>.json          one call record each, or a pointer to a blob
branches/<key>.ids       the ids of a long branch, one a line, append-only
audit.jsonl              one entry a line, append-only
keys.jsonl               the clients' keys of accepted requests, one a line, append-only
blobs/<digest>           contents over 64 KB
journal/                 commits since the checkpoint
streaming.log            deltas of an answer that is not complete
aside/                   unreadable bytes: preserved, never used
artifacts/               files beside the messages: whole outputs, uploads, contents of files before a change
"""

import hashlib
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from pilothouse.domain.branches import Branch
from pilothouse.domain.contexts import ContextCore, SentKey, is_context_id
from pilothouse.domain.states import Idle, State
from pilothouse.domain.value import CallId, MessageId, Value

MIN_BLOB_BYTES = 64 * 1024
DELETED_PREFIX = ".deleted-"
DELETED_SNAPSHOTS = DELETED_PREFIX + "snapshots"
"""The folder in the data directory for obsolete files of earlier versions, until their removal ends."""
MAX_SHORT_BRANCH_IDS = 64
ID_LINE_BYTES = 37
_ID = re.compile(rb"[0-9a-f-]{36}\n")
DAMAGED_ID = MessageId("00000000-0000-0000-0000-000000000000")
"""Replaces an unreadable id. Of an id's length, so that a list made from a damaged one keeps its lines."""
_SAFE = re.compile(r"[A-Za-z0-9_-]{1,64}")


class StoredBranch(Branch):
    """A branch in a checkpoint."""

    message_ids: tuple[MessageId, ...] = ()
    """The ids of a short branch; a long branch has `length` ids in its file."""


class ContextMetadata(ContextCore, kw_only=True):
    """A checkpoint: the core of a context, and how much of each other file counts."""

    version: int
    state: State = msgspec.field(default=Idle(), name="current_state")
    branches: Mapping[str, StoredBranch]
    turn_calls: tuple[CallId, ...] = ()
    """The calls of the open turn, in order."""
    audit_bytes: int = 0
    """How many bytes of audit.jsonl count."""
    keys_bytes: int = 0
    """How many bytes of keys.jsonl count."""


class FormerContextMetadata(ContextMetadata):
    """A checkpoint of format 4 and earlier, in which the state has another name."""

    state: State = msgspec.field(default=Idle(), name="state")


def encode_metadata(metadata: ContextMetadata) -> bytes:
    """The content of metadata.json. People and other programs read the file too, so that it leaves out no default."""
    return msgspec.json.format(msgspec.json.encode(_with_defaults(metadata)), indent=1)


def _with_defaults(value: Any) -> Any:
    """A value as plain data in which every field is present."""
    match value:
        case msgspec.Struct():
            config = value.__struct_config__
            tag = {config.tag_field: config.tag} if config.tag_field is not None else {}
            names = zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True)
            return {**tag, **{stored: _with_defaults(getattr(value, name)) for stored, name in names}}
        case Mapping():
            return {key: _with_defaults(each) for key, each in value.items()}
        case frozenset():
            return sorted(value)
        case tuple() | list():
            return [_with_defaults(each) for each in value]
        case _:
            return value


class JournalEntry(Value, kw_only=True):
    """A journal line: a Change with its messages, calls and audit already encoded."""

    version: int
    core: ContextCore
    messages: tuple[msgspec.Raw, ...] = ()
    branches: Mapping[str, Branch] = {}
    appended: Mapping[str, tuple[MessageId, ...]] = {}
    calls: tuple[msgspec.Raw, ...] = ()
    audit: tuple[msgspec.Raw, ...] = ()
    dropped: tuple[str, ...] = ()
    renamed: Mapping[str, str] = {}
    keys: tuple[SentKey, ...] = ()


class Stub(msgspec.Struct):
    """The fields of an encoded message or call that the store needs."""

    message_id: str = ""
    id: str = ""
    turn: str | None = None
    blob: str | None = None
    """The digest of the blob that holds the value; None for a value that the file itself holds."""


class Folder:
    """The paths of one context, each made when first needed: a list of thousands of contexts needs two of each."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def metadata(self) -> Path:
        return self.path / "metadata.json"

    @cached_property
    def pool(self) -> Path:
        return self.path / "messages_pool"

    @cached_property
    def calls(self) -> Path:
        return self.path / "calls"

    @cached_property
    def branches(self) -> Path:
        return self.path / "branches"

    @cached_property
    def audit(self) -> Path:
        return self.path / "audit.jsonl"

    @cached_property
    def keys(self) -> Path:
        return self.path / "keys.jsonl"

    @cached_property
    def blobs(self) -> Path:
        return self.path / "blobs"

    @cached_property
    def journal(self) -> Path:
        return self.path / "journal"

    @cached_property
    def streaming(self) -> Path:
        return self.path / "streaming.log"

    @cached_property
    def aside(self) -> Path:
        return self.path / "aside"

    @cached_property
    def artifacts(self) -> Path:
        return self.path / "artifacts"

    def message(self, message_id: str) -> Path:
        return self.pool / f"{_safe(message_id)}.json"

    def call(self, call_id: str) -> Path:
        return self.calls / f"{_safe(call_id)}.json"

    def blob(self, digest: str) -> Path:
        return self.blobs / _safe(digest)

    def ids(self, branch: Branch) -> Path:
        return self.branches / f"{_safe(branch.key)}.ids"


def is_data_directory(folder: Path) -> bool:
    """Whether a store was opened in a folder before. Nothing may be deleted from any other folder: a person may have
    named it by mistake, and its files are theirs."""
    return (folder / "contexts").is_dir() and (folder / "lock").is_file()


def deleted_folders(data: Path) -> list[Path]:
    """The folders of a data directory whose deletion has begun. Only names that the program gives are listed."""
    contexts = (path for path in _folders(data / "contexts") if path.name.startswith(DELETED_PREFIX))
    return [
        *(path for path in _folders(data) if path.name == DELETED_SNAPSHOTS),
        *(path for path in contexts if is_context_id(path.name.removeprefix(DELETED_PREFIX))),
    ]


def _folders(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_dir() and not path.is_symlink()] if folder.is_dir() else []


def is_safe(name: str) -> bool:
    return _SAFE.fullmatch(name) is not None


def _safe(name: str) -> str:
    """Check a name from a caller or a file: no name may lead out of its folder. Raises: ValueError."""
    if not is_safe(name):
        raise ValueError(f"{name!r} is no id")
    return name


def sha256_hex(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def encode_ids(ids: list[MessageId]) -> bytes:
    return "".join(f"{message_id}\n" for message_id in ids).encode()


def decode_ids(data: bytes) -> list[MessageId]:
    """Decode a file of ids. An unreadable line becomes DAMAGED_ID, so that the other ids keep their places."""
    lines = (data[start : start + ID_LINE_BYTES] for start in range(0, len(data), ID_LINE_BYTES))
    return [MessageId(line[:-1].decode()) if _ID.fullmatch(line) else DAMAGED_ID for line in lines]
