"""Context ids and names. Every user has their own names: two users may both have a context `work`.

The id of a named context is `NAME~USER`. The local user's context has the plain name where that is free, as in the
terminal. Generated ids belong to no user and stay as they are; a generated id that a user passes to an import counts as
a name.
"""

import re
from contextlib import suppress

from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import ContextQuery, check_context_id, named_context_id
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, StoreDamaged
from pilothouse.domain.users import LOCAL
from pilothouse.domain.value import ContextId
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.pool import ContextPool

_GENERATED_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


async def own_context(pool: ContextPool, name: str, user: str) -> LiveContext:
    """The user's context of that id or name.

    Raises: NotFound where the user has no such context, whatever other users have; StoreDamaged, to the local user
    alone, where the owner cannot be read.
    """
    for context_id in await _candidates(pool, name, user):
        try:
            live = await pool.find(context_id)
        except NotFound:
            continue
        except StoreDamaged:
            if user == LOCAL:
                raise
            continue
        if live.core.owner == user:
            return live
    raise NotFound(Code.UNKNOWN_CONTEXT, context_id=name)


async def new_context_id(pool: ContextPool, name: str, user: str) -> ContextId:
    """The id of a new context to which the user gives a name.

    Raises: InvalidInput, Conflict where the user has a context of that name already.
    """
    plain, _, named_user = check_context_id(name).partition("~")
    if named_user and named_user != user:
        raise InvalidInput(Code.INVALID_ID, value=name)
    with suppress(NotFound):
        await own_context(pool, plain, user)
        raise Conflict(Code.CONTEXT_EXISTS, context_id=name)
    if user != LOCAL:  # the id carries the user's name, so it discloses nothing about other users' ids
        return named_context_id(plain, user)
    try:
        live = await pool.find(ContextId(plain))
    except NotFound:
        return ContextId(plain)
    except StoreDamaged:
        return named_context_id(plain, user)
    if live.core.owner == user:  # created since `own_context` looked
        raise Conflict(Code.CONTEXT_EXISTS, context_id=name)
    return named_context_id(plain, user)


async def _candidates(pool: ContextPool, name: str, user: str) -> list[ContextId]:
    """The ids that the user's context of a name may have, the likelier one first. A guessed name must not make the
    runtime open another user's context, since the time it takes would disclose that the context exists."""
    plain, _, named_user = name.partition("~")
    if named_user:
        return [ContextId(name)] if named_user == user else []
    own = named_context_id(plain, user)
    if user == LOCAL or _GENERATED_ID.fullmatch(plain) or plain in await _plain_names(pool, user):
        return [ContextId(plain), own]
    return [own]


async def _plain_names(pool: ContextPool, user: str) -> frozenset[str]:
    """The names without a user that a user's contexts have from earlier versions, in which names were global. No new
    ones are added."""
    names = pool.plain_names.get(user)
    if names is None:
        summaries = await pool.dependencies.store.contexts(ContextQuery(owner=user))
        ids = [summary.context_id for summary in summaries]
        names = pool.plain_names[user] = frozenset(name for name in ids if not _GENERATED_ID.fullmatch(name))
    return names
