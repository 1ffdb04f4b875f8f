"""Reading the audit of a conversation: a chain that is found broken makes its calls wait from then on."""

import contextlib

from pilothouse.domain.audit import CheckedAudit
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import Conflict
from pilothouse.domain.signals import ContextChanged
from pilothouse.domain.values import ContextId
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.live import Live


async def read_audit(
    contexts: Contexts, context_id: ContextId, after: int = 0, limit: int | None = None
) -> CheckedAudit:
    """The entries behind the first `after`, and whether the chain can be relied on. Raises: NotFound, StoreError."""
    page = await contexts.parts.store.audit(context_id, after, limit)
    if not page.chain.whole:
        with contextlib.suppress(Conflict):  # the runtime is being closed: no call starts any more
            async with contexts.locked(context_id, stores_kept=False) as live:
                await note_damage(live)
    return page


async def note_damage(live: Live) -> None:
    """Read the chain again, and let calls wait where it is broken. The caller holds the lock: nobody accepts the chain
    meanwhile. Every start of a call asks for the damage of its context, and of those above it."""
    chain = (await live.parts.store.audit(live.id, limit=0)).chain
    if chain.whole or any(reason.code is Code.AUDIT_CUT for reason in live.damage):
        return
    live.damage = (*live.damage, Reason(Code.AUDIT_CUT, {"sequence": chain.broken_at}))
    live.parts.hub.publish(ContextChanged(context_id=live.id, version=live.version, fields=("damage",)))
