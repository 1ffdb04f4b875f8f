"""The tools that come with the runtime."""

from typing import Any

from pilothouse.tools.base import Tool
from pilothouse.tools.builtin.ask_user import AskUser
from pilothouse.tools.builtin.delegate import Delegate
from pilothouse.tools.builtin.edit_file import EditFile, WriteFile
from pilothouse.tools.builtin.execute import Execute
from pilothouse.tools.builtin.grep.tool import Grep, find_ripgrep
from pilothouse.tools.builtin.list_directory import Glob, ListDirectory
from pilothouse.tools.builtin.notebook import NotebookEdit
from pilothouse.tools.builtin.read_file import ReadFile
from pilothouse.tools.builtin.undo import Undo
from pilothouse.tools.command.shell import Sandbox


def builtin_tools(sandbox: Sandbox = "off") -> list[Tool[Any]]:
    """All tools that ship with the runtime."""
    return [
        ReadFile(),
        ListDirectory(),
        Glob(),
        Grep(find_ripgrep()),
        WriteFile(),
        EditFile(),
        NotebookEdit(),
        Execute(sandbox),
        Undo(),
        AskUser(),
        Delegate(),
    ]
