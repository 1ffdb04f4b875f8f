"""The configuration's part in every decision in a workspace: a preference, and restrictions."""

from pilothouse.domain.decisions import FolderMode
from pilothouse.domain.policies import Policy
from pilothouse.domain.rules import Rule
from pilothouse.domain.value import Value


class WorkspacePolicy(Value, kw_only=True):
    """The settings of a workspace: the person's, made stricter by those of a trusted project."""

    mode: str | None = None
    """The mode of new conversations."""
    preference: Policy = Policy()
    """The person's approval policy, which a context may override."""
    policies: tuple[Policy, ...] = ()
    """Approval policies that apply in addition and cannot be overridden."""
    rules: tuple[Rule, ...] = ()
    folder_modes: tuple[FolderMode, ...] = ()
    disabled: frozenset[str] = frozenset()
    """Names or categories of tools that are switched off."""
    always_ask: frozenset[str] = frozenset()
    """Names or categories of tools whose calls require approval."""
    command_lists: tuple[tuple[tuple[str, ...], ...], ...] = ()
    """Lists of leading words, one list a settings file. A command that is in all of them requires no approval."""
