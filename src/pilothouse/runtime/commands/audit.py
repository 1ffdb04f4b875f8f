"""Reading the audit of a conversation. Once a reader finds the chain broken, the conversation's calls ask."""

import contextlib

from pilothouse.domain.audit import CheckedAudit
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import Conflict
from pilothouse.domain.signals import ContextChanged
from pilothouse.domain.value import ContextId
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.pool import ContextPool


async def read_audit(
    pool: ContextPool, context_id: ContextId, after: int = 0, limit: int | None = None
) -> CheckedAudit:
    """The entries behind the first `after`, and whether the chain is intact. Raises: NotFound, StoreError."""
    page = await pool.dependencies.store.audit(context_id, after, limit)
    if not page.chain.whole:
        with contextlib.suppress(Conflict):  # the runtime is closing: no call starts any more
            async with pool.reading(context_id) as live:
                await note_damage(live)
    return page


async def note_damage(live: LiveContext) -> None:
    """Read the chain again, and note damage, which makes calls ask. The caller holds the lock, so that nobody accepts
    the chain during the read. Every start of a call checks the damage of its context and of the context's ancestors."""
    chain = (await live.dependencies.store.audit(live.id, limit=0)).chain
    if chain.whole or any(reason.code is Code.AUDIT_CUT for reason in live.damage):
        return
    live.report_damage(Reason(Code.AUDIT_CUT, {"sequence": chain.broken_at}))
    live.dependencies.hub.publish(ContextChanged(context_id=live.id, version=live.version, fields=("damage",)))
