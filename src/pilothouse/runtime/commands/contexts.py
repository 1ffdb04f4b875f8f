"""Commands about contexts: create, list, change, archive, delete, read the usage."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from pilothouse.domain.audit import AuditDraft, CheckedAudit, chain
from pilothouse.domain.branches import MAIN, Branch
from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import (
    FORMAT,
    Change,
    ContextCore,
    ContextQuery,
    ContextSummary,
    ListPosition,
    check_context_id,
)
from pilothouse.domain.errors import Conflict, InvalidInput
from pilothouse.domain.forks import BranchFork
from pilothouse.domain.messages import Usage
from pilothouse.domain.modes import DEFAULT_MODE, Mode, strictness
from pilothouse.domain.personas import initial_mode
from pilothouse.domain.policies import Policy, check_policy
from pilothouse.domain.sampling import Sampling, check_sampling
from pilothouse.domain.signals import DELETED, ContextChanged
from pilothouse.domain.states import name_of
from pilothouse.domain.users import check_user_name
from pilothouse.domain.value import ContextId, Value
from pilothouse.runtime.authorization.authorization import release_none
from pilothouse.runtime.commands.audit import read_audit
from pilothouse.runtime.commands.command_group import CommandGroup
from pilothouse.runtime.commands.modes import change_policy, check_persona
from pilothouse.runtime.commands.titles import clean_title
from pilothouse.runtime.context.context_ids import new_context_id, own_context
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.context.snapshot import ContextSnapshot, snapshot_of
from pilothouse.runtime.dependencies import RuntimeDependencies
from pilothouse.runtime.pool import ContextPool
from pilothouse.runtime.shield import run_to_completion

_MAX_PAGE_ITEMS = 200


class ContextPage(Value):
    items: tuple[ContextSummary, ...]
    next: str | None = None
    """The cursor of the next page; None at the end."""


class UsageTotals(Value):
    own: Usage
    """Usage of the context itself."""
    total: Usage
    """Usage of the context and its sub-agents on all levels."""


class ContextCommands(CommandGroup):
    """Create, list, read, change and delete contexts, which are conversations."""

    async def create(
        self,
        workspace: Path,
        *,
        mode: str | None = None,
        usual_modes: Sequence[str | None] = (),
        policy: Policy | None = None,
        title: str | None = None,
        persona: str | None = None,
        model: str | None = None,
        usual_model: str | None = None,
        parent: str | None = None,
        context_id: str | None = None,
        by: str = "local",
    ) -> ContextId:
        """Create a context. Without `mode`, its mode is the strictest of `usual_modes`, which are the person's
        preferences, and of the configured mode, unless the persona names another one (`first_mode`). Without `model`,
        its model is `usual_model`, the person's preference, where the adapter has that model and the persona names
        none.

        Raises: InvalidInput, NotFound (the parent), Conflict (the id is taken), StoreError.
        """
        title = clean_title(title) if title is not None else None
        dependencies = self._pool.dependencies
        owner = (await self._pool.find(parent)).core.owner if parent is not None else check_user_name(by)
        check_workspace(dependencies, workspace, owner)
        real_path = os.path.realpath(workspace)
        check_persona(dependencies, real_path, persona)
        dependencies.check_model(model)
        chosen_mode = (
            dependencies.modes.named(mode)
            if mode is not None
            else first_mode_in(dependencies, real_path, usual_modes, persona)
        )
        if context_id is None or parent is not None:  # the runtime generates the ids of sub-agents
            new_id = check_context_id(context_id or dependencies.ambient.new_id())
        else:
            new_id = await new_context_id(self._pool, context_id, owner)
        now = dependencies.now()
        core = ContextCore(
            context_id=new_id,
            format=FORMAT,
            owner=owner,
            parent=ContextId(parent) if parent is not None else None,
            workspace=real_path,
            title=title,
            titled_by="person" if title is not None else "first_line",
            created_at=now,
            updated_at=now,
            mode=chosen_mode.name,
            persona=persona,
            model=model or _first_model(dependencies, real_path, usual_model, persona),
            policy=policy,
        )
        created = AuditDraft(kind="context_created", at=now, by=by, detail={"mode": chosen_mode.name})
        head, entries = chain(core.audit, [created])
        core = msgspec.structs.replace(core, audit=head)
        main = Branch(name=MAIN, key=dependencies.ambient.new_id(), created_at=now)
        change = Change(core=core, branches={MAIN: main}, audit=entries)
        if parent is None:
            await run_to_completion(dependencies.store.create(change))
        else:  # under the parent's lock: a parent that is being deleted gets no new sub-agents
            async with self._pool.locked(parent):
                await run_to_completion(dependencies.store.create(change))
        return new_id

    async def change(
        self,
        context_id: str,
        *,
        title: str | UnsetType = UNSET,
        archived: bool | UnsetType = UNSET,
        persona: str | UnsetType | None = UNSET,
        model: str | UnsetType | None = UNSET,
        temperature: float | UnsetType | None = UNSET,
        max_output_tokens: int | UnsetType | None = UNSET,
        policy: Policy | UnsetType | None = UNSET,
        by: str = "local",
    ) -> None:
        """Change fields of a context in one commit: all given ones, or none. None removes a field's own value.

        Raises: InvalidInput, NotFound, StoreError.
        """
        cleaned = clean_title(title) if title is not UNSET else None
        if policy is not UNSET and policy is not None:
            check_policy(policy)
        if model is not UNSET:
            self._pool.dependencies.check_model(model)
        sampling = _sampling_changes(temperature, max_output_tokens)

        def change(live: LiveContext, draft: Draft) -> None:
            if cleaned is not None:
                draft.core.update(title=cleaned, titled_by="person")
            if archived is not UNSET:
                draft.core["archived"] = archived
            if persona is not UNSET:
                check_persona(self._pool.dependencies, live.core.workspace, persona)
                draft.core["persona"] = persona
                draft.note("persona_set", by, persona=persona)
            if model is not UNSET:
                draft.core["model"] = model
            draft.core["sampling"] = _changed_sampling(draft.value("sampling"), sampling)
            if policy is not UNSET:
                draft.core["policy"] = policy
                draft.note("policy_set", by, policy=policy)

        if persona is UNSET and policy is UNSET:  # nothing that decides calls has changed
            async with self._pool.locked(context_id) as live:
                draft = live.draft()
                change(live, draft)
                await live.commit(draft)
        else:
            await change_policy(self._pool, context_id, change, by=by, releases=release_none)

    async def delete(self, context_id: str) -> None:
        """Delete a context with its sub-agents. Raises: NotFound, Conflict while a turn of any of them is open."""
        async with self._pool.locked(context_id) as live:  # under the lock no sub-agent can start
            descendant_ids = list(await _descendants(self._pool, context_id))
            for member_id in (live.id, *descendant_ids):
                _check_idle(await self._pool.find(member_id))
            for descendant_id in reversed(descendant_ids):
                async with self._pool.locked(descendant_id) as child:
                    _check_idle(child)
                    await _delete(self._pool, child)
            await _delete(self._pool, live)

    async def get(self, context_id: str) -> ContextSnapshot:
        """The context at this instant. Raises: NotFound, StoreError."""
        return snapshot_of(await self._pool.find(context_id))

    def in_memory(self) -> tuple[ContextSnapshot, ...]:
        """The contexts that are in memory."""
        return tuple(snapshot_of(live) for live in self._pool.in_memory())

    async def model(self, context_id: str) -> str:
        """The model that the next request of a context would use. Raises: NotFound, InvalidInput, StoreError."""
        return (await self._pool.find(context_id)).model().name

    def model_in_memory(self, context_id: ContextId) -> str:
        """The model of a context that is in memory; the runtime's model for another context."""
        return self._pool.model_of(context_id)

    def folder(self, context_id: str) -> Path | None:
        """The folder of a context's files, if its store has one."""
        artifacts = self._pool.dependencies.store.artifacts_folder(ContextId(context_id))
        return artifacts.parent if artifacts is not None else None

    async def forks(self, context_id: str) -> dict[str, BranchFork]:
        """By branch: the position at which it departs from the active branch. Raises: NotFound, StoreError."""
        live = await self._pool.find(context_id)
        return await live.history_cache.forks(live)

    async def own(self, name: str, user: str) -> ContextSnapshot:
        """A user's context by its name or id. Raises: NotFound, StoreError."""
        return snapshot_of(await own_context(self._pool, name, user))

    async def audit(self, context_id: str, after: int = 0, limit: int | None = None) -> CheckedAudit:
        """The audit behind the first `after` entries, and whether its chain is intact. Raises: NotFound, StoreError."""
        live = await self._pool.find(context_id)
        return await read_audit(self._pool, live.id, after, limit)

    async def usage(self, context_id: str) -> UsageTotals:
        """The tokens that a context has used, and their cost where a price is known. Raises: NotFound."""
        own_usage = (await self._pool.find(context_id)).core.usage
        total = own_usage
        for descendant_usage in (await _descendants(self._pool, context_id)).values():
            total = total.plus(descendant_usage)
        return UsageTotals(own=own_usage, total=total)

    async def list(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        archived: bool = False,
        parent: str | None = None,
        owner: str | None = None,
    ) -> ContextPage:
        """A page of contexts, newest first, damaged ones included. Archived contexts, and the sub-agents of one
        context, have lists of their own.

        Raises: InvalidInput for an invalid cursor.
        """
        limit = max(1, min(limit, _MAX_PAGE_ITEMS))
        query = ContextQuery(
            owner=owner,
            archived=archived,
            parent=ContextId(parent) if parent is not None else None,
            before=_parse_cursor(cursor) if cursor is not None else None,
            limit=limit + 1,  # the last one is there if there is a next page
        )
        summaries = await self._pool.dependencies.store.contexts(query)
        items = tuple(summaries[:limit])
        return ContextPage(items=items, next="~".join(items[-1].position) if len(summaries) > limit else None)


def _sampling_changes(
    temperature: float | UnsetType | None, max_output_tokens: int | UnsetType | None
) -> Mapping[str, Any]:
    """The sampling settings to change. Raises: InvalidInput."""
    settings = {"temperature": temperature, "max_output_tokens": max_output_tokens}
    changes: dict[str, Any] = {name: value for name, value in settings.items() if value is not UNSET}
    check_sampling(Sampling(**changes))
    return changes


def _changed_sampling(present: Sampling | None, changes: Mapping[str, Any]) -> Sampling | None:
    sampling = msgspec.structs.replace(present or Sampling(), **changes)
    return sampling if sampling != Sampling() else None


def first_mode_in(
    dependencies: RuntimeDependencies, workspace: str, preferred: Sequence[str | None], persona: str | None = None
) -> Mode:
    """The first mode of a context: the strictest of the preferred modes that exist and of the configured one, unless
    the persona overrides it."""
    names = [
        name
        for name in (*preferred, dependencies.workspace_policy(workspace).mode)
        if name is not None and dependencies.modes.has(name)
    ]
    strictest = max((dependencies.modes.named(name) for name in names or [DEFAULT_MODE]), key=strictness)
    named_persona = dependencies.personas(workspace).get(persona) if persona is not None else None
    return initial_mode(named_persona, strictest, dependencies.modes)


def _first_model(
    dependencies: RuntimeDependencies, workspace: str, preferred: str | None, persona: str | None
) -> str | None:
    """The preferred model, if it exists and the persona has none; otherwise None, for the runtime's default."""
    named_persona = dependencies.personas(workspace).get(persona) if persona is not None else None
    has_own = named_persona is not None and dependencies.own_model(named_persona.model) is not None
    return preferred if preferred is not None and dependencies.has_model(preferred) and not has_own else None


def check_workspace(dependencies: RuntimeDependencies, workspace: Path, owner: str) -> None:
    """Raises: InvalidInput for a path that is no folder, that the owner may not open, or that cannot be stored."""
    path = str(workspace)
    if path != path.encode("utf-8", "replace").decode():
        raise InvalidInput(Code.INVALID_WORKSPACE, path=path)
    check_root(dependencies, path, owner)  # before existence, which would disclose the folders elsewhere
    if not os.path.isdir(workspace):
        raise InvalidInput(Code.INVALID_WORKSPACE, path=path)


def check_root(dependencies: RuntimeDependencies, workspace: str, owner: str) -> None:
    """Raises: InvalidInput for a workspace whose resolved path does not lie beneath one of the owner's roots."""
    if not dependencies.is_beneath_a_root(workspace, owner):
        allowed = ", ".join(map(str, dependencies.workspace_roots(owner)))
        raise InvalidInput(Code.OUTSIDE_ROOTS, path=workspace, allowed=allowed)


def _parse_cursor(cursor: str) -> ListPosition:
    at, tilde, context_id = cursor.partition("~")
    if not tilde:
        raise InvalidInput(Code.INVALID_CURSOR, cursor=cursor[:100])
    return (at, context_id)


async def _delete(pool: ContextPool, live: LiveContext) -> None:
    await pool.dependencies.store.delete(live.id, fence=live.storage.fence)
    live.storage.is_deleted = True
    pool.forget(live)
    pool.environments.forget(live.id)
    pool.dependencies.hub.publish(ContextChanged(context_id=live.id, version=live.version, fields=(DELETED,)))


def _check_idle(live: LiveContext) -> None:
    if not live.is_resting or live.core.turn is not None:
        raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))


async def _descendants(pool: ContextPool, context_id: str) -> dict[ContextId, Usage]:
    """The sub-agents of a context on all levels with their usage, each after its parent."""
    owner = (await pool.find(context_id)).core.owner
    summaries = await pool.dependencies.store.contexts(ContextQuery(owner=owner))
    descendants: dict[ContextId, Usage] = {}
    parents = [ContextId(context_id)]
    while parents:
        children = [
            summary
            for summary in summaries
            if summary.parent in parents and summary.context_id not in (*descendants, context_id)
        ]
        descendants.update((summary.context_id, summary.usage) for summary in children)
        parents = [summary.context_id for summary in children]
    return descendants
