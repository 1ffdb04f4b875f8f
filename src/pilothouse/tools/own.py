"""The former name of `function_tools`, for tool files of people that were written for it."""

from pilothouse.tools.function_tools import FunctionTool, tool

__all__ = ["FunctionTool", "tool"]
