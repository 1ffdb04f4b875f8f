"""Commands about a context's folder: whether its own configuration counts, and taking back what the agent changed."""

import asyncio
from pathlib import Path

import msgspec

from pilothouse.domain.audit import Kind
from pilothouse.domain.budgets import OverviewSettings
from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import OpenTurn
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, StoreRefused, ToolError
from pilothouse.domain.messages import UNDO, Metadata, SystemControl
from pilothouse.domain.states import name_of
from pilothouse.domain.trust import FolderTrust
from pilothouse.domain.values import MessageId
from pilothouse.runtime.calls import call
from pilothouse.runtime.catalogue import check_root
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.deciding import nothing
from pilothouse.runtime.draft import Draft
from pilothouse.runtime.finishing import finish_in_thread
from pilothouse.runtime.live import Live
from pilothouse.runtime.modes import follow
from pilothouse.runtime.overviews import described, put_overview
from pilothouse.runtime.results import MAX_PATHS_TOLD, say_undone
from pilothouse.tools.undo.revert import Undone, undo_last


async def folder_trust(contexts: Contexts, context_id: str) -> FolderTrust:
    """What the folder brings, and whether it counts. Raises: NotFound, InvalidInput."""
    live = await contexts.find(context_id)
    trust, workspace = contexts.parts.trust, live.core.workspace
    if trust is None or workspace is None:
        return FolderTrust(folder=workspace or "", status="none", digest="")
    check_root(contexts.parts, workspace, live.core.owner)
    return await asyncio.to_thread(trust.look, workspace)


async def trust_folder(contexts: Contexts, context_id: str, digest: str, *, by: str = "local") -> FolderTrust:
    """From now on what was shown counts here. What has not started is decided anew.

    Raises: NotFound, Conflict where it is not what was shown, InvalidInput for what may not be said there.
    """
    live = await contexts.find(context_id)
    trust, workspace = contexts.parts.trust, live.core.workspace
    if trust is None or workspace is None:
        raise Conflict(Code.TRUST_CHANGED, folder=workspace or "-")
    check_root(contexts.parts, workspace, live.core.owner)
    await asyncio.to_thread(trust.trust, workspace, digest)
    await _note(contexts, live, "folder_trusted", by)
    return await folder_trust(contexts, context_id)


async def distrust_folder(contexts: Contexts, context_id: str, *, by: str = "local") -> FolderTrust:
    """Nothing that the folder says counts any longer."""
    live = await contexts.find(context_id)
    trust, workspace = contexts.parts.trust, live.core.workspace
    if trust is not None and workspace is not None:
        await asyncio.to_thread(trust.distrust, workspace)
        await _note(contexts, live, "folder_distrusted", by)
    return await folder_trust(contexts, context_id)


async def _note(contexts: Contexts, live: Live, kind: Kind, by: str) -> None:
    # First what it means, then the note of it: a store that refuses must not keep a server running.
    await contexts.open_folder(live.core)
    same = tuple(each for each in contexts.in_memory() if each.core.workspace == live.core.workspace)
    await follow(contexts, same, by, opens=nothing)
    async with contexts.locked(live.id) as held:
        draft = held.draft()
        draft.note(kind, by)
        await held.commit(draft)


async def undo(contexts: Contexts, context_id: str, *, by: str = "local") -> Undone:
    """Take back the agent's last change of files here: the person's own act, decided by nobody else.

    Raises: NotFound, Conflict while a call runs, or where no file was put back.
    """
    async with contexts.locked(context_id) as live:
        if any(call.status == "executing" for call in live.draft().all_calls()):
            raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))
        if live.artifacts is None:
            raise Conflict(Code.NOTHING_TO_UNDO)
        log, workspace = live.artifacts.changes, live.workspace()
        try:
            undone = await finish_in_thread(lambda: undo_last(log, workspace))
        except ToolError as error:
            raise Conflict(error.reason.code, **error.reason.params) from error
        except OSError as error:
            raise StoreRefused(Code.STORE_REFUSED, detail=error.strerror or str(error)) from error
        draft = live.draft()
        for path in undone.paths:
            live.workspace().forget(path)
        draft.note("change_undone", by, paths=undone.paths)
        _tell_of_undo(live, draft, undone.paths, by)
        await live.commit(draft)
    return undone


def _tell_of_undo(live: Live, draft: Draft, paths: tuple[str, ...], by: str) -> None:
    """Put an undo into the conversation. Nothing that the model reads can stand between a call and its result: while a
    call is open, the next result tells the model."""
    turn: OpenTurn | None = draft.value("turn")
    is_open = any(call.is_open and call.asked_by is None for call in draft.all_calls())
    if turn is not None and is_open:
        undone = tuple(dict.fromkeys((*turn.undone_paths, *paths)))
        more = turn.undone_more + max(0, len(undone) - MAX_PATHS_TOLD)
        draft.core["turn"] = msgspec.structs.replace(turn, undone_paths=undone[:MAX_PATHS_TOLD], undone_more=more)
    message = SystemControl(
        id=MessageId(live.parts.ambient.new_id()),
        timestamp=live.parts.now(),
        role="system",
        metadata=Metadata(mode=live.core.mode),
        kind="injection",
        content="" if is_open else say_undone(paths),
        detail={"about": UNDO, "paths": list(paths[:MAX_PATHS_TOLD]), "count": len(paths), "by": by},
    )
    draft.append(message, live.core.active_branch if turn is None else turn.branch)


async def note_own_command(
    contexts: Contexts, context_id: str, command: str, status: int | None, *, by: str = "local"
) -> None:
    """A command that the person ran themselves from here: audited, decided by nobody."""
    async with contexts.locked(context_id) as live:
        draft = live.draft()
        draft.note("command_by_person", by, command=command, status=status)
        await live.commit(draft)


async def call_output(contexts: Contexts, context_id: str, call_id: str) -> Path:
    """Where the whole output of a call lies. Raises: NotFound."""
    live = await contexts.find(context_id)
    record = await call(contexts, context_id, call_id)
    path = live.artifacts.output_of(record.id) if live.artifacts is not None else None
    if path is None or not path.is_file():
        raise NotFound(Code.NO_OUTPUT, call_id=call_id)
    return path


async def add_overview(contexts: Contexts, context_id: str, *, by: str = "local") -> MessageId:
    """Look at the workspace anew, and tell the model from the next round on.

    Raises: NotFound, InvalidInput for a workspace that cannot be looked at, StoreError.
    """
    live = await contexts.find(context_id)
    wanted = msgspec.structs.replace(live.parts.overview or OverviewSettings(), enabled=True)  # they ask for it now
    text = await described(live, wanted)
    if text is None:
        raise InvalidInput(Code.INVALID_WORKSPACE, path=live.core.workspace)
    async with contexts.locked(context_id):
        return await put_overview(live, live.core.active_branch, text, by)
