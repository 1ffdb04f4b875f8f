"""The OpenAPI document and its page contain the whole route table, and every example is valid."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import reduce
from html.parser import HTMLParser
from operator import or_
from pathlib import Path
from typing import Any, Union, get_args, get_origin

import aiohttp
import msgspec
import pytest
from starlette.responses import Response
from yarl import URL

from pilothouse.domain.signals import Signal
from pilothouse.server.api_docs import document
from pilothouse.server.field_docs import describe_fields
from pilothouse.server.routes import ROUTES
from pilothouse.server.routing import EVENTS, HTML, JSON, Route
from pilothouse.testing.served import Served
from pilothouse.testing.world import World

SHOWN = [route for route in ROUTES if route.gives != HTML]
PLACE = re.compile(r"\{(\w+)\}")


def named(route: Route) -> str:
    return f"{route.method} {route.path}"


def operation(route: Route) -> dict[str, Any]:
    documented: dict[str, Any] = document()["paths"][route.path][route.method.lower()]
    return documented


def json_answer(route: Route) -> Any:
    """The declared return type of a handler, without streams and ready-made responses; None if nothing is left."""
    answer = route.signature.answer
    is_union = get_origin(answer) is Union or type(answer).__name__ == "UnionType"
    members = get_args(answer) if is_union else (answer,)
    left = [kind for kind in members if not (isinstance(kind, type) and issubclass(kind, Response))]
    if route.gives != JSON or route.status == 204 or not left:
        return None
    return reduce(or_, left)


ANSWERS = [route for route in ROUTES if json_answer(route) is not None]
BODIES = [route for route in ROUTES if route.signature.body not in (None, bytes)]


def test_the_lists_that_the_other_tests_run_over_are_not_empty() -> None:
    assert len(ANSWERS) > 40
    assert len(BODIES) > 20
    assert len({named(route) for route in ROUTES}) == len(ROUTES), "no route stands twice in the table"


@pytest.mark.parametrize("route", ANSWERS, ids=named)
def test_the_example_of_a_response_is_valid_and_serialized_as_by_the_server(route: Route) -> None:
    kind = json_answer(route)
    decoded = msgspec.convert(route.example, kind)
    written = json_of(decoded)
    assert msgspec.convert(written, kind) == decoded, "it reads its own writing"
    lost = set(paths_in(json_of(route.example))) - set(paths_in(written))
    assert not [path for path in lost if value_at(route.example, path)], "only what is empty may be left out"
    more = set(paths_in(written)) - set(paths_in(json_of(route.example)))
    assert not more, "an example shows every field that the server sends"


def test_every_id_in_an_address_may_be_that_of_a_users_chat_thread() -> None:
    written = [each for route in SHOWN for each in operation(route)["parameters"] if each["name"].endswith("_id")]
    ids = [each["schema"] for each in written if each["in"] == "path"]
    assert len(ids) > 40
    for schema in ids:
        pattern = re.compile(schema["pattern"])
        assert all(pattern.search(good) for good in ("a", "x" * 64, "thread~anna", f"{'x' * 64}~{'y' * 64}"))
        assert not any(pattern.search(bad) for bad in ("", "x" * 65, "~anna", "a~b~c", "a/b", "a\n"))


@pytest.mark.parametrize("route", BODIES, ids=named)
def test_the_example_of_a_body_is_valid(route: Route) -> None:
    assert route.body_example is not None
    msgspec.convert(route.body_example, route.signature.body)


@pytest.mark.parametrize("route", [route for route in SHOWN if route.gives == EVENTS], ids=named)
def test_the_example_of_a_stream_is_events_with_json_in_them(route: Route) -> None:
    events = [part.split("\n") for part in route.example.removesuffix("\n\n").split("\n\n")]
    assert events
    for name, data in events:
        decoded = msgspec.json.decode(data.removeprefix("data: "))
        if route.method == "GET":
            assert name == f"event: {decoded['event']}"
            msgspec.convert(decoded, Signal)
        else:
            assert name.removeprefix("event: ") in {"token", "done"}


def test_every_route_but_those_for_browsers_is_in_the_document_and_nothing_else_is() -> None:
    written = {(method, path) for path, methods in document()["paths"].items() for method in methods}
    assert written == {(route.method.lower(), route.path) for route in SHOWN}


@pytest.mark.parametrize("route", SHOWN, ids=named)
def test_every_part_of_a_path_that_varies_is_documented_and_nothing_else_is(route: Route) -> None:
    parameters = [each for each in operation(route)["parameters"] if each["in"] == "path"]
    assert [each["name"] for each in parameters] == PLACE.findall(route.path)
    assert all(each["required"] for each in parameters)
    assert list(route.signature.path) == PLACE.findall(route.path), "the handler takes what the path gives"


@pytest.mark.parametrize("route", [route for route in SHOWN if route.signature.query is not None], ids=named)
def test_every_field_of_a_query_is_a_parameter(route: Route) -> None:
    parameters = {each["name"]: each for each in operation(route)["parameters"] if each["in"] == "query"}
    fields = {field.encode_name: field for field in msgspec.structs.fields(route.signature.query)}
    assert parameters.keys() == fields.keys()
    assert {name for name, each in parameters.items() if each["required"]} == {
        name for name, field in fields.items() if field.required
    }


def test_no_two_operations_have_the_same_id() -> None:
    ids = Counter(operation(route)["operationId"] for route in SHOWN)
    assert [name for name, count in ids.items() if count > 1] == []


def test_every_reference_leads_to_a_schema_and_every_schema_is_used() -> None:
    whole = document()
    names = set(whole["components"]["schemas"])
    leads = {each.removeprefix("#/components/schemas/") for each in references(whole)}
    assert leads - names == set()
    queries = {route.signature.query.__name__ for route in SHOWN if route.signature.query is not None}
    assert names - leads - queries == set(), "a query is written out as parameters"


@pytest.mark.parametrize("route", SHOWN, ids=named)
def test_every_operation_documents_its_request_responses_and_errors(route: Route) -> None:
    documented = operation(route)
    assert documented["summary"]
    body = documented.get("requestBody")
    assert (body is not None) == (route.signature.body is not None)
    if body is not None:
        assert list(body["content"]) == [route.takes]
    good = documented["responses"][str(route.status)]
    if route.status == 204 or route.gives is None:
        assert "content" not in good
    else:
        assert route.example is not None
        assert good["content"][route.gives]["example"] == route.example
        assert good["content"][route.gives]["schema"]
    needs_token = documented.get("security") != []
    assert needs_token == (not route.public)
    for status in (400, 403, *((401, 422) if needs_token else ()), *route.errors):
        is_empty = route.gives is None and status in route.errors
        content = documented["responses"][str(status)].get("content", {})
        assert list(content) == ([] if is_empty else ["application/problem+json"])
    assert ("401" in documented["responses"]) == needs_token


async def test_the_document_and_its_page_are_served_as_they_are(tmp_path: Path) -> None:
    world = World(tmp_path)
    headers = {"authorization": "Bearer a-token-for-tests-only"}
    async with (
        world.runtime,
        Served(world.runtime, [tmp_path]) as served,
        aiohttp.ClientSession(served.url, headers=headers) as http,
    ):
        async with http.get("/api/openapi.json") as answer:
            assert (answer.status, answer.content_type) == (200, JSON)
            assert msgspec.json.decode(await answer.read()) == {**json_of(document()), "servers": [{"url": "/"}]}
        async with http.get("/api/docs") as answer:
            assert (answer.status, answer.content_type) == (200, HTML)
            page = _Page(await answer.text())
        for link in page.links:
            if not link.startswith(("#", "data:")):
                async with http.get(answer.url.join(URL(link))) as linked:
                    assert linked.status == 200, link
        async with aiohttp.ClientSession(served.url) as stranger, stranger.get("/api/docs") as answer:
            assert answer.status == 401


async def test_the_page_has_no_script_nothing_from_elsewhere_and_every_operation(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with (
        world.runtime,
        Served(world.runtime, [tmp_path]) as served,
        aiohttp.ClientSession(headers={"authorization": f"Bearer {served.token}"}) as http,
        http.get(f"{served.url}/api/docs") as answer,
    ):
        text = await answer.text()
    page = _Page(text)
    assert "script" not in page.tags
    assert not [name for name in page.attributes if name.startswith("on") or name == "style"]
    assert page.links
    assert [link for link in page.links if not re.fullmatch(r"#\S+|(\.\./)?\w[\w./]*|data:,", link)] == []
    assert {link[1:] for link in page.links if link.startswith("#")} <= page.ids, "links within the page lead somewhere"
    assert "://" not in re.sub(r"<pre>.*?</pre>", "", text, flags=re.DOTALL)
    for route in SHOWN:
        assert f"<code>{route.path}</code>" in text


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: set[str] = set()
        self.ids: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.links.update(value or "" for name, value in attrs if name in ("href", "src", "action", "srcset"))
        self.ids.update(value or "" for name, value in attrs if name == "id")


def json_of(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        if "mapping" in value:
            yield from value["mapping"].values()
        for each in value.values():
            yield from references(each)
    elif isinstance(value, list):
        for each in value:
            yield from references(each)


def paths_in(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield before
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths_in(each, (*before, key))


def value_at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def test_fields_are_described_by_the_docstrings_below_them() -> None:
    schemas = document()["components"]["schemas"]
    branch = schemas["BranchView"]["properties"]
    assert branch["length"].get("description") is None
    assert branch["message_ids"]["description"] == "The last ids of the branch; `length` counts all."
    pages = [schema for name, schema in schemas.items() if name.startswith("Page_")]
    assert pages
    for page in pages:
        assert page["properties"]["next"]["description"] == "The cursor of the next page; null on the last one."


class DescribedFields(msgspec.Struct):
    own_name: int = msgspec.field(name="wireName", default=0)
    """A field that has another name on the wire."""


def test_renamed_and_inherited_fields_are_described_too() -> None:
    derived = msgspec.defstruct("Derived", [("own", int, 0)], bases=(DescribedFields,))
    components: dict[str, Any] = msgspec.json.schema_components([derived])[1]
    describe_fields(components, [derived])
    described = {name: field.get("description") for name, field in components["Derived"]["properties"].items()}
    assert described == {"own": None, "wireName": "A field that has another name on the wire."}
