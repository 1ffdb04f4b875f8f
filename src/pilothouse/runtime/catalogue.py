"""Contexts as things: made, listed, archived, deleted, and what they have used."""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import UNSET, UnsetType

from pilothouse.domain.audit import AuditDraft, chain
from pilothouse.domain.branches import MAIN, Branch
from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import FORMAT, Change, ContextCore, ContextSummary, check_context_id
from pilothouse.domain.errors import Conflict, InvalidInput
from pilothouse.domain.messages import Usage
from pilothouse.domain.modes import DEFAULT_MODE, Mode, strictness
from pilothouse.domain.personas import first_mode
from pilothouse.domain.policies import Policy, check_policy
from pilothouse.domain.signals import DELETED, ContextChanged
from pilothouse.domain.states import name_of
from pilothouse.domain.users import check_user_name
from pilothouse.domain.values import ContextId, Value
from pilothouse.runtime.context_names import new_context_id
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.deciding import nothing
from pilothouse.runtime.draft import Draft
from pilothouse.runtime.finishing import finish
from pilothouse.runtime.live import Live
from pilothouse.runtime.modes import check_persona, restand
from pilothouse.runtime.parts import Parts
from pilothouse.runtime.titles import clean_title

PAGE_AT_MOST = 200


class ContextPage(Value):
    """`next` is where the next page begins, or None at the end."""

    items: tuple[ContextSummary, ...]
    next: str | None = None


class UsageTotals(Value):
    """What a context used itself, and together with its sub-agents."""

    own: Usage
    total: Usage


async def create_context(
    contexts: Contexts,
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
    """`usual_modes` are what the person prefers where nothing is said: the strictest of them and of what the files say,
    unless the persona names another one (`first_mode`). `usual_model` is the model that they prefer, where there is it
    and the persona names none.

    Raises: InvalidInput, NotFound (the parent), Conflict (the id is taken), StoreError."""
    title = clean_title(title) if title is not None else None
    parts = contexts.parts
    owner = (await contexts.find(parent)).core.owner if parent is not None else check_user_name(by)
    check_workspace(parts, workspace, owner)
    real = os.path.realpath(workspace)
    check_persona(parts, real, persona)
    parts.check_model(model)
    named = parts.modes.named(mode) if mode is not None else first_mode_in(parts, real, usual_modes, persona)
    if context_id is None or parent is not None:  # a sub-agent has an id that the runtime has made
        new_id = check_context_id(context_id or parts.ambient.new_id())
    else:
        new_id = await new_context_id(contexts, context_id, owner)
    at = parts.now()
    core = ContextCore(
        context_id=new_id,
        format=FORMAT,
        owner=owner,
        parent=ContextId(parent) if parent is not None else None,
        workspace=real,
        title=title,
        titled_by="person" if title is not None else "first_line",
        created_at=at,
        updated_at=at,
        mode=named.name,
        persona=persona,
        model=model or _first_model(parts, real, usual_model, persona),
        policy=policy,
    )
    created = AuditDraft(kind="context_created", at=at, by=by, detail={"mode": named.name})
    head, entries = chain(core.audit, [created])
    core = msgspec.structs.replace(core, audit=head)
    main = Branch(name=MAIN, key=parts.ambient.new_id(), created_at=at)
    made = Change(core=core, branches={MAIN: main}, audit=entries)
    if parent is None:
        await finish(parts.store.create(made))
    else:  # a parent that is being deleted gets no new children
        async with contexts.locked(parent):
            await finish(parts.store.create(made))
    return new_id


def first_mode_in(parts: Parts, workspace: str, usual: Sequence[str | None], persona: str | None = None) -> Mode:
    """The strictest; a preference for a mode that there is no more counts for nothing. Then the persona has a say."""
    names = [name for name in (*usual, parts.steering(workspace).mode) if name is not None and parts.modes.has(name)]
    strictest = max((parts.modes.named(name) for name in names or [DEFAULT_MODE]), key=strictness)
    chosen = parts.personas(workspace).get(persona) if persona is not None else None
    return first_mode(chosen, strictest, parts.modes)


def _first_model(parts: Parts, workspace: str, usual: str | None, persona: str | None) -> str | None:
    """None for what the runtime uses by itself. A preference for a model that there is no more counts for nothing."""
    chosen = parts.personas(workspace).get(persona) if persona is not None else None
    own = (chosen.model or "").removeprefix("openai:") if chosen is not None else ""
    return usual if usual is not None and parts.has_model(usual) and not parts.has_model(own) else None


def check_workspace(parts: Parts, workspace: Path, owner: str) -> None:
    """Raises: InvalidInput for one that is no folder, that the owner may not open, or whose name cannot be stored."""
    path = str(workspace)
    if path != path.encode("utf-8", "replace").decode():
        raise InvalidInput(Code.INVALID_WORKSPACE, path=path)
    check_root(parts, path, owner)  # first: nobody learns which folders exist elsewhere
    if not os.path.isdir(workspace):
        raise InvalidInput(Code.INVALID_WORKSPACE, path=path)


def check_root(parts: Parts, workspace: str, owner: str) -> None:
    """Raises: InvalidInput for a workspace that does not really lie beneath one of the owner's roots."""
    if not parts.is_beneath_a_root(workspace, owner):
        allowed = ", ".join(map(str, parts.roots_of(owner)))
        raise InvalidInput(Code.OUTSIDE_ROOTS, path=workspace, allowed=allowed)


async def change_context(
    contexts: Contexts,
    context_id: str,
    *,
    title: str | UnsetType = UNSET,
    archived: bool | UnsetType = UNSET,
    persona: str | UnsetType | None = UNSET,
    model: str | UnsetType | None = UNSET,
    policy: Policy | UnsetType | None = UNSET,
    by: str = "local",
) -> None:
    """Several things in one commit: all that are given, or none. Raises: InvalidInput, NotFound, StoreError."""
    cleaned = clean_title(title) if title is not UNSET else None
    if policy is not UNSET and policy is not None:
        check_policy(policy)
    if model is not UNSET:
        contexts.parts.check_model(model)

    def change(live: Live, draft: Draft) -> None:
        if cleaned is not None:
            draft.core.update(title=cleaned, titled_by="person")
        if archived is not UNSET:
            draft.core["archived"] = archived
        if persona is not UNSET:
            check_persona(contexts.parts, live.core.workspace, persona)
            draft.core["persona"] = persona
            draft.note("persona_set", by, persona=persona)
        if model is not UNSET:
            draft.core["model"] = model
        if policy is not UNSET:
            draft.core["policy"] = policy
            draft.note("policy_set", by, policy=policy)

    await restand(contexts, context_id, change, by=by, opens=nothing)


async def list_contexts(
    contexts: Contexts,
    *,
    limit: int = 50,
    cursor: str | None = None,
    archived: bool = False,
    parent: str | None = None,
    owner: str | None = None,
) -> ContextPage:
    """Newest first; damaged ones too. Archived ones, and the sub-agents of one context, are lists of their own.

    Raises: InvalidInput for a cursor that is none.
    """
    if not 1 <= limit <= PAGE_AT_MOST:
        limit = max(1, min(limit, PAGE_AT_MOST))
    found = [
        summary
        for summary in await contexts.parts.store.contexts()
        if summary.archived == archived and summary.parent == parent and owner in (None, summary.owner)
    ]
    found.sort(key=_place, reverse=True)
    if cursor is not None:
        after = _parsed(cursor)
        found = [summary for summary in found if _place(summary) < after]
    items = tuple(found[:limit])
    return ContextPage(items=items, next=_cursor(items[-1]) if len(found) > limit else None)


def _place(summary: ContextSummary) -> tuple[str, str]:
    return (summary.updated_at, summary.context_id)


def _cursor(summary: ContextSummary) -> str:
    return "~".join(_place(summary))


def _parsed(cursor: str) -> tuple[str, str]:
    at, tilde, context_id = cursor.partition("~")
    if not tilde:
        raise InvalidInput(Code.INVALID_CURSOR, cursor=cursor[:100])
    return (at, context_id)


async def archive(contexts: Contexts, context_id: str, *, archived: bool = True) -> None:
    """Out of the list, or back into it. A new message brings it back too. Raises: NotFound, StoreError."""
    async with contexts.locked(context_id) as live:
        draft = live.draft()
        draft.core["archived"] = archived
        await live.commit(draft)


async def delete_context(contexts: Contexts, context_id: str) -> None:
    """With its sub-agents. Raises: NotFound, Conflict while a turn of any of them is open."""
    async with contexts.locked(context_id) as live:  # nobody sends another one meanwhile
        below = list(await _descendants(contexts, context_id))
        for member in (live.id, *below):
            _check_idle(await contexts.find(member))
        for member in reversed(below):
            async with contexts.locked(member) as child:
                _check_idle(child)
                await _delete(contexts, child)
        await _delete(contexts, live)


async def _delete(contexts: Contexts, live: Live) -> None:
    await contexts.parts.store.delete(live.id)
    live.is_deleted = True
    contexts.forget(live)
    contexts.parts.hub.publish(ContextChanged(context_id=live.id, version=live.version, fields=(DELETED,)))


def _check_idle(live: Live) -> None:
    if not live.is_resting or live.core.turn is not None:
        raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))


async def usage(contexts: Contexts, context_id: str) -> UsageTotals:
    """Tokens, and their cost where a price is known. Raises: NotFound."""
    own = (await contexts.find(context_id)).core.usage
    total = own
    for used in (await _descendants(contexts, context_id)).values():
        total = total.plus(used)
    return UsageTotals(own=own, total=total)


async def _descendants(contexts: Contexts, context_id: str) -> dict[ContextId, Usage]:
    """The sub-agents of a context, and theirs, each after who sent it, with what it used."""
    owner = (await contexts.find(context_id)).core.owner
    known = [each for each in await contexts.parts.store.contexts() if each.owner == owner]
    found: dict[ContextId, Usage] = {}
    senders = [ContextId(context_id)]
    while senders:
        sent = [each for each in known if each.parent in senders and each.context_id not in (*found, context_id)]
        found.update((each.context_id, each.usage) for each in sent)
        senders = [each.context_id for each in sent]
    return found
