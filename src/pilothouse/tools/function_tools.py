"""Tools made from typed Python functions by a decorator, in files that the settings name or in installed packages."""

import inspect
import sys
from collections.abc import Awaitable, Callable, Sequence
from importlib import metadata
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import msgspec

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import Arguments, CallPreview, Category, Tool, ToolContext, schema_of
from pilothouse.tools.threads import in_thread

ENTRY_POINTS = "pilothouse.tools"
Function = Callable[..., Any]


class FunctionTool:
    """A function as a tool. Its parameters are the model's arguments; a parameter named `job` receives the
    `ToolContext`."""

    def __init__(
        self, function: Function, *, read_only: bool, category: Category, needs: Sequence[str], name: str
    ) -> None:
        self.name = name
        self.description = inspect.getdoc(function) or ""
        self.category: Category = category
        self.effect: Effect = "read_only" if read_only else "mutating"
        self.needs = tuple(needs)
        self.parameters = _parameters(function, name)
        self._function = function
        self._takes_context = "job" in inspect.signature(function).parameters

    async def prepare(self, arguments: Any, workspace: Workspace) -> CallPreview:  # noqa: ARG002
        # The touched paths are unknown: rules and folder limits treat the call as touching everything.
        return CallPreview(effect=self.effect)

    async def run(self, arguments: Any, context: ToolContext) -> str:
        values = {name: getattr(arguments, name) for name in arguments.__struct_fields__}
        if self._takes_context:
            values["job"] = context
        if inspect.iscoroutinefunction(self._function):
            result = await self._function(**values)
        else:
            result = await in_thread(lambda: self._function(**values))
            if isinstance(result, Awaitable):
                result = await result
        return result if isinstance(result, str) else msgspec.json.encode(result).decode()


def tool(
    *,
    read_only: bool = False,
    category: Category = "external",
    needs: Sequence[str] = (),
    name: str | None = None,
) -> Callable[[Function], FunctionTool]:
    """Make a tool of a typed function: `@tool(read_only=True)`. The model reads the function's docstring as the
    description.

    Raises: InvalidInput for a function without types or without a docstring.
    """

    def make(function: Function) -> FunctionTool:
        return FunctionTool(
            function, read_only=read_only, category=category, needs=needs, name=name or function.__name__
        )

    return make


def _parameters(function: Function, name: str) -> type[msgspec.Struct]:
    """The function's parameters as a validated struct. Raises: InvalidInput."""
    if not inspect.getdoc(function):
        raise InvalidInput(Code.INVALID_TOOL, tool=name, detail="its function has no docstring")
    hints = get_type_hints(function, include_extras=True)
    fields: list[Any] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "job":
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or parameter.name not in hints:
            detail = f"its parameter {parameter.name!r} has no type"
            raise InvalidInput(Code.INVALID_TOOL, tool=name, detail=detail)
        has_default = parameter.default is not parameter.empty
        fields.append((parameter.name, hints[parameter.name], *([parameter.default] if has_default else [])))
    fields.sort(key=len)  # required parameters first
    try:
        struct = msgspec.defstruct(f"{name}_arguments", fields, bases=(Arguments,), kw_only=True)
        schema_of(struct)  # raises TypeError for a type without a JSON schema
        return struct
    except (TypeError, ValueError) as error:
        raise InvalidInput(Code.INVALID_TOOL, tool=name, detail=str(error)) from error


def module_of_file(path: Path) -> ModuleType:
    """A Python file of the person as a module. Raises: any exception of the file's code."""
    spec = spec_from_file_location(f"pilothouse_own_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"{path} isn't a Python file")
    module = sys.modules[spec.name] = module_from_spec(spec)  # `get_type_hints` looks here for the file's types
    spec.loader.exec_module(module)
    return module


def tools_of_file(path: Path) -> list[Tool[Any]]:
    """Every tool that a Python file of the person defines. Raises: InvalidInput."""
    try:
        module = module_of_file(path)
    except Exception as error:  # the person's own code may raise anything
        raise InvalidInput(Code.INVALID_TOOL, tool=str(path), detail=f"{type(error).__name__}: {error}") from error
    return [value for value in vars(module).values() if isinstance(value, FunctionTool)]


def tools_of_packages() -> list[Tool[Any]]:
    """The tools of installed packages: an entry point names a tool, or a function that returns tools.

    Raises: InvalidInput.
    """
    tools: list[Tool[Any]] = []
    for point in metadata.entry_points(group=ENTRY_POINTS):
        try:
            loaded = point.load()
            tools += [loaded] if hasattr(loaded, "prepare") else list(loaded())
        except Exception as error:
            raise InvalidInput(Code.INVALID_TOOL, tool=point.name, detail=f"{type(error).__name__}: {error}") from error
    return tools
