"""Tools of one's own: a typed function with a decorator, in a file that the settings name, or in a package."""

import inspect
import sys
from collections.abc import Awaitable, Callable, Sequence
from importlib import metadata
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, get_type_hints

import msgspec

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import Arguments, Category, Job, Prepared, Tool, schema_of
from pilothouse.tools.threads import in_thread

ENTRY_POINTS = "pilothouse.tools"
Function = Callable[..., Any]


class FunctionTool:
    """A function as a tool. Its parameters are the model's arguments; one called `job` is given the running call."""

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
        self._wants_job = "job" in inspect.signature(function).parameters

    async def prepare(self, arguments: Any, workspace: Workspace) -> Prepared:  # noqa: ARG002
        # What it touches is not known: for rules and folders it counts as touching everything.
        return Prepared(effect=self.effect)

    async def run(self, arguments: Any, job: Job) -> str:
        given = {name: getattr(arguments, name) for name in arguments.__struct_fields__}
        if self._wants_job:
            given["job"] = job
        if inspect.iscoroutinefunction(self._function):
            answer = await self._function(**given)
        else:
            answer = await in_thread(lambda: self._function(**given))
            if isinstance(answer, Awaitable):
                answer = await answer
        return answer if isinstance(answer, str) else msgspec.json.encode(answer).decode()


def tool(
    *,
    read_only: bool = False,
    category: Category = "external",
    needs: Sequence[str] = (),
    name: str | None = None,
) -> Callable[[Function], FunctionTool]:
    """Make a tool of a typed function: `@tool(read_only=True)`. Its docstring is what the model is told of it.

    Raises: InvalidInput for a function without types or without a docstring.
    """

    def make(function: Function) -> FunctionTool:
        return FunctionTool(
            function, read_only=read_only, category=category, needs=needs, name=name or function.__name__
        )

    return make


def _parameters(function: Function, name: str) -> type[msgspec.Struct]:
    """The function's parameters as a checked shape. Raises: InvalidInput."""
    if not inspect.getdoc(function):
        raise InvalidInput(Code.INVALID_TOOL, tool=name, detail="its function has no docstring to tell the model")
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
    fields.sort(key=len)  # those without a default first
    try:
        made = msgspec.defstruct(f"{name}_arguments", fields, bases=(Arguments,), kw_only=True)
        schema_of(made)  # what cannot be told to a model cannot be a parameter
        return made
    except (TypeError, ValueError) as error:
        raise InvalidInput(Code.INVALID_TOOL, tool=name, detail=str(error)) from error


def tools_of_file(path: Path) -> list[Tool[Any]]:
    """Every tool that a Python file of the person's makes. Raises: InvalidInput."""
    spec = spec_from_file_location(f"pilothouse_own_{path.stem}", path)
    try:
        if spec is None or spec.loader is None or not path.is_file():
            raise FileNotFoundError(f"{path} is no Python file")
        module = sys.modules[spec.name] = module_from_spec(spec)  # where its own types are looked for
        spec.loader.exec_module(module)
    except Exception as error:  # it is the person's own code: whatever it raises, they are told
        raise InvalidInput(Code.INVALID_TOOL, tool=str(path), detail=f"{type(error).__name__}: {error}") from error
    return [value for value in vars(module).values() if isinstance(value, FunctionTool)]


def tools_of_packages() -> list[Tool[Any]]:
    """What installed packages bring: an entry point names a tool, or a function that gives some.

    Raises: InvalidInput.
    """
    found: list[Tool[Any]] = []
    for point in metadata.entry_points(group=ENTRY_POINTS):
        try:
            loaded = point.load()
            found += [loaded] if hasattr(loaded, "prepare") else list(loaded())
        except Exception as error:
            raise InvalidInput(Code.INVALID_TOOL, tool=point.name, detail=f"{type(error).__name__}: {error}") from error
    return found
