"""stub"""

from collections.abc import Callable

from pilothouse.domain.budgets import OverviewSettings
from pilothouse.sandbox.workspace import Workspace


def describe_workspace(workspace: Workspace, settings: OverviewSettings, count: Callable[[str], int]) -> str:
    return f"root {workspace.root}"
