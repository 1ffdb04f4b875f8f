"""The façade: what a program outside `runtime/` can reach."""

import ast
import inspect
import sys
import typing
from collections.abc import Iterator
from typing import Any

import pytest

import pilothouse
from pilothouse.llm.script import Script
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.commands.command_group import CommandGroup
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.dependencies import RuntimeDependencies
from pilothouse.runtime.events.hub import Hub
from pilothouse.runtime.events.signal_bus import SignalBus
from pilothouse.runtime.pool import ContextPool
from pilothouse.runtime.runtime import Runtime
from pilothouse.runtime.turn.turn import Turn
from pilothouse.storage.base import Store
from pilothouse.storage.memory import MemoryStore
from pilothouse.system.ambient import SystemAmbient
from pilothouse.tools.registry import Registry
from tests.architecture.test_architecture import FILES, SOURCE, imports_of

INTERNAL = (LiveContext, ContextPool, RuntimeDependencies, Draft, Turn, Store, Hub, SignalBus)
# Modules of `runtime/` that others may import: the façade, the values that it takes and returns, and what `app` builds.
PUBLIC = (
    "pilothouse.runtime.runtime",
    "pilothouse.runtime.commands",
    "pilothouse.runtime.compression",
    "pilothouse.runtime.context.snapshot",
    "pilothouse.runtime.events",
    "pilothouse.runtime.limits",
    "pilothouse.runtime.request.preview",
    "pilothouse.runtime.shield",
)
BUILDERS = {"app.py", "provider.py", "testing/world.py"}
"""These build the dependencies of a runtime."""


def runtime() -> Runtime:
    adapter, ambient = ScriptedAdapter(Script()), SystemAmbient()
    return Runtime(
        RuntimeDependencies(store=MemoryStore(), adapter=adapter, model="test", registry=Registry(()), ambient=ambient)
    )


def groups() -> dict[str, CommandGroup]:
    return {name: value for name, value in vars(runtime()).items() if isinstance(value, CommandGroup)}


def public_functions() -> Iterator[tuple[str, Any]]:
    for owner in (Runtime, *map(type, groups().values())):
        for name, value in vars(owner).items():
            function = value.fget if isinstance(value, property) else value
            if not name.startswith("_") and inspect.isfunction(function):
                yield f"{owner.__name__}.{name}", function


def types_in(annotation: Any) -> Iterator[Any]:
    yield annotation
    for argument in typing.get_args(annotation):
        for inner in argument if isinstance(argument, list) else (argument,):
            yield from types_in(inner)


def test_every_attribute_of_the_runtime_is_a_group_of_commands() -> None:
    public = {name for name in vars(runtime()) if not name.startswith("_")}
    assert public == set(groups())


FUNCTIONS = dict(public_functions())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_command_takes_or_returns_an_internal_object(name: str) -> None:
    function = FUNCTIONS[name]
    hints = typing.get_type_hints(function, vars(sys.modules[function.__module__]))
    for annotation in hints.values():
        assert not [each for each in types_in(annotation) if each in INTERNAL]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_other_packages_import_only_the_public_modules_of_the_runtime(path: Any) -> None:
    name = str(path.relative_to(SOURCE))
    if name.startswith("runtime/"):
        return
    allowed = (*PUBLIC, "pilothouse.runtime.dependencies") if name in BUILDERS or name == "__init__.py" else PUBLIC
    for module in imports_of(path):
        assert not module.startswith("pilothouse.runtime.") or module.startswith(allowed), module


def test_only_the_dependencies_name_the_hub_and_everything_else_uses_the_signal_bus() -> None:
    users = {str(path.relative_to(SOURCE)) for path in FILES if "pilothouse.runtime.events.hub" in imports_of(path)}
    assert users == {"runtime/dependencies.py"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_other_packages_reach_no_private_attribute_of_the_runtime(path: Any) -> None:
    if path.relative_to(SOURCE).parts[0] in ("runtime", "testing"):  # a served test runtime gets its roots late
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and node.attr in ("_pool", "_dependencies"):
            assert ast.unparse(node.value) == "self", f"line {node.lineno}"


def test_every_public_name_of_the_package_can_be_imported() -> None:
    for name in pilothouse.__all__:
        assert getattr(pilothouse, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = pilothouse.nothing
