"""`pilothouse audit verify`: check that nobody has altered the records in the data directory."""

import argparse
from collections.abc import AsyncIterator

from pilothouse.cli.run import ExitCode
from pilothouse.domain.audit import chain_reason
from pilothouse.domain.codes import Code, Language, Reason
from pilothouse.domain.deception.hidden_characters import visible
from pilothouse.domain.errors import Conflict, NotFound, StoreError
from pilothouse.domain.value import ContextId, Value
from pilothouse.i18n import translate, ui_text
from pilothouse.settings import Settings
from pilothouse.storage.files.store import FileStore
from pilothouse.system.ambient import SystemAmbient, timestamp

_GOOD = frozenset({Code.AUDIT_WHOLE, Code.AUDIT_NOT_CONFIRMED})


class Finding(Value):
    """The result of checking one record."""

    name: str
    reason: Reason
    context_id: ContextId | None = None
    user: str | None = None

    @property
    def is_good(self) -> bool:
        return self.reason.code in _GOOD


async def verify_command(options: argparse.Namespace, settings: Settings) -> int:
    """Check records and print the findings. Raises: StoreLocked while another process works on the data, NotFound."""
    ambient = SystemAmbient()
    store = FileStore(settings.data_dir, now=lambda: timestamp(ambient.now()), state_dir=settings.state_dir)
    language, count, bad = settings.language, 0, 0
    try:
        findings = _one(store, ContextId(options.id)) if options.id is not None else _all(store, language)
        async for finding in findings:
            count += 1
            accepted = ""
            if options.accept and finding.reason.code is not Code.AUDIT_WHOLE:
                finding, accepted = await _accept(store, finding, language)
            bad += not finding.is_good
            print(visible(f"{finding.name}  {translate(finding.reason, language)}{accepted}"), flush=True)
    finally:
        await store.close()
    print(ui_text("audit", "summary", language, count=count, bad=bad))
    if bad and not options.accept:
        words = ("pilothouse audit verify", options.id, "--accept")
        print(visible(ui_text("audit", "how", language, command=" ".join(word for word in words if word is not None))))
    return int(ExitCode.ERROR if bad else ExitCode.DONE)


async def _all(store: FileStore, language: Language) -> AsyncIterator[Finding]:
    for user in await store.users():
        yield await _rules(store, user, language)
    for summary in await store.contexts():
        async for finding in _one(store, summary.context_id):
            yield finding
    for context_id in await store.lost_contexts():
        yield Finding(context_id, Reason(Code.AUDIT_LOST), context_id=context_id)


async def _one(store: FileStore, context_id: ContextId) -> AsyncIterator[Finding]:
    try:
        reason = chain_reason((await store.audit(context_id, limit=0)).chain)
    except NotFound:
        if context_id not in await store.lost_contexts():
            raise
        reason = Reason(Code.AUDIT_LOST)
    except StoreError as error:
        reason = error.reason
    yield Finding(context_id, reason, context_id=context_id)


async def _rules(store: FileStore, user: str, language: Language) -> Finding:
    name = ui_text("audit", "rules", language, user=user)
    try:
        log = await store.user_log(user)
    except StoreError as error:
        return Finding(name, error.reason, user=user)
    damage = [reason for reason in log.damage if reason.code is not Code.TAIL_CUT]
    if log.is_cut and log.noted is not None:
        damage.insert(0, Reason(Code.RULES_CUT, {"known": log.noted.count}))
    return Finding(name, damage[0] if damage else chain_reason(log.check()), user=user)


async def _accept(store: FileStore, finding: Finding, language: Language) -> tuple[Finding, str]:
    """Accept a record in its current state. A record that cannot be opened keeps its finding."""
    try:
        await _accept_record(store, finding)
    except (Conflict, StoreError):
        return finding, ""
    if finding.context_id is not None:
        if finding.reason.code is Code.AUDIT_LOST:
            return Finding(finding.name, Reason(Code.AUDIT_WHOLE)), f" ({ui_text('audit', 'accepted', language)})"
        again = await anext(_one(store, finding.context_id))
    else:
        assert finding.user is not None
        again = await _rules(store, finding.user, language)
    return again, f" ({ui_text('audit', 'accepted', language)})" if again.is_good else ""


async def _accept_record(store: FileStore, finding: Finding) -> None:
    """Accept a record in its current state. Raises: Conflict, StoreError."""
    if finding.context_id is not None:
        await store.accept_audit(finding.context_id)
    elif finding.user is not None:
        await store.accept_user_log(finding.user)
