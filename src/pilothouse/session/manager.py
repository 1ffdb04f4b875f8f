"""Sessions: one a user, kept in one document, changed by one writer at a time. Whoever watches is told."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable

import msgspec
from msgspec import UNSET

from pilothouse.domain.codes import Code, Reason, say
from pilothouse.domain.errors import Conflict, NotFound, StoreDamaged, StoreError
from pilothouse.domain.policies import Policy, check_policy
from pilothouse.domain.sessions import (
    TABS_AT_MOST,
    Preferences,
    PreferencesChange,
    Session,
    Tab,
    UIState,
    UIStateChange,
    activated,
    closed,
    given_in,
    in_order,
    opened,
)
from pilothouse.domain.signals import SessionChanged
from pilothouse.domain.values import ContextId
from pilothouse.runtime.runtime import Runtime

_LOG = logging.getLogger("pilothouse")
_NAME = "session"
_DECODER = msgspec.json.Decoder(Session)


class Sessions:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._known: dict[str, Session] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def get(self, user: str) -> Session:
        """With the present titles; without tabs of what is gone. Raises: StoreError."""
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
        """All of it at once, made from `version`. Raises: Conflict when it is stale, NotFound, InvalidInput."""
        self._check(preferences.default_mode, preferences.tool_approval_policy)
        if len({*tabs, active} - {None}) > TABS_AT_MOST:
            raise Conflict(Code.TOO_MANY_TABS, limit=TABS_AT_MOST)
        front = await self._own(user, active) if active is not None else None
        wanted = dict.fromkeys([await self._own(user, tab) for tab in tabs] + ([front] if front is not None else []))

        def change(session: Session) -> Session:
            known = {tab.context_id: tab for tab in session.open_contexts}
            kept = [known.get(each) or Tab(context_id=each) for each in wanted]
            return msgspec.structs.replace(
                session,
                active_context_id=front,
                open_contexts=in_order(kept),
                ui_state=ui_state,
                preferences=preferences,
            )

        return await self._change(user, change, version)

    async def activate(self, user: str, context_id: str | None) -> Session:
        """Raises: NotFound, Conflict, StoreError."""
        if context_id is None:
            return await self._change(user, lambda session: msgspec.structs.replace(session, active_context_id=None))
        known = await self._own(user, context_id)
        await self._make_room(user)
        at = self._runtime.parts.now()
        return await self._change(user, lambda session: activated(session, known, at))

    async def open(self, user: str, context_id: str) -> Session:
        """Raises: NotFound, Conflict, StoreError."""
        known = await self._own(user, context_id)
        await self._make_room(user)
        at = self._runtime.parts.now()
        return await self._change(user, lambda session: opened(session, known, at))

    async def close(self, user: str, context_id: str) -> Session:
        """Also of a context that is gone. Raises: StoreError."""
        return await self._change(user, lambda session: closed(session, ContextId(context_id)))

    async def set_ui_state(self, user: str, given: UIStateChange) -> Session:
        def change(session: Session) -> Session:
            state = msgspec.structs.replace(session.ui_state, **given_in(given))
            return msgspec.structs.replace(session, ui_state=state)

        return await self._change(user, change, given.version)

    async def set_preferences(self, user: str, given: PreferencesChange) -> Session:
        """Raises: InvalidInput for a mode that there is not, Conflict, StoreError."""
        self._check(
            given.default_mode if given.default_mode is not UNSET else None,
            given.tool_approval_policy if given.tool_approval_policy is not UNSET else None,
        )

        def change(session: Session) -> Session:
            preferences = msgspec.structs.replace(session.preferences, **given_in(given))
            return msgspec.structs.replace(session, preferences=preferences)

        return await self._change(user, change, given.version)

    async def _make_room(self, user: str) -> None:
        """Where there are as many tabs as there may be, those of contexts that are gone are closed."""
        async with self._locks[user]:
            session = await self._load(user)
        if len(session.open_contexts) < TABS_AT_MOST:
            return
        there = {tab.context_id for tab in (await self._with_titles(session)).open_contexts}
        for tab in session.open_contexts:
            if tab.context_id not in there:
                await self.close(user, tab.context_id)

    def _check(self, mode: str | None, policy: Policy | None) -> None:
        if mode is not None:
            self._runtime.parts.modes.named(mode)
        if policy is not None:
            check_policy(policy)

    async def _own(self, user: str, context_id: str) -> ContextId:
        """Raises: NotFound for a context that there is not, or that is somebody else's."""
        return (await self._runtime.own_context(context_id, user)).id

    async def _change(self, user: str, change: Callable[[Session], Session], expected: int | None = None) -> Session:
        async with self._locks[user]:
            before = await self._load(user)
            if expected is not None and expected != before.version:
                raise Conflict(Code.STALE_SESSION, expected=expected, found=before.version)
            after = change(before)
            if after != before:
                after = msgspec.structs.replace(
                    after, version=before.version + 1, last_updated=self._runtime.parts.now()
                )
                await self._save(after)
        return await self._with_titles(after)

    async def _save(self, session: Session) -> None:
        stored = msgspec.structs.replace(session, warning=None)
        await self._runtime.parts.store.put_document(session.user_id, _NAME, msgspec.json.encode(stored))
        self._known[session.user_id] = session
        self._runtime.parts.hub.publish(SessionChanged(user_id=session.user_id, version=session.version))

    async def _load(self, user: str) -> Session:
        known = self._known.get(user)
        if known is None:
            known = self._known[user] = await self._read(user)
        return known

    async def _read(self, user: str) -> Session:
        store = self._runtime.parts.store
        try:
            data = await store.document(user, _NAME)
        except StoreDamaged as error:
            return Session(user_id=user, warning=error.reason)
        if data is None:
            return Session(user_id=user)
        try:
            return msgspec.structs.replace(_DECODER.decode(data), user_id=user)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            kept = await store.put_document_aside(user, _NAME, data)  # or nothing goes on: it would be written over
            warning = Reason(Code.SESSION_DAMAGED, {"detail": str(error), "kept": kept})
            _LOG.warning(say(warning))
            return Session(user_id=user, warning=warning)

    async def _with_titles(self, session: Session) -> Session:
        tabs = []
        for tab in session.open_contexts:
            try:
                core = (await self._runtime.context(tab.context_id)).core
                if core.owner != session.user_id:  # the id has changed hands
                    continue
                title = core.title
            except NotFound:
                continue
            except StoreError:  # a damaged one has its tab too
                title = None
            tabs.append(msgspec.structs.replace(tab, title=title))
        active = session.active_context_id
        if active not in {tab.context_id for tab in tabs}:
            active = None
        return msgspec.structs.replace(session, open_contexts=in_order(tabs), active_context_id=active)
