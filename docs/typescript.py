"""Generates TypeScript types of the server's views and routes from the OpenAPI document and the signals."""

import json
import re
from collections.abc import Mapping
from typing import Any, get_args

import msgspec

from pilothouse.domain.signals import ErrorRaised, Signal
from pilothouse.server.openapi import REFERENCE
from pilothouse.server.signals import ErrorEvent

Schema = Mapping[str, Any]
_HEAD = "// Generated from the server's OpenAPI document and its signals: do not edit, run `make docs`.\n"
_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
_NO_LETTER = re.compile(r"\W+")


def typescript(document: Mapping[str, Any]) -> str:
    signal_types = [ErrorEvent if each is ErrorRaised else each for each in get_args(Signal)]
    _, signals = msgspec.json.schema_components(signal_types, ref_template=REFERENCE)
    schemas = {**signals, **document["components"]["schemas"]}
    types = [f"export type {_named(name)} = {_type(schema)};" for name, schema in sorted(schemas.items())]
    return "\n\n".join([_HEAD, *types, _routes(document["paths"])]) + "\n"


def _routes(paths: Mapping[str, Any]) -> str:
    lines = []
    for path, methods in paths.items():
        for method, operation in methods.items():
            route_types = {"path": _parameters(operation, "path"), "query": _parameters(operation, "query")}
            body = _content(operation.get("requestBody", {}))
            if body is not None:
                route_types["body"] = body
            success = next(response for status, response in operation["responses"].items() if status.startswith("2"))
            route_types["answer"] = _content(success) or "null"
            fields = " ".join(f"{name}: {kind};" for name, kind in route_types.items())
            lines.append(f"  {json.dumps(f'{method.upper()} {path}')}: {{ {fields} }};")
    return "export interface Routes {\n" + "\n".join(lines) + "\n}"


def _parameters(operation: Mapping[str, Any], location: str) -> str:
    parameters = [each for each in operation["parameters"] if each["in"] == location]
    properties = {each["name"]: each["schema"] for each in parameters}
    return _object({"properties": properties, "required": [each["name"] for each in parameters if each["required"]]})


def _content(message: Mapping[str, Any]) -> str | None:
    """Return the type of a JSON body; `string` for other content types, None without a body."""
    content = message.get("content")
    if not content:
        return None
    return _type(content["application/json"]["schema"]) if "application/json" in content else "string"


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return _named(schema["$ref"].rpartition("/")[2])
    if "enum" in schema:
        return " | ".join(json.dumps(each) for each in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(each) for each in schema["anyOf"]))
    kind = schema.get("type")
    if kind == "array":
        return _array(schema)
    if kind == "object":
        return _object(schema)
    return _PLAIN[kind] if kind is not None else "unknown"


def _array(schema: Schema) -> str:
    if "prefixItems" in schema:
        return f"readonly [{', '.join(_type(each) for each in schema['prefixItems'])}]"
    return f"readonly ({_type(schema.get('items') or {})})[]"


def _object(schema: Schema) -> str:
    properties, required = schema.get("properties"), schema.get("required", ())
    if properties is None:
        values = schema.get("additionalProperties")
        return f"{{ readonly [name: string]: {_type(values) if isinstance(values, dict) else 'unknown'} }}"
    fields = (f"readonly {name}{'' if name in required else '?'}: {_type(each)}" for name, each in properties.items())
    return f"{{ {'; '.join(fields)} }}" if properties else "Record<string, never>"


def _named(name: str) -> str:
    """Return a schema name as a TypeScript identifier: `Page_CallView_` becomes `PageCallView`."""
    return "".join(part[:1].upper() + part[1:] for part in _NO_LETTER.sub("_", name).split("_"))
