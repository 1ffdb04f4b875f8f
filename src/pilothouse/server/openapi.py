"""The OpenAPI document, made from the route table."""

from collections.abc import Sequence
from typing import Any, get_args, get_origin

import msgspec
from starlette.responses import Response

from pilothouse import __version__
from pilothouse.domain.shapes import Problem
from pilothouse.server.inputs import BranchName, Id
from pilothouse.server.routing import EVENTS, HTML, JSON, Route

REFERENCE = "#/components/schemas/{name}"
_PROBLEM = "application/problem+json"
_SAID = {
    400: "The body is no JSON",
    401: "The token is missing or wrong",
    403: "The page that asks is not ours",
    404: "There is no such thing",
    409: "Right in itself, but not now",
    413: "The body is too large",
    415: "The content type is not accepted",
    422: "The request was not understood",
    429: "Too many wrong tokens, or more at once than one user may have",
    502: "The model did not answer",
    503: "The store refuses, or the server is full or stopping",
}
_KEY_HEADER = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same request under the same key is done once, and gets the same answer.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
}


def openapi_document(routes: Sequence[Route]) -> dict[str, Any]:
    types = list(dict.fromkeys(kind for route in routes for kind in _types(route)))
    schemas, components = msgspec.json.schema_components([*types, Problem], ref_template=REFERENCE)
    known = dict(zip([*map(_key, types), _key(Problem)], schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        if route.gives != HTML:
            paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, known, components)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Pilothouse",
            "version": __version__,
            "description": "A runtime for AI agents. Signals say that something changed, pulls say what.",
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _types(route: Route) -> list[Any]:
    signature = route.signature
    found = [kind for kind in (signature.query, signature.body) if kind not in (None, bytes)]
    return [*found, *_answers(route)]


def _answers(route: Route) -> list[Any]:
    """What it gives as JSON; null where it gives nothing."""
    if route.gives != JSON or route.status == 204:
        return []
    answer = route.signature.answer
    members = (
        get_args(answer) if get_origin(answer) is not list and get_args(answer) and _is_union(answer) else [answer]
    )
    return [kind for kind in members if not (isinstance(kind, type) and issubclass(kind, Response))]


def _is_union(kind: Any) -> bool:
    return type(kind).__name__ in ("UnionType", "_UnionGenericAlias", "Union")


def _key(kind: Any) -> str:
    return repr(kind)


def _operation(route: Route, known: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    signature = route.signature
    operation: dict[str, Any] = {
        "operationId": f"{route.handler.__module__.rpartition('.')[2]}_{route.handler.__name__}",
        "summary": route.summary,
        "tags": [route.handler.__module__.rpartition(".")[2]],
        "parameters": [*map(_path_parameter, signature.path), *_query_parameters(route, known, components)],
        "responses": _responses(route, known),
    }
    if operation["operationId"] == "messages_send":
        operation["parameters"].append(_KEY_HEADER)
    if signature.body is bytes:
        schema = {"type": "string", "format": "binary"}
        operation["requestBody"] = {"required": True, "content": {route.takes: {"schema": schema}}}
    elif signature.body is not None:
        content = {"schema": known[_key(signature.body)]}
        if route.body_example is not None:
            content["example"] = route.body_example
        name = known[_key(signature.body)]["$ref"].rpartition("/")[2]
        is_required = bool(components[name].get("required"))  # an empty body is an empty object
        operation["requestBody"] = {"required": is_required, "content": {route.takes: content}}
    return operation


def _path_parameter(name: str) -> dict[str, Any]:
    kind = BranchName if name in ("branch", "source", "name") else Id
    return {"name": name, "in": "path", "required": True, "schema": msgspec.json.schema(kind)}


def _query_parameters(route: Route, known: dict[str, Any], components: dict[str, Any]) -> list[dict[str, Any]]:
    if route.signature.query is None:
        return []
    schema = components[known[_key(route.signature.query)]["$ref"].rpartition("/")[2]]
    required = schema.get("required", ())
    return [
        {"name": name, "in": "query", "required": name in required, "schema": _without_null(each)}
        for name, each in schema["properties"].items()
    ]


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter is there or it is not."""
    members = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    if len(members) == 1:
        return dict(members[0])
    return {name: value for name, value in schema.items() if not (name == "default" and value is None)}


def _responses(route: Route, known: dict[str, Any]) -> dict[str, Any]:
    answers = [known[_key(kind)] for kind in _answers(route)]
    content: dict[str, Any] = {}
    if answers:
        content[JSON] = {"schema": answers[0] if len(answers) == 1 else {"anyOf": answers}, "example": route.example}
    elif route.gives == JSON and route.status != 204:
        content[JSON] = {"schema": {"type": "object"}, "example": route.example}
    elif route.gives != JSON:
        content[route.gives] = {"schema": {"type": "string"}, "example": route.example}
    if route.or_gives is not None:
        content[route.or_gives] = {"schema": {"type": "string"}}
    if route.gives == JSON and EVENTS in _streams(route):
        content[EVENTS] = {"schema": {"type": "string"}}
    good: dict[str, Any] = {"description": "Done"}
    if content:
        good["content"] = content
    problem = {_PROBLEM: {"schema": known[_key(Problem)]}}
    statuses = sorted({400, 401, 403, 422, *route.errors, *([413, 415] if route.method != "GET" else [])})
    errors = {str(status): {"description": _SAID[status], "content": problem} for status in statuses}
    return {str(route.status): good, **errors, "default": {"description": "A problem", "content": problem}}


def _streams(route: Route) -> list[str]:
    members = get_args(route.signature.answer)
    return [EVENTS] if any(isinstance(each, type) and issubclass(each, Response) for each in members) else []
