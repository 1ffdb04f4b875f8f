"""A user's session: open tabs, the active context, the page's state, preferences. The same on disk and on the wire."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from pilothouse.domain.codes import Code, Language, Reason
from pilothouse.domain.errors import Conflict
from pilothouse.domain.policies import Policy
from pilothouse.domain.values import ContextId, Timestamp, Value

TABS_AT_MOST = 100

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
    """`default_mode` and `tool_approval_policy` hold for contexts that are created from now on."""

    theme: Theme = "system"
    language: Language | None = None
    font_size: FontSize = 14
    auto_save: bool = True
    default_model: Name | None = None
    default_mode: Name | None = None
    tool_approval_policy: Policy | None = None


class Session(Value, kw_only=True, omit_defaults=False):
    """`version` counts the changes. `warning` says what was wrong with the stored one, if anything was."""

    user_id: str
    active_context_id: ContextId | None = None
    open_contexts: tuple[Tab, ...] = ()
    ui_state: UIState = UIState()
    preferences: Preferences = Preferences()
    last_updated: Timestamp = ""
    version: int = 0
    warning: Reason | None = None


class UIStateChange(Value, kw_only=True):
    """Only what is given changes: two pages that change different things do not undo each other. With `version`, it
    changes only what is still that one."""

    sidebar_collapsed: bool | UnsetType = UNSET
    sidebar_width: Width | UnsetType = UNSET
    context_expanded: Expanded | UnsetType = UNSET
    active_panel: Panel | UnsetType | None = UNSET
    version: int | None = None


class PreferencesChange(Value, kw_only=True):
    """Only what is given changes; with `version`, only what is still that one."""

    theme: Theme | UnsetType = UNSET
    language: Language | UnsetType | None = UNSET
    font_size: FontSize | UnsetType = UNSET
    auto_save: bool | UnsetType = UNSET
    default_model: Name | UnsetType | None = UNSET
    default_mode: Name | UnsetType | None = UNSET
    tool_approval_policy: Policy | UnsetType | None = UNSET
    version: int | None = None


def given_in(change: UIStateChange | PreferencesChange) -> dict[str, Any]:
    """The fields that are to be changed."""
    given = {name: each for name, each in msgspec.structs.asdict(change).items() if each is not UNSET}
    given.pop("version")
    return given


def opened(session: Session, context_id: ContextId, at: Timestamp) -> Session:
    """With a tab for a context, the last one where it is new. Raises: Conflict when there are too many."""
    tabs = [tab for tab in session.open_contexts if tab.context_id == context_id]
    if not tabs and len(session.open_contexts) >= TABS_AT_MOST:
        raise Conflict(Code.TOO_MANY_TABS, limit=TABS_AT_MOST)
    seen = Tab(context_id=context_id, last_access_time=at)
    others = [seen if tab.context_id == context_id else tab for tab in session.open_contexts]
    return msgspec.structs.replace(session, open_contexts=in_order(others if tabs else [*others, seen]))


def activated(session: Session, context_id: ContextId, at: Timestamp) -> Session:
    return msgspec.structs.replace(opened(session, context_id, at), active_context_id=context_id)


def closed(session: Session, context_id: ContextId) -> Session:
    """Without its tab. If it was the active one, its right neighbour is, else the left one."""
    ids = [tab.context_id for tab in session.open_contexts]
    if context_id not in ids:
        return session
    position = ids.index(context_id)
    rest = [tab for tab in session.open_contexts if tab.context_id != context_id]
    active = session.active_context_id
    if active == context_id:
        active = rest[min(position, len(rest) - 1)].context_id if rest else None
    return msgspec.structs.replace(session, open_contexts=in_order(rest), active_context_id=active)


def in_order(tabs: list[Tab]) -> tuple[Tab, ...]:
    """Numbered as they stand."""
    return tuple(msgspec.structs.replace(tab, order=number) for number, tab in enumerate(tabs))
