"""Export: a context as one file of JSON lines, with everything, which `importing` reads back; a branch as Markdown."""

import asyncio
import hashlib
import itertools
from collections.abc import AsyncIterator, Mapping, Sequence

import msgspec

from pilothouse.domain.audit import AuditChain, AuditEntry, chain_reason
from pilothouse.domain.branches import Branch
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Language, Reason, say
from pilothouse.domain.contexts import FORMAT, ContextCore, SentKey
from pilothouse.domain.errors import Conflict
from pilothouse.domain.markdown import Teller
from pilothouse.domain.messages import ErrorMessage, Message, ToolRequest
from pilothouse.domain.payloads import MAX_UPLOAD_BYTES
from pilothouse.domain.states import WaitingForRecovery, name_of
from pilothouse.domain.values import CallId, MessageId, Value
from pilothouse.runtime.audit_reads import note_damage, read_audit
from pilothouse.runtime.calls import records_of
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.live import Live
from pilothouse.runtime.messages import read_ids
from pilothouse.tools.uploads import StoredUpload

_AT_ONCE = 500
_TOLD_AT_ONCE = 50
MAX_EXPORTED_UPLOAD_BYTES = 32 * 1024 * 1024  # in base64 they still fit into an import, beside the messages


class _Line(Value, tag_field="type"):
    pass


class Head(_Line, tag="pilothouse_context"):
    format: int
    chain: AuditChain | None = None
    """What was wrong with the audit when the file was written."""


class CoreLine(_Line, tag="core"):
    core: ContextCore


class BranchLine(_Line, tag="branch"):
    branch: Branch
    ids: tuple[MessageId, ...]


class MessageLine(_Line, tag="message"):
    message: Message


class CallLine(_Line, tag="call"):
    call: CallRecord


class AuditLine(_Line, tag="audit"):
    entry: AuditEntry


class KeyLine(_Line, tag="key"):
    key: SentKey


class UploadLine(_Line, tag="upload"):
    name: str
    size: int
    data: bytes | None = None
    """None for one that the bound leaves out."""


class End(_Line, tag="end"):
    """`digest` is of every byte before this line: a file that was cut or changed is not taken."""

    digest: str


Line = Head | CoreLine | BranchLine | MessageLine | CallLine | AuditLine | KeyLine | UploadLine | End


async def export_context(contexts: Contexts, context_id: str) -> AsyncIterator[bytes]:
    """The file, piece by piece. Raises: NotFound, Conflict while it works, StoreError."""
    store = contexts.parts.store
    async with contexts.locked(context_id) as live:
        if not live.is_resting or isinstance(live.state, WaitingForRecovery):
            raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))
        core = msgspec.structs.replace(live.core, elevation=None)
        audit = await store.audit(live.id)
        if not audit.chain.whole:
            await note_damage(live)
        lines: list[Line] = [Head(format=FORMAT, chain=None if audit.chain.whole else audit.chain), CoreLine(core)]
        for name, branch in live.branches.items():
            lines.append(BranchLine(branch, tuple(await store.branch_ids(live.id, name))))
        message_ids = await store.message_ids(live.id)
        calls = await store.calls(live.id)
        keys = await store.sent_keys(live.id)
    lines += [*map(CallLine, calls), *map(AuditLine, audit.entries), *map(KeyLine, keys)]
    digest = hashlib.sha256()
    for line in lines:
        yield _written(line, digest)
    for start in range(0, len(message_ids), _AT_ONCE):
        for message in await store.messages(live.id, message_ids[start : start + _AT_ONCE]):
            if not _is_gap(message):
                yield _written(MessageLine(message), digest)
    async for line in _uploads(live):
        yield _written(line, digest)
    yield msgspec.json.encode(End(digest.hexdigest())) + b"\n"


async def _uploads(live: Live) -> AsyncIterator[UploadLine]:
    """The smallest first, as many as the bound allows; the others by name alone."""
    for upload, is_carried in await _exported(live):
        data = None
        if is_carried and live.uploads is not None:
            try:
                data = await asyncio.to_thread(live.uploads.read, upload.name)
            except OSError:  # it was removed meanwhile, or cannot be read
                continue
        yield UploadLine(upload.name, upload.size if data is None else len(data), data)


async def _exported(live: Live) -> list[tuple[StoredUpload, bool]]:
    """Each upload, and whether the bound lets an export carry it. A sub-agent's are its conversation's."""
    if live.uploads is None or live.above:
        return []
    uploads = sorted(await asyncio.to_thread(live.uploads.all), key=lambda each: each.size)
    ends = itertools.accumulate(upload.size for upload in uploads)
    sizes = zip(uploads, ends, strict=True)
    return [(each, end <= MAX_EXPORTED_UPLOAD_BYTES and each.size <= MAX_UPLOAD_BYTES) for each, end in sizes]


async def left_out_of_export(contexts: Contexts, context_id: str) -> tuple[Reason, ...]:
    """The uploads that an export does not carry. Raises: NotFound, StoreError."""
    uploads = await _exported(await contexts.find(context_id))
    return tuple(upload_left_out(upload.name, upload.size) for upload, is_carried in uploads if not is_carried)


def upload_left_out(name: str, size: int) -> Reason:
    return Reason(Code.UPLOAD_LEFT_OUT, {"name": name, "size": size, "limit": MAX_EXPORTED_UPLOAD_BYTES})


async def export_markdown(
    contexts: Contexts, context_id: str, *, branch: str | None = None, language: Language = "en"
) -> AsyncIterator[bytes]:
    """A branch for people to read, as it is now, piece by piece. Raises: NotFound, StoreError."""
    live = await contexts.find(context_id)
    name = branch or live.core.active_branch
    length = live.branches[name].length if name in live.branches else 0
    ids = await read_ids(contexts, context_id, name, limit=length)
    teller = Teller(language)
    yield teller.head(live.core.title, name).encode()
    chain = (await read_audit(contexts, live.id, limit=0)).chain
    if not chain.whole:
        yield f"> {say(chain_reason(chain), language)}\n\n".encode()
    for start in range(0, len(ids), _TOLD_AT_ONCE):
        messages = await contexts.parts.store.messages(live.id, ids[start : start + _TOLD_AT_ONCE])
        asked = [call.id for message in messages if isinstance(message, ToolRequest) for call in message.calls]
        records = await records_of(contexts, context_id, asked) if asked else {}
        yield await asyncio.to_thread(_told, teller, messages, records)  # long ones must not hold up others


def _told(teller: Teller, messages: Sequence[Message], records: Mapping[CallId, CallRecord]) -> bytes:
    return "".join(teller.message(message, records) for message in messages).encode()


def _written(line: Line, digest: "hashlib._Hash") -> bytes:
    data = msgspec.json.encode(line) + b"\n"
    digest.update(data)
    return data


def _is_gap(message: Message) -> bool:
    return isinstance(message, ErrorMessage) and message.reason.code is Code.MESSAGE_DAMAGED
