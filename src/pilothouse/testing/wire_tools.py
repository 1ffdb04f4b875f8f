"""The rules of the tools in a chat completions request: names, descriptions and schemas that OpenAI accepts."""

import re
from collections.abc import Iterator
from typing import Any

MAX_TOOLS = 128
MAX_DESCRIPTION_CHARACTERS = 1024  # the limit of Azure; newer models of OpenAI accept more
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}", re.ASCII)

_KEYS_REFUSED_AT_TOP = ("oneOf", "anyOf", "allOf", "enum", "not")


def tool_faults(body: dict[str, Any]) -> Iterator[str]:
    if "tools" not in body:
        return
    tools = body["tools"]
    if not isinstance(tools, list) or not tools:
        yield "tools: is not a non-empty list"
        return
    if len(tools) > MAX_TOOLS:
        yield f"tools: there are {len(tools)}, and at most {MAX_TOOLS} are taken"
    names: set[str] = set()
    for at, tool in enumerate(tools):
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict) or tool.keys() != {"type", "function"} or tool["type"] != "function":
            yield f"tools[{at}]: is not of the form type, function"
            continue
        yield from _function(f"tools[{at}].function", function)
        name = function.get("name")
        if isinstance(name, str):
            if name in names:
                yield f"tools[{at}].function.name: {name!r} was used before"
            names.add(name)


def _function(place: str, function: dict[str, Any]) -> Iterator[str]:
    for key in function.keys() - {"name", "description", "parameters", "strict"}:
        yield f"{place}: {key!r} is not a known key"
    if not isinstance(function.get("name"), str) or not NAME.fullmatch(function["name"]):
        yield f"{place}.name: is not 1 to 64 letters, digits, _ or -"
    description = function.get("description", "")
    if not isinstance(description, str) or len(description) > MAX_DESCRIPTION_CHARACTERS:
        yield f"{place}.description: is not a string of at most {MAX_DESCRIPTION_CHARACTERS} characters"
    if not isinstance(function.get("strict", False), bool):
        yield f"{place}.strict: is neither true nor false"
    yield from _parameters(f"{place}.parameters", function.get("parameters"))


def _parameters(place: str, schema: Any) -> Iterator[str]:
    if not isinstance(schema, dict) or schema.get("type") != "object":
        yield f"{place}: is not a JSON schema of type object"
        return
    for key in _KEYS_REFUSED_AT_TOP:
        if key in schema:
            yield f"{place}: has {key!r} at the top"
    if not isinstance(schema.get("properties"), dict):
        yield f"{place}.properties: is not an object"
    yield from _schema(place, schema)


def _schema(place: str, top: Any) -> Iterator[str]:
    """Common faults anywhere in a schema: `required` that is no list of names, and arrays without `items`."""
    stack = [(place, top)]
    while stack:
        at, schema = stack.pop()
        if isinstance(schema, bool):
            continue
        if not isinstance(schema, dict):
            yield f"{at}: is not a schema"
            continue
        kinds = schema.get("type")
        if (kinds == "array" or (isinstance(kinds, list) and "array" in kinds)) and "items" not in schema:
            yield f"{at}: is an array without items"
        required = schema.get("required", [])
        if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
            yield f"{at}.required: is not a list of names"
        stack += _inner(at, schema)


def _inner(place: str, schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in ("properties", "$defs", "definitions"):
        schemas = schema.get(key)
        if isinstance(schemas, dict):
            for name, inner in schemas.items():
                yield f"{place}.{key}.{name}", inner
    for key in ("anyOf", "oneOf", "allOf"):
        alternatives = schema.get(key)
        if isinstance(alternatives, list):
            for number, inner in enumerate(alternatives):
                yield f"{place}.{key}[{number}]", inner
    for key in ("items", "additionalProperties"):
        if key in schema:
            yield f"{place}.{key}", schema[key]
