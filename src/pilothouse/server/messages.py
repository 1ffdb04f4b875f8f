"""Messages: sent, queued, edited, read; and the pieces of one that is being written."""

from typing import Annotated

from msgspec import Meta

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput, NotFound
from pilothouse.domain.merging import Provenance
from pilothouse.domain.payloads import (
    EXTRA_AT_MOST,
    Attached,
    ClientMetadata,
    DataContext,
    FileReferencePayload,
    Payload,
)
from pilothouse.domain.shapes import Delta, MessagePage, MessageShape, Page, SentShape
from pilothouse.domain.values import MessageId, Value
from pilothouse.runtime.messages import Sent
from pilothouse.runtime.queue import QueuedMessage
from pilothouse.server.inputs import LISTED_IDS, BranchName, Limit, ModeName
from pilothouse.server.serving import Call
from pilothouse.server.views import message_shapes

IDS_AT_MOST = 200
Payloads = Annotated[tuple[Payload, ...], Meta(max_length=100)]
Extra = Annotated[tuple[Annotated[str, Meta(min_length=1)], ...], Meta(max_length=EXTRA_AT_MOST)]
Files = Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=4096)], ...], Meta(max_length=100)]


class _Attaching(Value, kw_only=True):
    """`data_context` and `extra_user_messages` are sent in every round of this message's turn, and in no other."""

    data_context: DataContext | None = None
    extra_user_messages: Extra = ()

    @property
    def attached(self) -> Attached:
        return Attached(self.data_context, self.extra_user_messages)


class NewMessage(_Attaching, kw_only=True):
    """`payload` or `payloads`; `files` are paths in the workspace. With `queue`, it waits for the end of a turn.
    `data_context` and `extra_user_messages` are sent in every round of its turn, and in no other."""

    payload: Payload | None = None
    payloads: Payloads = ()
    files: Files = ()
    client_metadata: ClientMetadata | None = None
    mode: ModeName | None = None
    queue: bool = False

    @property
    def parts(self) -> tuple[Payload, ...]:
        if self.payload is not None and self.payloads:
            raise InvalidInput(Code.INVALID_REQUEST, detail="give `payload` or `payloads`, not both")
        said = (self.payload,) if self.payload is not None else self.payloads
        return (*said, *(FileReferencePayload(path=path) for path in self.files))


class EditedMessage(_Attaching, kw_only=True):
    """`branch` is the name of the new branch; one is made where none is given."""

    payloads: Payloads
    client_metadata: ClientMetadata | None = None
    mode: ModeName | None = None
    branch: BranchName | None = None


class MessagesQuery(Value):
    """`ids` with commas between them; or the last `limit` of a branch that stand before the position `before`."""

    ids: Annotated[str, Meta(max_length=IDS_AT_MOST * 65, pattern=LISTED_IDS)] | None = None
    branch: BranchName | None = None
    before: Annotated[int, Meta(ge=0)] | None = None
    limit: Limit = 50


class ContentQuery(Value):
    from_sequence: Annotated[int, Meta(ge=0)] = 0


class BranchQuery(Value):
    branch: BranchName | None = None


async def send(call: Call, context_id: str, body: NewMessage) -> SentShape:
    sent = await call.runtime.send(
        context_id,
        body.parts,
        mode=body.mode,
        client_metadata=body.client_metadata,
        attached=body.attached,
        key=call.headers.get("idempotency-key"),
        queue=body.queue,
        by=call.user,
    )
    return _shape(sent)


def _shape(sent: Sent) -> SentShape:
    return SentShape(sent.message_id, sent.turn_id)


async def edit(call: Call, context_id: str, message_id: str, body: EditedMessage) -> SentShape:
    return _shape(
        await call.runtime.edit_message(
            context_id,
            message_id,
            body.payloads,
            mode=body.mode,
            client_metadata=body.client_metadata,
            attached=body.attached,
            name=body.branch,
            by=call.user,
        )
    )


async def read(call: Call, context_id: str, query: MessagesQuery) -> list[MessageShape] | MessagePage:
    if query.ids is not None:
        ids = [MessageId(each) for each in query.ids.split(",") if each]
        if len(ids) > IDS_AT_MOST:
            raise InvalidInput(Code.INVALID_REQUEST, detail=f"at most {IDS_AT_MOST} ids")
        found = await call.runtime.read_messages(context_id, ids=ids)
        return await message_shapes(call.runtime, context_id, found)
    live = await call.runtime.context(context_id)
    name = query.branch or live.core.active_branch
    while (branch := live.branches.get(name)) is not None:
        stop = branch.length if query.before is None else min(query.before, branch.length)
        found = await call.runtime.read_messages(context_id, branch=name, before=stop, limit=query.limit)
        present = live.branches.get(name)
        if present is not None and present.key != branch.key:
            continue  # it was compressed while we read: what came may be of either list
        first = stop - len(found)
        items = await message_shapes(call.runtime, context_id, found)
        return MessagePage(tuple(items), str(first) if first > 0 else None, branch.key)
    raise NotFound(Code.UNKNOWN_BRANCH, branch=name, allowed=", ".join(live.branches))


async def content(call: Call, context_id: str, message_id: str, query: ContentQuery) -> list[Delta]:
    pieces = await call.runtime.read_content(context_id, MessageId(message_id), query.from_sequence)
    return [Delta(sequence, text) for sequence, text in pieces]


async def provenance(call: Call, context_id: str, message_id: str, query: BranchQuery) -> Provenance | None:
    return await call.runtime.provenance(context_id, message_id, branch=query.branch)


async def queue(call: Call, context_id: str) -> Page[QueuedMessage]:
    return Page(tuple(await call.runtime.queued(context_id)))


async def edit_queued(call: Call, context_id: str, message_id: str, body: NewMessage) -> Page[QueuedMessage]:
    await call.runtime.edit_queued(
        context_id,
        message_id,
        body.parts,
        mode=body.mode,
        client_metadata=body.client_metadata,
        attached=body.attached,
        by=call.user,
    )
    return await queue(call, context_id)


async def delete_queued(call: Call, context_id: str, message_id: str) -> None:
    await call.runtime.delete_queued(context_id, message_id)
