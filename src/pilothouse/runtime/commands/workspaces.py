"""Commands about a context's workspace: trust its configuration, undo changes, note commands, renew the overview."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from pilothouse.domain.audit import Kind
from pilothouse.domain.budgets import OverviewSettings
from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import OpenTurn
from pilothouse.domain.errors import Conflict, InvalidInput, StoreRefused, ToolError
from pilothouse.domain.messages import UNDO
from pilothouse.domain.modes import Mode
from pilothouse.domain.personas import Personas
from pilothouse.domain.states import name_of
from pilothouse.domain.trust import FolderTrust
from pilothouse.domain.value import MessageId, Value
from pilothouse.domain.workspace_policy import WorkspacePolicy
from pilothouse.runtime.authorization.authorization import MAX_UNDONE_PATHS_LISTED, describe_undone, release_none
from pilothouse.runtime.commands.command_group import CommandGroup
from pilothouse.runtime.commands.contexts import check_root, first_mode_in
from pilothouse.runtime.commands.modes import redecide_descendants
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.notices import system_notice
from pilothouse.runtime.pool import ContextPool
from pilothouse.runtime.request.overview import describe, put_overview
from pilothouse.runtime.shield import run_to_completion_in_thread
from pilothouse.tools.artifacts import UPLOADS
from pilothouse.tools.file_index import FileMatch, Listing, best_matches
from pilothouse.tools.undo.revert import UndoResult, undo_last


async def _apply_trust(pool: ContextPool, live: LiveContext, kind: Kind, by: str) -> None:
    # First the effect, then the audit entry: a store that refuses must not keep a server running.
    await pool.open_workspace_servers(live.core)
    same_workspace = tuple(other for other in pool.in_memory() if other.core.workspace == live.core.workspace)
    await redecide_descendants(pool, same_workspace, by, releases=release_none)
    async with pool.locked(live.id) as locked:
        draft = locked.draft()
        draft.note(kind, by)
        await locked.commit(draft)


def _put_undo_notice(live: LiveContext, draft: Draft, paths: tuple[str, ...], by: str) -> None:
    """Put a notice of an undo into a draft. No message for the model may stand between a call and its result: while a
    call is open, the next result carries the notice."""
    turn: OpenTurn | None = draft.value("turn")
    is_open = any(call.is_open and call.asked_by is None for call in draft.all_calls())
    if turn is not None and is_open:
        undone_paths = tuple(dict.fromkeys((*turn.undone_paths, *paths)))
        more = turn.undone_more + max(0, len(undone_paths) - MAX_UNDONE_PATHS_LISTED)
        draft.core["turn"] = msgspec.structs.replace(
            turn, undone_paths=undone_paths[:MAX_UNDONE_PATHS_LISTED], undone_more=more
        )
    detail = {"about": UNDO, "paths": list(paths[:MAX_UNDONE_PATHS_LISTED]), "count": len(paths), "by": by}
    message = system_notice(live, "injection", "" if is_open else describe_undone(paths), detail=detail)
    draft.append(message, live.core.active_branch if turn is None else turn.branch)


class FoundFile(Value, omit_defaults=False):
    path: str
    """Relative to the workspace."""
    is_folder: bool


class FoundFiles(Value, omit_defaults=False):
    items: tuple[FoundFile, ...]
    """Best match first."""
    is_cut: bool
    """Whether the workspace holds more files than the index."""


class WorkspaceCommands(CommandGroup):
    """The folder that a context works in: trust, undo, overview, files."""

    @property
    def roots(self) -> Sequence[Path]:
        """The folders beneath which workspaces must lie; empty where workspaces may lie anywhere."""
        return self._pool.dependencies.roots

    def roots_of(self, user: str) -> Sequence[Path]:
        """The folders beneath which a user's workspaces must lie; empty where workspaces may lie anywhere."""
        return self._pool.dependencies.workspace_roots(user)

    def is_beneath_a_root(self, workspace: str, user: str) -> bool:
        return self._pool.dependencies.is_beneath_a_root(workspace, user)

    def policy(self, workspace: str | None) -> WorkspacePolicy:
        """The policy that the configuration gives for a workspace."""
        return self._pool.dependencies.workspace_policy(workspace)

    def personas(self, workspace: str | None) -> Personas:
        """The personas that the configuration gives for a workspace."""
        return self._pool.dependencies.personas(workspace)

    def first_mode(self, workspace: str, preferred: Sequence[str | None]) -> Mode:
        """The mode of a new context: the strictest of the preferred modes that exist and of the configured one."""
        return first_mode_in(self._pool.dependencies, workspace, preferred)

    async def trust_status(self, context_id: str) -> FolderTrust:
        """The workspace's own configuration and whether it is trusted. Raises: NotFound, InvalidInput."""
        live = await self._pool.find(context_id)
        trust, workspace = self._pool.dependencies.trust, live.core.workspace
        if trust is None or workspace is None:
            return FolderTrust(folder=workspace or "", status="none", digest="")
        check_root(self._pool.dependencies, workspace, live.core.owner)
        return await asyncio.to_thread(trust.status, workspace)

    async def trust(self, context_id: str, digest: str, *, by: str = "local") -> FolderTrust:
        """Trust the workspace's configuration in the form that the person saw. All calls that have not started are
        decided again.

        Raises: NotFound, Conflict where the configuration has changed, InvalidInput for settings that no folder may
        make.
        """
        live = await self._pool.find(context_id)
        trust, workspace = self._pool.dependencies.trust, live.core.workspace
        if trust is None or workspace is None:
            raise Conflict(Code.TRUST_CHANGED, folder=workspace or "-")
        check_root(self._pool.dependencies, workspace, live.core.owner)
        await asyncio.to_thread(trust.trust, workspace, digest)
        await _apply_trust(self._pool, live, "folder_trusted", by)
        return await self.trust_status(context_id)

    async def distrust(self, context_id: str, *, by: str = "local") -> FolderTrust:
        """Stop trusting the workspace's configuration."""
        live = await self._pool.find(context_id)
        trust, workspace = self._pool.dependencies.trust, live.core.workspace
        if trust is not None and workspace is not None:
            await asyncio.to_thread(trust.distrust, workspace)
            await _apply_trust(self._pool, live, "folder_distrusted", by)
        return await self.trust_status(context_id)

    @property
    def environment_variables(self) -> tuple[str, ...]:
        """The names of the variables that `use_environment` takes: PATH, and those that the person has listed."""
        return ("PATH", *self._pool.environments.default.names)

    async def use_environment(self, context_id: str, variables: Mapping[str, str]) -> None:
        """Give the commands of a conversation, its sub-agents included, PATH and the listed variables of a client in
        place of the runtime's own. Other variables are dropped. Take them from the person only: programs on the PATH
        can be read and run by commands that run without approval.

        A call that may run already keeps the environment of its decision. The variables are in memory only: they end
        with the runtime, and of more than 500 conversations those that were used last keep theirs.

        Raises: NotFound, InvalidInput for values that are too long, or that no program can get.
        """
        live = await self._pool.find(context_id)
        self._pool.environments.use(live.outermost.id, variables)

    async def undo(self, context_id: str, *, by: str = "local") -> UndoResult:
        """Undo the agent's last change of files in the workspace, as the person's own action.

        Raises: NotFound, Conflict while a call runs, or where no file was restored.
        """
        async with self._pool.locked(context_id) as live:
            if any(call.status == "executing" for call in live.draft().all_calls()):
                raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))
            if live.files.artifacts is None:
                raise Conflict(Code.NOTHING_TO_UNDO)
            log, workspace = live.files.artifacts.changes, live.files.workspace()
            try:
                undone = await run_to_completion_in_thread(lambda: undo_last(log, workspace))
            except ToolError as error:
                raise Conflict(error.reason.code, **error.reason.params) from error
            except OSError as error:
                raise StoreRefused.because_of(error) from error
            draft = live.draft()
            for path in undone.paths:
                live.files.workspace().forget_read(path)
            draft.note("change_undone", by, paths=undone.paths)
            _put_undo_notice(live, draft, undone.paths, by)
            await live.commit(draft)
        return undone

    async def note_own_command(self, context_id: str, command: str, status: int | None, *, by: str = "local") -> None:
        """Note in the audit a command that the person ran themselves, without a decision."""
        async with self._pool.locked(context_id) as live:
            draft = live.draft()
            draft.note("command_by_person", by, command=command, status=status)
            await live.commit(draft)

    async def add_overview(self, context_id: str, *, by: str = "local") -> MessageId:
        """Describe the workspace again. The model gets the new overview from the next round on.

        Raises: NotFound, InvalidInput for a workspace that cannot be read, StoreError.
        """
        live = await self._pool.find(context_id)
        settings = msgspec.structs.replace(live.dependencies.overview or OverviewSettings(), enabled=True)
        text = await describe(live, settings)
        if text is None:
            raise InvalidInput(Code.INVALID_WORKSPACE, path=live.core.workspace)
        async with self._pool.locked(context_id):
            return await put_overview(live, live.core.active_branch, text, by)

    async def find_files(self, context_id: str, query: str = "", limit: int = 20) -> FoundFiles:
        """The files that match a query. Raises: NotFound, InvalidInput for a workspace that cannot be read."""
        live = await self._pool.find(context_id)
        try:
            listing = await self._pool.file_index.listing(live.files.workspace())
        except ToolError as error:
            raise InvalidInput(Code.INVALID_WORKSPACE, path=live.core.workspace) from error
        matches = await asyncio.to_thread(lambda: best_matches(_with_uploads(live, listing), query, limit))
        return FoundFiles(tuple(FoundFile(*match) for match in matches), listing.is_cut)


def _with_uploads(live: LiveContext, listing: Listing) -> Listing:
    """A listing with the conversation's uploads first. A copy, since all conversations of a workspace share the
    listing."""
    names = (
        [f"{UPLOADS}/{upload.name}" for upload in live.files.uploads.all()] if live.files.uploads is not None else []
    )
    root = live.files.workspace().root
    uploads = [FileMatch(path, is_folder=False) for path in names if not os.path.lexists(root / path)]
    return Listing([*uploads, *listing.entries], listing.is_cut) if uploads else listing
