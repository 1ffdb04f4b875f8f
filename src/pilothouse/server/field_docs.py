"""Field descriptions for the OpenAPI document: the docstring below each field of a Struct.

Python keeps no docstrings of fields, so they are read from the source of the class.
"""

import ast
import inspect
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import msgspec


def describe_fields(components: dict[str, Any], types: Sequence[Any]) -> None:
    """Add the descriptions of fields to the schemas that msgspec made from these types."""
    classes = {cls.__name__: cls for info in msgspec.inspect.multi_type_info(types) for cls in _structs(info, set())}
    for schema in components.values():
        cls = classes.get(schema.get("title", "").partition("[")[0])  # the title of a generic class has its parameters
        if cls is None:
            continue
        for name, text in _descriptions(cls).items():
            properties = schema.get("properties", {})
            if name in properties:
                properties[name] = {**properties[name], "description": text}


def _structs(info: object, visited: set[type]) -> Iterator[type[msgspec.Struct]]:
    """Yield all Struct classes within a type."""
    if isinstance(info, msgspec.inspect.StructType):
        cls = getattr(info.cls, "__origin__", info.cls)
        if info.cls in visited:
            return
        visited.add(info.cls)
        yield cls
    if isinstance(info, tuple):
        for member in info:
            yield from _structs(member, visited)
    elif isinstance(info, msgspec.inspect.Type | msgspec.inspect.Field):
        for name in info.__struct_fields__:
            yield from _structs(getattr(info, name), visited)


def _descriptions(cls: type[msgspec.Struct]) -> dict[str, str]:
    """Return the docstrings of a class's fields, inherited ones included, by the names on the wire."""
    encoded = dict(zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True))
    texts: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if issubclass(base, msgspec.Struct) and base is not msgspec.Struct:
            texts |= _own_descriptions(base)
    return {encoded[name]: text for name, text in texts.items() if name in encoded}


def _own_descriptions(cls: type) -> dict[str, str]:
    definition = _class_definitions(cls.__module__).get(cls.__qualname__)
    if definition is None:
        return {}
    texts = {}
    for field, below in zip(definition.body, definition.body[1:], strict=False):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                texts[name] = " ".join(text.split())
    return texts


@cache
def _class_definitions(module: str) -> dict[str, ast.ClassDef]:
    """Return the classes at the top level of a module; none if Python was installed without sources."""
    try:
        source = inspect.getsource(sys.modules[module])
    except OSError:
        return {}
    return {node.name: node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}
