"""The tools that come with the runtime."""

from collections.abc import Mapping
from typing import Any

from pilothouse.tools.base import Tool
from pilothouse.tools.builtin.ask_user import AskUser
from pilothouse.tools.builtin.delegate import Delegate
from pilothouse.tools.builtin.edit import EditFile, WriteFile
from pilothouse.tools.builtin.execute import Execute, Sandbox
from pilothouse.tools.builtin.files import ReadFile
from pilothouse.tools.builtin.listing import Glob, ListDirectory
from pilothouse.tools.builtin.notebook import NotebookEdit
from pilothouse.tools.builtin.search import Grep, find_ripgrep
from pilothouse.tools.builtin.undo import Undo


def builtin_tools(environment: Mapping[str, str], sandbox: Sandbox = "off") -> list[Tool[Any]]:
    """`environment` is what a command's own, much smaller one is made from."""
    return [
        ReadFile(),
        ListDirectory(),
        Glob(),
        Grep(find_ripgrep()),
        WriteFile(),
        EditFile(),
        NotebookEdit(),
        Execute(environment, sandbox),
        Undo(),
        AskUser(),
        Delegate(),
    ]
