"""The tools that come with the runtime."""

from collections.abc import Mapping
from typing import Any

from pilothouse.tools.base import Tool
from pilothouse.tools.builtin.ask_user import AskUser
from pilothouse.tools.builtin.delegate import Delegate
from pilothouse.tools.builtin.edit import EditFile, WriteFile
from pilothouse.tools.builtin.execute import Execute
from pilothouse.tools.builtin.files import ListDirectory, ReadFile


def builtin_tools(environment: Mapping[str, str]) -> list[Tool[Any]]:
    """`environment` is what a command's own, much smaller one is made from."""
    return [ReadFile(), ListDirectory(), WriteFile(), EditFile(), Execute(environment), AskUser(), Delegate()]
