"""A user's session: open tabs, the active context, the state of the web client, preferences. Stored and sent in this
form."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from pilothouse.domain.codes import Code, Language, Reason
from pilothouse.domain.errors import Conflict
from pilothouse.domain.policies import Policy
from pilothouse.domain.value import ContextId, Timestamp, Value

MAX_TABS = 100

Width = Annotated[int, Meta(ge=0, le=10_000)]
FontSize = Annotated[int, Meta(ge=6, le=72)]
Panel = Annotated[str, Meta(max_length=100)]
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Key = Annotated[str, Meta(max_length=64)]
Expanded = Annotated[Mapping[Key, bool], Meta(max_length=1000)]
Theme = Literal["system", "light", "dark"]


class Tab(Value, kw_only=True, omit_defaults=False):
    context_id: ContextId
    title: str | None = None
    last_access_time: Timestamp = ""
    order: int = 0


class UIState(Value, kw_only=True, omit_defaults=False):
    sidebar_collapsed: bool = False
    sidebar_width: Width = 280
    context_expanded: Expanded = {}
    active_panel: Panel | None = None


class Preferences(Value, kw_only=True, omit_defaults=False):
    """A user's preferences."""

    theme: Theme = "system"
    language: Language | None = None
    font_size: FontSize = 14
    auto_save: bool = True
    default_model: Name | None = None
    default_mode: Name | None = None
    """The mode of new contexts."""
    tool_approval_policy: Policy | None = None
    """The approval policy of new contexts."""


class Session(Value, kw_only=True, omit_defaults=False):
    """The session of a user."""

    user_id: str
    active_context_id: ContextId | None = None
    open_contexts: tuple[Tab, ...] = ()
    ui_state: UIState = UIState()
    preferences: Preferences = Preferences()
    last_updated: Timestamp = ""
    version: int = 0
    """The number of changes so far."""
    warning: Reason | None = None
    """The damage of the stored session, if it was damaged."""


class UIStateChange(Value, kw_only=True):
    """A partial change: two clients that change different fields do not undo each other's changes."""

    sidebar_collapsed: bool | UnsetType = UNSET
    sidebar_width: Width | UnsetType = UNSET
    context_expanded: Expanded | UnsetType = UNSET
    active_panel: Panel | UnsetType | None = UNSET
    version: int | None = None
    """The version that the session must still have, if set."""


class PreferencesChange(Value, kw_only=True):
    """A partial change of preferences."""

    theme: Theme | UnsetType = UNSET
    language: Language | UnsetType | None = UNSET
    font_size: FontSize | UnsetType = UNSET
    auto_save: bool | UnsetType = UNSET
    default_model: Name | UnsetType | None = UNSET
    default_mode: Name | UnsetType | None = UNSET
    tool_approval_policy: Policy | UnsetType | None = UNSET
    version: int | None = None
    """The version that the session must still have, if set."""


def changed_fields(change: UIStateChange | PreferencesChange) -> dict[str, Any]:
    """The fields that a change sets."""
    fields = {name: value for name, value in msgspec.structs.asdict(change).items() if value is not UNSET}
    fields.pop("version")
    return fields


def with_tab(session: Session, context_id: ContextId, at: Timestamp) -> Session:
    """The session with a tab for a context; a new tab becomes the last one. Raises: Conflict for too many tabs."""
    tabs = [tab for tab in session.open_contexts if tab.context_id == context_id]
    if not tabs and len(session.open_contexts) >= MAX_TABS:
        raise Conflict(Code.TOO_MANY_TABS, limit=MAX_TABS)
    current = Tab(context_id=context_id, last_access_time=at)
    others = [current if tab.context_id == context_id else tab for tab in session.open_contexts]
    return msgspec.structs.replace(session, open_contexts=number_tabs(others if tabs else [*others, current]))


def with_active_tab(session: Session, context_id: ContextId, at: Timestamp) -> Session:
    return msgspec.structs.replace(with_tab(session, context_id, at), active_context_id=context_id)


def without_tab(session: Session, context_id: ContextId) -> Session:
    """The session without the tab of a context. After the active tab, the tab to its right becomes active, or the last
    tab."""
    ids = [tab.context_id for tab in session.open_contexts]
    if context_id not in ids:
        return session
    position = ids.index(context_id)
    remaining = [tab for tab in session.open_contexts if tab.context_id != context_id]
    active = session.active_context_id
    if active == context_id:
        active = remaining[min(position, len(remaining) - 1)].context_id if remaining else None
    return msgspec.structs.replace(session, open_contexts=number_tabs(remaining), active_context_id=active)


def number_tabs(tabs: list[Tab]) -> tuple[Tab, ...]:
    """The tabs with `order` set by their position."""
    return tuple(msgspec.structs.replace(tab, order=number) for number, tab in enumerate(tabs))
