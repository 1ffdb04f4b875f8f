"""Export: a whole context as a file of JSON lines, which `context_import` reads; a branch as Markdown."""

import asyncio
import hashlib
import itertools
from collections.abc import AsyncIterator, Mapping, Sequence

import msgspec

from pilothouse.domain.audit import AuditChain, AuditEntry, chain_reason
from pilothouse.domain.branches import Branch
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Language, Reason
from pilothouse.domain.contexts import FORMAT, ContextCore, SentKey
from pilothouse.domain.errors import Conflict
from pilothouse.domain.messages import ErrorMessage, Message, ToolRequest
from pilothouse.domain.payloads import MAX_UPLOAD_BYTES
from pilothouse.domain.states import WaitingForRecovery, name_of
from pilothouse.domain.value import CallId, MessageId, Value
from pilothouse.i18n import translate
from pilothouse.i18n.markdown import MarkdownWriter
from pilothouse.runtime.commands.audit import note_damage, read_audit
from pilothouse.runtime.commands.calls import CallCommands
from pilothouse.runtime.commands.command_group import CommandGroup
from pilothouse.runtime.commands.messages import MessageCommands
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.request.builder import make_system_prompt
from pilothouse.storage.base import READ_BATCH_MESSAGES
from pilothouse.tools.uploads import StoredUpload

_MARKDOWN_BATCH_MESSAGES = 50
MAX_EXPORTED_UPLOAD_BYTES = 32 * 1024 * 1024
"""Bound on all uploads of an export together. In base64 they fit into the body of an import, beside the messages."""


class _Line(Value, tag_field="type"):
    pass


class HeadLine(_Line, tag="pilothouse_context"):
    format: int
    chain: AuditChain | None = None
    """Damage of the audit at the time of the export."""


class CoreLine(_Line, tag="core"):
    core: ContextCore


class SystemPromptLine(_Line, tag="system_prompt"):
    """The system prompt that would be sent at the time of the export. An import ignores the line."""

    content: str


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
    """None for an upload that exceeds MAX_EXPORTED_UPLOAD_BYTES."""


class EndLine(_Line, tag="end"):
    digest: str
    """SHA-256 of every byte before this line. An import refuses a file that was cut or changed."""


Line = (
    HeadLine
    | CoreLine
    | SystemPromptLine
    | BranchLine
    | MessageLine
    | CallLine
    | AuditLine
    | KeyLine
    | UploadLine
    | EndLine
)


class ExportCommands(CommandGroup):
    """Export a conversation, as an archive or as Markdown."""

    async def create(self, context_id: str, *, include_system_prompt: bool = False) -> AsyncIterator[bytes]:
        """The export file, line by line.

        Raises: NotFound, Conflict while the context works, StoreError; InvalidInput where the system prompt is included
        and cannot be made.
        """
        store = self._pool.dependencies.store
        async with self._pool.reading(context_id) as live:
            if not live.is_resting or isinstance(live.state, WaitingForRecovery):
                raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))
            core = msgspec.structs.replace(live.core, elevation=None)
            audit = await store.audit(live.id)
            if not audit.chain.whole:
                await note_damage(live)
            lines: list[Line] = [
                HeadLine(format=FORMAT, chain=None if audit.chain.whole else audit.chain),
                CoreLine(core),
            ]
            if include_system_prompt:
                turn_branch = live.core.turn.branch if live.core.turn is not None else live.core.active_branch
                lines.append(SystemPromptLine(await make_system_prompt(live, turn_branch)))
            for name, branch in live.branches.items():
                lines.append(BranchLine(branch, tuple(await live.storage.branch_ids(name))))
            message_ids = await live.storage.message_ids()
            calls = await live.storage.calls()
            entries = (
                *audit.entries,
                *(live.storage.recovery.change.audit if live.storage.recovery is not None else ()),
            )
            keys = await store.sent_keys(live.id)
        lines += [*map(CallLine, calls), *map(AuditLine, entries), *map(KeyLine, keys)]
        digest = hashlib.sha256()
        for line in lines:
            yield _encode_line(line, digest)
        for start in range(0, len(message_ids), READ_BATCH_MESSAGES):
            for message in await live.storage.messages(message_ids[start : start + READ_BATCH_MESSAGES]):
                if not _is_gap(message):
                    yield _encode_line(MessageLine(message), digest)
        async for line in _uploads(live):
            yield _encode_line(line, digest)
        yield msgspec.json.encode(EndLine(digest.hexdigest())) + b"\n"

    async def left_out(self, context_id: str) -> tuple[Reason, ...]:
        """The uploads whose data an export leaves out, as reasons. Raises: NotFound, StoreError."""
        uploads = await _list_uploads(await self._pool.find(context_id))
        return tuple(upload_left_out(upload.name, upload.size) for upload, is_included in uploads if not is_included)

    async def markdown(
        self,
        context_id: str,
        *,
        branch: str | None = None,
        language: Language = "en",
        include_system_prompt: bool = False,
    ) -> AsyncIterator[bytes]:
        """A branch as Markdown, as of now, in pieces.

        Raises: NotFound, StoreError; InvalidInput where the system prompt is included and cannot be made.
        """
        live = await self._pool.find(context_id)
        name = branch or live.core.active_branch
        length = live.branches[name].length if name in live.branches else 0
        ids = await MessageCommands(self._pool).read_ids(context_id, name, limit=length)
        writer = MarkdownWriter(language)
        prompt = await make_system_prompt(live, name) if include_system_prompt else None
        yield writer.head(live.core.title, name, prompt).encode()
        chain = (await read_audit(self._pool, live.id, limit=0)).chain
        if not chain.whole:
            yield f"> {translate(chain_reason(chain), language)}\n\n".encode()
        for start in range(0, len(ids), _MARKDOWN_BATCH_MESSAGES):
            messages = await live.storage.messages(ids[start : start + _MARKDOWN_BATCH_MESSAGES])
            call_ids = [call.id for message in messages if isinstance(message, ToolRequest) for call in message.calls]
            records = await CallCommands(self._pool).records(context_id, call_ids) if call_ids else {}
            yield await asyncio.to_thread(
                _render, writer, messages, records
            )  # off the event loop, since it may take long


async def _uploads(live: LiveContext) -> AsyncIterator[UploadLine]:
    """The uploads, smallest first: with data as far as the bound allows, the others by name only."""
    for upload, is_included in await _list_uploads(live):
        data = None
        if is_included and live.files.uploads is not None:
            try:
                data = await asyncio.to_thread(live.files.uploads.read, upload.name)
            except OSError:  # the upload was removed since it was listed, or cannot be read
                continue
        yield UploadLine(upload.name, upload.size if data is None else len(data), data)


async def _list_uploads(live: LiveContext) -> list[tuple[StoredUpload, bool]]:
    """Each upload, and whether the bound allows its data in an export. Empty for a sub-agent, whose uploads belong to
    its conversation."""
    if live.files.uploads is None or live.ancestors:
        return []
    uploads = sorted(await asyncio.to_thread(live.files.uploads.all), key=lambda upload: upload.size)
    ends = itertools.accumulate(upload.size for upload in uploads)
    sizes = zip(uploads, ends, strict=True)
    return [(upload, end <= MAX_EXPORTED_UPLOAD_BYTES and upload.size <= MAX_UPLOAD_BYTES) for upload, end in sizes]


def upload_left_out(name: str, size: int) -> Reason:
    return Reason(Code.UPLOAD_LEFT_OUT, {"name": name, "size": size, "limit": MAX_EXPORTED_UPLOAD_BYTES})


def _render(writer: MarkdownWriter, messages: Sequence[Message], records: Mapping[CallId, CallRecord]) -> bytes:
    return "".join(writer.message(message, records) for message in messages).encode()


def _encode_line(line: Line, digest: "hashlib._Hash") -> bytes:
    data = msgspec.json.encode(line) + b"\n"
    digest.update(data)
    return data


def _is_gap(message: Message) -> bool:
    return isinstance(message, ErrorMessage) and message.reason.code is Code.MESSAGE_DAMAGED
