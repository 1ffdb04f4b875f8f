"""Names of contexts belong to users: what a user calls `work` is theirs, whoever else uses the same name.

The context that a user names has the id `NAME~USER`; the local user's has the plain name where it is free, as in the
terminal. Ids that the runtime makes are nobody's name and stay as they are; one that another user gives to an
import is a name.
"""

import re
from contextlib import suppress

from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import check_context_id, named_context_id
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, StoreDamaged
from pilothouse.domain.users import LOCAL
from pilothouse.domain.values import ContextId
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.live import Live

_MADE = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


async def own_context(contexts: Contexts, name: str, user: str) -> Live:
    """The user's context of that id or name.

    Raises: NotFound where the user has none, whatever others have; StoreDamaged, to the local user alone, where it
    cannot be read whose it is.
    """
    for context_id in await _candidates(contexts, name, user):
        try:
            live = await contexts.find(context_id)
        except NotFound:
            continue
        except StoreDamaged:
            if user == LOCAL:
                raise
            continue
        if live.core.owner == user:
            return live
    raise NotFound(Code.UNKNOWN_CONTEXT, context_id=name)


async def new_context_id(contexts: Contexts, name: str, user: str) -> ContextId:
    """The id of a new context that the user calls so.

    Raises: InvalidInput, Conflict where the user has one of that name already.
    """
    plain, _, named_user = check_context_id(name).partition("~")
    if named_user and named_user != user:
        raise InvalidInput(Code.INVALID_ID, value=name)
    with suppress(NotFound):
        await own_context(contexts, plain, user)
        raise Conflict(Code.CONTEXT_EXISTS, context_id=name)
    if user != LOCAL:  # nobody else learns whether an id is another user's: theirs have their name behind it
        return named_context_id(plain, user)
    try:
        live = await contexts.find(ContextId(plain))
    except NotFound:
        return ContextId(plain)
    except StoreDamaged:
        return named_context_id(plain, user)
    if live.core.owner == user:  # made since it was looked for
        raise Conflict(Code.CONTEXT_EXISTS, context_id=name)
    return named_context_id(plain, user)


async def _candidates(contexts: Contexts, name: str, user: str) -> list[ContextId]:
    """Where the user's context of that name may be, the likelier id first. No guessed name makes the runtime open
    another user's context: the time that takes would tell of it."""
    plain, _, named_user = name.partition("~")
    if named_user:
        return [ContextId(name)] if named_user == user else []
    own = named_context_id(plain, user)
    if user == LOCAL or _MADE.fullmatch(plain) or plain in await _plain_names(contexts, user):
        return [ContextId(plain), own]
    return [own]


async def _plain_names(contexts: Contexts, user: str) -> frozenset[str]:
    """The names that a user has from earlier versions, when a name belonged to whoever came first. None is added."""
    known = contexts.plain_names.get(user)
    if known is None:
        listed = [each.context_id for each in await contexts.parts.store.contexts() if each.owner == user]
        known = contexts.plain_names[user] = frozenset(each for each in listed if not _MADE.fullmatch(each))
    return known
