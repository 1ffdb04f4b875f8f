"""`pilothouse audit verify`: whether the records in the data directory are those that were written."""

import argparse
from collections.abc import AsyncIterator

from pilothouse.ambient import SystemAmbient, timestamp
from pilothouse.domain.audit import chain_reason
from pilothouse.domain.codes import Code, Language, Reason, say
from pilothouse.domain.errors import Conflict, NotFound, StoreError
from pilothouse.domain.hidden_characters import visible
from pilothouse.domain.values import ContextId, Value
from pilothouse.settings import Settings
from pilothouse.storage.files.store import FileStore
from pilothouse.terminal.run import Exit

_GOOD = frozenset({Code.AUDIT_WHOLE, Code.AUDIT_NOT_CONFIRMED})
_WORDS = {
    "rules": ("rules of {user}", "{user} 的规则"),
    "summary": (
        "Checked: {count}. Cut, rewritten or unreadable: {bad}.",
        "已检查：{count}；被截断、改写或无法读取：{bad}。",
    ),
    "accepted": ("accepted as it is now", "已接受当前内容"),
    "how": (
        "Calls wait for you until you accept what is there now. Compare with a backup if you have one, then run: "
        "{command}",
        "在你接受当前内容之前，调用会等待你的批准。如有备份请先比较，然后运行：{command}",
    ),
}


class Finding(Value):
    """What is known of one record."""

    name: str
    reason: Reason
    context_id: ContextId | None = None
    user: str | None = None

    @property
    def is_good(self) -> bool:
        return self.reason.code in _GOOD


async def verify_command(options: argparse.Namespace, settings: Settings) -> int:
    """Raises: StoreLocked while another process works on the data, NotFound."""
    ambient = SystemAmbient()
    store = FileStore(settings.data_dir, now=lambda: timestamp(ambient.now()), state_dir=settings.state_dir)
    language, count, bad = settings.language, 0, 0
    try:
        found = _one(store, ContextId(options.id)) if options.id is not None else _all(store, language)
        async for finding in found:
            count += 1
            accepted = ""
            if options.accept and finding.reason.code is not Code.AUDIT_WHOLE:
                finding, accepted = await _accept(store, finding, language)
            bad += not finding.is_good
            print(visible(f"{finding.name}  {say(finding.reason, language)}{accepted}"), flush=True)
    finally:
        await store.close()
    print(_word("summary", language, count=count, bad=bad))
    if bad and not options.accept:
        words = ("pilothouse audit verify", options.id, "--accept")
        print(visible(_word("how", language, command=" ".join(word for word in words if word is not None))))
    return int(Exit.ERROR if bad else Exit.DONE)


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
    name = _word("rules", language, user=user)
    try:
        log = await store.user_log(user)
    except StoreError as error:
        return Finding(name, error.reason, user=user)
    damage = [reason for reason in log.damage if reason.code is not Code.TAIL_CUT]
    if log.is_cut and log.noted is not None:
        damage.insert(0, Reason(Code.RULES_CUT, {"known": log.noted.count}))
    return Finding(name, damage[0] if damage else chain_reason(log.check()), user=user)


async def _accept(store: FileStore, finding: Finding, language: Language) -> tuple[Finding, str]:
    """The record counts as it is now. One that cannot be opened at all stays so, and the others are accepted."""
    try:
        await _accept_record(store, finding)
    except (Conflict, StoreError):
        return finding, ""
    if finding.context_id is not None:
        if finding.reason.code is Code.AUDIT_LOST:
            return Finding(finding.name, Reason(Code.AUDIT_WHOLE)), f" ({_word('accepted', language)})"
        again = await anext(_one(store, finding.context_id))
    else:
        assert finding.user is not None
        again = await _rules(store, finding.user, language)
    return again, f" ({_word('accepted', language)})" if again.is_good else ""


async def _accept_record(store: FileStore, finding: Finding) -> None:
    """Raises: Conflict, StoreError."""
    if finding.context_id is not None:
        await store.accept_audit(finding.context_id)
    elif finding.user is not None:
        await store.accept_user_log(finding.user)


def _word(name: str, language: Language, **params: object) -> str:
    return _WORDS[name][language == "zh"].format(**params)
