"""Import: a context from its file. What was exported comes back the same; what a stranger wrote gives no leave."""

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
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import (
    FORMAT,
    QUEUE_AT_MOST,
    UNCORRECTED,
    Change,
    ContextCore,
    Queued,
    StoredContext,
    is_context_id,
)
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, StoreDamaged, StoreRefused
from pilothouse.domain.images import decoded, is_address, media_type
from pilothouse.domain.json_size import has_more_values
from pilothouse.domain.messages import FileReference, Image, Text, ToolRequest
from pilothouse.domain.modes import DEFAULT_MODE, Mode, Modes, is_looser
from pilothouse.domain.payloads import MAX_UPLOAD_BYTES
from pilothouse.domain.policies import Policy
from pilothouse.domain.rules import Rule, rule_reason
from pilothouse.domain.states import Failed, Idle, WaitingForRecovery, is_resting, name_of
from pilothouse.domain.users import check_user_name
from pilothouse.domain.values import ContextId, Value
from pilothouse.runtime.catalogue import check_root, check_workspace
from pilothouse.runtime.context_names import new_context_id, own_context
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.finishing import finish
from pilothouse.runtime.live import Live
from pilothouse.runtime.looking import look_again
from pilothouse.runtime.titles import TITLE_AT_MOST
from pilothouse.runtime.transfer import (
    AuditLine,
    BranchLine,
    CallLine,
    CoreLine,
    End,
    Head,
    KeyLine,
    Line,
    MessageLine,
    UploadLine,
    upload_left_out,
)
from pilothouse.tools.artifacts import UPLOADS
from pilothouse.tools.uploads import MAX_ALL_UPLOADS_BYTES, MAX_UPLOADS, UploadStore, is_upload_name

_LINE: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)
_MESSAGE_ID = re.compile(r"[0-9a-f-]{36}")
_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PATH_AT_MOST = 4096
_MAX_LINE_VALUES = 500_000


class Imported(Value):
    """`left_out` is what gave leave to something and was not taken over, uploads that the file does not hold, and
    whether its audit was cut or rewritten."""

    context_id: ContextId
    left_out: tuple[Reason, ...] = ()


async def import_context(
    contexts: Contexts,
    data: bytes,
    *,
    context_id: str | None = None,
    workspace: Path | None = None,
    grants: bool = False,
    by: str = "local",
) -> Imported:
    """A context from its file, under its own id or another one. A file may come from anybody: leave that was given in
    it (allow rules, approvals, a looser mode or policy) is taken over only with `grants`; what waits is looked at anew.

    Raises: InvalidInput, saying what is wrong; Conflict when the id is taken; StoreError. Then nothing has changed.
    """
    change, uploads = await asyncio.to_thread(_read, data)
    if workspace is not None:
        check_workspace(contexts.parts, workspace, by)
    name = context_id or change.core.context_id.partition("~")[0]  # the file may be another user's
    new_id = await new_context_id(contexts, name, check_user_name(by))
    core: ContextCore = msgspec.structs.replace(
        change.core,
        context_id=new_id,
        owner=by,
        format=FORMAT,
        elevation=None,
        token_ratio=UNCORRECTED,
        token_ratio_of=None,
        parent=await _parent(contexts, change.core, grants=grants, by=by),
        rules=tuple(_of_context(rule, new_id) for rule in change.core.rules),
        workspace=os.path.realpath(workspace or change.core.workspace or "/"),
    )
    check_root(contexts.parts, core.workspace or "/", by)
    left_out: list[Reason] = []
    calls = change.calls
    if not grants:
        core, left_out = _without_leave(contexts, core)
        calls = await _looked_at_anew(contexts, core, calls, left_out)
    change = msgspec.structs.replace(change, core=core, calls=calls)
    chain = await asyncio.to_thread(check_chain, change.audit, core.audit)
    if not chain.whole:
        left_out.append(chain_reason(chain))
    await finish(_create(contexts, change, [line for line in uploads if line.data is not None]))
    left_out += [upload_left_out(line.name, line.size) for line in uploads if line.data is None]
    return Imported(new_id, tuple(left_out))


async def _create(contexts: Contexts, change: Change, uploads: Sequence[UploadLine]) -> None:
    """The context with its uploads, or nothing. Raises: Conflict, StoreError."""
    store, context_id = contexts.parts.store, change.core.context_id
    folder = store.artifacts_folder(context_id)
    if uploads and folder is None:
        raise Conflict(Code.UPLOADS_NOT_KEPT)
    await store.create(change)
    try:
        for line in uploads:
            assert folder is not None
            assert line.data is not None
            await asyncio.to_thread(UploadStore(folder / UPLOADS).add, line.name, line.data)
    except OSError as error:
        await store.delete(context_id)
        raise StoreRefused(Code.UPLOAD_NOT_STORED, name=line.name, detail=error.strerror or str(error)) from error


async def _parent(contexts: Contexts, core: ContextCore, *, grants: bool, by: str) -> ContextId | None:
    """A sub-agent stays bound to who sent it: where that one is not here, or is somebody else's, it may do nothing,
    unless one says so."""
    if core.parent is None or core.parent == core.context_id:
        return None
    with suppress(NotFound, StoreDamaged):  # one answer, whatever others have
        return (await own_context(contexts, core.parent, by)).id
    return None if grants else core.parent


def _of_context(rule: Rule, context_id: ContextId) -> Rule:
    """A rule of the context, whatever it is called now."""
    lifetime = msgspec.structs.replace(rule.lifetime, context=context_id)
    named: Rule = msgspec.structs.replace(rule, lifetime=lifetime)
    return named


def _without_leave(contexts: Contexts, core: ContextCore) -> tuple[ContextCore, list[Reason]]:
    parts = contexts.parts
    steering = parts.steering(core.workspace)
    left_out = [rule_reason(Code.RULE_ALLOWS, rule) for rule in core.rules if rule.effect == "allow"]
    changed: dict[str, object] = {"rules": tuple(rule for rule in core.rules if rule.effect != "allow")}
    own = parts.modes.named(steering.mode or DEFAULT_MODE)
    if is_looser(parts.modes.stored(core.mode), own):
        left_out.append(Reason(Code.MODE_RUNS, {"mode": core.mode}))
        changed["mode"] = own.name
    changed["queue"] = tuple(_without_mode(item, parts.modes, own, left_out) for item in core.queue)
    if core.turn is not None:  # a round beyond the present one would put off the person's own limit
        decided = min(core.turn.decided_round, core.turn.round)
        changed["turn"] = msgspec.structs.replace(core.turn, decided_round=decided)
    if core.policy is not None and steering.preference not in (Policy(), core.policy):
        left_out.append(Reason(Code.POLICY_WAITS, {"policy": core.policy.kind}))
        changed["policy"] = None
    return msgspec.structs.replace(core, **changed), left_out


def _without_mode(item: Queued, modes: Modes, own: Mode, left_out: list[Reason]) -> Queued:
    if item.mode is None or not is_looser(modes.stored(item.mode), own):
        return item
    left_out.append(Reason(Code.MODE_RUNS, {"mode": item.mode}))
    kept: Queued = msgspec.structs.replace(item, mode=None)
    return kept


async def _looked_at_anew(
    contexts: Contexts, core: ContextCore, calls: tuple[CallRecord, ...], left_out: list[Reason]
) -> tuple[CallRecord, ...]:
    """What a call would do is told by our tools, not by the file; and nobody has decided it."""
    live = Live(StoredContext(core=core, version=0, branches={}, calls={}), contexts)
    found = []
    for call in calls:
        if not call.is_open:
            found.append(call)
            continue
        if call.approval is not None or call.status == "approved":
            left_out.append(Reason(Code.APPROVED, {"by": call.approval.by if call.approval is not None else "mode"}))
        looked = await look_again(live, msgspec.structs.replace(call, waited=False), call.arguments)
        undecided = {"approval": None, "decided_at": None, "decided_by": None}
        found.append(msgspec.structs.replace(looked, status="pending", waited=True, **undecided))
    return tuple(found)


def _read(data: bytes) -> tuple[Change, list[UploadLine]]:
    """Raises: InvalidInput, with the line that is wrong."""
    lines = list(_lines(data))
    heads = [line for line in lines if isinstance(line, Head)]
    cores = [line.core for line in lines if isinstance(line, CoreLine)]
    if not lines or heads != lines[:1] or len(cores) != 1:
        raise _refused("it does not begin as one")
    if heads[0].format > FORMAT:
        raise _refused(f"it was written by a newer version (format {heads[0].format})")
    branches = [line for line in lines if isinstance(line, BranchLine)]
    change = Change(
        core=cores[0],
        messages=tuple(line.message for line in lines if isinstance(line, MessageLine)),
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


def _lines(data: bytes) -> Iterator[Line]:
    start, number = 0, 0
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        number += 1
        if has_more_values(data[start:end], _MAX_LINE_VALUES):
            raise _refused(f"line {number}: it holds more than {_MAX_LINE_VALUES} values")
        try:
            line = _LINE.decode(data[start:end])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise _refused(f"line {number}: {error}") from error
        if isinstance(line, End):
            if end != len(data) or line.digest != hashlib.sha256(data[:start]).hexdigest():
                break
            return
        yield line
        start = end
    raise _refused("it is not whole: it was cut short or changed")


def _check_ids(change: Change) -> None:
    """What the store and every request rely on: ids that may become files, each of them once."""
    own = [*(message.id for message in change.messages), *(call.id for call in change.calls)]
    asked = [call.id for each in change.messages if isinstance(each, ToolRequest) for call in each.calls]
    listed = [message_id for ids in change.appended.values() for message_id in ids]
    queued = [message_id for item in change.core.queue for message_id in item.message_ids]
    bad = [each for each in (*own, *listed, *queued, *asked) if not _MESSAGE_ID.fullmatch(each)]
    keys = [branch.key for branch in change.branches.values()]
    bad += [key for key in keys if not _KEY.fullmatch(key)]
    if bad:
        raise _refused(f"{bad[0]!r} is no id")
    doubled = [each for each, count in Counter([*own, *keys]).items() if count > 1]
    doubled += [each for each, count in Counter(asked).items() if count > 1]
    for ids in change.appended.values():
        doubled += [each for each, count in Counter(ids).items() if count > 1]
    if doubled:
        raise _refused(f"the id {doubled[0]!r} is there twice")


def _check_images(change: Change) -> None:
    """What a model would be shown: its provider refuses a conversation for one image that is none."""
    for image in [message for message in change.messages if isinstance(message, Image)]:
        if image.data is not None and media_type(decoded(image.data)) != image.media_type:
            raise _refused(f"the image {image.id} is not what it says")
        if image.url is not None and not is_address(image.url):
            raise _refused(f"the image {image.id} has no address")


def _check_uploads(uploads: Sequence[UploadLine]) -> None:
    """A name becomes a file's name: none that an upload could not have got."""
    for line in uploads:
        if not is_upload_name(line.name):
            raise _refused(f"{line.name!r} is no name of an upload")
        if line.size < 0 or len(line.data or b"") > MAX_UPLOAD_BYTES:
            raise _refused(f"the upload {line.name!r} is too large")
        if line.data is not None and len(line.data) != line.size:
            raise _refused(f"the upload {line.name!r} is not whole")
    if len(uploads) > MAX_UPLOADS or sum(len(line.data or b"") for line in uploads) > MAX_ALL_UPLOADS_BYTES:
        raise _refused("it has too many uploads")
    if len({line.name for line in uploads}) != len(uploads):
        raise _refused("two uploads have the same name")


def _check_compressions(change: Change) -> None:
    """What undoing one relies on: else it would put messages on a branch twice."""
    for name, branch in change.branches.items():
        done = branch.compressed
        if done is not None and not (0 < done.head <= done.kept <= len(change.appended[name]) and done.length >= 0):
            raise _refused(f"the branch {name!r} was not compressed as it says")


def _check_core(change: Change) -> None:
    """What the runtime relies on: branches that there are, a state that rests and fits its turn, a queue to take."""
    core = change.core
    used = [core.active_branch, *([core.turn.branch] if core.turn is not None else [])]
    missing = [name for name in used if name not in change.branches]
    if missing:
        raise _refused(f"there is no branch {missing[0]!r}")
    for name in change.branches:
        check_name(name)
    if not is_resting(core.state) or isinstance(core.state, WaitingForRecovery):
        raise _refused(f"it was at work ({name_of(core.state)})")
    if not isinstance(core.state, Failed) and isinstance(core.state, Idle) != (core.turn is None):
        raise _refused(f"its state ({name_of(core.state)}) does not fit its turn")
    if any(call.status == "executing" for call in change.calls):
        raise _refused("a call in it was running")
    _check_queue(change)
    for context_id in (core.context_id, core.parent):
        if context_id is not None and not is_context_id(context_id):
            raise _refused(f"{context_id!r} is no id")
    workspace = core.workspace or "/"
    if not workspace.startswith("/") or len(workspace) > _PATH_AT_MOST or "\0" in workspace:
        raise _refused("its workspace is no path")
    if len(core.title or "") > TITLE_AT_MOST:
        raise _refused("its title is too long")


def _check_queue(change: Change) -> None:
    queue = change.core.queue
    sendable = {message.id for message in change.messages if isinstance(message, Text | FileReference | Image)}
    for item in queue:
        if item.message_ids[:1] != (item.id,) or not sendable.issuperset(item.message_ids):
            raise _refused("its queue cannot be taken")
    if len(queue) > QUEUE_AT_MOST:
        raise _refused("its queue is too long")


def _refused(detail: str) -> InvalidInput:
    return InvalidInput(Code.INVALID_EXPORT, detail=detail)
