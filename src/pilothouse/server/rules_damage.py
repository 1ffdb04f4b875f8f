"""Damage of users' rules logs, as the server reports it in its log and its health before a conversation is opened."""

import logging
from typing import NamedTuple

from pilothouse.domain.codes import Code, Language, Reason
from pilothouse.domain.errors import StoreDamaged, StoreError
from pilothouse.domain.users import LOCAL
from pilothouse.i18n import translate, ui_text
from pilothouse.server.state import ServerState

_LOG = logging.getLogger("pilothouse.server")


class RulesDamage(NamedTuple):
    """A reason why the rules of a user are not reliable. Every action of the user needs approval."""

    user: str
    reason: Reason

    def text(self, language: Language, reader: str | None = None) -> str:
        """The text for a reader, who may be another user; None stands for the server's log."""
        if reader == self.user:
            return translate(self.reason, language)
        return ui_text("serve", "rules_damaged", language, user=self.user)


async def rules_damage(state: ServerState, reader: str) -> list[RulesDamage]:
    """Return the damage of the reader's own rules; for the local user, of the rules of all users."""
    users = {reader}
    if reader == LOCAL:
        try:
            users |= set(state.access.tokens.users())
        except StoreDamaged:
            pass  # the users are unknown: the log of the local user is read at least
    return [RulesDamage(user, reason) for user in sorted(users) for reason in await _damage_of(state, user)]


async def _damage_of(state: ServerState, user: str) -> list[Reason]:
    rules = state.runtime.rules
    try:
        await rules.read(user=user)  # reads the log, if that has not happened yet
    except StoreDamaged as error:
        return [error.reason]
    except StoreError:  # the store reports this itself
        return []
    return [reason for reason in rules.damage(user) if reason.code is not Code.TAIL_CUT]


async def log_rules_damage(state: ServerState) -> None:
    """Log one line for each user whose rules log is damaged."""
    damage_by_user = {damage.user: damage for damage in await rules_damage(state, LOCAL)}
    for damage in damage_by_user.values():
        _LOG.warning(damage.text("en"), extra={"fields": {"user": damage.user, "code": damage.reason.code}})
