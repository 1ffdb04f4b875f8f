"""The OpenAPI document, made from the route table."""

from collections.abc import Sequence
from typing import Any, get_args, get_origin

import msgspec
from starlette.responses import Response

from pilothouse import __version__
from pilothouse.api.views import Problem
from pilothouse.server.field_docs import describe_fields
from pilothouse.server.queries import BranchName, Id
from pilothouse.server.routing import EVENTS, HTML, JSON, Route

REFERENCE = "#/components/schemas/{name}"
_PROBLEM = "application/problem+json"
_ERROR_DESCRIPTIONS = {
    400: "The body isn't valid JSON",
    401: "The token is missing or invalid",
    403: "The request comes from another site, or only the local user may do this",
    404: "The resource doesn't exist",
    409: "The request conflicts with the current state",
    413: "The body is too large",
    415: "The content type isn't supported",
    422: "The request isn't valid",
    429: "Too many invalid tokens, or a limit per user is reached",
    502: "The model provider didn't answer",
    503: "The store can't write, or the server is overloaded or stopping",
}
_KEY_HEADER = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Repeated requests with the same key are executed once and get the same response.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
}


def openapi_document(routes: Sequence[Route]) -> dict[str, Any]:
    types = list(dict.fromkeys(kind for route in routes for kind in _types(route)))
    schemas, components = msgspec.json.schema_components([*types, Problem], ref_template=REFERENCE)
    describe_fields(components, [*types, Problem])
    schema_of = dict(zip([*map(_key, types), _key(Problem)], schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        if route.gives != HTML:
            paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schema_of, components)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Pilothouse",
            "version": __version__,
            "description": "A runtime for AI agents. Signals report changes; GET requests return the data.",
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
    inputs = [kind for kind in (signature.query, signature.body) if kind not in (None, bytes)]
    return [*inputs, *_answers(route)]


def _answers(route: Route) -> list[Any]:
    """Return the types of the route's JSON responses."""
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


def _operation(route: Route, schema_of: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    signature = route.signature
    operation: dict[str, Any] = {
        "operationId": f"{route.handler.__module__.rpartition('.')[2]}_{route.handler.__name__}",
        "summary": route.summary,
        "tags": [route.handler.__module__.rpartition(".")[2]],
        "parameters": [*map(_path_parameter, signature.path), *_query_parameters(route, schema_of, components)],
        "responses": _responses(route, schema_of),
    }
    if route.public:
        operation["security"] = []
    if operation["operationId"] == "messages_send":
        operation["parameters"].append(_KEY_HEADER)
    if signature.body is bytes:
        schema = {"type": "string", "format": "binary"}
        operation["requestBody"] = {"required": True, "content": {route.takes: {"schema": schema}}}
    elif signature.body is not None:
        content = {"schema": schema_of[_key(signature.body)]}
        if route.body_example is not None:
            content["example"] = route.body_example
        name = schema_of[_key(signature.body)]["$ref"].rpartition("/")[2]
        is_required = bool(components[name].get("required"))  # an empty body counts as an empty object
        operation["requestBody"] = {"required": is_required, "content": {route.takes: content}}
    return operation


def _path_parameter(name: str) -> dict[str, Any]:
    kind = BranchName if name in ("branch", "source", "name") else Id
    return {"name": name, "in": "path", "required": True, "schema": msgspec.json.schema(kind)}


def _query_parameters(route: Route, schema_of: dict[str, Any], components: dict[str, Any]) -> list[dict[str, Any]]:
    if route.signature.query is None:
        return []
    schema = components[schema_of[_key(route.signature.query)]["$ref"].rpartition("/")[2]]
    required = schema.get("required", ())
    return [
        {"name": name, "in": "query", "required": name in required, "schema": _without_null(each)}
        for name, each in schema["properties"].items()
    ]


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Remove null from the types and the defaults of a query parameter: an absent parameter is None."""
    members = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    if len(members) == 1:
        return dict(members[0])
    return {name: value for name, value in schema.items() if not (name == "default" and value is None)}


def _responses(route: Route, schema_of: dict[str, Any]) -> dict[str, Any]:
    answers = [schema_of[_key(kind)] for kind in _answers(route)]
    content: dict[str, Any] = {}
    if answers:
        content[JSON] = {"schema": answers[0] if len(answers) == 1 else {"anyOf": answers}, "example": route.example}
    elif route.gives == JSON and route.status != 204:
        content[JSON] = {"schema": {"type": "object"}, "example": route.example}
    elif route.gives not in (None, JSON):
        content[route.gives] = {"schema": {"type": "string"}, "example": route.example}
    if route.or_gives is not None:
        content[route.or_gives] = {"schema": {"type": "string"}}
    if route.gives == JSON and _can_stream(route):
        content[EVENTS] = {"schema": {"type": "string"}}
    success: dict[str, Any] = {"description": "Success"}
    if content:
        success["content"] = content
    problem = {_PROBLEM: {"schema": schema_of[_key(Problem)]}}
    statuses = {400, 403, *route.errors, *([413, 415] if route.method != "GET" else [])}
    statuses |= set() if route.public else {401, 422}
    errors: dict[str, Any] = {}
    for status in sorted(statuses):
        errors[str(status)] = {"description": _ERROR_DESCRIPTIONS[status], "content": problem}
        if route.gives is None and status in route.errors:
            del errors[str(status)]["content"]
    return {str(route.status): success, **errors, "default": {"description": "A problem", "content": problem}}


def _can_stream(route: Route) -> bool:
    """Whether the handler can also return an event stream."""
    return any(isinstance(kind, type) and issubclass(kind, Response) for kind in get_args(route.signature.answer))
