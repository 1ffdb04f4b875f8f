"""Import: a context from its export file. A file from another person grants no permissions."""

import asyncio
import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from pilothouse.domain.audit import chain_reason, check_chain
from pilothouse.domain.branches import check_name
from pilothouse.domain.calls import CallRecord, is_origin
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import (
    FORMAT,
    MAX_QUEUED_MESSAGES,
    UNCORRECTED_TOKEN_RATIO,
    Change,
    ContextCore,
    Queued,
    StoredContext,
    is_context_id,
)
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, StoreDamaged, StoreRefused, os_error_text
from pilothouse.domain.images import decode_image, detect_media_type, is_address
from pilothouse.domain.json_size import has_more_values
from pilothouse.domain.messages import FileReference, Image, Message, Metadata, Text, ToolRequest, is_overview
from pilothouse.domain.modes import DEFAULT_MODE, Mode, Modes, is_looser
from pilothouse.domain.payloads import MAX_UPLOAD_BYTES
from pilothouse.domain.policies import Policy
from pilothouse.domain.rules import Rule, rule_reason
from pilothouse.domain.states import Failed, Idle, WaitingForRecovery, is_resting, name_of
from pilothouse.domain.users import check_user_name
from pilothouse.domain.value import ContextId, MessageId, Value
from pilothouse.runtime.authorization.call_inspection import reinspect_call
from pilothouse.runtime.commands.command_group import CommandGroup
from pilothouse.runtime.commands.context_export import (
    AuditLine,
    BranchLine,
    CallLine,
    CoreLine,
    EndLine,
    HeadLine,
    KeyLine,
    Line,
    MessageLine,
    UploadLine,
    upload_left_out,
)
from pilothouse.runtime.commands.contexts import check_root, check_workspace
from pilothouse.runtime.commands.titles import MAX_TITLE_CHARACTERS
from pilothouse.runtime.context.context_ids import new_context_id, own_context
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.pool import ContextPool
from pilothouse.runtime.shield import run_to_completion
from pilothouse.tools.uploads import MAX_ALL_UPLOADS_BYTES, MAX_UPLOADS, is_upload_name

_LINE_DECODER: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)
_MESSAGE_ID = re.compile(r"[0-9a-f-]{36}")
_BRANCH_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MAX_PATH_CHARACTERS = 4096
_MAX_LINE_VALUES = 500_000


class Imported(Value):
    """The result of an import."""

    context_id: ContextId
    left_out: tuple[Reason, ...] = ()
    """Permissions that were not imported, uploads that the file lacks, and damage of the audit."""


class ImportCommands(CommandGroup):
    """Import an exported conversation."""

    async def create(
        self,
        data: bytes,
        *,
        context_id: str | None = None,
        workspace: Path | None = None,
        grants: bool = False,
        by: str = "local",
    ) -> Imported:
        """Import a context from its file, under its own id or another one. Anybody may have written the file: its
        permissions (allow rules, approvals, a looser mode or policy) are imported only with `grants`, and pending calls
        are inspected again.

        Raises: InvalidInput, with the defect; Conflict when the id is taken; StoreError. Then nothing has changed.
        """
        change, uploads = await asyncio.to_thread(_parse_file, data)
        if workspace is not None:
            check_workspace(self._pool.dependencies, workspace, by)
        name = context_id or change.core.context_id.partition("~")[0]  # the file may be another user's
        new_id = await new_context_id(self._pool, name, check_user_name(by))
        core: ContextCore = msgspec.structs.replace(
            change.core,
            context_id=new_id,
            owner=by,
            format=FORMAT,
            elevation=None,
            token_ratio=UNCORRECTED_TOKEN_RATIO,
            token_ratio_of=None,
            parent=await _parent(self._pool, change.core, grants=grants, by=by),
            rules=tuple(_with_context(rule, new_id) for rule in change.core.rules),
            workspace=os.path.realpath(workspace or change.core.workspace or "/"),
        )
        check_root(self._pool.dependencies, core.workspace or "/", by)
        left_out: list[Reason] = []
        calls, messages = change.calls, change.messages
        if not grants:
            core, left_out = _without_grants(self._pool, core)
            calls = await _reinspect_open_calls(self._pool, core, calls, left_out)
            messages = _without_hidden_texts(messages, left_out)
        old_workspace = change.core.workspace
        change = msgspec.structs.replace(change, core=core, calls=calls, messages=messages)
        change = _with_overviews_of_file(change, old_workspace)
        chain = await asyncio.to_thread(check_chain, change.audit, core.audit)
        if not chain.whole:
            left_out.append(chain_reason(chain))
        await run_to_completion(_create(self._pool, change, [line for line in uploads if line.data is not None]))
        left_out += [upload_left_out(line.name, line.size) for line in uploads if line.data is None]
        return Imported(new_id, tuple(left_out))


def _with_overviews_of_file(change: Change, old_workspace: str | None) -> Change:
    """The change with only those overviews in its prompts that the file holds, and that describe the workspace."""
    overviews = {message.id for message in change.messages if is_overview(message)}
    is_same = change.core.workspace == old_workspace

    def is_held(message_id: MessageId | None) -> bool:
        return message_id is None or message_id in overviews

    newest = change.core.overview
    if newest is not None and not is_held(newest.message_id):
        change = msgspec.structs.replace(change, core=msgspec.structs.replace(change.core, overview=None))
    branches = {
        name: branch
        if branch.overview is None or (is_same and is_held(branch.overview.message_id))
        else msgspec.structs.replace(branch, overview=None)
        for name, branch in change.branches.items()
    }
    return msgspec.structs.replace(change, branches=branches)


async def _create(pool: ContextPool, change: Change, uploads: Sequence[UploadLine]) -> None:
    """Create the context and its uploads, or neither. Raises: Conflict, StoreError."""
    store, context_id = pool.dependencies.store, change.core.context_id
    artifacts = pool.dependencies.artifacts_of(context_id)
    if uploads and artifacts is None:
        raise Conflict(Code.UPLOADS_NOT_KEPT)
    await store.create(change)
    try:
        for line in uploads:
            assert artifacts is not None
            assert line.data is not None
            await asyncio.to_thread(artifacts.uploads.add, line.name, line.data)
    except OSError as error:
        async with pool.lease(context_id) as lease:
            await store.delete(context_id, fence=lease.fence)
        raise StoreRefused(Code.UPLOAD_NOT_STORED, name=line.name, detail=os_error_text(error)) from error


async def _parent(pool: ContextPool, core: ContextCore, *, grants: bool, by: str) -> ContextId | None:
    """The parent of an imported sub-agent. Where the parent is missing or another user's, the sub-agent is an orphan,
    whose calls are all denied; with `grants`, it becomes an ordinary context."""
    if core.parent is None or core.parent == core.context_id:
        return None
    with suppress(NotFound, StoreDamaged):  # the same answer, whatever contexts other users have
        return (await own_context(pool, core.parent, by)).id
    return None if grants else core.parent


def _with_context(rule: Rule, context_id: ContextId) -> Rule:
    """A rule of the context under its new id."""
    lifetime = msgspec.structs.replace(rule.lifetime, context=context_id)
    context_rule: Rule = msgspec.structs.replace(rule, lifetime=lifetime)
    return context_rule


def _without_grants(pool: ContextPool, core: ContextCore) -> tuple[ContextCore, list[Reason]]:
    dependencies = pool.dependencies
    workspace_policy = dependencies.workspace_policy(core.workspace)
    left_out = [rule_reason(Code.RULE_ALLOWS, rule) for rule in core.rules if rule.effect == "allow"]
    changes: dict[str, object] = {"rules": tuple(rule for rule in core.rules if rule.effect != "allow")}
    configured_mode = dependencies.modes.named(workspace_policy.mode or DEFAULT_MODE)
    if is_looser(dependencies.modes.stored(core.mode), configured_mode):
        left_out.append(Reason(Code.MODE_RUNS, {"mode": core.mode}))
        changes["mode"] = configured_mode.name
    changes["queue"] = tuple(_without_mode(item, dependencies.modes, configured_mode, left_out) for item in core.queue)
    if core.turn is not None:  # a later round than the present one would postpone the policy's limit of rounds
        decided = min(core.turn.decided_round, core.turn.round)
        changes["turn"] = msgspec.structs.replace(core.turn, decided_round=decided)
    if core.policy is not None and workspace_policy.preference not in (Policy(), core.policy):
        left_out.append(Reason(Code.POLICY_WAITS, {"policy": core.policy.kind}))
        changes["policy"] = None
    return msgspec.structs.replace(core, **changes), left_out


def _without_mode(item: Queued, modes: Modes, configured_mode: Mode, left_out: list[Reason]) -> Queued:
    if item.mode is None or not is_looser(modes.stored(item.mode), configured_mode):
        return item
    left_out.append(Reason(Code.MODE_RUNS, {"mode": item.mode}))
    item_without_mode: Queued = msgspec.structs.replace(item, mode=None)
    return item_without_mode


async def _reinspect_open_calls(
    pool: ContextPool, core: ContextCore, calls: tuple[CallRecord, ...], left_out: list[Reason]
) -> tuple[CallRecord, ...]:
    """The calls of the file, with open ones inspected by our tools, since the file's previews cannot be trusted, and
    pending without an approval."""
    live = LiveContext(StoredContext(core=core, version=0, branches={}, calls={}), pool)
    records = []
    for call in calls:
        if not call.is_open:
            origin = call.origin if call.origin is not None and is_origin(call.origin) else None
            records.append(msgspec.structs.replace(call, origin=origin))
            continue
        if call.approval is not None or call.status == "approved":
            left_out.append(Reason(Code.APPROVED, {"by": call.approval.by if call.approval is not None else "mode"}))
        # Nobody here proposed the call, and no running call asks.
        claims = {"waited": False, "origin": None, "asked_by": None}
        record = await reinspect_call(live, msgspec.structs.replace(call, **claims), call.arguments)
        records.append(record.undecided())
    return tuple(records)


def _parse_file(data: bytes) -> tuple[Change, list[UploadLine]]:
    """The change and the uploads that a file holds. Raises: InvalidInput, with the defective line."""
    lines = list(_lines(data))
    heads = [line for line in lines if isinstance(line, HeadLine)]
    cores = [line.core for line in lines if isinstance(line, CoreLine)]
    if not lines or heads != lines[:1] or len(cores) != 1:
        raise _refused("it isn't an exported conversation")
    if heads[0].format > FORMAT:
        raise _refused(f"it was written by a newer version of Pilothouse (format {heads[0].format})")
    branches = [line for line in lines if isinstance(line, BranchLine)]
    change = Change(
        core=cores[0],
        messages=tuple(_without_opaque_parts(line.message) for line in lines if isinstance(line, MessageLine)),
        branches={line.branch.name: line.branch for line in branches},
        appended={line.branch.name: line.ids for line in branches},
        calls=tuple(line.call for line in lines if isinstance(line, CallLine)),
        audit=tuple(line.entry for line in lines if isinstance(line, AuditLine)),
        keys=tuple(line.key for line in lines if isinstance(line, KeyLine)),
    )
    if len(change.branches) != len(branches):
        raise _refused("two branches have the same name")
    _check_ids(change)
    _check_images(change)
    _check_compressions(change)
    _check_core(change)
    uploads = [line for line in lines if isinstance(line, UploadLine)]
    _check_uploads(uploads)
    return change, uploads


def _without_opaque_parts(message: Message) -> Message:
    """The message without parts that only the account in which they were made can send back."""
    if not isinstance(message, Text | ToolRequest) or not message.opaque:
        return message
    return msgspec.structs.replace(message, opaque=())


def _without_hidden_texts(messages: Sequence[Message], left_out: list[Reason]) -> tuple[Message, ...]:
    """The messages without texts that the model would get and that no client shows, or shows another text for: who
    reads an imported conversation must read what the model reads."""
    shown = tuple(msgspec.structs.replace(message, metadata=_shown_metadata(message)) for message in messages)
    count = sum(message.metadata != original.metadata for message, original in zip(shown, messages, strict=True))
    if count:
        left_out.append(Reason(Code.HIDDEN_TEXTS, {"count": count}))
    return shown


def _shown_metadata(message: Message) -> Metadata:
    metadata = message.metadata
    has_origin = metadata.origin is not None and is_origin(metadata.origin) and not getattr(message, "content", "")
    shown: Metadata = msgspec.structs.replace(
        metadata,
        display_text=None,
        extra={name: value for name, value in metadata.extra.items() if name != "open_files"},
        data_context=None,
        extra_user_messages=(),
        origin=metadata.origin if has_origin else None,
    )
    return shown


def _lines(data: bytes) -> Iterator[Line]:
    start, number = 0, 0
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        number += 1
        if has_more_values(data[start:end], _MAX_LINE_VALUES):
            raise _refused(f"line {number}: it has more than {_MAX_LINE_VALUES} values")
        try:
            line = _LINE_DECODER.decode(data[start:end])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise _refused(f"line {number}: {error}") from error
        if isinstance(line, EndLine):
            if end != len(data) or line.digest != hashlib.sha256(data[:start]).hexdigest():
                break
            return
        yield line
        start = end
    raise _refused("it is incomplete or was changed")


def _check_ids(change: Change) -> None:
    """Check ids, from which the store makes file names: well-formed, and each of them unique."""
    pool_ids = [*(message.id for message in change.messages), *(call.id for call in change.calls)]
    requested = [call.id for message in change.messages if isinstance(message, ToolRequest) for call in message.calls]
    on_branches = [message_id for ids in change.appended.values() for message_id in ids]
    queued = [message_id for item in change.core.queue for message_id in item.message_ids]
    invalid = [
        identifier
        for identifier in (*pool_ids, *on_branches, *queued, *requested)
        if not _MESSAGE_ID.fullmatch(identifier)
    ]
    keys = [branch.key for branch in change.branches.values()]
    invalid += [key for key in keys if not _BRANCH_KEY.fullmatch(key)]
    if invalid:
        raise _refused(f"{invalid[0]!r} isn't a valid ID")
    duplicates = [identifier for identifier, count in Counter([*pool_ids, *keys]).items() if count > 1]
    duplicates += [identifier for identifier, count in Counter(requested).items() if count > 1]
    for ids in change.appended.values():
        duplicates += [identifier for identifier, count in Counter(ids).items() if count > 1]
    if duplicates:
        raise _refused(f"the ID {duplicates[0]!r} is there twice")


def _check_images(change: Change) -> None:
    """Check images, since a provider refuses a whole conversation for one invalid image."""
    for image in [message for message in change.messages if isinstance(message, Image)]:
        if image.data is not None and detect_media_type(decode_image(image.data)) != image.media_type:
            raise _refused(f"the image {image.id} doesn't have the type that it names")
        if image.url is not None and not is_address(image.url):
            raise _refused(f"the image {image.id} has no valid URL")


def _check_uploads(uploads: Sequence[UploadLine]) -> None:
    """Check uploads. Their names become file names, so only names that an upload can have are accepted."""
    for line in uploads:
        if not is_upload_name(line.name):
            raise _refused(f"{line.name!r} isn't a valid upload name")
        if line.size < 0 or len(line.data or b"") > MAX_UPLOAD_BYTES:
            raise _refused(f"the upload {line.name!r} is too large")
        if line.data is not None and len(line.data) != line.size:
            raise _refused(f"the upload {line.name!r} is incomplete")
    if len(uploads) > MAX_UPLOADS or sum(len(line.data or b"") for line in uploads) > MAX_ALL_UPLOADS_BYTES:
        raise _refused("it has too many uploads")
    if len({line.name for line in uploads}) != len(uploads):
        raise _refused("two uploads have the same name")


def _check_compressions(change: Change) -> None:
    """Check compressions: undoing an inconsistent one would put messages on a branch twice."""
    for name, branch in change.branches.items():
        compression = branch.compressed
        if compression is not None and not (
            0 < compression.head <= compression.replacement_length <= len(change.appended[name])
            and compression.length >= 0
        ):
            raise _refused(f"the branch {name!r} doesn't match its record of how it was compacted")


def _check_core(change: Change) -> None:
    """Check the core: existing branches, a resting state that fits its turn, a valid queue, well-formed values."""
    core = change.core
    branch_names = [core.active_branch, *([core.turn.branch] if core.turn is not None else [])]
    missing_names = [name for name in branch_names if name not in change.branches]
    if missing_names:
        raise _refused(f"there is no branch {missing_names[0]!r}")
    for name in change.branches:
        check_name(name)
    if not is_resting(core.state) or isinstance(core.state, WaitingForRecovery):
        raise _refused(f"the conversation was still running ({name_of(core.state)})")
    if not isinstance(core.state, Failed) and isinstance(core.state, Idle) != (core.turn is None):
        raise _refused(f"its state ({name_of(core.state)}) doesn't match its turn")
    if any(call.status == "executing" for call in change.calls):
        raise _refused("an action in it was still running")
    _check_queue(change)
    for context_id in (core.context_id, core.parent):
        if context_id is not None and not is_context_id(context_id):
            raise _refused(f"{context_id!r} isn't a valid ID")
    workspace = core.workspace or "/"
    if not workspace.startswith("/") or len(workspace) > _MAX_PATH_CHARACTERS or "\0" in workspace:
        raise _refused("its project folder isn't a valid path")
    if len(core.title or "") > MAX_TITLE_CHARACTERS:
        raise _refused("its title is too long")


def _check_queue(change: Change) -> None:
    queue = change.core.queue
    sendable = {message.id for message in change.messages if isinstance(message, Text | FileReference | Image)}
    for item in queue:
        if item.message_ids[:1] != (item.id,) or not sendable.issuperset(item.message_ids):
            raise _refused("its queue isn't valid")
    if len(queue) > MAX_QUEUED_MESSAGES:
        raise _refused("its queue is too long")


def _refused(detail: str) -> InvalidInput:
    return InvalidInput(Code.INVALID_EXPORT, detail=detail)
