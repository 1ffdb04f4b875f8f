"""Sessions: one per user, stored as one document. Writes are serialized, and every change publishes a signal."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable

import msgspec
from msgspec import UNSET

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import Conflict, NotFound, StoreDamaged, StoreError
from pilothouse.domain.policies import Policy, check_policy
from pilothouse.domain.sessions import (
    MAX_TABS,
    Preferences,
    PreferencesChange,
    Session,
    Tab,
    UIState,
    UIStateChange,
    changed_fields,
    number_tabs,
    with_active_tab,
    with_tab,
    without_tab,
)
from pilothouse.domain.signals import SessionChanged
from pilothouse.domain.value import ContextId
from pilothouse.i18n import translate
from pilothouse.runtime.runtime import Runtime

_LOG = logging.getLogger("pilothouse")
_DOCUMENT_NAME = "session"
_DECODER = msgspec.json.Decoder(Session)


class SessionManager:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._cache: dict[str, Session] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def get(self, user: str) -> Session:
        """Return the session with current titles, without the tabs of deleted contexts. Raises: StoreError."""
        async with self._locks[user]:
            session = await self._load(user)
        return await self._with_titles(session)

    async def replace(
        self,
        user: str,
        *,
        version: int,
        active: str | None,
        tabs: list[str],
        ui_state: UIState,
        preferences: Preferences,
    ) -> Session:
        """Replace the whole session. `version` is the version that the changes are based on.

        Raises: Conflict if it is stale, NotFound, InvalidInput.
        """
        self._check(preferences.default_mode, preferences.tool_approval_policy)
        if len({*tabs, active} - {None}) > MAX_TABS:
            raise Conflict(Code.TOO_MANY_TABS, limit=MAX_TABS)
        active_id = await self._own(user, active) if active is not None else None
        own_tabs = [await self._own(user, tab) for tab in tabs]
        tab_ids = dict.fromkeys(own_tabs + ([active_id] if active_id is not None else []))

        def change(session: Session) -> Session:
            existing = {tab.context_id: tab for tab in session.open_contexts}
            new_tabs = [existing.get(tab_id) or Tab(context_id=tab_id) for tab_id in tab_ids]
            return msgspec.structs.replace(
                session,
                active_context_id=active_id,
                open_contexts=number_tabs(new_tabs),
                ui_state=ui_state,
                preferences=preferences,
            )

        return await self._change(user, change, version)

    async def activate(self, user: str, context_id: str | None) -> Session:
        """Make a context the active one, or none; open a tab for it. Raises: NotFound, Conflict, StoreError."""
        if context_id is None:
            return await self._change(user, lambda session: msgspec.structs.replace(session, active_context_id=None))
        own_id = await self._own(user, context_id)
        await self._close_stale_tabs(user)
        at = self._runtime.now()
        return await self._change(user, lambda session: with_active_tab(session, own_id, at))

    async def open(self, user: str, context_id: str) -> Session:
        """Open a tab. Raises: NotFound, Conflict, StoreError."""
        own_id = await self._own(user, context_id)
        await self._close_stale_tabs(user)
        at = self._runtime.now()
        return await self._change(user, lambda session: with_tab(session, own_id, at))

    async def close(self, user: str, context_id: str) -> Session:
        """Close a tab, also that of a deleted context. Raises: StoreError."""
        return await self._change(user, lambda session: without_tab(session, ContextId(context_id)))

    async def set_ui_state(self, user: str, update: UIStateChange) -> Session:
        """Raises: Conflict, StoreError."""

        def change(session: Session) -> Session:
            state = msgspec.structs.replace(session.ui_state, **changed_fields(update))
            return msgspec.structs.replace(session, ui_state=state)

        return await self._change(user, change, update.version)

    async def set_preferences(self, user: str, update: PreferencesChange) -> Session:
        """Raises: InvalidInput for an unknown mode, Conflict, StoreError."""
        self._check(
            update.default_mode if update.default_mode is not UNSET else None,
            update.tool_approval_policy if update.tool_approval_policy is not UNSET else None,
        )

        def change(session: Session) -> Session:
            preferences = msgspec.structs.replace(session.preferences, **changed_fields(update))
            return msgspec.structs.replace(session, preferences=preferences)

        return await self._change(user, change, update.version)

    async def _close_stale_tabs(self, user: str) -> None:
        """Close the tabs of deleted contexts if the limit is reached."""
        async with self._locks[user]:
            session = await self._load(user)
        if len(session.open_contexts) < MAX_TABS:
            return
        existing = {tab.context_id for tab in (await self._with_titles(session)).open_contexts}
        for tab in session.open_contexts:
            if tab.context_id not in existing:
                await self.close(user, tab.context_id)

    def _check(self, mode: str | None, policy: Policy | None) -> None:
        if mode is not None:
            self._runtime.modes.table.named(mode)
        if policy is not None:
            check_policy(policy)

    async def _own(self, user: str, context_id: str) -> ContextId:
        """Return the id of the user's context. Raises: NotFound, also for another user's context."""
        return (await self._runtime.contexts.own(context_id, user)).id

    async def _change(self, user: str, change: Callable[[Session], Session], expected: int | None = None) -> Session:
        """Apply a change and save the session, unless nothing changes. Raises: Conflict, StoreError."""
        async with self._locks[user]:
            before = await self._load(user)
            if expected is not None and expected != before.version:
                raise Conflict(Code.STALE_SESSION, expected=expected, found=before.version)
            after = change(before)
            if after != before:
                after = msgspec.structs.replace(after, version=before.version + 1, last_updated=self._runtime.now())
                await self._save(after)
        return await self._with_titles(after)

    async def _save(self, session: Session) -> None:
        stored = msgspec.structs.replace(session, warning=None)
        await self._runtime.documents.write(session.user_id, _DOCUMENT_NAME, msgspec.json.encode(stored))
        self._cache[session.user_id] = session
        self._runtime.publish(SessionChanged(user_id=session.user_id, version=session.version))

    async def _load(self, user: str) -> Session:
        session = self._cache.get(user)
        if session is None:
            session = self._cache[user] = await self._read(user)
        return session

    async def _read(self, user: str) -> Session:
        documents = self._runtime.documents
        try:
            data = await documents.read(user, _DOCUMENT_NAME)
        except StoreDamaged as error:
            return Session(user_id=user, warning=error.reason)
        if data is None:
            return Session(user_id=user)
        try:
            return msgspec.structs.replace(_DECODER.decode(data), user_id=user)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            # Without this copy, the next write would destroy the damaged document; an error here propagates.
            backup = await documents.set_aside(user, _DOCUMENT_NAME, data)
            warning = Reason(Code.SESSION_DAMAGED, {"detail": str(error), "kept": backup})
            _LOG.warning(translate(warning))
            return Session(user_id=user, warning=warning)

    async def _with_titles(self, session: Session) -> Session:
        tabs = []
        for tab in session.open_contexts:
            try:
                core = (await self._runtime.contexts.get(tab.context_id)).core
                if core.owner != session.user_id:  # another user has reused the id
                    continue
                title = core.title
            except NotFound:
                continue
            except StoreError:  # a damaged context keeps its tab
                title = None
            tabs.append(msgspec.structs.replace(tab, title=title))
        active = session.active_context_id
        if active not in {tab.context_id for tab in tabs}:
            active = None
        return msgspec.structs.replace(session, open_contexts=number_tabs(tabs), active_context_id=active)
