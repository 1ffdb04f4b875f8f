"""The API documentation: the OpenAPI document, and an HTML page made from it without scripts or external files."""

import asyncio
import html
from functools import cache
from typing import Any

import msgspec
from starlette.responses import Response

from pilothouse.server.openapi import openapi_document
from pilothouse.server.routing import HTML, JSON
from pilothouse.server.state import RequestContext


@cache
def document() -> dict[str, Any]:
    from pilothouse.server.routes import ROUTES  # an import cycle: the route table imports this module

    return openapi_document(ROUTES)


async def openapi(request: RequestContext) -> Response:
    servers = [{"url": request.server.access.base_path or "/"}]
    content = {**await asyncio.to_thread(document), "servers": servers}
    return Response(msgspec.json.encode(content), media_type=JSON)


async def docs(request: RequestContext) -> Response:
    return Response(await asyncio.to_thread(_docs_page, request.server.access.base_path), media_type=HTML)


@cache
def _docs_page(base_path: str) -> str:
    spec = document()
    parts = [
        '<!doctype html><html lang="en"><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width"><title>Pilothouse API</title>',
        '<link rel="icon" href="data:,"><link rel="stylesheet" href="../assets/docs.css"><main><h1>Pilothouse API</h1>',
        f"<p>{html.escape(spec['info']['description'])} For programs: ",
        '<a href="openapi.json">openapi.json</a>.</p>',
        "<p>Every request needs <code>Authorization: Bearer TOKEN</code>, or the web client's cookie, except where "
        "none is needed.</p>",
    ]
    if base_path:
        parts.append(f"<p>All addresses on this server begin with <code>{base_path}</code>.</p>")
    for path, methods in spec["paths"].items():
        for method, operation in methods.items():
            parts.append(_operation(method.upper(), path, operation))
    parts.append("<h2>Schemas</h2>")
    for name, schema in sorted(spec["components"]["schemas"].items()):
        parts.append(
            f'<details id="{html.escape(name)}"><summary>{html.escape(name)}</summary>{_json(schema)}</details>'
        )
    return "".join([*parts, "</main></html>"])


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    rows = "".join(
        f"<tr><td><code>{html.escape(each['name'])}</code></td><td>{each['in']}</td>"
        f"<td>{'required' if each['required'] else ''}</td><td>{_type(each['schema'])}</td></tr>"
        for each in operation["parameters"]
    )
    parts = [
        f'<details><summary><b class="{method.lower()}">{method}</b> <code>{html.escape(path)}</code> ',
        f"<span>{html.escape(operation['summary'])}</span></summary>",
        f"<table>{rows}</table>" if rows else "",
    ]
    for title, section in (("Body", operation.get("requestBody")), *_successes(operation)):
        for content_type, content in ((section or {}).get("content") or {}).items():
            parts.append(f"<h3>{title} <small>{content_type}</small> {_type(content['schema'])}</h3>")
            if content.get("example") not in (None, ""):
                parts.append(_json(content["example"]))
    if operation.get("security") == []:
        parts.append("<p>No token is needed.</p>")
    errors = ", ".join(
        status for status in operation["responses"] if not status.startswith("2") and status != "default"
    )
    return "".join([*parts, f"<p>Errors: {errors}</p></details>"])


def _successes(operation: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(f"Answer {status}", each) for status, each in operation["responses"].items() if status.startswith("2")]


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = html.escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    members = schema.get("anyOf")
    if members:
        return " or ".join(_type(each) for each in members)
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return html.escape(", ".join(f"{name} {value}" for name, value in schema.items() if name != "title"))


def _json(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    return f"<pre>{html.escape(text)}</pre>"
