"""The user's session."""

from typing import Annotated

from msgspec import Meta

from pilothouse.domain.codes import Reason
from pilothouse.domain.contexts import check_context_id
from pilothouse.domain.errors import NotFound, StoreError
from pilothouse.domain.sessions import Preferences, PreferencesChange, Session, UIState, UIStateChange
from pilothouse.domain.values import Timestamp, Value
from pilothouse.server.inputs import Id
from pilothouse.server.serving import Call


class TabInput(Value, kw_only=True):
    """Only the id and the order are read."""

    context_id: Id
    order: int = 0
    title: str | None = None
    last_access_time: Timestamp = ""


class WholeSession(Value, kw_only=True):
    """The session as it was read, with changes. `version` is what it was read with."""

    version: int
    active_context_id: Id | None = None
    open_contexts: Annotated[tuple[TabInput, ...], Meta(max_length=100)] = ()
    ui_state: UIState = UIState()
    preferences: Preferences = Preferences()
    user_id: str | None = None
    last_updated: Timestamp = ""
    warning: Reason | None = None


class ContextChoice(Value):
    context_id: Id


class ActiveContext(Value):
    context_id: Id | None


async def read(call: Call) -> Session:
    return await call.serving.sessions.get(call.user)


async def replace(call: Call, body: WholeSession) -> Session:
    tabs = [tab.context_id for tab in sorted(body.open_contexts, key=lambda tab: tab.order)]
    return await call.serving.sessions.replace(
        call.user,
        version=body.version,
        active=body.active_context_id,
        tabs=tabs,
        ui_state=body.ui_state,
        preferences=body.preferences,
    )


async def activate(call: Call, body: ActiveContext) -> Session:
    return await call.serving.sessions.activate(call.user, body.context_id)


async def open_tab(call: Call, body: ContextChoice) -> Session:
    return await call.serving.sessions.open(call.user, body.context_id)


async def close_tab(call: Call, tab_id: str) -> Session:
    try:
        context_id: str = (await call.own(check_context_id(tab_id))).id
    except (NotFound, StoreError):  # a context that is gone, or that cannot be read, may have a tab
        context_id = tab_id
    return await call.serving.sessions.close(call.user, context_id)


async def set_ui_state(call: Call, body: UIStateChange) -> Session:
    return await call.serving.sessions.set_ui_state(call.user, body)


async def set_preferences(call: Call, body: PreferencesChange) -> Session:
    return await call.serving.sessions.set_preferences(call.user, body)
