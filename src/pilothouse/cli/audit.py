"""`pilothouse audit verify`: check that nobody has altered the records in the data directory."""

import argparse
from collections.abc import AsyncIterator

from pilothouse.app import open_file_store
from pilothouse.cli.run import ExitCode
from pilothouse.domain.audit import chain_reason
from pilothouse.domain.codes import Code, Language, Reason
from pilothouse.domain.deception.hidden_characters import visible
from pilothouse.domain.errors import Conflict, NotFound, StoreError
from pilothouse.domain.value import ContextId, Value
from pilothouse.i18n import translate, ui_text
from pilothouse.settings import Settings
from pilothouse.storage.files.store import FileStore
from pilothouse.system.ambient import SystemAmbient

_GOOD_CODES = frozenset({Code.AUDIT_WHOLE, Code.AUDIT_NOT_CONFIRMED})


class Finding(Value):
    """The result of checking one record."""

    name: str
    reason: Reason
    context_id: ContextId | None = None
    user: str | None = None

    @property
    def is_good(self) -> bool:
        return self.reason.code in _GOOD_CODES


async def verify_command(options: argparse.Namespace, settings: Settings) -> int:
    """Check records and print the findings. Raises: StoreLocked while another process works on the data, NotFound."""
    store = open_file_store(settings, SystemAmbient())
    language, count, bad_count = settings.language, 0, 0
    try:
        findings = (
            _check_context(store, ContextId(options.id)) if options.id is not None else _check_all(store, language)
        )
        async for finding in findings:
            count += 1
            accepted = ""
            if options.accept and finding.reason.code is not Code.AUDIT_WHOLE:
                finding, accepted = await _accept(store, finding, language)
            bad_count += not finding.is_good
            print(visible(f"{finding.name}  {translate(finding.reason, language)}{accepted}"), flush=True)
    finally:
        await store.close()
    print(ui_text("audit", "summary", language, count=count, bad=bad_count))
    if bad_count and not options.accept:
        command = " ".join(filter(None, ("pilothouse audit verify", options.id, "--accept")))
        print(visible(ui_text("audit", "how", language, command=command)))
    return int(ExitCode.ERROR if bad_count else ExitCode.DONE)


async def _check_all(store: FileStore, language: Language) -> AsyncIterator[Finding]:
    for user in await store.users():
        yield await _check_rules(store, user, language)
    for summary in await store.contexts():
        async for finding in _check_context(store, summary.context_id):
            yield finding
    for context_id in await store.lost_contexts():
        yield Finding(context_id, Reason(Code.AUDIT_LOST), context_id=context_id)


async def _check_context(store: FileStore, context_id: ContextId) -> AsyncIterator[Finding]:
    try:
        reason = chain_reason((await store.audit(context_id, limit=0)).chain)
    except NotFound:
        if context_id not in await store.lost_contexts():
            raise
        reason = Reason(Code.AUDIT_LOST)
    except StoreError as error:
        reason = error.reason
    yield Finding(context_id, reason, context_id=context_id)


async def _check_rules(store: FileStore, user: str, language: Language) -> Finding:
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
        finding_after = await anext(_check_context(store, finding.context_id))
    else:
        assert finding.user is not None
        finding_after = await _check_rules(store, finding.user, language)
    return finding_after, f" ({ui_text('audit', 'accepted', language)})" if finding_after.is_good else ""


async def _accept_record(store: FileStore, finding: Finding) -> None:
    """Accept a record in its current state. Raises: Conflict, StoreError."""
    if finding.context_id is not None:
        await store.accept_audit(finding.context_id)
    elif finding.user is not None:
        await store.accept_user_log(finding.user)
