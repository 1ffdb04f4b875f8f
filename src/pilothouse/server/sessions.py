"""The session routes: tabs, active context, UI state and preferences of the user."""

from typing import Annotated

from msgspec import Meta

from pilothouse.domain.codes import Reason
from pilothouse.domain.contexts import check_context_id
from pilothouse.domain.errors import NotFound, StoreError
from pilothouse.domain.sessions import Preferences, PreferencesChange, Session, UIState, UIStateChange
from pilothouse.domain.value import Timestamp, Value
from pilothouse.server.queries import Id
from pilothouse.server.state import RequestContext


class TabInput(Value, kw_only=True):
    """An open tab. Title and access time are accepted, but the server sets its own."""

    context_id: Id
    order: int = 0
    title: str | None = None
    last_access_time: Timestamp = ""


class WholeSession(Value, kw_only=True):
    """A complete session that replaces the stored one."""

    version: int
    """The version on which the changes are based."""
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


async def read(request: RequestContext) -> Session:
    return await request.server.sessions.get(request.user)


async def replace(request: RequestContext, body: WholeSession) -> Session:
    tabs = [tab.context_id for tab in sorted(body.open_contexts, key=lambda tab: tab.order)]
    return await request.server.sessions.replace(
        request.user,
        version=body.version,
        active=body.active_context_id,
        tabs=tabs,
        ui_state=body.ui_state,
        preferences=body.preferences,
    )


async def activate(request: RequestContext, body: ActiveContext) -> Session:
    return await request.server.sessions.activate(request.user, body.context_id)


async def open_tab(request: RequestContext, body: ContextChoice) -> Session:
    return await request.server.sessions.open(request.user, body.context_id)


async def close_tab(request: RequestContext, tab_id: str) -> Session:
    try:
        context_id: str = (await request.own(check_context_id(tab_id))).id
    except (NotFound, StoreError):  # the tab of a deleted or unreadable context can be closed
        context_id = tab_id
    return await request.server.sessions.close(request.user, context_id)


async def set_ui_state(request: RequestContext, body: UIStateChange) -> Session:
    return await request.server.sessions.set_ui_state(request.user, body)


async def set_preferences(request: RequestContext, body: PreferencesChange) -> Session:
    return await request.server.sessions.set_preferences(request.user, body)
