"""Names of contexts belong to users: what a user calls `work` is theirs, whoever else uses the same name.

The context that a user names has the id `NAME~USER`; the local user's has the plain name where it is free, as in the
terminal. Ids that the runtime makes are nobody's name and stay as they are.
"""

import re

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
    for context_id in _candidates(name, user):
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
    try:
        await own_context(contexts, plain, user)
    except NotFound:
        is_plain = (user == LOCAL or _MADE.fullmatch(plain)) and await _is_free(contexts, ContextId(plain))
        return ContextId(plain) if is_plain else named_context_id(plain, user)
    raise Conflict(Code.CONTEXT_EXISTS, context_id=name)


def _candidates(name: str, user: str) -> list[ContextId]:
    """Where the user's context of that name may be, the likelier id first."""
    plain, _, named_user = name.partition("~")
    if named_user:
        return [ContextId(name)] if named_user == user else []
    found = [ContextId(plain), named_context_id(plain, user)]
    return found if user == LOCAL or _MADE.fullmatch(plain) else found[::-1]


async def _is_free(contexts: Contexts, context_id: ContextId) -> bool:
    try:
        await contexts.find(context_id)
    except NotFound:
        return True
    except StoreDamaged:
        return False
    return False
