"""Export and import: a context as one file of JSON lines, with everything. What was exported comes back the same."""

import hashlib
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec

from pilothouse.domain.audit import AuditEntry
from pilothouse.domain.branches import Branch
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import FORMAT, Change, ContextCore, SentKey, check_context_id
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound
from pilothouse.domain.messages import ErrorMessage, Message
from pilothouse.domain.rules import rule_reason
from pilothouse.domain.states import is_resting, name_of
from pilothouse.domain.values import ContextId, MessageId, Value
from pilothouse.runtime.catalogue import check_workspace
from pilothouse.runtime.contexts import Contexts

_AT_ONCE = 500
_MESSAGE_ID = re.compile(r"[0-9a-f-]{36}")
_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")


class _Line(Value, tag_field="type"):
    pass


class Head(_Line, tag="pilothouse_context"):
    format: int


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


class End(_Line, tag="end"):
    """`digest` is of every byte before this line: a file that was cut or changed is not taken."""

    digest: str


Line = Head | CoreLine | BranchLine | MessageLine | CallLine | AuditLine | KeyLine | End
_LINE: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)


class Imported(Value):
    """`left_out` is what gave leave to something and was not taken over."""

    context_id: ContextId
    left_out: tuple[Reason, ...] = ()


async def export_context(contexts: Contexts, context_id: str) -> AsyncIterator[bytes]:
    """The file, piece by piece. Raises: NotFound, Conflict while it works, StoreError."""
    store = contexts.parts.store
    async with contexts.locked(context_id) as live:
        if not live.is_resting or live.unsaved is not None:
            raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))
        core = msgspec.structs.replace(live.core, elevation=None)
        lines: list[Line] = [Head(format=FORMAT), CoreLine(core)]
        for name, branch in live.branches.items():
            lines.append(BranchLine(branch, tuple(await store.branch_ids(live.id, name))))
        message_ids = await store.message_ids(live.id)
        calls = await store.calls(live.id)
        entries = await store.audit(live.id)
        keys = await store.sent_keys(live.id)
    lines += [*map(CallLine, calls), *map(AuditLine, entries), *map(KeyLine, keys)]
    digest = hashlib.sha256()
    for line in lines:
        yield _written(line, digest)
    for start in range(0, len(message_ids), _AT_ONCE):
        for message in await store.messages(live.id, message_ids[start : start + _AT_ONCE]):
            if not _is_gap(message):
                yield _written(MessageLine(message), digest)
    yield msgspec.json.encode(End(digest.hexdigest())) + b"\n"


def _written(line: Line, digest: "hashlib._Hash") -> bytes:
    data = msgspec.json.encode(line) + b"\n"
    digest.update(data)
    return data


def _is_gap(message: Message) -> bool:
    return isinstance(message, ErrorMessage) and message.reason.code is Code.MESSAGE_DAMAGED


async def import_context(
    contexts: Contexts,
    data: bytes,
    *,
    context_id: str | None = None,
    workspace: Path | None = None,
    grants: bool = False,
    by: str = "local",
) -> Imported:
    """A context from its file, under its own id or another one. Leave that was given to it (allow rules, approvals, an
    approval policy) is taken over only with `grants`: a file may come from anybody.

    Raises: InvalidInput, saying what is wrong; Conflict when the id is taken; StoreError. Then nothing has changed.
    """
    change = _read(data)
    if workspace is not None:
        check_workspace(workspace)
    core = msgspec.structs.replace(
        change.core,
        context_id=check_context_id(context_id or change.core.context_id),
        owner=by,
        format=FORMAT,
        elevation=None,
        parent=await _known_parent(contexts, change.core, by),
        workspace=str(workspace.resolve()) if workspace is not None else change.core.workspace,
    )
    change = msgspec.structs.replace(change, core=core)
    left_out: list[Reason] = []
    if not grants:
        change, left_out = _without_grants(change)
    await contexts.parts.store.create(change)
    return Imported(core.context_id, tuple(left_out))


async def _known_parent(contexts: Contexts, core: ContextCore, by: str) -> ContextId | None:
    """A sub-agent stays one where its parent is here too; else it becomes a conversation of its own."""
    if core.parent is None or core.parent == core.context_id:
        return None
    try:
        parent = await contexts.find(core.parent)
    except NotFound:
        return None
    return parent.id if parent.core.owner == by else None


def _without_grants(change: Change) -> tuple[Change, list[Reason]]:
    core = change.core
    left_out = [rule_reason(Code.RULE_ALLOWS, rule) for rule in core.rules if rule.effect == "allow"]
    if core.policy is not None:
        left_out.append(Reason(Code.POLICY_WAITS, {"policy": core.policy.kind}))
    kept = tuple(rule for rule in core.rules if rule.effect != "allow")
    calls = []
    for call in change.calls:
        if call.is_open and (call.approval is not None or call.status == "approved"):
            left_out.append(Reason(Code.APPROVED, {"by": call.approval.by if call.approval else "mode"}))
            call = msgspec.structs.replace(call, status="pending", approval=None, decided_at=None, decided_by=None)
        calls.append(call)
    core = msgspec.structs.replace(core, rules=kept, policy=None)
    return msgspec.structs.replace(change, core=core, calls=tuple(calls)), left_out


def _read(data: bytes) -> Change:
    """Raises: InvalidInput, with the line that is wrong."""
    lines = list(_lines(data))
    heads = [line for line in lines if isinstance(line, Head)]
    cores = [line.core for line in lines if isinstance(line, CoreLine)]
    if not lines or heads != lines[:1] or len(cores) != 1:
        raise InvalidInput(Code.INVALID_EXPORT, detail="it does not begin as one")
    if heads[0].format > FORMAT:
        raise InvalidInput(Code.INVALID_EXPORT, detail=f"it was written by a newer version (format {heads[0].format})")
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
    _check(change)
    return change


def _lines(data: bytes) -> Iterator[Line]:
    start, number = 0, 0
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        number += 1
        try:
            line = _LINE.decode(data[start:end])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise InvalidInput(Code.INVALID_EXPORT, detail=f"line {number}: {error}") from error
        if isinstance(line, End):
            if end != len(data) or line.digest != hashlib.sha256(data[:start]).hexdigest():
                break
            return
        yield line
        start = end
    raise InvalidInput(Code.INVALID_EXPORT, detail="it is not whole: it was cut short or changed")


def _check(change: Change) -> None:
    """What the store relies on: ids that may become files, branches that there are, a state that rests."""
    core = change.core
    used = [core.active_branch, *([core.turn.branch] if core.turn is not None else [])]
    missing = [name for name in used if name not in change.branches]
    if missing:
        raise InvalidInput(Code.INVALID_EXPORT, detail=f"there is no branch {missing[0]!r}")
    if not is_resting(core.state):
        raise InvalidInput(Code.INVALID_EXPORT, detail=f"it was at work ({name_of(core.state)})")
    ids = [*(message.id for message in change.messages), *(call.id for call in change.calls)]
    ids += [message_id for listed in change.appended.values() for message_id in listed]
    bad = [each for each in ids if not _MESSAGE_ID.fullmatch(each)]
    bad += [branch.key for branch in change.branches.values() if not _KEY.fullmatch(branch.key)]
    if bad:
        raise InvalidInput(Code.INVALID_EXPORT, detail=f"{bad[0]!r} is no id")
    if any(call.status == "executing" for call in change.calls):
        raise InvalidInput(Code.INVALID_EXPORT, detail="a call in it was running")
